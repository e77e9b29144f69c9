//! tantivy-columnar over a mapped file. Numbers are stored as `u64`, which it reads fastest; other types are converted
//! value by value.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use docvalues::DocId;
use memmap2::Mmap;
use tantivy_columnar::column_index::{MultiValueIndex, Set};
use tantivy_columnar::{BytesColumn, ColumnIndex, ColumnType, ColumnarReader, ColumnarWriter, DynamicColumn};

use super::{BATCH, three_columns};
use crate::session::{Session, map};
use crate::sums;
use crate::task::{Column, Lookups, Requests, Tags, Values, Workload, host_lookups, touch};

pub type Numbers = tantivy_columnar::Column<u64>;

const FIELD: &str = "field";

pub fn run(session: &Session) {
    let column = session.column;
    if let Some(files) = session.parts(|_, values, path| build(values, path)) {
        return three_columns::tantivy(session, &files);
    }
    let (values, requests) = session.prepare(build);
    let count = column.value_count(&values);
    let middle = values.middle().get();
    drop(values);
    session.ready();
    match column {
        Column::Host => host(session, &requests, count, middle),
        Column::Url => url(session, &requests, middle),
        Column::Tags => tags(session, &requests, count, middle),
        _ => numbers(session, &requests, count, middle),
    }
}

fn build(values: &Values, path: &Path) {
    let mut writer = ColumnarWriter::default();
    let docs = match values {
        Values::Numbers(numbers) => {
            writer.record_column_type(FIELD, ColumnType::U64, false);
            for (doc, value) in (0..).zip(&numbers.values) {
                let there = |words: &Vec<u64>| words[doc as usize / 64] >> (doc % 64) & 1 == 1;
                if numbers.present.as_ref().is_none_or(there) {
                    writer.record_numerical(doc, FIELD, value.cast_unsigned());
                }
            }
            numbers.values.len()
        }
        Values::Strings(strings) => {
            for doc in 0..strings.count() {
                writer.record_bytes(doc as u32, FIELD, strings.get(doc));
            }
            strings.count()
        }
        Values::Tags(Tags { names, lists, .. }) => {
            // Sets of ords ascend in all peers.
            writer.record_column_type(FIELD, ColumnType::Bytes, true);
            for (doc, list) in (0..).zip(lists.windows(2)) {
                for i in list[0]..list[1] {
                    writer.record_bytes(doc, FIELD, names.get(i as usize));
                }
            }
            lists.len() - 1
        }
    };
    let mut file = std::io::BufWriter::new(File::create(path).expect("a folder to write into"));
    writer.serialize(docs as u32, None, &mut file).expect("the disk has room");
    file.flush().expect("the disk has room");
    file.get_ref().sync_all().expect("the disk has room");
}

fn open(file: Mmap) -> DynamicColumn {
    let reader = ColumnarReader::open(file).expect("a good file");
    let columns = reader.read_columns(FIELD).expect("a good file");
    columns[0].open().expect("a good file")
}

pub fn open_numbers(path: &Path) -> Numbers {
    match open(map(path)) {
        DynamicColumn::U64(column) => column,
        other => panic!("a column of u64, not {}", other.column_type()),
    }
}

pub fn open_bytes(path: &Path) -> BytesColumn {
    match open(map(path)) {
        DynamicColumn::Bytes(column) => column,
        other => panic!("a column of bytes, not {}", other.column_type()),
    }
}

fn ids(docs: &[DocId]) -> Vec<u32> {
    docs.iter().map(|doc| doc.get()).collect()
}

/// The sum of the values from 0 to `count`, read in runs.
fn range_sum(column: &Numbers, count: u32) -> i64 {
    let (mut buffer, mut total) = ([0; BATCH], 0_i64);
    for start in (0..count).step_by(BATCH) {
        let len = (count - start).min(BATCH as u32) as usize;
        column.values.get_range(start.into(), &mut buffer[..len]);
        total = total.wrapping_add(sums::of_unsigned(&buffer[..len]));
    }
    total
}

