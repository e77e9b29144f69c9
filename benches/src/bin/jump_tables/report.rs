//! The tables of a run.

use std::time::Duration;

use docvalues_benches::record::{Run, figure};

use crate::corpus::{Contender, Corpus};
use crate::export::Export;
use crate::lucene::{Beside, IN_PLACE};
use crate::measure::{Bucket, ByHits, Pairs, Ratio};
use crate::threads::Concurrent;
use crate::work::{PARTS, Work};

/// The measurements of a run.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) export: Option<Export>,
    pub(crate) by_hits: Vec<ByHits>,
    pub(crate) pairs: Vec<Pairs>,
    pub(crate) lucene: Vec<Beside>,
    pub(crate) threads: Vec<Concurrent>,
}

impl Report {
    /// Adds a table for each measurement to the run.
    pub(crate) fn tables(&self, corpus: &Corpus, run: &mut Run) {
        run.value("documents", &corpus.docs.to_string());
        run.value("segment", &format!("{} MiB", corpus.bytes >> 20));
        let blocks = blocks(corpus);
        if blocks.len() > 1 {
            run.table("blocks", blocks);
        }
        if let Some(found) = &self.export {
            run.table("export", export(found));
            let Ratio([median, low, high]) = found.built;
            run.value("built-beside-baked", &format!("{median:.3} ({low:.3} to {high:.3})"));
        }
        for by_hits in &self.by_hits {
            run.table(by_hits.work.name(), times(by_hits));
            run.table(&format!("{}-headers", by_hits.work.name()), headers(by_hits));
        }
        if let Some(rows) = together(&self.by_hits) {
            run.table("parts", rows);
        }
        if !self.pairs.is_empty() {
            run.table("pairs", pairs(&self.pairs));
        }
        if !self.lucene.is_empty() {
            let in_place = self.lucene.iter().any(|beside| beside.name.ends_with(IN_PLACE));
            run.table(if in_place { "in place" } else { "lucene" }, lucene(&self.lucene));
        }
        if !self.threads.is_empty() {
            run.table("threads", threads(&self.threads));
        }
    }
}

fn head<'a>(first: &'a str, rest: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    std::iter::once(first).chain(rest).map(str::to_owned).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    Contender::ALL.into_iter().map(Contender::name)
}

fn millis(time: Duration) -> String {
    figure(time.as_secs_f64() * 1e3)
}

/// The blocks of the columns that Lucene 7 walks.
fn blocks(corpus: &Corpus) -> Vec<Vec<String>> {
    let walked = corpus.columns().blocks().filter(|(_, blocks)| *blocks != [0; 2]);
    let rows = walked.map(|(name, [presence, numbers])| {
        vec![format!("`{name}`"), presence.to_string(), numbers.to_string()]
    });
    std::iter::once(head("column", ["presence", "numbers"])).chain(rows).collect()
}

fn export(export: &Export) -> Vec<Vec<String>> {
    let columns =
        ["cold, ms", "warm, ms", "headers a row: presence", "numbers", "pages of the first 1,000 rows"];
    let mut rows = vec![head("", columns)];
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        let sampled = export.measured[at] < export.rows;
        let note =
            if sampled { format!(" ({} rows, scaled up)", export.measured[at]) } else { String::new() };
        let [presence, numbers] = export.headers[at].map(figure);
        let cell = |number: Option<String>| number.unwrap_or_else(|| "–".to_owned());
        rows.push(vec![
            format!("{}{note}", contender.name()),
            cell(export.cold[at].map(millis)),
            millis(export.warm[at]),
            presence,
            numbers,
            cell(export.pages[at].map(|pages| pages.to_string())),
        ]);
    }
    let dash = || "–".to_owned();
    let one_by_one = millis(export.one_by_one);
    rows.push(vec![
        "docvalues, one value after the other".to_owned(),
        dash(),
        one_by_one,
        dash(),
        dash(),
        dash(),
    ]);
    rows.push(vec![
        "sorting the rows by `id`".to_owned(),
        dash(),
        millis(export.sort),
        dash(),
        dash(),
        dash(),
    ]);
    rows
}

