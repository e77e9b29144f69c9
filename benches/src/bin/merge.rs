//! Cost of merging 40 segments relative to building one from the same values, for any segment.
//!
//! ```text
//! cargo run --release -p docvalues-benches --bin merge -- SEGMENT.dv [ROUNDS]
//! ```
//!
//! The program reads the values into memory and builds 40 segments of them, with the same kinds of columns. Each round
//! measures all workloads in turn, in memory and with one thread: CPU time, the medians of all rounds.
//!
//! | workload | |
//! | --- | --- |
//! | `merge` | the 40 segments become one |
//! | `batches` | the values in batches of 65,536 documents; the writer chooses the columns with a dictionary |
//! | `documents` | the same, one document after the other |
//! | `batches, kinds given` | in batches; the columns with a dictionary are given, as in a merge |
#![expect(clippy::cast_possible_truncation, reason = "the machine that measures has 64 bits")]

use std::ops::Range;
use std::time::Duration;

use criterion::measurement::Measurement as _;
use docvalues::column::Values;
use docvalues::{
    BytesKind, ColumnSource as _, DocRange, Field, FieldId, FieldSpec, Kind, Merger, OpenOptions, Schema,
    Segment, SegmentWriter, WriterOptions,
};
use docvalues_benches::ThreadTime;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A workload that builds a segment, and its name.
type Work<'w> = (&'static str, &'w dyn Fn() -> Outcome<Vec<u8>>);

/// Documents of a batch. A multiple of 64, so that a batch has whole words of a bitset.
const BATCH: u32 = 1 << 16;

