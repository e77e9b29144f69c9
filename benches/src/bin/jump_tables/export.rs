//! The posts' export: four fields of documents in random order, run by run.

use std::time::{Duration, Instant};

use docvalues::DocId;

use crate::Outcome;
use crate::corpus::{Contender, Corpus};
use crate::more::Ratio;
use crate::work;

/// Documents that the posts exported.
pub(crate) const EXPORTED: u32 = 52_653;

/// Documents that are exported without jump tables if all of them would take minutes; the time is scaled up.
pub(crate) const SAMPLED: usize = 1_000;

/// From this number of documents on, the contender without tables takes minutes.
pub(crate) const LARGE: u32 = 20_000_000;

/// An export, run by run.
pub(crate) struct Export {
    pub(crate) rows: usize,
    /// Rows that the contender without tables exports in each run, and one by one.
    pub(crate) walked: [usize; 2],
    /// Four runs of each contender, the first with a cold page cache.
    pub(crate) runs: [[Run; 4]; 3],
    /// Value by value in the order of the request, with a warm page cache; without tables, scaled up from a sample.
    pub(crate) one_by_one: [Duration; 3],
    /// The time of an export with tables built on first use, divided by one with tables in the file, without the sort.
    pub(crate) built: Ratio,
}

/// The times of a run.
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
    let (mut rows, mut walked, mut texts) = (0, [0; 2], Vec::new());
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        let segment = corpus.open(contender, true)?;
        let (mut out, mut docs) = (Vec::new(), Vec::new());
        let few =
            |docs: &[DocId], is_sample: bool| docs.len().min(if is_sample { SAMPLED } else { usize::MAX });
        let is_walk = contender == Contender::Walk;
        for run in &mut runs[at] {
            let began = Instant::now();
            docs = work::sorted(&segment, &corpus.asked, &hits)?;
            run.sort = began.elapsed();
            let few = few(&docs, is_walk && corpus.docs >= LARGE);
            work::export(&segment, &corpus.asked, &docs[..few], &mut out)?;
            run.fetch = (began.elapsed() - run.sort).mul_f64(docs.len() as f64 / few.max(1) as f64);
            eprintln!(
                "  {}: {:.1} s for {few} rows",
                contender.name(),
                (began.elapsed() - run.sort).as_secs_f64()
            );
            walked[0] = if is_walk { few } else { walked[0] };
        }
        rows = docs.len();
        let few = few(&docs, is_walk);
        walked[1] = if is_walk { few } else { walked[1] };
        let (began, mut values) = (Instant::now(), Vec::new());
        work::export_one_by_one(&segment, &corpus.asked, &docs[..few], &mut values)?;
        one_by_one[at] = began.elapsed().mul_f64(docs.len() as f64 / few.max(1) as f64);
        texts.extend([out, values]);
    }
    // Some are samples, which are prefixes of the others.
    let shortest = texts.iter().map(Vec::len).min().unwrap_or(0);
    if texts.iter().any(|text| text[..shortest] != texts[0][..shortest]) {
        return Err("export: expected equal rows, found contenders with different ones".into());
    }
    Ok(Export { rows, walked, runs, one_by_one, built: built(corpus, &hits)? })
}

fn built(corpus: &Corpus, hits: &[DocId]) -> Outcome<Ratio> {
    let segments = [corpus.open(Contender::Baked, false)?, corpus.open(Contender::Built, false)?];
    let docs = work::sorted(&segments[0], &corpus.asked, hits)?;
    let mut out = Vec::new();
    Ratio::of(|at| work::export(&segments[at], &corpus.asked, &docs, &mut out))
}
