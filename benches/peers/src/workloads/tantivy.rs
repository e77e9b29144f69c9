//! tantivy-columnar: loops over its batches, as in its aggregations, specialized for each workload.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use docvalues::DocId;
use tantivy_columnar::{BytesColumn, ColumnType, ColumnarReader, ColumnarWriter, DynamicColumn};

use super::checksum::{Columns, TopK, then, then_term};
use super::process::Process;
use super::{NUMBERS, Row, SORTED, STRINGS, TOP, Task};
use crate::session::map;
use crate::task::{Column, Values};

type Numbers = tantivy_columnar::Column<u64>;

/// Documents of a batch.
const BATCH: usize = 1_024;

pub fn run(process: &Process, row: Option<Row>) {
    let Some(row) = row else { return process.build(|path| build(process.docs, path)) };
    let peer = Peer::open(process);
    match row.task() {
        Task::Facet(share) => {
            let hits = ids(process.hits(share));
            process.measure(row, "batches of ords", || peer.facet(hits.as_deref()));
        }
        Task::Top(share) => {
            let hits = ids(process.hits(share));
            process.measure(row, "batches of values", || peer.top(hits.as_deref()));
        }
        Task::Group(share) => {
            let hits = ids(process.hits(share));
            process.measure(row, "batches of ords and values", || peer.group(hits.as_deref()));
        }
        Task::Range(column) => peer.range(process, row, column),
        Task::Export { sorted } => {
            let docs = ids(Some(process.exported(sorted))).unwrap_or_default();
            process.measure(row, "one by one", || peer.export_singly(&docs));
            process.measure(row, "get_vals, ords sorted", || peer.export(&docs, false));
            if !sorted {
                process.measure(row, "documents sorted, get_vals, ords sorted", || peer.export(&docs, true));
            }
        }
    }
}

fn ids(docs: Option<Vec<DocId>>) -> Option<Vec<u32>> {
    docs.map(|docs| docs.into_iter().map(DocId::get).collect())
}

fn build(docs: u32, path: &Path) {
    let mut writer = ColumnarWriter::default();
    for column in NUMBERS {
        let Values::Numbers(numbers) = column.values(docs) else { unreachable!("numbers") };
        writer.record_column_type(column.name(), ColumnType::U64, false);
        for (doc, value) in (0..).zip(numbers.values) {
            writer.record_numerical(doc, column.name(), value.cast_unsigned());
        }
    }
    for column in STRINGS {
        let Values::Strings(strings) = column.values(docs) else { unreachable!("strings") };
        for doc in 0..docs {
            writer.record_bytes(doc, column.name(), strings.get(doc as usize));
        }
    }
    let mut file = std::io::BufWriter::new(File::create(path).expect("a folder to write into"));
    writer.serialize(docs, None, &mut file).expect("the disk has room");
    file.flush().expect("the disk has room");
    file.get_ref().sync_all().expect("the disk has room");
}

/// The columns of the segment.
struct Peer {
    docs: u32,
    reader: ColumnarReader,
    ts: Numbers,
    size: Numbers,
    host: BytesColumn,
    url: BytesColumn,
}

impl Peer {
    fn open(process: &Process) -> Peer {
        let reader = ColumnarReader::open(map(&process.file)).expect("a good file");
        let bytes = |column| match open(&reader, column) {
            DynamicColumn::Bytes(column) => column,
            other => panic!("a column of bytes, not {}", other.column_type()),
        };
        Peer {
            docs: process.docs,
            ts: numbers(&reader, Column::Ts),
            size: numbers(&reader, Column::Size),
            host: bytes(Column::Host),
            url: bytes(Column::Url),
            reader,
        }
    }

    fn facet(&self, hits: Option<&[u32]>) -> i64 {
        let mut counts = vec![0_u32; self.host.num_terms()];
        batches(self.docs, [self.host.ords()], hits, |_, [ords]| {
            for &ord in ords {
                counts[ord as usize] += 1;
            }
        });
        let mut best = TopK::new(TOP);
        for (ord, &count) in (0..).zip(&counts) {
            best.offer(count.into(), ord);
        }
        self.named(&best)
    }

    fn top(&self, hits: Option<&[u32]>) -> i64 {
        let mut best = TopK::new(SORTED);
        batches(self.docs, [&self.size], hits, |docs, [sizes]| {
            for (at, &size) in sizes.iter().enumerate() {
                let size = size.cast_signed();
                if size > best.least {
                    best.offer(size, docs.at(at));
                }
            }
        });
        best.entries().iter().fold(0, |sum, entry| then(sum, entry.1.into()))
    }

    fn group(&self, hits: Option<&[u32]>) -> i64 {
        let mut sums = vec![0_i64; self.host.num_terms()];
        batches(self.docs, [self.host.ords(), &self.size], hits, |_, [ords, sizes]| {
            for (&ord, &size) in ords.iter().zip(sizes) {
                let sum = &mut sums[ord as usize];
                *sum = sum.wrapping_add(size.cast_signed());
            }
        });
        let mut best = TopK::new(TOP);
        for (ord, &sum) in (0..).zip(&sums) {
            best.offer(sum, ord);
        }
        self.named(&best)
    }

    /// The checksum of the top hosts, with their names.
    fn named(&self, best: &TopK) -> i64 {
        let mut term = Vec::new();
        best.entries().iter().fold(0, |sum, &(value, ord)| {
            assert!(self.host.ord_to_bytes(ord.into(), &mut term).expect("a good file"));
            then_term(sum, &term, value)
        })
    }

