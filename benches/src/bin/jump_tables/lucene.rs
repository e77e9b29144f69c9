//! The same documents and workloads in versions of Lucene.
//!
//! `benches/peers/lucene/src/common/Archive.java` is the other process. Its input is big-endian; a name is a two-byte
//! length and the bytes; a list is a number of four bytes, and the items.
//!
//! | to | bytes |
//! | --- | --- |
//! | build | number of fields: u32; name and kind of each (0: number, 1: sorted, 2: binary); number of documents: u32; each field of each document: u32::MAX for no value, otherwise a length (8 for numbers) and the bytes |
//! | ask | exported fields as above, and a list of documents; retrieved fields, and a list of pages, each a list; faceted fields; a list of lists of hits |

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
use crate::work::{self, PAGE, RETRIEVED, Work};

/// Runs of an export, after the same number of warm-up runs, and of each other request.
const RUNS: usize = 5;

/// Rounds, in which the libraries take turns. A new process each time has its own luck with the compiler.
const ROUNDS: usize = 3;

/// Pages of results, of so many hits each.
const PAGES: u32 = 50;
const HITS: u32 = 1_000;

/// Hits of the other requests, each with its number of requests.
const REQUESTS: [(u32, u32); 2] = [(1_000, 20), (100_000, 5)];

const WORKS: [Work; 3] = [Work::Facets, Work::Groups, Work::Production];

/// The measurements of a library.
#[derive(Clone)]
pub(crate) struct Beside {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Medians of warm runs: the export row by row in the order of the request, and in document order; a page of results;
    /// then each other workload.
    pub(crate) times: Vec<(String, Duration)>,
}

/// The requests of all libraries.
struct Requests {
    exported: Vec<DocId>,
    pages: Vec<Vec<DocId>>,
    /// A list for each number of hits.
    hits: Vec<Vec<Vec<DocId>>>,
}

/// The names of the measurements.
fn labels() -> Vec<String> {
    let of_hits = |(hits, _)| WORKS.map(|work| format!("{}, {hits} hits, ms", work.name()));
    let first = ["export one by one, ms", "export sorted, ms", "a page, ms"].map(str::to_owned);
    first.into_iter().chain(REQUESTS.into_iter().flat_map(of_hits)).collect()
}

/// Measures docvalues, and every one of these versions of Lucene that can run here.
pub(crate) fn run(corpus: &Corpus, folder: &Path, versions: &[String]) -> Outcome<Vec<Beside>> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let wanted = |version: &str| versions.iter().any(|wanted| wanted == version);
    let found = find(&peers.join("lucene"), &peers.join("target"), wanted);
    if found.len() < versions.len() {
        return Err(
            "--lucene: needs Maven, a JDK from 21 on for Lucene 9 and 10, and one from 11 to 20 for 7 and 8"
                .into(),
        );
    }
    let segment = corpus.segment()?;
    let hits = |(count, requests): (u32, u32)| {
        (0..requests).map(|request| corpus.hits(count.min(corpus.docs), request)).collect()
    };
    let requests = Requests {
        exported: work::sorted(&segment, &corpus.asked, &corpus.hits(EXPORTED.min(corpus.docs), 0))?,
        pages: (0..PAGES)
            .map(|request| work::page(&corpus.hits(HITS.min(corpus.docs), request), PAGE))
            .collect(),
        hits: REQUESTS.map(hits).into(),
    };
    let asked = folder.join("lucene.asked");
    ask(corpus, &requests, &asked)?;
    let indexes = found.iter().map(|lucene| index(corpus, lucene, folder)).collect::<Outcome<Vec<_>>>()?;
    let mut rounds: Vec<Vec<Beside>> = Vec::new();
    for round in 1..=ROUNDS {
        eprintln!("libraries, round {round}");
        let (beside, sums) = here(corpus, &segment, &requests)?;
        let mut all = vec![beside];
        for (lucene, index) in found.iter().zip(&indexes) {
            all.push(measure(lucene, index, &asked, &sums)?);
        }
        rounds.push(all);
    }
    fs::remove_file(asked)?;
    Ok(medians(rounds))
}

/// Measures a version of Lucene, whose answers must have these checksums.
fn measure(lucene: &Lucene, index: &Path, asked: &Path, sums: &[u64]) -> Outcome<Beside> {
    let output = lucene.command().arg("archive").arg(index).arg(asked).stderr(Stdio::inherit()).output()?;
    let (beside, theirs) = parse_output(lucene, &String::from_utf8(output.stdout)?)?;
    match theirs == sums {
        true => Ok(beside),
        false => {
            Err(format!("Lucene {}: expected the answers {sums:?}, found {theirs:?}", lucene.version).into())
        }
    }
}

