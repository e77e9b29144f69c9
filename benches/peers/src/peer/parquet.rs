//! Parquet, through the `parquet` crate, over a mapped file: with its default properties, and with pages of 1,024 rows
//! and delta encodings, which are faster to look up and scan, and smaller. No compression.
//!
//! Parquet has no ords for a whole file, so it reads strings instead of ords. Random documents are sorted first: a
//! row selection must ascend.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Int64Array, ListArray, RecordBatch, builder::BinaryBuilder,
    builder::Int64Builder, builder::ListBuilder,
};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use docvalues::DocId;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use parquet::basic::Encoding;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::Int64Type as PhysicalInt64;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::data::Numbers;
use crate::session::Session;
use crate::sums;
use crate::task::{Column, Lookups, Requests, Tags, Values, Workload, touch};

const ROWS: usize = 8_192;

/// The properties of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Default,
    SmallPages,
}

pub fn run(session: &Session, setting: Setting) {
    let column = session.column;
    let (values, requests) = session.prepare(|values, path| build(column, values, path, setting));
    let count = column.value_count(&values);
    let middle = values.middle();
    drop(values);
    session.measure_of_kind(Workload::Open, "one row", 1, column, || {
        let mut total = 0;
        Opened::new(session).select(&[middle], |batch, at| total = first(column, batch, at));
        total
    });
    let opened = Opened::new(session);
    scan(session, &opened, count);
    gather(session, &opened, &requests);
    if let Some(range) = column.range(session.docs) {
        let mut found = Vec::new();
        session.measure(Workload::Range, "page index", session.docs.into(), || {
            found.clear();
            opened.filter(range.clone(), &mut found);
            found.len() as i64
        });
    }
}

impl Session {
    /// Measures a sum of numbers or strings, depending on the column.
    fn measure_of_kind(
        &self,
        work: Workload,
        api: &str,
        units: u64,
        column: Column,
        body: impl FnMut() -> i64,
    ) {
        match column {
            Column::Host | Column::Url | Column::Tags => self.measure_strings(work, api, units, body),
            _ => self.measure(work, api, units, body),
        }
    }
}

fn properties(column: Column, setting: Setting) -> WriterProperties {
    let properties = WriterProperties::builder();
    if setting == Setting::Default {
        return properties.build();
    }
    let properties = properties.set_data_page_row_count_limit(1_024).set_write_batch_size(1_024);
    let properties = match column {
        // Few values: a dictionary is smaller and faster.
        Column::Status | Column::Tags => properties,
        Column::Host => properties.set_dictionary_page_size_limit(8 << 20),
        Column::Url => {
            properties.set_dictionary_enabled(false).set_encoding(Encoding::DELTA_LENGTH_BYTE_ARRAY)
        }
        _ => properties.set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BINARY_PACKED),
    };
    properties.build()
}

fn build(column: Column, values: &Values, path: &Path, setting: Setting) {
    let data_type = match values {
        Values::Numbers(_) => DataType::Int64,
        Values::Strings(_) => DataType::Binary,
        Values::Tags(_) => DataType::List(Arc::new(Field::new_list_field(DataType::Binary, true))),
    };
    let schema = Arc::new(Schema::new(vec![Field::new("field", data_type, !column.is_dense())]));
    let file = File::create(path).expect("a folder to write into");
    let properties = Some(properties(column, setting));
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), properties).expect("a good schema");
    let docs = match values {
        Values::Numbers(numbers) => numbers.values.len(),
        Values::Strings(strings) => strings.count(),
        Values::Tags(tags) => tags.lists.len() - 1,
    };
    for start in (0..docs).step_by(ROWS) {
        let array = array(values, start..docs.min(start + ROWS));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).expect("a good batch");
        writer.write(&batch).expect("the disk has room");
    }
    let file = writer.into_inner().expect("the disk has room");
    file.sync_all().expect("the disk has room");
}