    fn range(&self, process: &Process, row: Row, column: Column) {
        let range = column.range(self.docs).expect("a column that is filtered");
        let range = range.start().cast_unsigned()..=range.end().cast_unsigned();
        let (column, mut found) = (numbers(&self.reader, column), Vec::new());
        process.measure(row, "get_row_ids_for_value_range", || {
            found.clear();
            column.values.get_row_ids_for_value_range(range.clone(), 0..self.docs, &mut found);
            found.len() as i64
        });
    }

    fn export_singly(&self, docs: &[u32]) -> i64 {
        let (mut sums, mut term) = (Columns::default(), Vec::new());
        for &doc in docs {
            for (at, column) in [&self.url, &self.host].into_iter().enumerate() {
                let ord = column.ords().values.get_val(doc);
                assert!(column.ord_to_bytes(ord, &mut term).expect("a good file"));
                sums.string(at, &term);
            }
            for (at, column) in [&self.ts, &self.size].into_iter().enumerate() {
                sums.number(2 + at, column.values.get_val(doc).cast_signed());
            }
        }
        sums.sum()
    }

    /// Exports column by column and scatters the values to their rows; with `sort`, reads values in document order.
    fn export(&self, docs: &[u32], sort: bool) -> i64 {
        let mut order: Vec<(u32, u32)> = docs.iter().copied().zip(0..).collect();
        if sort {
            order.sort_unstable();
        }
        let docs: Vec<u32> = order.iter().map(|entry| entry.0).collect();
        let mut sums = Columns::default();
        for (at, column) in [&self.url, &self.host].into_iter().enumerate() {
            let strings = Scattered::read(column, &docs, &order);
            strings.places.iter().for_each(|&(start, end)| sums.string(at, &strings.bytes[start..end]));
        }
        let mut rows = vec![0; docs.len()];
        for (at, column) in [&self.ts, &self.size].into_iter().enumerate() {
            for (values, &(_, row)) in values(column, &docs).into_iter().zip(&order) {
                rows[row as usize] = values;
            }
            rows.iter().for_each(|value: &u64| sums.number(2 + at, value.cast_signed()));
        }
        sums.sum()
    }
}

/// Strings of rows.
struct Scattered {
    bytes: Vec<u8>,
    /// The start and end of each row.
    places: Vec<(usize, usize)>,
}

impl Scattered {
    /// The strings of `docs`, read in dictionary order; `order` has their rows.
    fn read(column: &BytesColumn, docs: &[u32], order: &[(u32, u32)]) -> Scattered {
        let ords = values(column.ords(), docs);
        let mut sorted: Vec<(u64, u32)> = ords.into_iter().zip(order.iter().map(|entry| entry.1)).collect();
        sorted.sort_unstable();
        let ords: Vec<u64> = sorted.iter().map(|entry| entry.0).collect();
        let mut made = Scattered { bytes: Vec::new(), places: vec![(0, 0); docs.len()] };
        let (mut rows, mut last, mut place) = (sorted.iter(), u64::MAX, (0, 0));
        let all = column.dictionary().sorted_ords_to_term_cb(&ords, |term| {
            let &(ord, row) = rows.next().expect("a row for each ord");
            if ord != last {
                (last, place) = (ord, (made.bytes.len(), made.bytes.len() + term.len()));
                made.bytes.extend_from_slice(term);
            }
            made.places[row as usize] = place;
        });
        assert!(all.expect("a good file"));
        made
    }
}

fn values(column: &Numbers, docs: &[u32]) -> Vec<u64> {
    let mut out = vec![0; docs.len()];
    for (docs, out) in docs.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
        column.values.get_vals(docs, out);
    }
    out
}

/// The documents of a batch.
enum Batch<'a> {
    /// A run that starts here.
    Run(u32),
    List(&'a [u32]),
}

impl Batch<'_> {
    fn at(&self, at: usize) -> u32 {
        match self {
            Batch::Run(first) => first + at as u32,
            Batch::List(docs) => docs[at],
        }
    }
}

/// Calls `see` with the values of the columns for `hits`, or for all documents.
fn batches<const N: usize>(
    docs: u32,
    columns: [&Numbers; N],
    hits: Option<&[u32]>,
    mut see: impl FnMut(Batch<'_>, [&[u64]; N]),
) {
    let mut buffers = [[0_u64; BATCH]; N];
    match hits {
        None => {
            for start in (0..docs).step_by(BATCH) {
                let len = (docs - start).min(BATCH as u32) as usize;
                for (column, buffer) in columns.iter().zip(&mut buffers) {
                    column.values.get_range(start.into(), &mut buffer[..len]);
                }
                see(Batch::Run(start), buffers.each_ref().map(|buffer| &buffer[..len]));
            }
        }
        Some(hits) => {
            for part in hits.chunks(BATCH) {
                for (column, buffer) in columns.iter().zip(&mut buffers) {
                    column.values.get_vals(part, &mut buffer[..part.len()]);
                }
                see(Batch::List(part), buffers.each_ref().map(|buffer| &buffer[..part.len()]));
            }
        }
    }
}

fn open(reader: &ColumnarReader, column: Column) -> DynamicColumn {
    let columns = reader.read_columns(column.name()).expect("a good file");
    columns[0].open().expect("a good file")
}

fn numbers(reader: &ColumnarReader, column: Column) -> Numbers {
    match open(reader, column) {
        DynamicColumn::U64(column) => column,
        other => panic!("a column of u64, not {}", other.column_type()),
    }
}
