//! Indexes that Lucene wrote, of releases from 7.0 to 10.6: every value is the one that Lucene reads, and searches find what these
//! values say. `crates/lucene/fixtures/make` makes them; without them, the test prints SKIPPED.
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docvalues_column::{
    Column, ColumnSource as _, DocId, DocRange, Each, Element, ErrorKind, Field, Kind, Lists, OrdRange, Rows,
    TermOrd, Values,
};
use docvalues_lucene::{FsDirectory, Index, JumpTables, Options, Segment};
use docvalues_testkit::conformance::check_column;
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::searches::check_searches;
use docvalues_testkit::shapes::Dataset;
use serde_json::Value;

/// The most documents of a segment that is searched: several words of presence.
const SEARCHED: u32 = 65;

/// Columns that are searched together.
const TOGETHER: usize = 3;

/// The values of a document.
#[derive(Clone, Debug, PartialEq)]
enum Row {
    Numbers(Vec<i64>),
    Strings(Vec<Vec<u8>>),
}

#[test]
fn values_are_those_that_lucene_reads() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/data");
    let Ok(entries) = fs::read_dir(&data) else {
        println!("SKIPPED: no {}", data.display());
        return;
    };
    let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let folders: BTreeSet<_> = folders.collect();
    for (number, path) in folders.iter().enumerate() {
        let lines = fs::read_to_string(values_of(path)).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (at, mode) in JumpTables::ALL.into_iter().enumerate() {
            let options = Options::new().jump_tables(mode).verify_all(true);
            let index = Index::open_with(Arc::new(FsDirectory::new(path)), options).unwrap();
            index.verify().unwrap();
            let mut columns: BTreeMap<&str, Vec<(Field, ModelColumn)>> = BTreeMap::new();
            for line in &lines {
                if let Some(field) = line["lookup"].as_str() {
                    check_lookup(&index, field, line);
                    continue;
                }
                let name = line["segment"].as_str().unwrap();
                let segment = segment(&index, name);
                match line["field"].as_str() {
                    None => check_live(segment, line),
                    Some(field) => {
                        let column = check_field(segment, field, line);
                        columns.entry(name).or_default().extend(column);
                    }
                }
            }
            let sample = number + at;
            columns.iter().for_each(|(name, columns)| search(segment(&index, name), columns, sample));
        }
        println!("{}: {} lines", path.display(), lines.len());
    }
    assert!(!folders.is_empty(), "no index in {}", data.display());
}

/// The file of the values of an index. Most have those of the newest release, and no file.
fn values_of(index: &Path) -> PathBuf {
    let own = PathBuf::from(format!("{}.ndjson", index.display()));
    if own.exists() { own } else { index.with_file_name("10.6.ndjson") }
}

fn segment<'i>(index: &'i Index, name: &str) -> &'i Segment {
    index.segments().iter().find(|segment| segment.name() == name).unwrap()
}

/// Runs all searches over the columns of a small segment, some together. A sample has other ones of each index and mode.
fn search(segment: &Segment, columns: &[(Field, ModelColumn)], sample: usize) {
    let docs = segment.docs();
    if docs > SEARCHED {
        return;
    }
    for columns in columns.chunks(TOGETHER).skip(cases(sample % 3, 0)).step_by(cases(3, 1)) {
        check_searches(segment, &Dataset { docs, columns: columns.to_vec() });
    }
}

/// The documents with a term, in all segments.
fn check_lookup(index: &Index, field: &str, line: &Value) {
    let term = line["term"].as_str().unwrap();
    let mut found = Vec::new();
    for segment in index.segments() {
        let docs = segment.find_term(field, term.as_bytes()).unwrap();
        found.extend(
            docs.into_iter().map(|doc| Value::from(vec![Value::from(segment.name()), doc.get().into()])),
        );
    }
    assert_eq!(Value::from(found), line["found"], "{field}:{term}");
    let live: usize = index.find_id(field, term).unwrap().len();
    assert!(live <= line["found"].as_array().unwrap().len());
}

/// The documents, and those that are deleted.
fn check_live(segment: &Segment, line: &Value) {
    let dead: BTreeSet<u64> =
        line["dead"].as_array().unwrap().iter().map(|doc| doc.as_u64().unwrap()).collect();
    assert_eq!(Some(u64::from(segment.docs())), line["docs"].as_u64());
    let is_dead = |doc: &u32| segment.live().is_some_and(|live| !live.contains(DocId::new(*doc)));
    let found: BTreeSet<u64> = (0..segment.docs()).filter(is_dead).map(u64::from).collect();
    assert_eq!(found, dead, "{segment:?}");
}

