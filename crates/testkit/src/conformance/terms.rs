//! The dictionary: ords to terms, terms to ords, and ranges of both.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::{Bound, ControlFlow, RangeBounds};

use docvalues_column::{Error, ErrorKind, Lists, OrdRange, TermOrd, Terms};

use super::expected::{Text, good, short};
use crate::rng::SplitMix64;

/// The most terms of a dictionary that are looked up by their bytes.
const SAMPLE: usize = 400;

pub(super) fn check(name: &str, terms: &dyn Terms, model: &dyn Terms) {
    let subject = Subject { name, terms, wanted: all_terms(name, model) };
    assert_eq!(terms.term_count(), subject.count(), "column \"{name}\": term_count");
    let ascending = subject.wanted.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(ascending, "column \"{name}\": the model's terms are not ascending");
    subject.check_ords();
    subject.check_gather();
    subject.check_each_term();
    let probes = subject.probes();
    probes.iter().for_each(|probe| subject.check_probe(probe));
    subject.check_ranges(&probes);
}

fn all_terms(name: &str, model: &dyn Terms) -> Vec<Vec<u8>> {
    let term = |ord| {
        let mut out = Vec::new();
        good(model.term(TermOrd::new(ord), &mut out), name, "term of the model");
        out
    };
    (0..model.term_count()).map(term).collect()
}

struct Subject<'a> {
    name: &'a str,
    terms: &'a dyn Terms,
    wanted: Vec<Vec<u8>>,
}

