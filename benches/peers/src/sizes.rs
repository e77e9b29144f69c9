//! The bytes of a segment's columns compared with Parquet: both compressed, both readable in small pieces.
//!
//! Each column becomes a Parquet file of its own, with zstd level 3 and pages of 1,024 rows, once with a dictionary
//! and once without: the smaller one counts.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use docvalues::column::Values;
use docvalues::prelude::*;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Prints a table of the columns of the segment at `path`.
pub fn run(path: &str) -> Result<(), String> {
    let segment = Segment::open(path).map_err(|error| error.to_string())?;
    let stats = segment.usage().map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for column in &stats.columns {
        let name = &column.field.name;
        let array = array(&*segment.column(name).expect("a column"));
        let parquet = [true, false].map(|dictionary| written(&array, dictionary)).into_iter().min();
        let ours = column.bytes();
        rows.push((name.clone(), column.field.kind.name().to_owned(), ours, parquet.unwrap_or(0)));
    }
    let (ours, theirs) = rows.iter().fold((0, 0), |sum, row| (sum.0 + row.2, sum.1 + row.3));
    rows.push(("all".into(), String::new(), ours, theirs));
    let mut out = String::from(
        "| column | kind | docvalues | Parquet | docvalues / Parquet |\n| --- | --- | ---: | ---: | ---: |\n",
    );
    for (name, kind, ours, theirs) in rows {
        writeln!(out, "| {name} | {kind} | {ours} | {theirs} | {:.2} |", ours as f64 / theirs as f64)
            .expect("memory does not fail");
    }
    print!("{out}");
    Ok(())
}

/// Bytes of the pages of a Parquet file with one column, without the file metadata.
fn written(array: &ArrayRef, dictionary: bool) -> u64 {
    let level = ZstdLevel::try_new(3).expect("a level of zstd");
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_data_page_row_count_limit(1_024)
        .set_write_batch_size(1_024)
        .set_dictionary_enabled(dictionary);
    let properties = match (dictionary, array.data_type()) {
        (false, arrow_schema::DataType::Int64) => properties.set_encoding(Encoding::DELTA_BINARY_PACKED),
        (false, arrow_schema::DataType::Binary) => properties.set_encoding(Encoding::DELTA_BYTE_ARRAY),
        _ => properties,
    };
    let batch = RecordBatch::try_from_iter([("column", Arc::clone(array))]).expect("an array");
    let mut file = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut file, batch.schema(), Some(properties.build())).expect("a good schema");
    writer.write(&batch).expect("memory has room");
    let metadata = writer.close().expect("memory has room");
    let groups = metadata.row_groups().iter();
    groups.map(|group| group.columns().iter().map(|c| c.compressed_size() as u64).sum::<u64>()).sum()
}

/// The values of all documents.
fn array(column: &dyn Column) -> ArrayRef {
    let docs = DocRange::new(0, column.info().docs).iter();
    let is_multi = column.info().is_multi_valued();
    let (mut bytes, mut ords, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let mut strings = BinaryBuilder::new();
    match column.values() {
        Values::Numbers(rows) if is_multi => {
            let mut array = ListBuilder::new(Int64Builder::new());
            for doc in docs {
                let is_present = rows.get(doc, &mut numbers).expect("good bytes");
                array.values().append_slice(&numbers);
                array.append(is_present);
            }
            Arc::new(array.finish())
        }
        Values::Numbers(rows) => {
            let mut array = Int64Builder::new();
            for doc in docs {
                rows.get(doc, &mut numbers).expect("good bytes");
                array.append_option(numbers.first().copied());
            }
            Arc::new(array.finish())
        }
        Values::Ords(rows, terms) if is_multi => {
            let mut array = ListBuilder::new(strings);
            for doc in docs {
                let is_present = rows.get(doc, &mut ords).expect("good bytes");
                for &ord in &ords {
                    terms.term(ord, &mut bytes).expect("good bytes");
                    array.values().append_value(&bytes);
                }
                array.append(is_present);
            }
            Arc::new(array.finish())
        }
        Values::Ords(rows, terms) => {
            for doc in docs {
                if rows.get(doc, &mut ords).expect("good bytes") {
                    terms.term(ords[0], &mut bytes).expect("good bytes");
                    strings.append_value(&bytes);
                } else {
                    strings.append_null();
                }
            }
            Arc::new(strings.finish())
        }
        Values::Bytes(rows) => {
            for doc in docs {
                let is_present = rows.get(doc, &mut bytes).expect("good bytes");
                strings.append_option(is_present.then_some(&bytes));
            }
            Arc::new(strings.finish())
        }
    }
}
