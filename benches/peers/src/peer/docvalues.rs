//! docvalues with its defaults: a mapped file, checksums at first touch, baked jump tables, zone maps. Segments are
//! built from column batches.

use std::ops::ControlFlow;
use std::path::Path;

use docvalues::column::{BatchDocs, Lists, bits};
use docvalues::writer::Compression;
use docvalues::{
    BytesKind, DocId, DocRange, FieldSpec, LogicalType, Numeric, Schema, Segment, SegmentWriter, Sorted,
    TermOrd, WriterOptions,
};

use super::{BATCH, three_columns};
use crate::data::Strings;
use crate::session::Session;
use crate::sums;
use crate::task::{Column, Lookups, Requests, Tags, Values, Workload, host_lookups, touch};

pub const FIELD: &str = "field";

pub fn run(session: &Session) {
    let column = session.column;
    if let Some(files) = session.parts(build) {
        return three_columns::docvalues(session, &files);
    }
    let (values, requests) = session.prepare(|values, path| build(column, values, path));
    let count = column.value_count(&values);
    let middle = values.middle();
    drop(values);
    session.ready();
    let segment = open(session);
    match column {
        Column::Host => host(session, &segment, &requests, count, middle),
        Column::Url => url(session, &segment, &requests, count, middle),
        Column::Tags => tags(session, &segment, &requests, count, middle),
        _ => numbers(session, &segment, &requests, count, middle),
    }
}

fn open(session: &Session) -> Segment {
    Segment::open(session.file()).expect("a good segment")
}

fn build(column: Column, values: &Values, path: &Path) {
    let spec = match column {
        Column::Host => FieldSpec::new(FIELD, LogicalType::Utf8).kind(BytesKind::Sorted),
        Column::Url => {
            FieldSpec::new(FIELD, LogicalType::Utf8).kind(BytesKind::Binary).compression(Compression::None)
        }
        Column::Tags => FieldSpec::new(FIELD, LogicalType::Utf8).multi_valued(),
        _ => FieldSpec::new(FIELD, LogicalType::I64),
    };
    let mut schema = Schema::new();
    let field = schema.add(spec).expect("a new field");
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::create(path, schema, options).expect("a folder to write into");
    // A multiple of 64, so that a batch has whole words of the bitset.
    let step = 1 << 16;
    match values {
        Values::Numbers(numbers) => {
            for (at, part) in numbers.values.chunks(step).enumerate() {
                let present = numbers.present.as_ref().map(|words| &words[at * step / 64..]);
                let mut batch = writer.batch(part.len() as u32).expect("few documents");
                batch.i64(field, part, present).expect("good values");
                batch.finish();
            }
        }
        Values::Strings(Strings { bytes, offsets }) => {
            let docs = offsets.len() - 1;
            for start in (0..docs).step_by(step) {
                let end = docs.min(start + step);
                let mut batch = writer.batch((end - start) as u32).expect("few documents");
                batch.bytes(field, &offsets[start..=end], bytes, None).expect("good values");
                batch.finish();
            }
        }
        Values::Tags(Tags { names, lists, .. }) => {
            let docs = lists.len() - 1;
            for start in (0..docs).step_by(step) {
                let end = docs.min(start + step);
                let mut batch = writer.batch((end - start) as u32).expect("few documents");
                let lists = &lists[start..=end];
                batch.bytes_lists(field, lists, &names.offsets, &names.bytes, None).expect("good values");
                batch.finish();
            }
        }
    }
    writer.finish().expect("the disk has room");
}

/// The sum of the documents of a batch.
pub fn doc_sum(docs: BatchDocs<'_>) -> i64 {
    match docs {
        BatchDocs::Run(docs) => {
            let (first, len) = (i64::from(docs.start), docs.len() as i64);
            len * first + len * (len - 1) / 2
        }
        BatchDocs::List(docs) => sums::of_docs(docs),
    }
}

/// The sum of the values, each plus 1, if all documents have one.
#[inline]
pub fn gather_dense(column: &Numeric, docs: &[DocId], out: &mut [i64; BATCH]) -> i64 {
    let out = &mut out[..docs.len()];
    column.gather_or(docs, out, 0).expect("good bytes");
    sums::of(out).wrapping_add(docs.len() as i64)
}

