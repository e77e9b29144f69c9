//! Alternating requests, and statistics of their times.

use std::time::{Duration, Instant};

use docvalues::Segment;
use docvalues_testkit::rng::SplitMix64;

use crate::corpus::{Contender, Corpus};
use crate::work::Work;
use crate::{Arguments, Outcome};

/// The times of requests, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<Duration>);

impl Sample {
    pub(crate) fn of(mut times: Vec<Duration>) -> Sample {
        times.sort_unstable();
        Sample(times)
    }

    fn add(&mut self, time: Duration) {
        let place = self.0.partition_point(|other| *other <= time);
        self.0.insert(place, time);
    }

    /// The number of times.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A percentile of the times: 0 for the least, 100 for the greatest.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last * percent).div_ceil(100)).copied().unwrap_or_default()
    }
}

/// The time limit of the requests of a magnitude for each contender,
const LONGEST: Duration = Duration::from_secs(20);

/// and the least number of requests.
const FEWEST: u32 = 1;

/// A magnitude of hits, and the times of each contender.
pub(crate) struct Bucket {
    /// The decimal logarithm of the hits.
    pub(crate) magnitude: u32,
    pub(crate) samples: [Sample; 3],
}

/// A workload, from few hits to many.
pub(crate) struct ByHits {
    pub(crate) work: Work,
    pub(crate) buckets: Vec<Bucket>,
}

/// Measures requests of each magnitude of hits, one contender after the other: two of them read the same file, and
/// must not profit from what the other left in the caches. The first request of each is a warm-up.
pub(crate) fn by_hits(corpus: &Corpus, work: Work, arguments: &Arguments) -> Outcome<ByHits> {
    let &Arguments { requests, most_hits, .. } = arguments;
    eprintln!("{}", work.name());
    let segments = opened(corpus)?;
    let mut buckets = Vec::new();
    for magnitude in 1..=corpus.docs.min(most_hits).ilog10() {
        let mut samples: [Sample; 3] = Default::default();
        let mut sums: [Vec<u64>; 3] = Default::default();
        for turn in 0..3 {
            let at = (turn + magnitude as usize) % 3;
            let (mut random, start) = (SplitMix64::new(u64::from(magnitude)), Instant::now());
            for request in 0..=requests {
                if request > FEWEST && start.elapsed() > LONGEST {
                    break;
                }
                // Half of them are below the middle of the magnitude.
                let spread = 10_f64.powf(random.below(1_000) as f64 / 1_000.0);
                let count = f64::from(10_u32.pow(magnitude)) * spread;
                let hits = corpus.hits((count as u32).min(corpus.docs).min(most_hits), request);
                let began = Instant::now();
                sums[at].push(work.run(&segments[at], &corpus.asked, &hits)?);
                if request > 0 {
                    samples[at].add(began.elapsed());
                }
            }
        }
        let fewest = sums.iter().map(Vec::len).min().unwrap_or(0);
        agree(work, sums.map(|sums| sums[..fewest].to_vec()))?;
        buckets.push(Bucket { magnitude, samples });
    }
    Ok(ByHits { work, buckets })
}

pub(crate) fn opened(corpus: &Corpus) -> Outcome<Vec<Segment>> {
    Contender::ALL.into_iter().map(|contender| corpus.open(contender, false)).collect()
}

pub(crate) fn agree<T: PartialEq + std::fmt::Debug>(work: Work, answers: [T; 3]) -> Outcome {
    let same = answers[0] == answers[1] && answers[1] == answers[2];
    if same { Ok(()) } else { Err(format!("{}: the contenders answer {answers:?}", work.name()).into()) }
}