impl Subject<'_> {
    fn count(&self) -> u32 {
        self.wanted.len() as u32
    }

    fn same<T: PartialEq + Debug>(&self, operation: &str, asked: &dyn Debug, found: &T, wanted: &T) {
        assert!(
            found == wanted,
            "column \"{}\": {operation} of {}: {} expected, found {}",
            self.name,
            short(&asked),
            short(wanted),
            short(found)
        );
    }

    /// `ord → term` for every ord, in order and out of order, and the error past the last.
    fn check_ords(&self) {
        let mut rng = SplitMix64::named(self.name);
        let random = (0..self.count().min(2000)).map(|_| rng.below_u32(self.count()));
        let mut out = Vec::new();
        for ord in (0..self.count()).chain(random.collect::<Vec<_>>()) {
            // Not empty: `term` must replace its contents.
            good(self.terms.term(TermOrd::new(ord), &mut out), self.name, "term");
            self.same("term", &ord, &Text(&out), &Text(&self.wanted[ord as usize]));
        }
        for past in [self.count(), self.count() + 1, u32::MAX - 1, u32::MAX] {
            let Err(error) = self.terms.term(TermOrd::new(past), &mut out) else {
                panic!("column \"{}\": term of ord {past}: found {}", self.name, short(&Text(&out)));
            };
            self.check_no_such_ord("term", past, &error);
        }
    }

    fn check_no_such_ord(&self, operation: &str, past: u32, error: &Error) {
        let named = matches!(error.kind(), ErrorKind::NoSuchOrd { field, ord, len }
            if field == self.name && *ord == past && *len == self.count());
        assert!(named, "column \"{}\": {operation} of ord {past}: NoSuchOrd expected: {error:?}", self.name);
    }

    /// `gather_terms`: in order, shuffled with repeats, of one and of no ord, and with an ord that does not exist.
    fn check_gather(&self) {
        let mut rng = SplitMix64::named(self.name);
        let all: Vec<u32> = (0..self.count()).collect();
        let random: Vec<u32> = all.iter().take(2000).map(|_| rng.below_u32(self.count())).collect();
        // Not empty: `gather_terms` must replace its contents.
        let mut out = Lists::new();
        for ords in [all.as_slice(), &random, &random[..random.len().min(1)], &[]] {
            let wanted: Vec<Text<'_>> = ords.iter().map(|&ord| Text(&self.wanted[ord as usize])).collect();
            let asked: Vec<TermOrd> = ords.iter().copied().map(TermOrd::new).collect();
            good(self.terms.gather_terms(&asked, &mut out), self.name, "gather_terms");
            let found: Vec<Text<'_>> = out.slices().iter().map(Text).collect();
            self.same("gather_terms", &ords, &found, &wanted);
        }
        for past in [self.count(), u32::MAX] {
            let asked: Vec<TermOrd> = random.iter().copied().chain([past]).map(TermOrd::new).collect();
            let Err(error) = self.terms.gather_terms(&asked, &mut out) else {
                panic!("column \"{}\": gather_terms of ord {past}: no error", self.name);
            };
            self.check_no_such_ord("gather_terms", past, &error);
        }
    }

    fn check_each_term(&self) {
        let n = self.count();
        let mut rng = SplitMix64::named(self.name);
        let mut ranges = vec![(0, n), (0, 0), (n, n), (n.saturating_sub(1), n), (1.max(n), 0)];
        ranges.extend([(n.saturating_sub(3), n + 70), (n + 5, n + 9), (0, u32::MAX)]);
        for edge in [32, 64, 1024_u32].into_iter().filter(|edge| *edge < n) {
            ranges.extend([(edge, edge + 1), (edge - 1, n.min(edge + 2))]);
        }
        for _ in 0..6 {
            let (a, b) = (rng.below_u32(n), rng.below_u32(n));
            ranges.push((a.min(b), a.max(b)));
        }
        for (start, end) in ranges {
            let (ords, breaks) = (OrdRange::new(start, end), rng.place(40));
            self.check_run(ords, usize::MAX);
            self.check_run(ords, breaks);
        }
    }

    /// `each_term` over `ords`, with a callback that breaks after `calls` terms.
    fn check_run(&self, ords: OrdRange, calls: usize) {
        let mut next = ords.start;
        let operation = format!("each_term over {ords:?}");
        let result = self.terms.each_term(ords, &mut |ord, term| {
            let called = (next - ords.start) as usize;
            assert!(called <= calls, "column \"{}\": {operation}: continued after a break", self.name);
            self.same(&operation, &"the next ord", &ord.get(), &next);
            self.same(&operation, &next, &Text(term), &Text(&self.wanted[next as usize]));
            next += 1;
            if called == calls { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        good(result, self.name, &operation);
        let came = (next - ords.start) as usize;
        self.same(
            &operation,
            &"number of terms that came",
            &came,
            &ords.clip(self.count()).len().min(calls.saturating_add(1)),
        );
    }

    /// Byte strings to look up: terms, and neighbours of terms.
    fn probes(&self) -> Vec<Vec<u8>> {
        let mut rng = SplitMix64::named(self.name);
        let mut probes: BTreeSet<Vec<u8>> =
            [vec![], vec![0], vec![0xff], vec![0xff; 40], b"absent".to_vec()].into();
        let edges = [0, 1, 31, 32, 33, 63, 64, self.wanted.len().wrapping_sub(1)];
        let sample: Vec<usize> = match self.wanted.len() {
            n @ ..=SAMPLE => (0..n).collect(),
            n => edges.into_iter().chain((0..SAMPLE).map(|_| rng.place(n))).collect(),
        };
        for term in sample.iter().filter_map(|&at| self.wanted.get(at)) {
            probes.insert(term.clone());
            let mut near = term.clone();
            match rng.below(6) {
                0 => near.push(0),
                1 => near.push(0xff),
                2 => near.truncate(near.len() / 2),
                3 => drop(near.pop()),
                4 => near.iter_mut().last().into_iter().for_each(|last| *last = last.wrapping_add(1)),
                _ => near.iter_mut().last().into_iter().for_each(|last| *last = last.wrapping_sub(1)),
            }
            probes.insert(near);
        }
        probes.into_iter().collect()
    }

    fn check_probe(&self, probe: &[u8]) {
        let ceil = self.wanted.partition_point(|term| term.as_slice() < probe) as u32;
        let exact = self.wanted.get(ceil as usize).filter(|term| *term == probe).map(|_| TermOrd::new(ceil));
        let found = good(self.terms.seek_exact(probe), self.name, "seek_exact");
        self.same("seek_exact", &Text(probe), &found, &exact);
        let found = good(self.terms.seek_ceil(probe), self.name, "seek_ceil");
        self.same("seek_ceil", &Text(probe), &found, &TermOrd::new(ceil));
        let found = good(self.terms.place(probe), self.name, "place");
        self.same("place", &Text(probe), &found, &exact.ok_or(TermOrd::new(ceil)));
        let begin_so =
            self.wanted[ceil as usize..].iter().take_while(|term| term.starts_with(probe)).count() as u32;
        let found = good(self.terms.prefix(probe), self.name, "prefix");
        self.same_ords("prefix", &Text(probe), found, OrdRange::new(ceil, ceil + begin_so));
    }

    /// Any empty range is right if no term matches.
    fn same_ords(&self, operation: &str, asked: &dyn Debug, found: OrdRange, wanted: OrdRange) {
        if !(found.is_empty() && wanted.is_empty()) {
            self.same(operation, asked, &found, &wanted);
        }
    }

    fn check_ranges(&self, probes: &[Vec<u8>]) {
        let mut rng = SplitMix64::named(self.name);
        let mut pairs: Vec<(&[u8], &[u8])> =
            (0..24).map(|_| (rng.pick(probes).as_slice(), rng.pick(probes).as_slice())).collect();
        // Equal bounds: only one of the four combinations of bounds contains a term.
        pairs.extend((0..8).map(|_| rng.pick(probes).as_slice()).map(|one| (one, one)));
        for (low, high) in pairs {
            for low in [Bound::Unbounded, Bound::Included(low), Bound::Excluded(low)] {
                for high in [Bound::Unbounded, Bound::Included(high), Bound::Excluded(high)] {
                    self.check_range(low, high);
                }
            }
        }
    }

    fn check_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) {
        let below =
            |term: &Vec<u8>| !RangeBounds::<[u8]>::contains(&(low, Bound::Unbounded), term.as_slice());
        let not_above =
            |term: &Vec<u8>| RangeBounds::<[u8]>::contains(&(Bound::Unbounded, high), term.as_slice());
        let start = self.wanted.partition_point(below) as u32;
        let end = self.wanted.partition_point(not_above) as u32;
        let found = good(self.terms.term_range(low, high), self.name, "term_range");
        self.same_ords("term_range", &(low.map(Text), high.map(Text)), found, OrdRange::new(start, end));
    }
}
