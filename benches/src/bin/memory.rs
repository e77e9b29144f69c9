//! Builds within a memory budget: peak memory, time, and whether the bytes equal those of a build in memory.
//!
//! The documents come from files, so that generating them is not measured:
//!
//! ```text
//! cargo run --release -p docvalues-benches --bin memory -- prepare FOLDER 10000000 [COLUMN...]
//! cargo run --release -p docvalues-benches --bin memory -- build FOLDER 256 [COLUMN...]
//! cargo run --release -p docvalues-benches --bin memory -- equal FOLDER [COLUMN...]
//! ```
//!
//! The budget is in MiB; `256x2` has two threads. The environment variable `SORT` names the sort keys, such as
//! `host,size`. The columns are all of `docvalues_benches::data` by default; `sorted-url` is `url` with a dictionary,
//! `coded-url` is compressed, and `auto-url` is the writer's choice.
#![expect(clippy::cast_possible_truncation, reason = "the machine that measures has 64 bits")]

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::Instant;

use docvalues::{BytesKind, FieldSpec, LogicalType, Schema, SegmentWriter, SortKey, WriterOptions};
use docvalues_benches::data;
use docvalues_benches::segment::spec;

/// Documents of a batch.
const BATCH: usize = 1 << 13;

const COLUMNS: [&str; 9] = ["ts", "size", "status", "price60", "rare1", "uni24", "host", "url", "tags"];

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["prepare", folder, docs, columns @ ..] => prepare(Path::new(folder), docs.parse()?, columns),
        ["build", folder, budget, columns @ ..] => {
            // 256, or 256x2 for two threads.
            let (budget, threads) = budget.split_once('x').unwrap_or((budget, "1"));
            let (folder, budget) = (Path::new(folder), budget.parse::<usize>()? << 20);
            let began = Instant::now();
            let path = folder.join("segment.dv");
            let options = WriterOptions::new().budget(budget).threads(threads.parse()?);
            let mut writer = SegmentWriter::create(&path, Schema::new(), options)?;
            add_all(&mut writer, folder, columns)?;
            writer.sort_by(sort())?;
            let added = began.elapsed();
            let summary = writer.finish()?;
            let (seconds, len) = (began.elapsed().as_secs_f64(), fs::metadata(path)?.len());
            let (peak, allowed) = (peak()?, (budget + (64 << 20)) as f64 + len as f64 / 100.0);
            println!(
                "{} documents, {} columns, {:.1} MiB; {:.0} documents a second ({:.1} s, of which {:.1} s to finish)",
                summary.docs,
                summary.columns.len(),
                mib(len as f64),
                f64::from(summary.docs) / seconds,
                seconds,
                seconds - added.as_secs_f64(),
            );
            println!("peak {:.1} MiB of {:.1} MiB allowed", mib(peak as f64), mib(allowed));
            Ok(())
        }
        ["equal", folder, columns @ ..] => {
            let folder = Path::new(folder);
            let options = WriterOptions::new().budget(usize::MAX);
            let mut writer = SegmentWriter::in_memory(Schema::new(), options);
            let began = Instant::now();
            add_all(&mut writer, folder, columns)?;
            writer.sort_by(sort())?;
            let (expected, summary) = writer.finish()?;
            let seconds = began.elapsed().as_secs_f64();
            println!("in memory {:.0} documents a second", f64::from(summary.docs) / seconds);
            let equal = fs::read(folder.join("segment.dv"))? == expected;
            println!("the bytes are {}", if equal { "equal" } else { "DIFFERENT" });
            Ok(())
        }
        _ => Err("prepare FOLDER DOCS [COLUMN...] | build FOLDER MIB [COLUMN...] | equal FOLDER [COLUMN...]"
            .into()),
    }
}

/// The sort keys.
fn sort() -> Vec<SortKey> {
    let names = std::env::var("SORT").unwrap_or_default();
    names.split(',').filter(|name| !name.is_empty()).map(SortKey::of).collect()
}

