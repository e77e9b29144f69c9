//! The same documents in Lucene: the same export, and the same pages of results.
//!
//! `benches/peers/lucene/src/common/Archive.java` is the other process. Its input is big-endian; a name is a two-byte
//! length and the bytes.
//!
//! | to | bytes |
//! | --- | --- |
//! | build | number of fields: u32; name and kind of each (0: number, 1: sorted, 2: binary); number of documents: u32; each field of each document: u32::MAX for no value, otherwise a length (8 for numbers) and the bytes |
//! | ask | exported fields as above; documents: u32, and each of them; retrieved fields; pages: u32, and each as documents |

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use docvalues::search::Search;
use docvalues::{DocId, Segment};
use docvalues_benches::archive::{Document, FIELDS, Value};
use docvalues_benches::lucene::{Lucene, find};

use crate::Outcome;
use crate::corpus::{Contender, Corpus};
use crate::export::EXPORTED;
use crate::measure::Sample;
use crate::work::{self, PAGE, RETRIEVED};

/// The last version without jump tables, the first one with them, and the current one.
const VERSIONS: [&str; 3] = ["7.7.3", "8.0.0", "10.5.0"];

/// Runs of an export, after the same number of warm-up runs, and of each page of results.
const RUNS: usize = 5;

/// Pages of results, of so many hits each.
const PAGES: u32 = 50;
const HITS: u32 = 1_000;

/// The measurements of a library.
pub(crate) struct Beside {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Medians: row by row in the order of the request, and in document order.
    pub(crate) export: [Duration; 2],
    pub(crate) retrieval: Duration,
}

/// Measures docvalues, and every version of Lucene that can run here.
pub(crate) fn run(corpus: &Corpus, folder: &Path) -> Outcome<Vec<Beside>> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let found = find(&peers.join("lucene"), &peers.join("target"), |version| VERSIONS.contains(&version));
    if found.is_empty() {
        return Err(
            "--lucene: needs Maven, a JDK from 21 on for Lucene 10.5.0, and one from 11 to 20 for the others"
                .into(),
        );
    }
    let segment = corpus.open(Contender::Baked, false)?;
    let docs = work::sorted(&segment, &corpus.asked, &corpus.hits(EXPORTED.min(corpus.docs), 0))?;
    let pages: Vec<_> =
        (0..PAGES).map(|request| work::page(&corpus.hits(HITS.min(corpus.docs), request), PAGE)).collect();
    let asked = folder.join("lucene.asked");
    ask(corpus, &docs, &pages, &asked)?;

    let (beside, sums) = here(corpus, &segment, &docs, &pages)?;
    let mut all = vec![beside];
    for lucene in &found {
        let index = index(corpus, lucene, folder)?;
        eprintln!("Lucene {}", lucene.version);
        let output =
            lucene.command().arg("archive").arg(&index).arg(&asked).stderr(Stdio::inherit()).output()?;
        let (beside, theirs) = parse_output(lucene, &String::from_utf8(output.stdout)?)?;
        if theirs != sums {
            return Err(
                format!("Lucene {}: expected the rows of docvalues, found others", lucene.version).into()
            );
        }
        all.push(beside);
    }
    fs::remove_file(asked)?;
    Ok(all)
}

/// Measures docvalues; also returns the checksum of its rows.
fn here(
    corpus: &Corpus,
    segment: &Segment,
    docs: &[DocId],
    pages: &[Vec<DocId>],
) -> Outcome<(Beside, [u64; 2])> {
    let mut rows = Vec::new();
    let export = [
        median(RUNS, || work::export_one_by_one(segment, &corpus.asked, docs, &mut rows))?,
        median(RUNS, || work::export(segment, &corpus.asked, docs, &mut rows))?,
    ];
    let exported = sum(0, &rows);
    let (search, mut next, mut retrieved) = (Search::new(segment).threads(1), 0, 0);
    let retrieval = median(RUNS * pages.len(), || {
        work::retrieve_rows(&search, &pages[next % pages.len()], &mut rows)?;
        retrieved = if next < pages.len() { sum(retrieved, &rows) } else { retrieved };
        next += 1;
        Ok(())
    })?;
    let beside = Beside { name: "docvalues".to_owned(), bytes: segment.len(), export, retrieval };
    Ok((beside, [exported, retrieved]))
}

/// The median of `runs` runs, after the same number of warm-up runs.
fn median(runs: usize, mut run: impl FnMut() -> Outcome) -> Outcome<Duration> {
    let mut times = Vec::new();
    for at in 0..2 * runs {
        let began = Instant::now();
        run()?;
        if at >= runs {
            times.push(began.elapsed());
        }
    }
    Ok(Sample::of(times).percentile(50))
}

