//! The posts' export: four fields of documents in random order.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::corpus::{Contender, Corpus, Engine};
use crate::measure::{ALL, Ratio, Sample};
use crate::work;

/// Documents that the posts exported.
pub(crate) const EXPORTED: u32 = 52_653;

/// Documents that are exported by walks over the small blocks of docvalues if all of them would take minutes; the time
/// is scaled up.
const SAMPLED: usize = 1_000;

/// From this number of documents on, that takes minutes.
const LARGE: u32 = 20_000_000;

/// Warm runs.
const RUNS: usize = 3;

/// An export.
pub(crate) struct Export {
    pub(crate) rows: usize,
    /// Rows that each contender exports; fewer are scaled up.
    pub(crate) measured: [usize; ALL],
    /// Sorting the documents, which is the same for all.
    pub(crate) sort: Duration,
    /// The first run after the segment was dropped from the page cache, and the median of warm ones, without the sort.
    pub(crate) cold: [Option<Duration>; ALL],
    pub(crate) warm: [Duration; ALL],
    /// docvalues, value by value in the order of the request, as iterators read.
    pub(crate) one_by_one: Duration,
    /// Block headers of a row, of presence and of numbers.
    pub(crate) headers: [[f64; 2]; ALL],
    /// Pages of 4 KiB that the first documents touch in a newly opened segment.
    pub(crate) pages: [Option<u64>; ALL],
    /// The time of an export with tables built on first use, divided by one with tables in the file.
    pub(crate) built: Ratio,
}

pub(crate) fn run(corpus: &Corpus) -> Outcome<Export> {
    eprintln!("export");
    let hits = corpus.hits(EXPORTED.min(corpus.docs), 0);
    let segment = corpus.segment()?;
    let began = Instant::now();
    let docs = work::sorted(&segment, &corpus.asked, &hits)?;
    let mut export = Export {
        rows: docs.len(),
        measured: [docs.len(); ALL],
        sort: began.elapsed(),
        cold: [None; ALL],
        warm: [Duration::ZERO; ALL],
        one_by_one: Duration::ZERO,
        headers: [[0.0; 2]; ALL],
        pages: [None; ALL],
        built: Ratio([0.0; 3]),
    };
    let mut texts = Vec::new();
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        let is_sample = contender == Contender::Ignored && corpus.docs >= LARGE;
        let some = &docs[..docs.len().min(if is_sample { SAMPLED } else { usize::MAX })];
        let scaled = |time: Duration| time.mul_f64(docs.len() as f64 / some.len().max(1) as f64);
        let mut out = Vec::new();
        let mut engine = corpus.open(contender, !contender.iterates())?;
        let mut times = Vec::new();
        for run in 0..=RUNS {
            let (began, before) = (Instant::now(), engine.headers());
            engine.export(&corpus.asked, some, &mut out)?;
            let time = scaled(began.elapsed());
            let of_row = |at: usize, engine: &Engine<'_>| {
                (engine.headers()[at] - before[at]) as f64 / some.len().max(1) as f64
            };
            export.headers[at] = [0, 1].map(|at| of_row(at, &engine));
            if run > 0 {
                times.push(time);
            } else if let Engine::Segment(_) = engine {
                export.cold[at] = Some(time);
            }
        }
        export.warm[at] = Sample::of(times).percentile(50);
        export.measured[at] = some.len();
        engine = corpus.open(contender, false)?;
        if let Engine::Segment(segment) = &engine {
            let before = segment.bytes_touched();
            work::export(segment, &corpus.asked, &docs[..docs.len().min(SAMPLED)], &mut Vec::new())?;
            export.pages[at] = Some((segment.bytes_touched() - before).div_ceil(4_096));
        }
        texts.push(out);
    }
    let mut values = Vec::new();
    work::export_one_by_one(&segment, &corpus.asked, &docs, &mut values)?;
    let began = Instant::now();
    work::export_one_by_one(&segment, &corpus.asked, &docs, &mut values)?;
    export.one_by_one = began.elapsed();
    texts.push(values);
    // Some are samples, which are prefixes of the others.
    let shortest = texts.iter().map(Vec::len).min().unwrap_or(0);
    if texts.iter().any(|text| text[..shortest] != texts[0][..shortest]) {
        return Err("export: expected equal rows, found contenders with different ones".into());
    }
    let engines = [corpus.open(Contender::Baked, false)?, corpus.open(Contender::Built, false)?];
    let mut out = Vec::new();
    export.built = Ratio::of(|at| engines[at].export(&corpus.asked, &docs, &mut out))?;
    Ok(export)
}
