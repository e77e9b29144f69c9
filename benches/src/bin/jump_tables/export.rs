//! The posts' export: four fields of documents in no order, run by run.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::corpus::{Contender, Corpus};
use crate::work;

/// Documents that the posts exported.
pub(crate) const EXPORTED: u32 = 52_653;

/// Documents that are exported one by one without jump tables, in the order asked for: the time is scaled up to all.
pub(crate) const SAMPLED: usize = 1_000;

/// An export, run by run.
pub(crate) struct Export {
    pub(crate) rows: usize,
    /// Of each contender, four runs: the first one with nothing in the page cache.
    pub(crate) runs: [[Run; 4]; 3],
    /// Value by value in the order asked for, everything in the page cache; without tables scaled up from a sample.
    pub(crate) one_by_one: [Duration; 3],
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) sort: Duration,
    pub(crate) fetch: Duration,
}

pub(crate) fn run(corpus: &Corpus) -> Outcome<Export> {
    eprintln!("export");
    let hits = corpus.hits(EXPORTED.min(corpus.docs), 0);
    let mut runs = [[Run::default(); 4]; 3];
    let mut one_by_one = [Duration::ZERO; 3];
    let (mut rows, mut first, mut sampled) = (0, None, None);
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        let segment = corpus.open(contender, true)?;
        let (mut out, mut docs) = (Vec::new(), Vec::new());
        for run in &mut runs[at] {
            let began = Instant::now();
            docs = work::sorted(&segment, &corpus.asked, &hits)?;
            run.sort = began.elapsed();
            work::export(&segment, &corpus.asked, &docs, &mut out)?;
            run.fetch = began.elapsed() - run.sort;
        }
        rows = docs.len();
        if *first.get_or_insert_with(|| out.clone()) != out {
            return Err("export: the contenders' rows differ".into());
        }
        let sample = &docs[..docs.len().min(SAMPLED)];
        let asked = if contender == Contender::Walk { sample } else { &docs };
        let began = Instant::now();
        work::export_one_by_one(&segment, &corpus.asked, asked, &mut out)?;
        one_by_one[at] = began.elapsed().mul_f64(docs.len() as f64 / asked.len().max(1) as f64);
        let lines = out.split_inclusive(|byte| *byte == b'\n').take(sample.len());
        let lines = lines.flatten().copied().collect::<Vec<u8>>();
        if *sampled.get_or_insert_with(|| lines.clone()) != lines {
            return Err("export, value by value: the contenders' rows differ".into());
        }
    }
    Ok(Export { rows, runs, one_by_one })
}