fn array(values: &Values, rows: Range<usize>) -> ArrayRef {
    match values {
        Values::Numbers(Numbers { values, present: None }) => {
            Arc::new(Int64Array::from_iter_values(values[rows].iter().copied()))
        }
        Values::Numbers(Numbers { values, present: Some(words) }) => {
            let mut numbers = Int64Builder::with_capacity(rows.len());
            for row in rows {
                let there = words[row / 64] >> (row % 64) & 1 == 1;
                numbers.append_option(there.then_some(values[row]));
            }
            Arc::new(numbers.finish())
        }
        Values::Strings(strings) => Arc::new(BinaryArray::from_iter_values(rows.map(|row| strings.get(row)))),
        Values::Tags(Tags { names, lists, .. }) => {
            let mut array = ListBuilder::new(BinaryBuilder::new());
            for row in rows {
                let (start, end) = (lists[row], lists[row + 1]);
                (start..end).for_each(|i| array.values().append_value(names.get(i as usize)));
                array.append(start < end);
            }
            Arc::new(array.finish())
        }
    }
}

/// A file and its metadata.
struct Opened {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
    docs: usize,
}

impl Opened {
    fn new(session: &Session) -> Opened {
        let bytes = Bytes::from_owner(session.map());
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&bytes, options).expect("a good file");
        Opened { bytes, metadata, docs: session.docs as usize }
    }

    fn reader(&self, selection: Option<RowSelection>) -> ParquetRecordBatchReader {
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.bytes.clone(), self.metadata.clone());
        let builder = builder.with_batch_size(ROWS);
        let builder = match selection {
            Some(selection) => builder.with_row_selection(selection),
            None => builder,
        };
        builder.build().expect("a good file")
    }

    /// Calls `each` with the batches of the rows `docs`, which ascend, and the position of the first row of each.
    fn select(&self, docs: &[DocId], each: impl FnMut(&ArrayRef, usize)) {
        let rows = docs.iter().map(|doc| doc.get() as usize..doc.get() as usize + 1);
        let selection = RowSelection::from_consecutive_ranges(rows, self.docs);
        batches(self.reader(Some(selection)), each);
    }

    /// The documents with a value in `values`. Skips pages that cannot have one.
    fn filter(&self, values: std::ops::RangeInclusive<i64>, found: &mut Vec<u32>) {
        let mut rows: Vec<Range<usize>> = Vec::new();
        let metadata = self.metadata.metadata();
        let mut group_start = 0;
        for (at, group) in metadata.row_groups().iter().enumerate() {
            let group_rows = group.num_rows() as usize;
            let index = metadata.page_index_for_row_group(at);
            let Some(ColumnIndexMetaData::INT64(pages)) = index.column_index(0) else {
                panic!("a page index")
            };
            let locations = index.page_locations(0).expect("a page index");
            for (page, location) in locations.iter().enumerate() {
                let start = location.first_row_index as usize;
                let end = locations.get(page + 1).map_or(group_rows, |next| next.first_row_index as usize);
                let (Some(low), Some(high)) = (pages.min_value(page), pages.max_value(page)) else {
                    continue;
                };
                if low <= values.end() && high >= values.start() {
                    rows.push(group_start + start..group_start + end);
                }
            }
            group_start += group_rows;
        }
        let selection = RowSelection::from_consecutive_ranges(rows.iter().cloned(), self.docs);
        let mut docs = rows.into_iter().flatten();
        batches(self.reader(Some(selection)), |array, _| {
            for (value, doc) in array.as_primitive::<Int64Type>().values().iter().zip(&mut docs) {
                if values.contains(value) {
                    found.push(doc as u32);
                }
            }
        });
    }
}

fn batches(reader: ParquetRecordBatchReader, mut each: impl FnMut(&ArrayRef, usize)) {
    let mut first = 0;
    for batch in reader {
        let batch = batch.expect("good bytes");
        each(batch.column(0), first);
        first += batch.num_rows();
    }
}

/// The sum of row `at`, as in other peers.
fn first(column: Column, array: &ArrayRef, _: usize) -> i64 {
    match column {
        Column::Host | Column::Url => touch(array.as_binary::<i32>().value(0)),
        Column::Tags => strings(&array.as_list::<i32>().value(0)),
        _ => array.as_primitive::<Int64Type>().value(0),
    }
}