/// The sum of the values, each plus 1, if all documents have one.
#[inline]
pub fn gather_dense(column: &Numbers, docs: &[u32], out: &mut [u64; BATCH]) -> i64 {
    let out = &mut out[..docs.len()];
    column.values.get_vals(docs, out);
    sums::of_unsigned(out).wrapping_add(docs.len() as i64)
}

/// The sum of the values, each plus 1, of the documents that have one.
#[inline]
pub fn gather_sparse(column: &Numbers, docs: &[u32], out: &mut [Option<u64>; BATCH]) -> i64 {
    // It writes only the documents that have a value.
    let out = &mut out[..docs.len()];
    out.fill(None);
    column.first_vals(docs, out);
    out.iter().flatten().fold(0, |sum, &value| sum.wrapping_add(value.cast_signed()).wrapping_add(1))
}

/// A document's value plus 1, or 0.
#[inline]
pub fn first(column: &Numbers, doc: u32) -> i64 {
    column.first(doc).map_or(0, |value| value.cast_signed().wrapping_add(1))
}

/// The same without the iterator over the values of a document that [`first`] makes.
#[inline]
pub fn get_val(column: &Numbers, doc: u32) -> i64 {
    let row = match &column.index {
        ColumnIndex::Optional(index) => index.rank_if_exists(doc),
        _ => Some(doc),
    };
    row.map_or(0, |row| column.values.get_val(row).cast_signed().wrapping_add(1))
}

/// The calls of [`get_val`].
fn single_call(column: &Numbers) -> &'static str {
    if matches!(column.index, ColumnIndex::Full) {
        "values.get_val"
    } else {
        "rank_if_exists, values.get_val"
    }
}

/// Scans and gathers of at most one number a document.
fn read_numbers(session: &Session, column: &Numbers, requests: &Requests, count: u64) {
    let values = column.values.num_vals();
    if matches!(column.index, ColumnIndex::Full) {
        session.measure(Workload::Scan, "get_range", count, || range_sum(column, values));
    }
    if let ColumnIndex::Optional(index) = &column.index {
        session.measure(Workload::Scan, "iter_non_null_docs, get_range", count, || {
            let docs: i64 = index.iter_non_null_docs().map(i64::from).sum();
            docs.wrapping_add(range_sum(column, values))
        });
        session.measure(Workload::Scan, "iter_non_null_docs, get_val", count, || {
            (0..).zip(index.iter_non_null_docs()).fold(0, |total: i64, (row, doc)| {
                total.wrapping_add(column.values.get_val(row).cast_signed()).wrapping_add(doc.into())
            })
        });
        session.measure(Workload::Scan, "row_ids_for_docs, get_range", count, || {
            let (mut docs, mut rows, mut total) = (Vec::new(), Vec::new(), 0);
            let (mut wanted, mut buffer) = ([0_u32; BATCH], [0; BATCH]);
            for start in (0..session.docs).step_by(BATCH) {
                let len = (session.docs - start).min(BATCH as u32);
                wanted.iter_mut().zip(start..).for_each(|(doc, id)| *doc = id);
                docs.clear();
                rows.clear();
                column.row_ids_for_docs(&wanted[..len as usize], &mut docs, &mut rows);
                let Some(&first) = rows.first() else { continue };
                column.values.get_range(first.into(), &mut buffer[..rows.len()]);
                total += docs.iter().map(|&doc| i64::from(doc)).sum::<i64>();
                total = total.wrapping_add(sums::of_unsigned(&buffer[..rows.len()]));
            }
            total
        });
    }
    for Lookups { work, docs: wanted, batch, units } in requests.calls() {
        let wanted = ids(wanted);
        match &column.index {
            ColumnIndex::Full => {
                let mut out = [0; BATCH];
                session.measure(work, "get_vals", units, || {
                    wanted
                        .chunks(batch)
                        .fold(0, |total: i64, part| total.wrapping_add(gather_dense(column, part, &mut out)))
                });
            }
            _ => {
                let mut out = [None; BATCH];
                session.measure(work, "first_vals", units, || {
                    wanted
                        .chunks(batch)
                        .fold(0, |total: i64, part| total.wrapping_add(gather_sparse(column, part, &mut out)))
                });
                let (mut docs, mut rows, mut out) = (Vec::new(), Vec::new(), [0; BATCH]);
                session.measure(work, "row_ids_for_docs, get_vals", units, || {
                    wanted.chunks(batch).fold(0_i64, |total, part| {
                        docs.clear();
                        rows.clear();
                        column.row_ids_for_docs(part, &mut docs, &mut rows);
                        let out = &mut out[..rows.len()];
                        column.values.get_vals(&rows, out);
                        total.wrapping_add(sums::of_unsigned(out)).wrapping_add(rows.len() as i64)
                    })
                });
            }
        }
        session.measure(work.singly(), "first", units, || {
            wanted.iter().fold(0, |total: i64, &doc| total.wrapping_add(first(column, doc)))
        });
        session.measure(work.singly(), single_call(column), units, || {
            wanted.iter().fold(0, |total: i64, &doc| total.wrapping_add(get_val(column, doc)))
        });
    }
}