/// The named columns, or all.
fn named<'a>(columns: &'a [&'a str]) -> &'a [&'a str] {
    if columns.is_empty() { &COLUMNS } else { columns }
}

fn mib(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// The peak memory of this process, in bytes.
fn peak() -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM")?;
    Ok(kib.parse::<u64>()? << 10)
}

/// Writes the batches of each column to a file of its own: the length and the bytes of each slice.
fn prepare(folder: &Path, docs: u32, columns: &[&str]) -> Outcome {
    fs::create_dir_all(folder)?;
    let starts = || (0..docs as usize).step_by(BATCH);
    for &name in named(columns) {
        let mut out = BufWriter::new(File::create(folder.join(name))?);
        match name {
            "host" | "url" => {
                let all = if name == "host" { data::hosts(docs) } else { data::urls(docs) };
                for start in starts() {
                    put_strings(&mut out, &all, start, (start + BATCH).min(docs as usize))?;
                }
            }
            "tags" => {
                let (all, lists) = data::tags(docs);
                for start in starts() {
                    let lists = &lists[start..=(start + BATCH).min(docs as usize)];
                    put(&mut out, lists.iter().map(|at| at - lists[0]))?;
                    put_strings(&mut out, &all, lists[0] as usize, lists[lists.len() - 1] as usize)?;
                }
            }
            _ => {
                let all = data::numbers(name, docs);
                for start in starts() {
                    let end = (start + BATCH).min(docs as usize);
                    put(&mut out, all.values[start..end].iter().map(|value| value.cast_unsigned()))?;
                    let present = all.present.as_ref().map(|bits| &bits[start / 64..end.div_ceil(64)]);
                    put(&mut out, present.unwrap_or_default().iter().copied())?;
                }
            }
        }
        out.flush()?;
    }
    Ok(fs::write(folder.join("docs"), docs.to_string())?)
}

fn put(out: &mut impl Write, words: impl ExactSizeIterator<Item = u64>) -> io::Result<()> {
    out.write_all(&(8 * words.len() as u64).to_le_bytes())?;
    words.into_iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

fn put_strings(out: &mut impl Write, all: &data::Strings, start: usize, end: usize) -> io::Result<()> {
    let offsets = &all.offsets[start..=end];
    let bytes = &all.bytes[offsets[0] as usize..offsets[offsets.len() - 1] as usize];
    put(out, offsets.iter().map(|at| at - offsets[0]))?;
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)
}

fn take_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut len = [0; 8];
    input.read_exact(&mut len)?;
    let mut bytes = vec![0; u64::from_le_bytes(len) as usize];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn take(input: &mut impl Read) -> io::Result<Vec<u64>> {
    Ok(take_bytes(input)?.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Adds all documents of the `columns`, or of all.
fn add_all<T>(writer: &mut SegmentWriter<T>, folder: &Path, columns: &[&str]) -> Outcome {
    let docs: usize = fs::read_to_string(folder.join("docs"))?.parse()?;
    let mut inputs = Vec::new();
    for &name in named(columns) {
        let auto = FieldSpec::new(name, LogicalType::Utf8);
        let (file, spec) = match name.split_once('-') {
            Some(("sorted", file)) => (file, auto.kind(BytesKind::Sorted)),
            Some(("coded", file)) => (file, auto.kind(BytesKind::Binary)),
            Some((_, file)) => (file, auto),
            None => (name, spec(name)),
        };
        inputs.push((file, writer.add_field(spec)?, BufReader::new(File::open(folder.join(file))?)));
    }
    for start in (0..docs).step_by(BATCH) {
        let mut batch = writer.batch((docs - start).min(BATCH) as u32)?;
        for (name, field, input) in &mut inputs {
            match *name {
                "host" | "url" => {
                    let offsets = take(input)?;
                    batch.bytes(*field, &offsets, &take_bytes(input)?, None)?;
                }
                "tags" => {
                    let (lists, offsets) = (take(input)?, take(input)?);
                    batch.bytes_lists(*field, &lists, &offsets, &take_bytes(input)?, None)?;
                }
                _ => {
                    let values: Vec<i64> = take(input)?.into_iter().map(u64::cast_signed).collect();
                    let present = take(input)?;
                    batch.i64(*field, &values, Some(&present[..]).filter(|bits| !bits.is_empty()))?;
                }
            }
        }
        batch.finish();
    }
    Ok(())
}
