//! The same documents and workloads in versions of Lucene.
//!
//! `benches/peers/lucene/src/common/Archive.java` is the other process. Its input is big-endian; a name is a two-byte
//! length and the bytes; a list is a number of four bytes, and the items.
//!
//! | to | bytes |
//! | --- | --- |
//! | build | number of fields: u32; name and kind of each (0: number, 1: sorted, 2: binary); number of documents: u32; each field of each document: u32::MAX for no value, otherwise a length (8 for numbers) and the bytes |
//! | ask | exported fields as above, and a list of documents; retrieved fields, and a list of pages, each a list; faceted fields; a list of lists of hits; fields that are read alone, of the exported documents |

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use docvalues::column::{BatchDocs, Gathered};
use docvalues::lucene::Index;
use docvalues::search::Search;
use docvalues::{Column, ColumnSource, DocId};
use docvalues_benches::archive::{Document, FIELDS, Value};
use docvalues_benches::lucene::{Lucene, find};

use crate::corpus::Corpus;
use crate::export::EXPORTED;
use crate::measure::Sample;
use crate::work::{self, Asked, PAGE, RETRIEVED, Work};
use crate::{Arguments, Outcome};

/// Runs of an export, after the same number of warm-up runs, and of each other request.
const RUNS: usize = 5;

/// Rounds, in which the libraries take turns. A new process each time has its own luck with the compiler.
const ROUNDS: usize = 3;

/// Pages of results, of so many hits each.
const PAGES: u32 = 50;
const HITS: u32 = 1_000;

/// Hits of the other requests, each with its number of requests.
const REQUESTS: [(u32, u32); 2] = [(1_000, 20), (100_000, 5)];

/// Numbers in blocks, in documents with gaps, and in one packed array: read alone, in the order of the export.
const ALONE: [&str; 3] = ["crawl_date", "content_length", "status_code"];

/// The end of the names of docvalues that reads an index of Lucene.
pub(crate) const IN_PLACE: &str = "in place";

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
fn labels(asked: &Asked) -> Vec<String> {
    let of_hits = |(hits, _)| WORKS.map(|work| format!("{}, {hits} hits, ms", work.name()));
    let first = ["export one by one, ms", "export sorted, ms", "a page, ms"].map(str::to_owned);
    let alone = alone(asked).into_iter().map(|name| format!("random {name}, ms"));
    first.into_iter().chain(REQUESTS.into_iter().flat_map(of_hits)).chain(alone).collect()
}

/// The fields that are read alone.
fn alone(asked: &Asked) -> Vec<&'static str> {
    ALONE.into_iter().filter(|name| asked.has(name)).collect()
}

/// Measures docvalues, and every one of these versions of Lucene that can run here.
pub(crate) fn run(corpus: &Corpus, arguments: &Arguments) -> Outcome<Vec<Beside>> {
    let Arguments { folder, lucene: versions, .. } = arguments;
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
        let (docs, own) = (&requests.exported, ("docvalues".to_owned(), segment.len()));
        let (beside, sums) = here(corpus, own, &segment, &requests, |rows| {
            work::export_one_by_one(&segment, &corpus.asked, docs, rows)
        })?;
        let mut all = vec![beside];
        for (lucene, index) in found.iter().zip(&indexes) {
            let beside = measure(lucene, corpus, (index, &asked), &sums)?;
            let named = (format!("Lucene {}, {IN_PLACE}", lucene.version), beside.bytes);
            all.push(beside);
            if arguments.in_place {
                let parts = Index::open(index)?.parts();
                let [part] = &parts[..] else { return Err("expected an index of one segment".into()) };
                let (beside, ours) = here(corpus, named, &*part.source, &requests, |rows| {
                    work::export_row_by_row(&*part.source, &corpus.asked, docs, rows)
                })?;
                same(&beside.name, &ours, &sums)?;
                all.push(beside);
            }
        }
        rounds.push(all);
    }
    fs::remove_file(asked)?;
    Ok(medians(rounds))
}

/// Measures a version of Lucene, whose answers must have these checksums.
fn measure(
    lucene: &Lucene,
    corpus: &Corpus,
    (index, asked): (&Path, &Path),
    sums: &[u64],
) -> Outcome<Beside> {
    let output = lucene.command().arg("archive").arg(index).arg(asked).stderr(Stdio::inherit()).output()?;
    let labels = labels(&corpus.asked);
    let (beside, theirs) = parse_output(lucene, labels, &String::from_utf8(output.stdout)?)?;
    same(&beside.name, &theirs, sums)?;
    Ok(beside)
}

