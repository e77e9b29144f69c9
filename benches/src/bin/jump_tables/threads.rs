//! Concurrent requests of several threads.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use docvalues::DocId;

use crate::Outcome;
use crate::corpus::{Contender, Corpus};
use crate::measure::{ALL, Sample};
use crate::work::Work;

/// Hits of a request.
pub(crate) const HITS: u32 = 1_000;

/// Requests a second of each contender, and their times.
pub(crate) struct Concurrent {
    pub(crate) threads: u32,
    pub(crate) contenders: [(f64, Sample); ALL],
}

/// Measures production requests from 1, 2, 4, 8 and 16 threads. Each thread opens the contender, and warms it by a request
/// of each.
pub(crate) fn run(corpus: &Corpus, long: Duration) -> Outcome<Vec<Concurrent>> {
    eprintln!("threads");
    let hits: Vec<_> = (0..16).map(|request| corpus.hits(HITS.min(corpus.docs), request)).collect();
    let measure = |threads: u32, contender: Contender| {
        let (next, warm) = (AtomicU32::new(0), Barrier::new(threads as usize));
        let run = || {
            let engine = corpus.open(contender, false).expect("as before");
            let ask = |hits: &[DocId]| {
                engine.run(Work::Production, &corpus.asked, hits).expect("as before");
            };
            hits.iter().for_each(|hits| ask(hits));
            warm.wait();
            let (mut times, began) = (Vec::new(), Instant::now());
            while began.elapsed() < long {
                let request = next.fetch_add(1, Ordering::Relaxed) as usize % hits.len();
                let start = Instant::now();
                ask(&hits[request]);
                times.push(start.elapsed());
            }
            (times.len() as f64 / began.elapsed().as_secs_f64(), times)
        };
        let (rates, times): (Vec<f64>, Vec<Vec<Duration>>) = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).unzip()
        });
        (rates.iter().sum(), Sample::of(times.concat()))
    };
    let each = |threads| Concurrent {
        threads,
        contenders: Contender::ALL.map(|contender| measure(threads, contender)),
    };
    Ok([1, 2, 4, 8, 16].map(each).into())
}