/// Medians, and the ratio of the layout of Lucene without tables to the one with them.
fn times(by_hits: &ByHits) -> Vec<Vec<String>> {
    let mut rows = vec![head("hits", names().chain(["Lucene 7 to 8"]))];
    for bucket in &by_hits.buckets {
        let medians = bucket.samples.iter().map(|sample| millis(sample.percentile(50)));
        let gain = median(bucket, 0) / median(bucket, 1);
        rows.push([from(bucket)].into_iter().chain(medians).chain([figure(gain)]).collect());
    }
    rows
}

fn from(bucket: &Bucket) -> String {
    format!("from {}", 10_u64.pow(bucket.magnitude))
}

fn median(bucket: &Bucket, contender: usize) -> f64 {
    bucket.samples[contender].percentile(50).as_secs_f64()
}

/// The block headers of a request, of presence and of numbers.
fn headers(by_hits: &ByHits) -> Vec<Vec<String>> {
    let iterating = || Contender::ALL.into_iter().filter(|contender| contender.iterates());
    let mut rows = vec![head("hits", iterating().map(Contender::name))];
    for bucket in &by_hits.buckets {
        let cells = bucket.headers.iter().zip(Contender::ALL).filter(|(_, contender)| contender.iterates());
        let cells = cells.map(|([presence, numbers], _)| format!("{presence} + {numbers}"));
        rows.push([from(bucket)].into_iter().chain(cells).collect());
    }
    rows
}

/// The gain of a production request from tables, and that of the sum of its parts, in the layout of Lucene.
fn together(all: &[ByHits]) -> Option<Vec<Vec<String>>> {
    let of = |work: Work| all.iter().find(|by_hits| by_hits.work == work);
    let whole = of(Work::Production)?;
    let parts = PARTS.into_iter().map(of).collect::<Option<Vec<_>>>()?;
    let mut rows = vec![head("hits", ["parts", "request"])];
    for (at, bucket) in whole.buckets.iter().enumerate() {
        let sum = |contender| parts.iter().map(|part| median(&part.buckets[at], contender)).sum::<f64>();
        let gains = [sum(0) / sum(1), median(bucket, 0) / median(bucket, 1)].map(figure);
        rows.push([from(bucket)].into_iter().chain(gains).collect());
    }
    Some(rows)
}

fn pairs(pairs: &[Pairs]) -> Vec<Vec<String>> {
    let mut rows = vec![head("workload", ["hits", "with tables / without", "97 % interval"])];
    for Pairs { work, hits, ratio: Ratio([median, low, high]) } in pairs {
        let cells = [hits.to_string(), format!("{median:.3}"), format!("{low:.3} to {high:.3}")];
        rows.push([work.name().to_owned()].into_iter().chain(cells).collect());
    }
    rows
}

fn lucene(all: &[Beside]) -> Vec<Vec<String>> {
    let works = all.first().into_iter().flat_map(|beside| beside.times.iter().map(|(name, _)| name.clone()));
    let mut rows = vec![["".to_owned(), "MiB".to_owned()].into_iter().chain(works).collect::<Vec<_>>()];
    for Beside { name, bytes, times } in all {
        let cells = [name.clone(), (bytes >> 20).to_string()];
        rows.push(cells.into_iter().chain(times.iter().map(|(_, time)| millis(*time))).collect());
    }
    rows
}

/// Requests a second, and the median in milliseconds.
fn threads(all: &[Concurrent]) -> Vec<Vec<String>> {
    let mut rows = vec![head("threads", names())];
    for Concurrent { threads, contenders } in all {
        let cells = contenders
            .iter()
            .map(|(rate, sample)| format!("{} ({})", figure(*rate), millis(sample.percentile(50))));
        rows.push([threads.to_string()].into_iter().chain(cells).collect());
    }
    rows
}