/// Compares checksums with those of docvalues.
fn same(name: &str, theirs: &[u64], sums: &[u64]) -> Outcome {
    match theirs == sums {
        true => Ok(()),
        false => Err(format!("{name}: expected the answers {sums:?}, found {theirs:?}").into()),
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

/// Measures docvalues on its segment, or on an index of Lucene; also returns the checksums of its answers.
fn here(
    corpus: &Corpus,
    (name, bytes): (String, u64),
    source: &(dyn ColumnSource + Sync),
    requests: &Requests,
    mut one_by_one: impl FnMut(&mut Vec<u8>) -> Outcome,
) -> Outcome<(Beside, Vec<u64>)> {
    let (mut rows, docs) = (Vec::new(), &requests.exported);
    let mut times = vec![
        median(RUNS, || one_by_one(&mut rows))?,
        median(RUNS, || work::export(source, &corpus.asked, docs, &mut rows))?,
    ];
    let mut sums = vec![sum(0, &rows); 2];
    let (search, mut next, mut retrieved) = (Search::new(source).threads(1), 0, 0);
    let pages = &requests.pages;
    times.push(median(RUNS * pages.len(), || {
        work::retrieve_rows(&search, &pages[next % pages.len()], &mut rows)?;
        retrieved = if next < pages.len() { sum(retrieved, &rows) } else { retrieved };
        next += 1;
        Ok(())
    })?);
    sums.push(retrieved);
    for hits in &requests.hits {
        for work in WORKS {
            let (mut next, mut answers) = (0, 0_u64);
            times.push(median(RUNS * hits.len(), || {
                let answer = work.run(source, &corpus.asked, &hits[next % hits.len()])?;
                answers = if next < hits.len() { work::add(answers, answer) } else { answers };
                next += 1;
                Ok(())
            })?);
            sums.push(answers);
        }
    }
    for name in alone(&corpus.asked) {
        let (column, mut out, mut answer) = (source.column(name)?, Gathered::new(), 0);
        times.push(median(RUNS, || {
            answer = read(&*column, docs, &mut out)?;
            Ok(())
        })?);
        sums.push(answer);
    }
    let times = labels(&corpus.asked).into_iter().zip(times).collect();
    Ok((Beside { name, bytes, times }, sums))
}

/// The checksum of the numbers of `docs`.
fn read(column: &dyn Column, docs: &[DocId], out: &mut Gathered<i64>) -> Outcome<u64> {
    const BATCH: usize = 1_024;
    let rows = column.values().numbers().ok_or("expected numbers")?;
    let number = |stored| work::number_of(stored, column.info().field.logical);
    let mut sum = 0;
    for docs in docs.chunks(BATCH) {
        rows.gather(BatchDocs::List(docs), out)?;
        sum = (0..docs.len()).fold(sum, |sum, at| work::add(sum, out.value(at).map_or(1, number)));
    }
    Ok(sum)
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
    write_fields(&alone(&corpus.asked), &mut out)?;
    list(&requests.exported, &mut out)?;
    Ok(out.flush()?)
}

/// Parses the output of Lucene: a line for the bytes of the index, then one for each measurement, of nanoseconds and a
/// checksum of the answers.
fn parse_output(lucene: &Lucene, labels: Vec<String>, text: &str) -> Outcome<(Beside, Vec<u64>)> {
    let mut lines = text.lines().filter_map(|line| line.split_once('\t'));
    let bytes = lines.next().ok_or_else(|| format!("Lucene {}: no answer", lucene.version))?.0.parse()?;
    let measured: Vec<(u64, u64)> =
        lines.map(|(nanos, sum)| Ok((nanos.parse()?, sum.parse()?))).collect::<Outcome<_>>()?;
    let times = measured.iter().map(|&(nanos, _)| Duration::from_nanos(nanos));
    let name = format!("Lucene {}, {}", lucene.version, lucene.jvm);
    let times = labels.into_iter().zip(times).collect();
    Ok((Beside { name, bytes, times }, measured.into_iter().map(|(_, sum)| sum).collect()))
}
