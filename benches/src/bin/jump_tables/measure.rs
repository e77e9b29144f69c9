//! Alternating requests, and statistics of their times.

use std::time::{Duration, Instant};

use docvalues_testkit::rng::SplitMix64;

use crate::corpus::{Contender, Corpus};
use crate::work::Work;
use crate::{Arguments, Outcome};

/// The number of contenders.
pub(crate) const ALL: usize = Contender::ALL.len();

/// The times of requests, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<Duration>);

impl Sample {
    pub(crate) fn of(mut times: Vec<Duration>) -> Sample {
        times.sort_unstable();
        Sample(times)
    }

    /// A percentile of the times: 0 for the least, 100 for the greatest.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last * percent).div_ceil(100)).copied().unwrap_or_default()
    }
}

/// The time limit of the requests of a magnitude for each contender,
const LONGEST: Duration = Duration::from_secs(10);

/// and the least number of requests.
const FEWEST: usize = 1;

/// All requests run once before they are measured if one of them takes less: each touches other terms, whose bytes are
/// verified at their first touch.
const FAST: Duration = Duration::from_millis(20);

/// A magnitude of hits, the times of each contender, and the block headers that an iterator reads for the last request.
pub(crate) struct Bucket {
    /// The decimal logarithm of the hits.
    pub(crate) magnitude: u32,
    pub(crate) samples: [Sample; ALL],
    pub(crate) headers: [[u64; 2]; ALL],
}

/// A workload, from few hits to many.
pub(crate) struct ByHits {
    pub(crate) work: Work,
    pub(crate) buckets: Vec<Bucket>,
}

/// Measures requests of each magnitude of hits, one contender after the other: two of them read the same file, and
/// must not profit from what the other left in the caches. The first request of each is a warm-up.
pub(crate) fn by_hits(corpus: &Corpus, work: Work, arguments: &Arguments) -> Outcome<ByHits> {
    eprintln!("{}", work.name());
    let engines = Contender::ALL.into_iter().map(|contender| corpus.open(contender, false));
    let engines = engines.collect::<Outcome<Vec<_>>>()?;
    let mut buckets = Vec::new();
    for magnitude in 1..=corpus.docs.ilog10() {
        let (mut samples, mut headers) = (<[Sample; ALL]>::default(), [[0; 2]; ALL]);
        let mut sums: [Vec<u64>; ALL] = Default::default();
        for turn in 0..ALL {
            let at = (turn + magnitude as usize) % ALL;
            let mut random = SplitMix64::new(u64::from(magnitude));
            // Half of them are below the middle of the magnitude.
            let mut count = || {
                let spread = 10_f64.powf(random.below(1_000) as f64 / 1_000.0);
                ((f64::from(10_u32.pow(magnitude)) * spread) as u32).min(corpus.docs)
            };
            let requests: Vec<(u32, u32)> =
                (0..arguments.requests).map(|request| (count(), request)).collect();
            let run = |&(count, request): &(u32, u32)| -> Outcome<(Duration, u64)> {
                let hits = corpus.hits(count, request);
                let began = Instant::now();
                let sum = engines[at].run(work, &corpus.asked, &hits)?;
                Ok((began.elapsed(), sum))
            };
            // The very first one verifies bytes, or builds tables.
            run(&requests[0])?;
            if run(&requests[0])?.0 < FAST {
                requests.iter().try_for_each(|request| run(request).map(drop))?;
            }
            let (mut times, start) = (Vec::new(), Instant::now());
            for request in &requests {
                if times.len() >= FEWEST && start.elapsed() > LONGEST {
                    break;
                }
                let before = engines[at].headers();
                let (time, sum) = run(request)?;
                times.push(time);
                sums[at].push(sum);
                let after = engines[at].headers();
                headers[at] = [after[0] - before[0], after[1] - before[1]];
            }
            samples[at] = Sample::of(times);
        }
        let fewest = sums.iter().map(Vec::len).min().unwrap_or(0);
        agree(work, &sums.map(|sums| sums[..fewest].to_vec()))?;
        buckets.push(Bucket { magnitude, samples, headers });
    }
    Ok(ByHits { work, buckets })
}

pub(crate) fn agree<T: PartialEq + std::fmt::Debug>(work: Work, answers: &[T]) -> Outcome {
    match answers.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(()),
        false => Err(format!("{}: the contenders answer {answers:?}", work.name()).into()),
    }
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

/// The time of a request with tables, divided by one without, in the layout of Lucene, in pairs.
pub(crate) struct Pairs {
    pub(crate) work: Work,
    pub(crate) hits: usize,
    pub(crate) ratio: Ratio,
}

/// Measures requests with about `count` hits in pairs, `number` different ones at a time if they take microseconds.
pub(crate) fn pairs(corpus: &Corpus, work: Work, count: u32, number: u32) -> Outcome<Pairs> {
    let engines = [corpus.open(Contender::Lucene7, false)?, corpus.open(Contender::Lucene8, false)?];
    let number = if count < corpus.docs / 2 { number } else { 1 };
    let requests: Vec<_> = (0..number).map(|request| corpus.hits(count, request)).collect();
    let run =
        |at: usize| requests.iter().try_for_each(|hits| engines[at].run(work, &corpus.asked, hits).map(drop));
    let ratio = Ratio::of(run)?;
    let hits = requests.iter().map(Vec::len).sum::<usize>() / requests.len();
    Ok(Pairs { work, hits, ratio })
}