fn numbers(session: &Session, requests: &Requests, count: u64, middle: u32) {
    session.measure(Workload::Open, "open, first", 1, || {
        open_numbers(&session.file()).first(middle).expect("a value").cast_signed()
    });
    let column = open_numbers(&session.file());
    read_numbers(session, &column, requests, count);
    if let Some(range) = session.column.range(session.docs) {
        let range = range.start().cast_unsigned()..=range.end().cast_unsigned();
        let mut found = Vec::new();
        session.measure(Workload::Range, "get_docids_for_value_range", session.docs.into(), || {
            found.clear();
            column.get_docids_for_value_range(range.clone(), 0..session.docs, &mut found);
            found.len() as i64
        });
    }
}

fn host(session: &Session, requests: &Requests, count: u64, middle: u32) {
    let mut term = Vec::new();
    session.measure_strings(Workload::Open, "open, ord_to_bytes", 1, || {
        let column = open_bytes(&session.file());
        let ord = column.ords().first(middle).expect("a value");
        assert!(column.ord_to_bytes(ord, &mut term).expect("a good file"));
        touch(&term)
    });
    let column = open_bytes(&session.file());
    read_numbers(session, column.ords(), requests, count);

    let (names, ords) = host_lookups(session.docs);
    session.measure_strings(Workload::Terms, "ord_to_bytes", ords.len() as u64, || {
        ords.iter().fold(0, |total, &ord| {
            assert!(column.ord_to_bytes(ord.into(), &mut term).expect("a good file"));
            total + touch(&term)
        })
    });
    let ords: Vec<u64> = ords.into_iter().map(u64::from).collect();
    session.measure_strings(Workload::TermsBatch, "sort, sorted_ords_to_term_cb", ords.len() as u64, || {
        sorted_terms(&column, ords.clone())
    });
    session.measure(Workload::Seek, "term_ord", ords.len() as u64, || {
        ords.iter().fold(0, |total, &ord| {
            let found = column.dictionary().term_ord(&names[ord as usize]).expect("a good file");
            total + found.expect("a term").cast_signed()
        })
    });
}

/// The sum of the terms of `ords`, read in dictionary order.
fn sorted_terms(column: &BytesColumn, mut ords: Vec<u64>) -> i64 {
    ords.sort_unstable();
    let mut total = 0;
    let all = column.dictionary().sorted_ords_to_term_cb(&ords, |term| total += touch(term));
    assert!(all.expect("a good file"));
    total
}

