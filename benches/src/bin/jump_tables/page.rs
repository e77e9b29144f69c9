//! Tables and charts as a page of Markdown, and all charts on one page of HTML.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Outcome;
use crate::chart;
use crate::corpus::{Contender, Corpus};
use crate::measure::{ByHits, EXPORTED, Export, SAMPLED};
use crate::work::Work;

/// Writes `jump-tables.md`, `jump-tables.html` and the charts, which are in the folder `jump-tables`.
pub(crate) fn write(corpus: &Corpus, export: Option<&Export>, by_hits: &[ByHits], folder: &Path) -> Outcome {
    let charts = folder.join("jump-tables");
    fs::create_dir_all(&charts)?;
    let (mut page, mut html) = (head(corpus)?, String::from(HTML));
    if let Some(export) = export {
        exported(export, &mut page)?;
    }
    for by_hits in by_hits {
        let (name, svg) = (by_hits.work.name(), chart::draw(by_hits, corpus.docs)?);
        fs::write(charts.join(format!("{name}.svg")), &svg)?;
        write!(page, "\n## {name}\n\n{}\n\n![{name}](jump-tables/{name}.svg)\n\n", by_hits.work.about())?;
        table(by_hits, &mut page)?;
        write!(html, "<h2>{name}</h2>\n<p>{}</p>\n{svg}\n", by_hits.work.about())?;
    }
    fs::write(folder.join("jump-tables.md"), page)?;
    fs::write(folder.join("jump-tables.html"), html)?;
    println!("{}", folder.join("jump-tables.md").display());
    Ok(())
}

const HTML: &str =
    "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Jump tables</title>\n<h1>Jump tables</h1>\n";

fn head(corpus: &Corpus) -> Result<String, std::fmt::Error> {
    let mut page = String::from("# Jump tables\n\n");
    writeln!(
        page,
        "Written by `cargo run --release -p docvalues-benches --bin jump_tables -- --docs {}`: the experiment of the posts on \
         jump tables in Lucene and Solr 8, on documents of a made-up web archive. All contenders gave the same answers. Wall \
         time of one thread.\n",
        corpus.docs
    )?;
    let [without, with] = corpus.bytes;
    writeln!(page, "| | |\n| --- | --- |\n| documents | {} |", corpus.docs)?;
    writeln!(page, "| segment without tables | {without} bytes |")?;
    let share = (with as f64 / without as f64 - 1.0) * 100.0;
    writeln!(page, "| segment with tables | {with} bytes, {share:.3} % more |")?;
    if let Some(built) = corpus.built {
        writeln!(page, "| building what was not there | {} s |", built.as_secs())?;
    }
    Ok(page)
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
    writeln!(page, "\n## export\n\n{}\n", Work::Export.about())?;
    writeln!(
        page,
        "Milliseconds of four runs, the first one with nothing of the file in the page cache; in brackets what sorting took of \
         it. *One by one*: without the sort, each value when its row is written, as Solr 7 did; everything is in the page \
         cache.\n"
    )?;
    writeln!(
        page,
        "| | run 1 | run 2 | run 3 | run 4 | one by one |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        write!(page, "| {} |", contender.name())?;
        for run in export.runs[at] {
            write!(page, " {} ({}) |", millis(run.sort + run.fetch), millis(run.sort))?;
        }
        let note = if contender == Contender::Walk && export.rows > SAMPLED { "*" } else { "" };
        writeln!(page, " {}{note} |", millis(export.one_by_one[at]))?;
    }
    writeln!(page, "\n\\* {SAMPLED} documents, scaled up to {EXPORTED}.")
}

fn table(by_hits: &ByHits, page: &mut String) -> std::fmt::Result {
    writeln!(page, "Milliseconds: median (95 %, greatest).\n")?;
    write!(page, "| hits |")?;
    Contender::ALL.iter().try_for_each(|contender| write!(page, " {} |", contender.name()))?;
    writeln!(page, "\n| --- | ---: | ---: | ---: |")?;
    for bucket in &by_hits.buckets {
        write!(page, "| from {} |", 10_u64.pow(bucket.magnitude))?;
        for sample in &bucket.samples {
            let [median, most, greatest] = [50, 95, 100].map(|percent| millis(sample.percentile(percent)));
            write!(page, " {median} ({most}, {greatest}) |")?;
        }
        writeln!(page)?;
    }
    Ok(())
}
