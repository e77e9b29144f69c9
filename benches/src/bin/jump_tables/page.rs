//! Tables and charts as a page of Markdown, and all charts on one page of HTML.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Outcome;
use crate::chart;
use crate::corpus::{Contender, Corpus};
use crate::export::{EXPORTED, Export, LARGE, SAMPLED};
use crate::heap::Heap;
use crate::lucene::Beside;
use crate::machine;
use crate::measure::{Bucket, ByHits, Sample};
use crate::more::{HITS, Limited, Pages, Pairs, Ratio, SideBySide};
use crate::rows::Stored;
use crate::work::{PARTS, Work};

/// What was measured.
#[derive(Default)]
pub(crate) struct Report {
    /// Nanoseconds a document to build a segment of each field alone.
    pub(crate) by_column: Vec<(&'static str, f64)>,
    pub(crate) heap: Vec<Heap>,
    pub(crate) export: Option<Export>,
    pub(crate) by_hits: Vec<ByHits>,
    pub(crate) pages: Vec<Pages>,
    pub(crate) pairs: Vec<Pairs>,
    pub(crate) limits: Vec<Limited>,
    pub(crate) rows: Vec<Stored>,
    pub(crate) lucene: Vec<Beside>,
    pub(crate) side_by_side: Vec<SideBySide>,
}

/// Writes, of a million documents, `jump-tables-1m.md`, `jump-tables-1m.html` and the charts, which are in the folder
/// `jump-tables-1m`.
pub(crate) fn write(corpus: &Corpus, report: &Report, folder: &Path, label: &str) -> Outcome {
    let docs = match corpus.docs {
        docs if docs.is_multiple_of(1_000_000) => format!("jump-tables-{}m", docs / 1_000_000),
        docs => format!("jump-tables-{docs}"),
    };
    let name = if label.is_empty() { docs } else { format!("{docs}-{label}") };
    let charts = folder.join(&name);
    fs::create_dir_all(&charts)?;
    let draw = |work: Work, svg: String, page: &mut String, html: &mut String| -> Outcome {
        let (work, about) = (work.name(), work.about(&corpus.asked));
        fs::write(charts.join(format!("{work}.svg")), &svg)?;
        write!(page, "\n## {work}\n\n{about}\n\n![{work}]({name}/{work}.svg)\n\n")?;
        Ok(write!(html, "<h2>{work}</h2>\n<p>{about}</p>\n{svg}\n")?)
    };
    let (mut page, mut html) = (head(corpus, report)?, String::from(HTML));
    if let Some(export) = &report.export {
        draw(Work::Export, chart::runs(export, corpus.docs)?, &mut page, &mut html)?;
        exported(export, &mut page)?;
    }
    for by_hits in &report.by_hits {
        draw(by_hits.work, chart::draw(by_hits, corpus.docs)?, &mut page, &mut html)?;
        table(by_hits, &mut page)?;
    }
    together(&report.by_hits, &mut page)?;
    pages(corpus, &report.pages, &mut page)?;
    pairs(&report.pairs, &mut page)?;
    limits(&report.limits, &mut page)?;
    heap(&report.heap, &mut page)?;
    lucene(&report.lucene, &mut page)?;
    rows(&report.rows, &mut page)?;
    if !report.side_by_side.is_empty() {
        side_by_side(&report.side_by_side, &mut page)?;
    }
    fs::write(folder.join(format!("{name}.html")), html)?;
    let path = folder.join(format!("{name}.md"));
    fs::write(&path, page)?;
    println!("{}", path.display());
    Ok(())
}

const HTML: &str =
    "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Jump tables</title>\n<h1>Jump tables</h1>\n";

fn head(corpus: &Corpus, report: &Report) -> Outcome<String> {
    let mut page = String::from("# Jump tables\n\n");
    writeln!(
        page,
        "`cargo run --release -p docvalues-benches --bin jump_tables -- {}` wrote this page: the experiment of the posts on jump \
         tables in Lucene and Solr 8, on synthetic documents of a web archive. All contenders gave the same answers. Wall time \
         of one thread.\n",
        command()
    )?;
    let [without, with] = corpus.bytes.map(mib);
    writeln!(page, "| | |\n| --- | --- |")?;
    machine::facts().iter().try_for_each(|(name, fact)| writeln!(page, "| {name} | {fact} |"))?;
    writeln!(page, "| documents | {} |", corpus.docs)?;
    if corpus.is_one_file() {
        writeln!(page, "| segment with tables, which two contenders ignore | {with} MiB |")?;
    } else {
        writeln!(page, "| segment without tables | {without} MiB |")?;
        let share = (corpus.bytes[1] as f64 / corpus.bytes[0] as f64 - 1.0) * 100.0;
        writeln!(page, "| segment with tables | {with} MiB, {share:.3} % more |")?;
    }
    writeln!(
        page,
        "| building {} | {} s |",
        if corpus.is_one_file() { "it" } else { "both" },
        corpus.built.seconds
    )?;
    if corpus.built.peak > 0 {
        writeln!(page, "| peak memory of the build | {} MiB |", mib(corpus.built.peak))?;
    }
    writeln!(
        page,
        "\n| column | kind | bytes a document | ns a document to build |\n| --- | --- | ---: | ---: |"
    )?;
    for column in corpus.open(Contender::Baked, false)?.usage()?.columns {
        let bytes = figure(column.bytes() as f64 / f64::from(corpus.docs.max(1)));
        let (name, kind) = (&column.field.name, column.field.kind.name());
        let built = report.by_column.iter().find(|(built, _)| built == name);
        let nanos = built.map_or("–".to_owned(), |(_, nanos)| figure(*nanos));
        writeln!(page, "| `{name}` | {kind} | {bytes} | {nanos} |")?;
    }
    if !report.by_column.is_empty() {
        writeln!(
            page,
            "\n*To build* measures each field in a segment of its own, and includes generating the document."
        )?;
    }
    Ok(page)
}

/// The arguments of this program, but for the folders.
fn command() -> String {
    let (mut arguments, mut wanted) = (std::env::args().skip(1), Vec::new());
    while let Some(argument) = arguments.next() {
        if ["--folder", "--report"].contains(&&*argument) {
            arguments.next();
        } else {
            wanted.push(argument);
        }
    }
    wanted.join(" ")
}

fn mib(bytes: u64) -> String {
    figure(bytes as f64 / f64::from(1 << 20))
}

/// Three figures that count.
fn figure(value: f64) -> String {
    let digits = if value > 0.0 { (2 - value.log10().floor() as i32).clamp(0, 6) as usize } else { 0 };
    format!("{value:.digits$}")
}

fn millis(time: Duration) -> String {
    figure(time.as_secs_f64() * 1e3)
}

fn exported(export: &Export, page: &mut String) -> std::fmt::Result {
    writeln!(
        page,
        "Milliseconds of four runs, the first one with a cold page cache; in brackets the time of the sort. *One by one*: without \
         the sort, each value is read when its row is written, as in Solr 7; the page cache is warm.\n"
    )?;
    writeln!(
        page,
        "| | run 1 | run 2 | run 3 | run 4 | one by one |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        write!(page, "| {} |", contender.name())?;
        for run in export.runs[at] {
            let note = if contender == Contender::Walk && export.rows > export.walked[0] { "*" } else { "" };
            write!(page, " {}{note} ({}) |", millis(run.sort + run.fetch), millis(run.sort))?;
        }
        let note = if contender == Contender::Walk && export.rows > export.walked[1] { "*" } else { "" };
        writeln!(page, " {}{note} |", millis(export.one_by_one[at]))?;
    }
    writeln!(page, "\n\\* {} documents, scaled up to {EXPORTED}.", export.walked[1])?;
    let Ratio([median, low, high]) = export.built;
    writeln!(
        page,
        "\nIn 21 pairs of warm exports, without the sort, tables built on first use take {median:.3} times as long as those in the \
         file ({low:.3} to {high:.3})."
    )
}

fn table(by_hits: &ByHits, page: &mut String) -> std::fmt::Result {
    let requests = || by_hits.buckets.iter().flat_map(|bucket| &bucket.samples).map(Sample::len);
    let (fewest, most) = (requests().min().unwrap_or(0), requests().max().unwrap_or(0));
    writeln!(page, "Milliseconds: median (95 %, greatest) of {most} requests, or of {fewest} slow ones.\n")?;
    head_of_contenders("hits", page)?;
    for bucket in &by_hits.buckets {
        write!(page, "| from {} |", 10_u64.pow(bucket.magnitude))?;
        cells(&bucket.samples, page)?;
    }
    Ok(())
}

/// What each contender took, to the end of a row.
fn cells(samples: &[Sample; 3], page: &mut String) -> std::fmt::Result {
    for sample in samples {
        let [median, most, greatest] = [50, 95, 100].map(|percent| millis(sample.percentile(percent)));
        write!(page, " {median} ({most}, {greatest}) |")?;
    }
    writeln!(page)
}

fn head_of_contenders(first: &str, page: &mut String) -> std::fmt::Result {
    write!(page, "| {first} |")?;
    Contender::ALL.iter().try_for_each(|contender| write!(page, " {} |", contender.name()))?;
    writeln!(page, "\n| --- | ---: | ---: | ---: |")
}

/// What a production request gains, beside the sum of its parts.
fn together(all: &[ByHits], page: &mut String) -> std::fmt::Result {
    let of = |work: Work| all.iter().find(|by_hits| by_hits.work == work);
    let parts: Option<Vec<&ByHits>> = PARTS.into_iter().map(of).collect();
    let (Some(whole), Some(parts)) = (of(Work::Production), parts) else { return Ok(()) };
    writeln!(page, "\n## A production request and the sum of its parts\n")?;
    writeln!(
        page,
        "Time without tables divided by time with tables in the file: the four parts of a production request, measured apart and \
         added up, and the request; medians.\n\n\
         | hits | parts | request |\n| --- | ---: | ---: |"
    )?;
    for (at, bucket) in whole.buckets.iter().enumerate() {
        let median =
            |bucket: &Bucket, contender: usize| bucket.samples[contender].percentile(50).as_secs_f64();
        let sum = |contender| parts.iter().map(|part| median(&part.buckets[at], contender)).sum::<f64>();
        let [apart, request] = [sum(0) / sum(2), median(bucket, 0) / median(bucket, 2)].map(figure);
        writeln!(page, "| from {} | {apart} | {request} |", 10_u64.pow(bucket.magnitude))?;
    }
    Ok(())
}

fn pages(corpus: &Corpus, pages: &[Pages], page: &mut String) -> std::fmt::Result {
    /// Seconds until a disk that spins has found a page.
    const SEEK: f64 = 0.01;
    writeln!(page, "\n## Pages\n")?;
    writeln!(
        page,
        "Pages of 4 KiB that a workload touches in a newly opened segment, and in brackets their seconds on a disk with 10 ms for \
         each: {HITS} hits, or the export above{}.\n",
        if corpus.docs < LARGE { String::new() } else { format!(", of which the first {SAMPLED} rows") }
    )?;
    head_of_contenders("workload", page)?;
    for Pages { work, pages } in pages {
        write!(page, "| {} |", work.name())?;
        pages.iter().try_for_each(|count| write!(page, " {count} ({}) |", figure(*count as f64 * SEEK)))?;
        writeln!(page)?;
    }
    Ok(())
}

fn pairs(pairs: &[Pairs], page: &mut String) -> std::fmt::Result {
    writeln!(page, "\n## Many hits\n")?;
    writeln!(
        page,
        "Time with tables in the file divided by time without tables: medians of 21 pairs, and their 97 % intervals.\n\n| workload | hits | ratio | |\n| --- | ---: | ---: | --- |"
    )?;
    for Pairs { work, hits, ratio: Ratio([median, low, high]) } in pairs {
        writeln!(page, "| {} | {hits} | {median:.3} | {low:.3} to {high:.3} |", work.name())?;
    }
    Ok(())
}

fn limits(limits: &[Limited], page: &mut String) -> std::fmt::Result {
    if limits.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n## Limits\n")?;
    writeln!(
        page,
        "One to ten thousand results, and production requests with pages of none to a thousand documents: milliseconds, median \
         (95 %, greatest).\n"
    )?;
    head_of_contenders("results", page)?;
    for Limited { work, limit, hits, samples } in limits {
        write!(page, "| {}, {limit} of {hits} hits |", work.name())?;
        cells(samples, page)?;
    }
    Ok(())
}

fn heap(all: &[Heap], page: &mut String) -> std::fmt::Result {
    writeln!(page, "\n## On the heap\n")?;
    writeln!(
        page,
        "Bytes on the heap of an open column, and in brackets after reading a thousand of its values; the segment is shared by all \
         columns. Mapped pages of the file are not counted.\n"
    )?;
    head_of_contenders("column", page)?;
    for Heap { column, bytes } in all {
        write!(page, "| `{column}` |")?;
        bytes.iter().try_for_each(|[opened, read]| write!(page, " {opened} ({read}) |"))?;
        writeln!(page)?;
    }
    Ok(())
}

fn rows(rows: &[Stored], page: &mut String) -> std::fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n## Rows compared with columns\n")?;
    writeln!(
        page,
        "The fields of 20 random documents, from one column each, or from the document as JSON in one compressed column. \
         Microseconds, median (95 %) of 21 requests; *cold*: with a cold page cache; *pages* of 4 KiB that a request touches in a \
         newly opened segment.\n\n\
         | | fields | bytes a document | cold | warm | pages |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for Stored { name, fields, bytes, cold, warm, pages } in rows {
        write!(page, "| {name} | {fields} | {} |", figure(*bytes))?;
        for sample in [cold, warm] {
            let [median, most] =
                [50, 95].map(|percent| figure(sample.percentile(percent).as_secs_f64() * 1e6));
            write!(page, " {median} ({most}) |")?;
        }
        writeln!(page, " {pages} |")?;
    }
    Ok(())
}