/// Every URL is a term: a lookup reads an ord and then its term. A scan in document order would take microseconds
/// for each value and is not measured.
fn url(session: &Session, requests: &Requests, middle: u32) {
    let mut term = Vec::new();
    session.measure_strings(Workload::Open, "open, ord_to_bytes", 1, || {
        let column = open_bytes(&session.file());
        let ord = column.ords().first(middle).expect("a value");
        assert!(column.ord_to_bytes(ord, &mut term).expect("a good file"));
        touch(&term)
    });
    let column = open_bytes(&session.file());
    for Lookups { work, docs: wanted, units, .. } in requests.gathers() {
        let wanted = ids(wanted);
        session.measure_strings(work, "get_vals, sorted_ords_to_term_cb", units, || {
            let mut ords = vec![0; wanted.len()];
            column.ords().values.get_vals(&wanted, &mut ords);
            sorted_terms(&column, ords)
        });
        session.measure_strings(work.singly(), "values.get_val, ord_to_bytes", units, || {
            wanted.iter().fold(0, |total, &doc| {
                let ord = column.ords().values.get_val(doc);
                assert!(column.ord_to_bytes(ord, &mut term).expect("a good file"));
                total + touch(&term)
            })
        });
    }
}

fn tags(session: &Session, requests: &Requests, count: u64, middle: u32) {
    session.measure(Workload::Open, "open, values_for_doc", 1, || {
        open_bytes(&session.file()).ords().values_for_doc(middle).map(u64::cast_signed).sum()
    });
    let column = open_bytes(&session.file());
    let ords = column.ords();
    session.measure(Workload::Scan, "values_for_doc", count, || {
        (0..session.docs).fold(0, |total, doc| {
            ords.values_for_doc(doc).fold(total, |total, ord| total + ord.cast_signed() + i64::from(doc))
        })
    });
    if let ColumnIndex::Multivalued(MultiValueIndex::MultiValueIndexV2(index)) = &ords.index {
        session.measure(Workload::Scan, "the index's parts, get_range", count, || {
            let mut total = range_sum(ords, ords.values.num_vals());
            let (mut starts, mut docs) = ([0; BATCH + 1], index.optional_index.iter_non_null_docs());
            let there = index.start_index_column.num_vals() - 1;
            for first in (0..there).step_by(BATCH) {
                let len = (there - first).min(BATCH as u32) as usize;
                index.start_index_column.get_range(first.into(), &mut starts[..=len]);
                for (pair, doc) in starts[..=len].windows(2).zip(&mut docs) {
                    total += i64::from(doc) * i64::from(pair[1] - pair[0]);
                }
            }
            total
        });
    }
    for Lookups { work, docs: wanted, units, .. } in requests.gathers() {
        let wanted = ids(wanted);
        if work != Workload::Random {
            let (mut docs, mut rows, mut out) = (Vec::new(), Vec::new(), Vec::new());
            session.measure(work, "row_ids_for_docs, get_vals", units, || {
                wanted.chunks(BATCH).fold(0, |total, part| {
                    docs.clear();
                    rows.clear();
                    ords.row_ids_for_docs(part, &mut docs, &mut rows);
                    out.resize(rows.len(), 0);
                    ords.values.get_vals(&rows, &mut out);
                    total + sums::of_unsigned(&out) + rows.len() as i64
                })
            });
        }
        session.measure(work.singly(), "value_row_ids, values.get_val", units, || {
            wanted.iter().fold(0, |total, &doc| {
                let rows = ords.index.value_row_ids(doc);
                rows.fold(total, |total, row| total + ords.values.get_val(row).cast_signed() + 1)
            })
        });
        session.measure(work.singly(), "values_for_doc", units, || {
            wanted.iter().fold(0, |total, &doc| {
                ords.values_for_doc(doc).fold(total, |total, ord| total + ord.cast_signed() + 1)
            })
        });
    }
}