/// The median of each time.
fn medians(rounds: Vec<Vec<Beside>>) -> Vec<Beside> {
    let of = |library: usize, label: usize| {
        Sample::of(rounds.iter().map(|round| round[library].times[label].1).collect()).percentile(50)
    };
    let mut medians = rounds[0].clone();
    for (library, beside) in medians.iter_mut().enumerate() {
        beside.times.iter_mut().enumerate().for_each(|(label, (_, time))| *time = of(library, label));
    }
    medians
}

/// Measures docvalues; also returns the checksums of its answers.
fn here(corpus: &Corpus, segment: &Segment, requests: &Requests) -> Outcome<(Beside, Vec<u64>)> {
    let (mut rows, docs) = (Vec::new(), &requests.exported);
    let mut times = vec![
        median(RUNS, || work::export_one_by_one(segment, &corpus.asked, docs, &mut rows))?,
        median(RUNS, || work::export(segment, &corpus.asked, docs, &mut rows))?,
    ];
    let mut sums = vec![sum(0, &rows); 2];
    let (search, mut next, mut retrieved) = (Search::new(segment).threads(1), 0, 0);
    let pages = &requests.pages;
    times.push(median(RUNS * pages.len(), || {
        work::retrieve_rows(&search, &pages[next % pages.len()], &mut rows)?;
        retrieved = if next < pages.len() { sum(retrieved, &rows) } else { retrieved };
        next += 1;
        Ok(())
    })?);
    sums.push(retrieved);
    let engine = corpus.open(Contender::Baked, false)?;
    for hits in &requests.hits {
        for work in WORKS {
            let (mut next, mut answers) = (0, 0_u64);
            times.push(median(RUNS * hits.len(), || {
                let answer = engine.run(work, &corpus.asked, &hits[next % hits.len()])?;
                answers = if next < hits.len() { work::add(answers, answer) } else { answers };
                next += 1;
                Ok(())
            })?);
            sums.push(answers);
        }
    }
    let times = labels().into_iter().zip(times).collect();
    Ok((Beside { name: "docvalues".to_owned(), bytes: segment.len(), times }, sums))
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
    let is_wanted = |name: &&str| {
        exported.contains(name) || RETRIEVED.contains(name) || corpus.asked.facets().contains(name)
    };
    FIELDS.into_iter().filter(is_wanted).collect()
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
            "id" => 2,
            _ => 1,
        };
        out.write_all(&(name.len() as u16).to_be_bytes())?;
        out.write_all(name.as_bytes())?;
        out.write_all(&[kind])?;
    }
    Ok(())
}

/// Writes the requests.
fn ask(corpus: &Corpus, requests: &Requests, path: &Path) -> Outcome {
    let mut out = BufWriter::new(File::create(path)?);
    let list = |docs: &[DocId], out: &mut BufWriter<File>| {
        out.write_all(&(docs.len() as u32).to_be_bytes())?;
        docs.iter().try_for_each(|doc| out.write_all(&doc.get().to_be_bytes()))
    };
    let lists = |all: &[Vec<DocId>], out: &mut BufWriter<File>| {
        out.write_all(&(all.len() as u32).to_be_bytes())?;
        all.iter().try_for_each(|docs| list(docs, out))
    };
    write_fields(&corpus.asked.exported(), &mut out)?;
    list(&requests.exported, &mut out)?;
    write_fields(&RETRIEVED, &mut out)?;
    lists(&requests.pages, &mut out)?;
    write_fields(corpus.asked.facets(), &mut out)?;
    out.write_all(&(requests.hits.len() as u32).to_be_bytes())?;
    requests.hits.iter().try_for_each(|hits| lists(hits, &mut out))?;
    Ok(out.flush()?)
}

/// Parses the output of Lucene: a line for the bytes of the index, then one for each measurement, of nanoseconds and a
/// checksum of the answers.
fn parse_output(lucene: &Lucene, text: &str) -> Outcome<(Beside, Vec<u64>)> {
    let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
    let bytes = lines.next().ok_or_else(|| format!("Lucene {}: no answer", lucene.version))?.0.parse()?;
    let measured: Vec<(u64, u64)> =
        lines.map(|(nanos, sum)| Ok((nanos.parse()?, sum.parse()?))).collect::<Outcome<_>>()?;
    let times = measured.iter().map(|&(nanos, _)| Duration::from_nanos(nanos));
    let name = format!("Lucene {}, {}", lucene.version, lucene.jvm);
    let times = labels().into_iter().zip(times).collect();
    Ok((Beside { name, bytes, times }, measured.into_iter().map(|(_, sum)| sum).collect()))
}