fn lucene(all: &[Beside], page: &mut String) -> std::fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n## Compared with Lucene\n")?;
    writeln!(
        page,
        "The same documents in a Lucene index with one mapped segment; the rows are the same bytes of CSV. *One by one*: row after \
         row; for a step back, Lucene needs new iterators, which begin at the first document. *Sorted*: read in document order and \
         scattered to the rows; docvalues column by column. *A page*: nine fields of 20 documents, one by one. Medians of warm \
         runs; the export without its sort by `id`.\n\n\
         | | MiB | one by one, ms | sorted, ms | a page, µs |\n| --- | ---: | ---: | ---: | ---: |"
    )?;
    for Beside { name, bytes, export: [one_by_one, sorted], retrieval } in all {
        let (one_by_one, sorted) = (millis(*one_by_one), millis(*sorted));
        let retrieval = figure(retrieval.as_secs_f64() * 1e6);
        writeln!(page, "| {name} | {} | {one_by_one} | {sorted} | {retrieval} |", mib(*bytes))?;
    }
    writeln!(page, "\nThe index has the requested fields, the segment all of them.")
}

fn side_by_side(all: &[SideBySide], page: &mut String) -> std::fmt::Result {
    writeln!(page, "\n## Concurrent requests\n")?;
    writeln!(
        page,
        "Production requests with {HITS} hits from several threads: requests a second (median, 95 % in \
         milliseconds).\n"
    )?;
    head_of_contenders("threads", page)?;
    for SideBySide { threads, contenders } in all {
        write!(page, "| {threads} |")?;
        for (rate, sample) in contenders {
            let [median, most] = [50, 95].map(|percent| millis(sample.percentile(percent)));
            write!(page, " {} ({median}, {most}) |", figure(*rate))?;
        }
        writeln!(page)?;
    }
    Ok(())
}