fn sum(sum: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(sum, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Builds the index of the documents if it is missing.
fn index(corpus: &Corpus, lucene: &Lucene, folder: &Path) -> Outcome<PathBuf> {
    let index = folder.join(format!("archive-{}-{}-lucene-{}", corpus.docs, corpus.seed, lucene.version));
    if index.exists() {
        return Ok(index);
    }
    eprintln!("{}: {} documents", index.display(), corpus.docs);
    let making = index.with_extension("tmp");
    if making.exists() {
        fs::remove_dir_all(&making)?;
    }
    let mut java = lucene.command().arg("archive").arg(&making).stdin(Stdio::piped()).spawn()?;
    let sent = java.stdin.take().map(|stdin| send(corpus, stdin));
    if !java.wait()?.success() {
        return Err(format!("Lucene {}: no index was made", lucene.version).into());
    }
    sent.transpose()?;
    fs::rename(making, &index)?;
    Ok(index)
}

/// The requested fields.
fn wanted(corpus: &Corpus) -> Vec<&'static str> {
    let exported = corpus.asked.exported();
    FIELDS.into_iter().filter(|name| exported.contains(name) || RETRIEVED.contains(name)).collect()
}

/// Sends all documents.
fn send(corpus: &Corpus, to: impl Write) -> Outcome {
    let archive = corpus.archive();
    let wanted = wanted(corpus);
    let places: Vec<usize> = (0..FIELDS.len()).filter(|&place| wanted.contains(&FIELDS[place])).collect();
    let mut out = BufWriter::with_capacity(1 << 20, to);
    write_fields(&wanted, &mut out)?;
    out.write_all(&corpus.docs.to_be_bytes())?;
    let mut document = Document::default();
    for doc in 0..corpus.docs {
        archive.read(doc, &mut document);
        let values = document.values();
        places.iter().try_for_each(|&place| write_value(values[place], &mut out))?;
    }
    Ok(out.flush()?)
}

fn write_value(value: Option<Value<'_>>, out: &mut impl Write) -> std::io::Result<()> {
    let mut put = |bytes: &[u8]| {
        out.write_all(&(bytes.len() as u32).to_be_bytes())?;
        out.write_all(bytes)
    };
    match value {
        None => out.write_all(&u32::MAX.to_be_bytes()),
        Some(Value::Id(id)) => put(&id.to_be_bytes()),
        Some(Value::Text(text)) => put(text.as_bytes()),
        Some(Value::Number(number) | Value::Moment(number)) => put(&number.to_be_bytes()),
        Some(Value::Unsigned(number)) => put(&number.to_be_bytes()),
    }
}

fn write_fields(names: &[&str], out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(&(names.len() as u32).to_be_bytes())?;
    for name in names {
        let kind = match *name {
            "status_code" | "crawl_date" | "crawl_year" | "content_length" | "image_pixels" => 0,
            "url" | "url_norm" => 2,
            _ => 1,
        };
        out.write_all(&(name.len() as u16).to_be_bytes())?;
        out.write_all(name.as_bytes())?;
        out.write_all(&[kind])?;
    }
    Ok(())
}

/// Writes the request.
fn ask(corpus: &Corpus, docs: &[DocId], pages: &[Vec<DocId>], path: &Path) -> Outcome {
    let mut out = BufWriter::new(File::create(path)?);
    let list = |docs: &[DocId], out: &mut BufWriter<File>| {
        out.write_all(&(docs.len() as u32).to_be_bytes())?;
        docs.iter().try_for_each(|doc| out.write_all(&doc.get().to_be_bytes()))
    };
    write_fields(&corpus.asked.exported(), &mut out)?;
    list(docs, &mut out)?;
    write_fields(&RETRIEVED, &mut out)?;
    out.write_all(&(pages.len() as u32).to_be_bytes())?;
    pages.iter().try_for_each(|page| list(page, &mut out))?;
    Ok(out.flush()?)
}

/// Parses the output of Lucene: lines of a name, a number and a checksum of the rows.
fn parse_output(lucene: &Lucene, text: &str) -> Outcome<(Beside, [u64; 2])> {
    let line = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        line.and_then(|line| line.split_once('\t'))
            .ok_or_else(|| format!("Lucene {}: no {name}", lucene.version))
    };
    let [bytes, export, sorted, retrieval] =
        [line("bytes")?, line("export")?, line("sorted")?, line("retrieval")?];
    if sorted.1 != export.1 {
        return Err(format!("Lucene {}: expected equal exports, found different ones", lucene.version).into());
    }
    let nanos = |text: &str| text.parse().map(Duration::from_nanos);
    let beside = Beside {
        name: format!("Lucene {}, {}", lucene.version, lucene.jvm),
        bytes: bytes.0.parse()?,
        export: [nanos(export.0)?, nanos(sorted.0)?],
        retrieval: nanos(retrieval.0)?,
    };
    Ok((beside, [export.1.parse()?, retrieval.1.parse()?]))
}
