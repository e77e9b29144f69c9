//! The columns of [`crate::data`] in a segment in memory.

use std::sync::Arc;

use docvalues::writer::{Compression, Summary};
use docvalues::{
    BytesKind, FieldSpec, LogicalType, OpenOptions, Schema, Segment, SegmentWriter, SortKey, WriterOptions,
};

use crate::data::{self, Strings};

/// The bytes of a segment, and the summary of the writer.
#[derive(Clone, Debug)]
pub struct Written {
    /// The file.
    pub bytes: Arc<[u8]>,
    /// The columns and their bytes.
    pub summary: Summary,
}

/// Writes the columns `names` of `docs` documents.
pub fn write(docs: u32, names: &[&str], options: WriterOptions) -> Written {
    write_sorted(docs, names, options, &[])
}

/// Writes the columns `names` of `docs` documents with an index sort.
pub fn write_sorted(docs: u32, names: &[&str], options: WriterOptions, sort: &[SortKey]) -> Written {
    let mut schema = Schema::new();
    let fields: Vec<_> = names.iter().map(|name| schema.add(spec(name)).expect("names differ")).collect();
    let mut writer = SegmentWriter::in_memory(schema, options.budget(usize::MAX));
    let mut batch = writer.batch(docs).expect("few enough documents");
    for (&name, &field) in names.iter().zip(&fields) {
        let added = match name {
            "host" | "url" => {
                let Strings { bytes, offsets } =
                    if name == "host" { data::hosts(docs) } else { data::urls(docs) };
                batch.bytes(field, &offsets, &bytes, None)
            }
            "tags" => {
                let (Strings { bytes, offsets }, lists) = data::tags(docs);
                batch.bytes_lists(field, &lists, &offsets, &bytes, None)
            }
            _ => {
                let column = data::numbers(name, docs);
                batch.i64(field, &column.values, column.present.as_deref())
            }
        };
        added.expect("good values");
    }
    batch.finish();
    writer.sort_by(sort.to_vec()).expect("columns of one value");
    let (bytes, summary) = writer.finish().expect("memory does not fail");
    Written { bytes: bytes.into(), summary }
}

/// Writes one column of byte strings.
pub fn write_strings(spec: FieldSpec, strings: &Strings) -> Written {
    let mut schema = Schema::new();
    let field = schema.add(spec).expect("the only field");
    let options = WriterOptions::new().budget(usize::MAX);
    let mut writer = SegmentWriter::in_memory(schema, options);
    let mut batch = writer.batch(strings.offsets.len() as u32 - 1).expect("few enough documents");
    batch.bytes(field, &strings.offsets, &strings.bytes, None).expect("good values");
    batch.finish();
    let (bytes, summary) = writer.finish().expect("memory does not fail");
    Written { bytes: bytes.into(), summary }
}

/// The field of the column `name`.
pub fn spec(name: &str) -> FieldSpec {
    match name {
        "host" => FieldSpec::new(name, LogicalType::Utf8).kind(BytesKind::Sorted),
        // The bench `binary` measures compression.
        "url" => {
            FieldSpec::new(name, LogicalType::Utf8).kind(BytesKind::Binary).compression(Compression::None)
        }
        "tags" => FieldSpec::new(name, LogicalType::Utf8).multi_valued(),
        _ => FieldSpec::new(name, LogicalType::I64),
    }
}

impl Written {
    /// Opens the segment without copying; none of it is verified yet.
    pub fn open(&self, options: OpenOptions) -> Segment {
        Segment::from_bytes(Arc::clone(&self.bytes), options).expect("a good segment")
    }

    /// The bytes of the column `name` in the file.
    pub fn column_bytes(&self, name: &str) -> u64 {
        let column = self.summary.columns.iter().find(|column| column.field().name == name);
        column.expect("a column of the segment").bytes
    }
}

#[cfg(test)]
mod tests {
    use docvalues::DocId;
    use docvalues::column::Count;

    use super::*;

    #[test]
    fn every_column_can_be_read() {
        let written = write(1_000, &["price60", "host", "url", "tags"], WriterOptions::default());
        let segment = written.open(OpenOptions::new());
        let last = DocId::new(999);

        let column = data::numbers("price60", 1_000);
        let price = segment.numeric("price60").unwrap();
        let there = column.present.unwrap()[999 / 64] >> (999 % 64) & 1 == 1;
        assert_eq!(price.get(last).unwrap(), there.then_some(column.values[999]));

        let (host, mut term) = (segment.sorted("host").unwrap(), Vec::new());
        host.terms().term(host.ord(last).unwrap().unwrap(), &mut term).unwrap();
        assert_eq!(term, data::host_name(data::host_ids(1_000)[999]).as_bytes());

        let Strings { bytes, offsets } = data::urls(1_000);
        let url = segment.binary("url").unwrap();
        assert_eq!(url.get(last, &mut term).unwrap(), Some(&bytes[offsets[999] as usize..]));

        let (tags, mut ords, mut names) = (segment.sorted_set("tags").unwrap(), Vec::new(), Vec::new());
        let (doc, mut ids) = (0..).zip(data::tag_ids(1_000)).max_by_key(|(_, ids)| ids.len()).unwrap();
        tags.ords(DocId::new(doc), &mut ords).unwrap();
        for ord in ords {
            tags.terms().term(ord, &mut term).unwrap();
            names.push(String::from_utf8(term.clone()).unwrap());
        }
        ids.sort_unstable();
        assert_eq!(names, ids.into_iter().map(data::tag_name).collect::<Vec<_>>());
        assert!(matches!(tags.info().with_value, Count::Exact(some) if some < 1_000));
        assert!(written.column_bytes("tags") > 0);
    }
}