fn strings(array: &ArrayRef) -> i64 {
    array.as_binary::<i32>().iter().flatten().map(touch).sum()
}

/// The row and the strings of each list.
fn lists(array: &ListArray) -> impl Iterator<Item = (usize, ArrayRef)> + '_ {
    array.iter().enumerate().filter_map(|(row, list)| Some((row, list?)))
}

fn scan(session: &Session, opened: &Opened, count: u64) {
    let column = session.column;
    session.measure_of_kind(Workload::Scan, "record batches", count, column, || {
        let mut total = 0_i64;
        batches(opened.reader(None), |array, start| match column {
            Column::Host | Column::Url => {
                total += array.as_binary::<i32>().iter().flatten().map(touch).sum::<i64>();
            }
            Column::Tags => {
                let array = array.as_list::<i32>();
                total += strings(array.values());
                let offsets = array.offsets().windows(2).enumerate();
                total += offsets
                    .map(|(row, pair)| (start + row) as i64 * i64::from(pair[1] - pair[0]))
                    .sum::<i64>();
            }
            _ => {
                let array = array.as_primitive::<Int64Type>();
                match array.nulls() {
                    None => total = total.wrapping_add(sums::of(array.values())),
                    Some(there) => {
                        for row in there.valid_indices() {
                            total += array.value(row) + (start + row) as i64;
                        }
                    }
                }
            }
        });
        total
    });
    if column.is_dense() && column != Column::Host && column != Column::Url {
        session.measure(Workload::Scan, "column reader", count, || {
            let reader = SerializedFileReader::new(opened.bytes.clone()).expect("a good file");
            let (mut values, mut total) = (Vec::with_capacity(ROWS), 0_i64);
            for group in 0..reader.num_row_groups() {
                let group = reader.get_row_group(group).expect("a good file");
                let column = group.get_column_reader(0).expect("a good file");
                let mut column = get_typed_column_reader::<PhysicalInt64>(column);
                loop {
                    values.clear();
                    let (rows, ..) = column.read_records(ROWS, None, None, &mut values).expect("good bytes");
                    if rows == 0 {
                        break;
                    }
                    total = total.wrapping_add(sums::of(&values));
                }
            }
            total
        });
    }
}

fn gather(session: &Session, opened: &Opened, requests: &Requests) {
    let column = session.column;
    for Lookups { work, docs: wanted, units, .. } in requests.gathers() {
        let api = if work == Workload::Random { "sort, row selection" } else { "row selection" };
        session.measure_of_kind(work, api, units, column, || {
            let mut sorted = wanted.to_vec();
            if work == Workload::Random {
                sorted.sort_unstable();
            }
            // A row is selected once; a repeated document counts again.
            let mut times: Vec<i64> = Vec::with_capacity(sorted.len());
            let mut last = None;
            sorted.retain(|&doc| {
                let again = last == Some(doc);
                if let (true, Some(times)) = (again, times.last_mut()) {
                    *times += 1;
                } else {
                    times.push(1);
                }
                last = Some(doc);
                !again
            });
            let mut total = 0_i64;
            opened.select(&sorted, |array, start| {
                let times = &times[start..];
                let mut add =
                    |row: usize, value: i64| total = total.wrapping_add(value.wrapping_mul(times[row]));
                match column {
                    Column::Host | Column::Url => {
                        array.as_binary::<i32>().iter().enumerate().for_each(|(row, value)| {
                            add(row, value.map_or(0, touch));
                        });
                    }
                    Column::Tags => {
                        for (row, list) in lists(array.as_list()) {
                            add(row, strings(&list) + list.len() as i64);
                        }
                    }
                    _ => {
                        let array = array.as_primitive::<Int64Type>();
                        array
                            .iter()
                            .enumerate()
                            .for_each(|(row, value)| add(row, value.map_or(0, |v| v + 1)));
                    }
                }
            });
            total
        });
    }
}
