//! The rows of a record: medians over the rounds.

use std::collections::BTreeMap;

use docvalues_benches::id_structures::Shape;
use docvalues_benches::ids::IdKind;

use super::grid::{Beside, Cell, Pace, Pages};
use super::serve::{A_SECOND, Answer, BULK, Looked};

/// New ids, or existing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Work {
    Absent,
    Present,
}

/// The figures of a structure in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) structure: String,
    /// The major version of the JDK.
    pub(crate) jdk: Option<u32>,
    pub(crate) ids: String,
    pub(crate) segments: u32,
    pub(crate) each: u32,
    pub(crate) pages: Pages,
    pub(crate) pace: Pace,
    pub(crate) beside: Beside,
    pub(crate) work: Work,
    /// CPU time of a document: the median of the rounds, the least and the most.
    pub(crate) cpu_us: [f64; 3],
    /// At 640 documents a second.
    pub(crate) percent_of_core: f64,
    /// Wall time of a bulk, over all rounds.
    pub(crate) bulk_p50_us: f64,
    pub(crate) bulk_p99_us: f64,
    pub(crate) bulk_max_us: f64,
    /// Page faults of a document that read the disk, if the pages are cold.
    pub(crate) faults: Option<f64>,
    /// The wall time of opening all segments, and its page faults that read the disk, if the pages are cold.
    pub(crate) open_ms: Option<f64>,
    pub(crate) open_faults: Option<f64>,
    /// Documents looked up, over all rounds.
    pub(crate) documents: u64,
    /// Documents added beside, a second.
    pub(crate) ingested_a_second: Option<f64>,
    /// MiB of vectors that searches read, a second.
    pub(crate) streamed_mib_a_second: Option<f64>,
}

impl Row {
    pub(crate) fn shape(&self) -> Option<Shape> {
        let kind: IdKind = self.ids.parse().ok()?;
        Some(Shape { kind, segments: self.segments, each: self.each })
    }

    /// The name in tables.
    pub(crate) fn name(&self) -> String {
        match self.jdk {
            Some(jdk) => format!("{}, JDK {jdk}", self.structure),
            None => self.structure.clone(),
        }
    }
}

/// A measurement: the answer of a contender in a round, and what ran beside it.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) structure: &'static str,
    pub(crate) jdk: Option<u32>,
    pub(crate) cell: Cell,
    pub(crate) answer: Answer,
    pub(crate) seconds: f64,
    pub(crate) searches: u64,
}

/// A row for each structure, cell and work.
pub(crate) fn rows(measured: &[Measured]) -> Vec<Row> {
    let mut groups: BTreeMap<_, Vec<&Measured>> = BTreeMap::new();
    // In the order of the measurements.
    let cell = |one: &Measured| measured.iter().position(|other| other.cell == one.cell);
    let contender = |one: &Measured| {
        measured.iter().position(|other| (other.structure, other.jdk) == (one.structure, one.jdk))
    };
    for one in measured {
        groups.entry((cell(one), contender(one))).or_default().push(one);
    }
    let works = [Work::Absent, Work::Present];
    groups.values().flat_map(|group| works.into_iter().filter_map(move |work| row(group, work))).collect()
}

fn row(group: &[&Measured], work: Work) -> Option<Row> {
    let first = group.first()?;
    let Cell { pages, shape, pace, beside } = first.cell;
    let looked: Vec<&Looked> = group
        .iter()
        .map(|one| if work == Work::Absent { &one.answer.absent } else { &one.answer.present })
        .filter(|looked| looked.documents > 0)
        .collect();
    let mut cpu: Vec<f64> = looked.iter().map(|one| one.cpu_ns / 1e3 / one.documents as f64).collect();
    cpu.sort_by(f64::total_cmp);
    let median = *cpu.get(cpu.len() / 2)?;
    let mut bulks: Vec<u64> = looked.iter().flat_map(|one| one.bulks_ns.iter().copied()).collect();
    bulks.sort_unstable();
    let quantile = |of: f64| bulks[((bulks.len() - 1) as f64 * of).round() as usize] as f64 / 1e3;
    let documents: u64 = looked.iter().map(|one| one.documents).sum();
    let faults: u64 = looked.iter().map(|one| one.faults).sum();
    let mut opens: Vec<&Answer> = group.iter().map(|one| &one.answer).collect();
    opens.sort_by_key(|answer| answer.open_ns);
    let open = opens.get(opens.len() / 2).filter(|_| pages == Pages::Cold);
    let seconds: f64 = group.iter().map(|one| one.seconds).sum();
    let a_second = |count: u64| count as f64 / seconds;
    let ingested = || a_second(group.iter().map(|one| one.answer.ingested).sum());
    let searches = || a_second(group.iter().map(|one| one.searches).sum()) * 64.0;
    Some(Row {
        structure: first.structure.to_owned(),
        jdk: first.jdk,
        ids: shape.kind.name().to_owned(),
        segments: shape.segments,
        each: shape.each,
        pages,
        pace,
        beside,
        work,
        cpu_us: [median, cpu[0], cpu[cpu.len() - 1]],
        percent_of_core: median * f64::from(BULK * A_SECOND) / 1e4,
        bulk_p50_us: quantile(0.5),
        bulk_p99_us: quantile(0.99),
        bulk_max_us: quantile(1.0),
        faults: (pages == Pages::Cold).then_some(faults as f64 / documents as f64),
        open_ms: open.map(|answer| answer.open_ns as f64 / 1e6),
        open_faults: open.map(|answer| answer.open_faults as f64),
        documents,
        ingested_a_second: beside.has_ingest().then(ingested),
        streamed_mib_a_second: beside.has_searches().then(searches),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_medians_of_the_rounds() {
        let shape = Shape { kind: IdKind::Seq, segments: 2, each: 3 };
        let cell = Cell { pages: Pages::Cold, shape, pace: Pace::Paced, beside: Beside::Both };
        let measured = |structure, cpu_ns: f64, bulk| {
            let looked = Looked { documents: 20, cpu_ns, faults: 5, bulks_ns: vec![bulk, 1_000] };
            let present = Looked::default();
            let answer =
                Answer { open_ns: bulk * 1_000, open_faults: 3, ingested: 64, absent: looked, present };
            Measured { structure, jdk: None, cell, answer, seconds: 2.0, searches: 10 }
        };
        let all = [
            measured("b", 40_000.0, 9_000),
            measured("a", 1_000.0, 2_000),
            measured("b", 20_000.0, 8_000),
            measured("b", 80_000.0, 7_000),
        ];
        let rows = rows(&all);
        // In the order of the measurements, and none for existing ids, of which none were looked up.
        let names: Vec<&str> = rows.iter().map(|row| row.structure.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert_eq!(rows[0].cpu_us, [2.0, 1.0, 4.0]);
        assert!((rows[0].percent_of_core - 2.0 * 640.0 / 1e4).abs() < 1e-9);
        assert_eq!((rows[0].bulk_p50_us, rows[0].bulk_max_us), (7.0, 9.0));
        assert_eq!((rows[0].faults, rows[0].documents), (Some(0.25), 60));
        assert_eq!((rows[0].open_ms, rows[0].open_faults), (Some(8.0), Some(3.0)));
        assert_eq!((rows[0].ingested_a_second, rows[0].streamed_mib_a_second), (Some(32.0), Some(320.0)));
    }
}
