//! Questions that the posts left open: touched pages, many hits in pairs, and concurrent requests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use docvalues::search::{Docs, Search};

use crate::Outcome;
use crate::corpus::{Contender, Corpus};
use crate::export::{EXPORTED, LARGE, SAMPLED};
use crate::measure::{Sample, agree, opened};
use crate::work::{self, Work};

/// Bytes of a granule, the unit of reads and checksums.
pub(crate) const PAGE: u64 = 4096;

/// Hits of the requests whose pages are counted, and of concurrent requests.
pub(crate) const HITS: u32 = 1_000;

/// The pages of the file that a workload touches, by contender.
pub(crate) struct Pages {
    pub(crate) work: Work,
    pub(crate) pages: [u64; 3],
}

/// Counts pages of newly opened segments.
pub(crate) fn pages(corpus: &Corpus, work: Work) -> Outcome<Pages> {
    let mut pages = [0; 3];
    for (contender, pages) in Contender::ALL.into_iter().zip(&mut pages) {
        let segment = corpus.open(contender, false)?;
        let before = segment.bytes_touched();
        if work == Work::Export {
            let docs = work::sorted(&segment, &corpus.asked, &corpus.hits(EXPORTED.min(corpus.docs), 0))?;
            let few = if corpus.docs < LARGE { docs.len() } else { docs.len().min(SAMPLED) };
            work::export(&segment, &corpus.asked, &docs[..few], &mut Vec::new())?;
        } else {
            work.run(&segment, &corpus.asked, &corpus.hits(HITS.min(corpus.docs), 0))?;
        }
        *pages = (segment.bytes_touched() - before).div_ceil(PAGE);
    }
    Ok(Pages { work, pages })
}

/// The time of a request with tables in the file, divided by one without, in pairs.
pub(crate) struct Pairs {
    pub(crate) work: Work,
    pub(crate) hits: usize,
    pub(crate) ratio: Ratio,
}

/// Measures requests for one of `share` documents in pairs.
pub(crate) fn pairs(corpus: &Corpus, work: Work, share: u32) -> Outcome<Pairs> {
    let segments = [Contender::Walk, Contender::Baked].map(|contender| corpus.open(contender, false));
    let [walk, baked] = segments;
    let segments = [walk?, baked?];
    let hits = corpus.hits(corpus.docs / share, 0);
    let ratio = Ratio::of(|at| work.run(&segments[at], &corpus.asked, &hits).map(|_| ()))?;
    Ok(Pairs { work, hits: hits.len(), ratio })
}

/// The ratio of two times: the median of pairs, and its 97 % interval.
pub(crate) struct Ratio(pub(crate) [f64; 3]);

impl Ratio {
    /// Runs 0 and 1 in turn, and returns the ratio of 1 to 0.
    pub(crate) fn of(mut run: impl FnMut(usize) -> Outcome) -> Outcome<Ratio> {
        /// For this number of pairs, the median lies between the sixth and the sixteenth, whatever the distribution.
        const PAIRS: usize = 21;
        let mut ratios = Vec::new();
        for pair in 0..=PAIRS {
            let mut times = [Duration::ZERO; 2];
            for turn in 0..2 {
                let at = (turn + pair) % 2;
                let began = Instant::now();
                run(at)?;
                times[at] = began.elapsed();
            }
            // The first pair is a warm-up.
            if pair > 0 {
                ratios.push(times[1].as_secs_f64() / times[0].as_secs_f64());
            }
        }
        ratios.sort_unstable_by(f64::total_cmp);
        Ok(Ratio([ratios[10], ratios[5], ratios[15]]))
    }
}

/// A workload with a limit of results.
pub(crate) struct Limited {
    pub(crate) work: Work,
    pub(crate) limit: usize,
    pub(crate) hits: usize,
    pub(crate) samples: [Sample; 3],
}

/// Facets and groups of a hundredth of all documents, or of 100,000, with one to ten thousand results; production
/// requests of fewer hits, with pages of none to a thousand documents.
pub(crate) fn limits(corpus: &Corpus, work: Work, most_hits: u32) -> Outcome<Vec<Limited>> {
    const REQUESTS: u32 = 9;
    const MOST: u32 = 100_000;
    let segments = opened(corpus)?;
    let (limits, count): (&[usize], u32) = match work {
        Work::Production => (&[0, 20, 100, 1_000], HITS.min(corpus.docs)),
        _ => (&[1, 20, 100, 1_000, 10_000], (corpus.docs / 100).min(MOST).min(most_hits)),
    };
    let mut all = Vec::new();
    for &limit in limits {
        let (mut samples, mut sums, mut hits) = (Vec::new(), Vec::new(), Vec::new());
        for segment in &segments {
            let search = Search::new(segment).threads(1);
            let (mut times, mut answers) = (Vec::new(), Vec::new());
            for request in 0..=REQUESTS {
                hits = corpus.hits(count, request);
                let (began, docs) = (Instant::now(), Docs::list(&hits)?);
                answers.push(match work {
                    Work::Facets => work::facets(&search, &corpus.asked, docs, limit)?,
                    Work::Production => work::production(&search, &corpus.asked, &hits, limit)?,
                    _ => work::groups(&search, docs, limit)?,
                });
                if request > 0 {
                    times.push(began.elapsed());
                }
            }
            samples.push(Sample::of(times));
            sums.push(answers);
        }
        agree(work, <[_; 3]>::try_from(sums).unwrap_or_default())?;
        let samples = <[_; 3]>::try_from(samples).unwrap_or_default();
        all.push(Limited { work, limit, hits: hits.len(), samples });
    }
    Ok(all)
}

/// Concurrent requests of several threads.
pub(crate) struct SideBySide {
    pub(crate) threads: u32,
    /// Requests a second, and their times.
    pub(crate) contenders: [(f64, Sample); 3],
}

/// Measures production requests from 1, 2, 4, 8 and 16 threads.
pub(crate) fn side_by_side(corpus: &Corpus, long: Duration) -> Outcome<Vec<SideBySide>> {
    eprintln!("side by side");
    let segments = opened(corpus)?;
    let hits: Vec<_> = (0..16).map(|request| corpus.hits(HITS.min(corpus.docs), request)).collect();
    for hits in &hits {
        let sums = [0, 1, 2].map(|at| {
            Work::Production.run(&segments[at], &corpus.asked, hits).map_err(|error| error.to_string())
        });
        agree(Work::Production, sums)?;
    }
    let mut all = Vec::new();
    for threads in [1, 2, 4, 8, 16] {
        let mut contenders = Vec::new();
        for segment in &segments {
            let (next, began) = (AtomicU32::new(0), Instant::now());
            let run = || {
                let mut times = Vec::new();
                while began.elapsed() < long {
                    let request = next.fetch_add(1, Ordering::Relaxed) as usize % hits.len();
                    let start = Instant::now();
                    Work::Production.run(segment, &corpus.asked, &hits[request]).expect("as before");
                    times.push(start.elapsed());
                }
                times
            };
            let times: Vec<Duration> = thread::scope(|scope| {
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
                workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
            });
            let rate = times.len() as f64 / began.elapsed().as_secs_f64();
            contenders.push((rate, Sample::of(times)));
        }
        let [walk, built, baked] = <[_; 3]>::try_from(contenders).unwrap_or_default();
        all.push(SideBySide { threads, contenders: [walk, built, baked] });
    }
    Ok(all)
}