/// The sum of the values, each plus 1, of the documents that have one.
#[inline]
pub fn gather_sparse(column: &Numeric, docs: &[DocId], out: &mut [i64; BATCH]) -> i64 {
    let mut words = [0; BATCH / 64];
    let (out, present) = (&mut out[..docs.len()], &mut words[..docs.len().div_ceil(64)]);
    column.gather(docs, out, present).expect("good bytes");
    // Bits after the last document are set if all documents have a value.
    if !docs.len().is_multiple_of(64) {
        present[docs.len() / 64] &= (1 << (docs.len() % 64)) - 1;
    }
    sums::of(out).wrapping_add(bits::count(present) as i64)
}

/// The same of ords.
#[inline]
pub fn gather_ords(column: &Sorted, docs: &[DocId], out: &mut [TermOrd; BATCH]) -> i64 {
    let out = &mut out[..docs.len()];
    column.gather_or(docs, out, TermOrd::new(0)).expect("good bytes");
    sums::of_ords(out) + docs.len() as i64
}

/// A document's value plus 1, or 0.
#[inline]
pub fn get(column: &Numeric, doc: DocId) -> i64 {
    column.get(doc).expect("good bytes").map_or(0, |value| value.wrapping_add(1))
}

/// A document's ord plus 1, or 0.
#[inline]
pub fn get_ord(column: &Sorted, doc: DocId) -> i64 {
    column.ord(doc).expect("good bytes").map_or(0, |ord| i64::from(ord.get()) + 1)
}

