//! The skip index: no zone rules out a document that matches.

use std::ops::RangeInclusive;

use docvalues_column::{DocRange, SkipIndex, Zone, bits};

use super::expected::{Expected, Probe as _, good};
use super::filters::{Before, PRUNED, check_pruning};
use crate::rng::SplitMix64;

pub(super) fn check(index: &dyn SkipIndex, expected: &Expected<i64>) {
    let name = &expected.name;
    let levels = index.levels();
    let is_level = |len: &u32| *len >= 64 && len.is_power_of_two();
    assert!(
        levels.iter().all(is_level),
        "column \"{name}\": levels: {levels:?} are no powers of two from 64 up"
    );
    let descend = levels.is_sorted_by(|coarse, fine| coarse > fine);
    assert!(descend, "column \"{name}\": levels: {levels:?} are not from coarse to fine");

    let mut rng = SplitMix64::named(name);
    let queries = i64::queries(&expected.all(), &mut rng);
    for (level, &len) in levels.iter().enumerate() {
        let zones = DocRange::new(0, expected.docs()).chunks(len as usize);
        let zones = zones.map(|zone| &expected.rows[zone.start as usize..zone.end as usize]).collect();
        let level = Level { index, name, docs: expected.docs(), level, len, zones };
        let ranges = level.ranges(&mut rng);
        ranges.iter().for_each(|docs| level.check_zones(*docs));
        for (number, wanted) in queries.iter().enumerate() {
            let matches = |row: &Vec<i64>| row.iter().any(|number| wanted.contains(number));
            let holds = |zone: &&[Option<Vec<i64>>]| zone.iter().flatten().any(matches);
            let holds: Vec<bool> = level.zones.iter().map(holds).collect();
            for docs in &ranges {
                level.check_may_hold(*docs, wanted, &holds, Before::ALL[number % 3]);
            }
        }
    }
    let count = expected.rows.iter().flatten().flatten().count() as u64;
    for n in [0, 1, 2, count / 2, count.saturating_sub(1), count, count + 1, u64::MAX] {
        for greatest in [false, true] {
            good(index.estimate_nth(n, greatest), name, "estimate_nth");
        }
    }
}

/// One level of a skip index.
struct Level<'a> {
    index: &'a dyn SkipIndex,
    name: &'a str,
    docs: u32,
    level: usize,
    /// Documents in a zone.
    len: u32,
    /// The rows of each zone.
    zones: Vec<&'a [Option<Vec<i64>>]>,
}

impl Level<'_> {
    fn operation(&self, what: &str, docs: DocRange) -> String {
        format!("{what} of {docs:?} in zones of {} documents", self.len)
    }

    /// Ranges of documents that begin at a zone.
    fn ranges(&self, rng: &mut SplitMix64) -> Vec<DocRange> {
        let docs = self.docs;
        let mut ranges = vec![DocRange::new(0, docs), DocRange::new(0, 0), DocRange::new(0, docs.min(1))];
        for _ in 0..4 {
            let coarse = self.index.levels()[0];
            let start = rng.below_u32(docs.div_ceil(coarse)) * coarse;
            ranges.push(DocRange::new(start, start + rng.below_u32(docs - start + 1)));
            ranges.push(DocRange::new(start, docs));
        }
        ranges
    }

    /// Those of `all` zones that have a document of `docs`.
    fn zones_of<'z, T>(&self, docs: DocRange, all: &'z [T]) -> &'z [T] {
        let start = (docs.start / self.len) as usize;
        &all[start..start + docs.len().div_ceil(self.len as usize)]
    }

    fn check_zones(&self, docs: DocRange) {
        let (name, operation) = (self.name, self.operation("zones", docs));
        let wanted = self.zones_of(docs, &self.zones);
        // Not empty: `zones` must replace its contents.
        let mut zones = vec![Zone { min: 0, max: 0, all_present: true }; 3];
        good(self.index.zones(self.level, docs, &mut zones), name, &operation);
        assert_eq!(zones.len(), wanted.len(), "column \"{name}\": {operation}: number of zones");
        for (at, (zone, rows)) in zones.iter().zip(wanted).enumerate() {
            let outside =
                rows.iter().flatten().flatten().find(|number| **number < zone.min || zone.max < **number);
            assert!(
                outside.is_none(),
                "column \"{name}\": {operation}: zone {at}, {zone:?}, has {outside:?}"
            );
            let is_right = !zone.all_present || rows.iter().all(Option::is_some);
            assert!(is_right, "column \"{name}\": {operation}: zone {at} lacks a value, but is all_present");
        }
    }

    /// Checks the bits of the zones of `docs`; `holds` tells which zones of the column hold a number in `wanted`.
    fn check_may_hold(&self, docs: DocRange, wanted: &RangeInclusive<i64>, holds: &[bool], before: Before) {
        let name = self.name;
        let operation = format!("{} for {wanted:?}", self.operation("may_hold", docs));
        let holds = self.zones_of(docs, holds);
        let bits = before.bits(holds.len().div_ceil(64));
        let (mut after, mut pruned) = (bits.clone(), PRUNED);
        let done = self.index.may_hold(self.level, docs, wanted, &mut after, &mut pruned);
        good(done, name, &operation);
        check_pruning(name, &operation, pruned);
        for at in 0..after.len() * 64 {
            let (was, is) = (bits::get(&bits, at), bits::get(&after, at));
            assert!(is || !was, "column \"{name}\": {operation}: the bit of zone {at} is cleared");
            match holds.get(at) {
                Some(&holds) => assert!(is || !holds, "column \"{name}\": {operation}: misses zone {at}"),
                None => {
                    assert!(was == is, "column \"{name}\": {operation}: the bit past the last zone is set")
                }
            }
        }
    }
}