/// Number of segments.
const SEGMENTS: u32 = 40;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, rounds) = match &arguments[..] {
        [file] => (file, 9),
        [file, rounds] => (file, rounds.parse()?),
        _ => return Err("SEGMENT.dv [ROUNDS]".into()),
    };
    let segment = Segment::open(file)?;
    let docs = segment.docs();
    let fields = segment.fields()?.into_iter();
    let columns: Vec<_> = fields.map(|field| ColumnValues::read(&segment, field)).collect::<Outcome<_>>()?;
    let known = |field: &Field| match field.kind {
        Kind::Binary => BytesKind::Binary,
        Kind::Sorted => BytesKind::Sorted,
        _ => BytesKind::Auto,
    };
    let size = docs.div_ceil(SEGMENTS).next_multiple_of(64);
    let parts = (0..docs).step_by(size as usize).map(|start| start..docs.min(start + size));
    let parts = parts.map(|part| {
        let bytes = built(&columns, part, known, false)?;
        Ok(Segment::from_bytes(bytes, OpenOptions::new())?)
    });
    let parts: Vec<_> = parts.collect::<Outcome<_>>()?;
    let merge = || {
        let mut merger = Merger::new(options());
        for part in &parts {
            merger.add(part.file(), part);
        }
        Ok(merger.finish_bytes()?.0)
    };
    let workloads: [Work<'_>; 4] = [
        ("merge", &merge),
        ("batches", &|| built(&columns, 0..docs, |_| BytesKind::Auto, false)),
        ("documents", &|| built(&columns, 0..docs, |_| BytesKind::Auto, true)),
        ("batches, kinds given", &|| built(&columns, 0..docs, known, false)),
    ];
    if merge()? != workloads[3].1()? {
        return Err("expected the merged segment to equal the built one, found other bytes".into());
    }
    let mut times = vec![Vec::new(); workloads.len()];
    for _ in 0..rounds {
        for ((_, work), times) in workloads.iter().zip(&mut times) {
            let start = ThreadTime.start();
            std::hint::black_box(work()?);
            times.push(ThreadTime.end(start));
        }
    }
    let medians: Vec<_> = times.iter_mut().map(|times| median(times)).collect();
    println!("{docs} documents in {} columns, {} segments, {rounds} rounds", columns.len(), parts.len());
    for ((name, _), time) in workloads.iter().zip(&medians) {
        let (ms, ratio) = (time.as_secs_f64() * 1e3, time.as_secs_f64() / medians[0].as_secs_f64());
        println!("{name:<22} {ms:8.1} ms   {ratio:.2} times a merge");
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn options() -> WriterOptions {
    WriterOptions::new().budget(usize::MAX).threads(1)
}

/// A segment of some documents.
fn built(
    columns: &[ColumnValues],
    docs: Range<u32>,
    kind: impl Fn(&Field) -> BytesKind,
    one_by_one: bool,
) -> Outcome<Vec<u8>> {
    let mut schema = Schema::new();
    let spec = |field: &Field| {
        let spec = FieldSpec::new(field.name.clone(), field.logical).kind(kind(field));
        let spec = if field.kind.is_multi_valued() { spec.multi_valued() } else { spec };
        match &field.format {
            Some(format) => spec.format(format),
            None => spec,
        }
    };
    let fields =
        columns.iter().map(|column| schema.add(spec(&column.field))).collect::<Result<Vec<_>, _>>()?;
    let columns = || columns.iter().zip(fields.iter().copied());
    let mut writer = SegmentWriter::in_memory(schema, options());
    if one_by_one {
        for doc in docs {
            let mut document = writer.document();
            columns().try_for_each(|(column, field)| column.add_document(&mut document, field, doc))?;
            document.finish()?;
        }
    } else {
        for start in docs.clone().step_by(BATCH as usize) {
            let end = docs.end.min(start + BATCH);
            let mut batch = writer.batch(end - start)?;
            columns().try_for_each(|(column, field)| column.add_batch(&mut batch, field, start..end))?;
            batch.finish();
        }
    }
    Ok(writer.finish_bytes()?)
}

/// The values of a column.
struct ColumnValues {
    field: Field,
    /// The documents with a value, of a column with at most one.
    present: Vec<u64>,
    /// The index of the first value of each document, of a column with lists.
    lists: Vec<u64>,
    numbers: Vec<i64>,
    /// The start of each byte string. A document without one has the start of the next.
    offsets: Vec<u64>,
    bytes: Vec<u8>,
}

impl ColumnValues {
    fn read(segment: &Segment, field: Field) -> Outcome<ColumnValues> {
        let column = segment.column(&field.name)?;
        let docs = DocRange::new(0, segment.docs());
        let (present, lists, offsets) = (vec![0; docs.words()], vec![0], vec![0]);
        let is_multi = field.kind.is_multi_valued();
        let mut values =
            ColumnValues { field, present, lists, numbers: Vec::new(), offsets, bytes: Vec::new() };
        let (mut numbers, mut ords, mut string) = (Vec::new(), Vec::new(), Vec::new());
        for doc in docs.iter() {
            let is_present = match column.values() {
                Values::Numbers(rows) => {
                    let is_present = rows.get(doc, &mut numbers)?;
                    if !is_present && !is_multi {
                        numbers.push(0);
                    }
                    values.numbers.extend(&numbers);
                    values.lists.push(values.numbers.len() as u64);
                    is_present
                }
                Values::Ords(rows, terms) => {
                    let is_present = rows.get(doc, &mut ords)?;
                    for &ord in &ords {
                        terms.term(ord, &mut string)?;
                        values.push(&string);
                    }
                    if !is_present && !is_multi {
                        values.push(&[]);
                    }
                    values.lists.push(values.offsets.len() as u64 - 1);
                    is_present
                }
                Values::Bytes(rows) => {
                    let is_present = rows.get(doc, &mut string)?;
                    values.push(&string);
                    is_present
                }
            };
            values.present[doc.get() as usize / 64] |= u64::from(is_present) << (doc.get() % 64);
        }
        Ok(values)
    }

    fn push(&mut self, string: &[u8]) {
        self.bytes.extend(string);
        self.offsets.push(self.bytes.len() as u64);
    }

    /// Adds the documents `docs`. The first one must be a multiple of 64.
    fn add_batch(
        &self,
        batch: &mut docvalues::writer::ColumnBatch<'_>,
        field: FieldId,
        docs: Range<u32>,
    ) -> Outcome {
        let (start, end) = (docs.start as usize, docs.end as usize);
        let ColumnValues { present, lists, numbers, offsets, bytes, .. } = self;
        let present = Some(&present[start / 64..]);
        match self.field.kind {
            Kind::Numeric => batch.stored(field, &numbers[start..end], present)?,
            Kind::Binary | Kind::Sorted => batch.bytes(field, &offsets[start..=end], bytes, present)?,
            Kind::SortedNumeric => batch.stored_lists(field, &lists[start..=end], numbers, None)?,
            Kind::SortedSet => batch.bytes_lists(field, &lists[start..=end], offsets, bytes, None)?,
        };
        Ok(())
    }

    fn add_document(
        &self,
        document: &mut docvalues::writer::Document<'_>,
        field: FieldId,
        doc: u32,
    ) -> Outcome {
        let at = doc as usize;
        let values = match self.field.kind.is_multi_valued() {
            true => self.lists[at] as usize..self.lists[at + 1] as usize,
            false => at..at + usize::from(self.present[at / 64] >> (at % 64) & 1 == 1),
        };
        for at in values {
            match self.field.kind {
                Kind::Numeric | Kind::SortedNumeric => document.stored(field, self.numbers[at])?,
                Kind::Binary | Kind::Sorted | Kind::SortedSet => {
                    let string = self.offsets[at] as usize..self.offsets[at + 1] as usize;
                    document.stored_bytes(field, &self.bytes[string])?
                }
            };
        }
        Ok(())
    }
}