fn numbers(session: &Session, segment: &Segment, requests: &Requests, count: u64, middle: DocId) {
    session.measure(Workload::Open, "open, get", 1, || {
        let column = open(session).numeric(FIELD).expect("a column");
        column.get(middle).expect("good bytes").expect("a value")
    });
    let column = segment.numeric(FIELD).expect("a column");
    let docs = segment.docs();
    let dense = session.column.is_dense();
    session.measure(Workload::Scan, "scan", count, || {
        let mut total = 0_i64;
        let scanned = column.scan(0..docs, |docs, values| {
            total = total.wrapping_add(sums::of(values));
            if !dense {
                total = total.wrapping_add(doc_sum(docs));
            }
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
        total
    });
    for Lookups { work, docs: wanted, batch, units } in requests.calls() {
        let mut out = [0; BATCH];
        if dense {
            session.measure(work, "gather_or", units, || {
                wanted
                    .chunks(batch)
                    .fold(0, |total: i64, part| total.wrapping_add(gather_dense(&column, part, &mut out)))
            });
        } else {
            session.measure(work, "gather", units, || {
                wanted
                    .chunks(batch)
                    .fold(0, |total: i64, part| total.wrapping_add(gather_sparse(&column, part, &mut out)))
            });
        }
        session.measure(work.singly(), "get", units, || {
            wanted.iter().fold(0, |total: i64, &doc| total.wrapping_add(get(&column, doc)))
        });
    }
    if let Some(range) = session.column.range(docs) {
        let mut found = vec![0; DocRange::new(0, docs).words()];
        let filter = column.range(range);
        session.measure(Workload::Range, "filter into a bitset", docs.into(), || {
            found.fill(0);
            filter.collect_into(&mut found).expect("good bytes");
            bits::count(&found) as i64
        });
    }
}

fn host(session: &Session, segment: &Segment, requests: &Requests, count: u64, middle: DocId) {
    let mut term = Vec::new();
    session.measure_strings(Workload::Open, "open, ord, term", 1, || {
        let column = open(session).sorted(FIELD).expect("a column");
        let ord = column.ord(middle).expect("good bytes").expect("a value");
        column.terms().term(ord, &mut term).expect("good bytes");
        touch(&term)
    });
    let column = segment.sorted(FIELD).expect("a column");
    let docs = segment.docs();
    session.measure(Workload::Scan, "scan", count, || {
        let mut total = 0;
        let scanned = column.scan(0..docs, |_, ords| {
            total += sums::of_ords(ords);
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
        total
    });
    for Lookups { work, docs: wanted, batch, units } in requests.calls() {
        let mut out = [TermOrd::new(0); BATCH];
        session.measure(work, "gather_or", units, || {
            wanted.chunks(batch).map(|part| gather_ords(&column, part, &mut out)).sum()
        });
        session
            .measure(work.singly(), "ord", units, || wanted.iter().map(|&doc| get_ord(&column, doc)).sum());
    }

    let (dictionary, (names, ords)) = (column.terms(), host_lookups(session.docs));
    session.measure_strings(Workload::Terms, "term", ords.len() as u64, || {
        ords.iter().fold(0, |total, &ord| {
            dictionary.term(TermOrd::new(ord), &mut term).expect("good bytes");
            total + touch(&term)
        })
    });
    let requests: Vec<TermOrd> = ords.iter().copied().map(TermOrd::new).collect();
    let mut terms = Lists::new();
    session.measure_strings(Workload::TermsBatch, "gather_terms", requests.len() as u64, || {
        requests.chunks(BATCH).fold(0, |total, part| {
            dictionary.gather_terms(part, &mut terms).expect("good bytes");
            total + terms.slices().iter().map(touch).sum::<i64>()
        })
    });
    session.measure(Workload::Seek, "seek_exact", ords.len() as u64, || {
        ords.iter().fold(0, |total, &ord| {
            let found = dictionary.seek_exact(names[ord as usize].as_bytes()).expect("good bytes");
            total + i64::from(found.expect("a term").get())
        })
    });
}

fn url(session: &Session, segment: &Segment, requests: &Requests, count: u64, middle: DocId) {
    let mut buffer = Vec::new();
    session.measure_strings(Workload::Open, "open, get", 1, || {
        let column = open(session).binary(FIELD).expect("a column");
        touch(column.get(middle, &mut buffer).expect("good bytes").expect("a value"))
    });
    let column = segment.binary(FIELD).expect("a column");
    let docs = segment.docs();
    session.measure_strings(Workload::Scan, "scan", count, || {
        let mut total = 0;
        let scanned = column.scan(0..docs, |_, values| {
            total += values.iter().map(touch).sum::<i64>();
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
        total
    });
    for Lookups { work, docs: wanted, batch, units } in requests.gathers() {
        let mut out = Lists::new();
        session.measure_strings(work, "gather_or", units, || {
            wanted.chunks(batch).fold(0, |total, part| {
                column.gather_or(part, &mut out, b"").expect("good bytes");
                total + out.slices().iter().map(touch).sum::<i64>()
            })
        });
        session.measure_strings(work.singly(), "get", units, || {
            wanted.iter().fold(0, |total, &doc| {
                total + touch(column.get(doc, &mut buffer).expect("good bytes").expect("a value"))
            })
        });
    }
}

fn tags(session: &Session, segment: &Segment, requests: &Requests, count: u64, middle: DocId) {
    let mut ords = Vec::new();
    session.measure(Workload::Open, "open, ords", 1, || {
        let column = open(session).sorted_set(FIELD).expect("a column");
        column.ords(middle, &mut ords).expect("good bytes");
        sums::of_ords(&ords)
    });
    let column = segment.sorted_set(FIELD).expect("a column");
    let docs = segment.docs();
    session.measure(Workload::Scan, "scan", count, || {
        let mut total = 0;
        let scanned = column.scan(0..docs, |docs, lists| {
            total += sums::of_ords(lists.items());
            // The number of values of each document.
            for (doc, ords) in docs.iter().zip(lists.iter()) {
                total += i64::from(doc.get()) * ords.len() as i64;
            }
            ControlFlow::Continue(())
        });
        scanned.expect("good bytes");
        total
    });
    for Lookups { work, docs: wanted, batch, units } in requests.gathers() {
        let mut out = Lists::new();
        session.measure(work, "gather", units, || {
            wanted.chunks(batch).fold(0, |total, part| {
                column.gather(part, &mut out).expect("good bytes");
                let ords = out.slices().items();
                total + sums::of_ords(ords) + ords.len() as i64
            })
        });
        session.measure(work.singly(), "ords", units, || {
            wanted.iter().fold(0, |total, &doc| {
                column.ords(doc, &mut ords).expect("good bytes");
                total + sums::of_ords(&ords) + ords.len() as i64
            })
        });
    }
}