/// The values of a field, in order and in all other ways. Returns its column, if there is one.
fn check_field(segment: &Segment, name: &str, line: &Value) -> Option<(Field, ModelColumn)> {
    let column = match segment.column(name) {
        Ok(column) => column,
        Err(error) => {
            let is_none = matches!(error.kind(), ErrorKind::NoSuchColumn { .. });
            assert!(is_none && line["docs"] == 0, "{segment:?}: {error}");
            return None;
        }
    };
    let rows = rows(&*column);
    assert_eq!(Some(rows.len() as u64), line["docs"].as_u64(), "documents with {name} of {segment:?}");
    if let Some(listed) = line["values"].as_array() {
        assert_eq!(rows, listed.iter().map(row).collect::<Vec<_>>(), "{name} of {segment:?}");
    }
    assert_eq!(Some(hash(&rows)), line["hash"].as_str().map(str::to_owned), "{name} of {segment:?}");
    let (field, docs) = (column.info().field.clone(), segment.docs());
    let model = model(field.kind, docs, rows);
    check_column(&*column, &*model.open(field.clone(), docs));
    Some((field, model))
}

/// A document and its values, as a line has them.
fn row(listed: &Value) -> (u32, Row) {
    let [doc, values @ ..] = listed.as_array().unwrap().as_slice() else { panic!("{listed}") };
    let doc = u32::try_from(doc.as_u64().unwrap()).unwrap();
    if values[0].is_i64() || values[0].is_u64() {
        return (doc, Row::Numbers(values.iter().map(|number| number.as_i64().unwrap()).collect()));
    }
    let bytes = |hex: &Value| {
        let pairs = hex.as_str().unwrap().as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    };
    (doc, Row::Strings(values.iter().map(bytes).collect()))
}

/// All documents with a value, and their values.
fn rows(column: &dyn Column) -> Vec<(u32, Row)> {
    let docs = column.info().docs;
    match column.values() {
        Values::Numbers(rows) => scan(rows, docs, |row| Row::Numbers(row.to_vec())),
        Values::Bytes(rows) => scan(rows, docs, |row| Row::Strings(vec![row.to_vec()])),
        Values::Ords(rows, terms) => {
            let (ords, mut all) = (OrdRange::new(0, terms.term_count()), Lists::new());
            terms.gather_terms(&ords.iter().collect::<Vec<TermOrd>>(), &mut all).unwrap();
            let all = all.slices();
            scan(rows, docs, |row| {
                Row::Strings(row.iter().map(|ord| all.get(ord.get() as usize).to_vec()).collect())
            })
        }
    }
}

fn scan<T: Element>(rows: &dyn Rows<T>, docs: u32, row: impl Fn(&[T]) -> Row) -> Vec<(u32, Row)> {
    let mut found = Vec::new();
    let each: &mut Each<'_, T> = &mut |batch| {
        for (at, doc) in batch.docs.iter().enumerate() {
            found.push((doc.get(), row(batch.values.row(at))));
        }
        ControlFlow::Continue(())
    };
    rows.scan(DocRange::new(0, docs), each).unwrap();
    found
}

/// The hash of a line: FNV-1a of 64 bits.
fn hash(rows: &[(u32, Row)]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for (doc, row) in rows {
        mix(&u64::from(*doc).to_le_bytes());
        match row {
            Row::Numbers(numbers) => numbers.iter().for_each(|number| mix(&number.to_le_bytes())),
            Row::Strings(strings) => {
                for string in strings {
                    mix(&(string.len() as u64).to_le_bytes());
                    mix(string);
                }
            }
        }
    }
    format!("{hash:016x}")
}

/// A column of these rows.
fn model(kind: Kind, docs: u32, rows: Vec<(u32, Row)>) -> ModelColumn {
    let mut all: Vec<Option<Row>> = vec![None; docs as usize];
    rows.into_iter().for_each(|(doc, row)| all[doc as usize] = Some(row));
    let numbers = |row: Option<Row>| if let Some(Row::Numbers(numbers)) = row { numbers } else { Vec::new() };
    let strings = |row: Option<Row>| if let Some(Row::Strings(strings)) = row { strings } else { Vec::new() };
    let all = all.into_iter();
    match kind {
        Kind::Numeric => ModelColumn::Numeric(all.map(|row| numbers(row).pop()).collect()),
        Kind::SortedNumeric => ModelColumn::SortedNumeric(all.map(numbers).collect()),
        Kind::Sorted => ModelColumn::Sorted(all.map(|row| strings(row).pop()).collect()),
        Kind::SortedSet => {
            ModelColumn::SortedSet(all.map(|row| strings(row).into_iter().collect()).collect())
        }
        Kind::Binary => ModelColumn::Binary(all.map(|row| strings(row).pop()).collect()),
    }
}
