//! Segments that are there, and the writer of new ones.

use std::sync::Arc;
use std::time::Instant;

use docvalues::reader::IdReader;
use docvalues::terms::lookup::{IdLookup, IdStore};
use docvalues::writer::IdOptions;
use docvalues::{
    BytesKind, FieldId, FieldSpec, LogicalType, Numeric, OpenOptions, Segment, SegmentWriter, WriterOptions,
};
use docvalues_benches::ingest::{IngestDoc, schema};

use crate::Args;

const SEGMENTS: u32 = 13;

/// The segments that are there, and the documents to come.
pub(crate) struct Index {
    pub(crate) lookup: Arc<IdLookup<IdReader>>,
    pub(crate) versions: Vec<Numeric>,
    /// The highest version.
    pub(crate) highest: i64,
    pub(crate) docs: Vec<(String, IngestDoc)>,
}

impl Index {
    pub(crate) fn new(args: &Args) -> Index {
        let segment = |at: u32| {
            let mut writer = Writer::new(usize::MAX);
            let each = u64::from(args.docs) * u64::from(at) / u64::from(SEGMENTS);
            let end = u64::from(args.docs) * u64::from(at + 1) / u64::from(SEGMENTS);
            for doc in each..end {
                let doc = u32::try_from(doc).expect("below `docs`");
                writer.add(&IngestDoc::id(doc), &IngestDoc::new(doc), i64::from(doc) + 1);
            }
            Segment::from_bytes(writer.finish(), OpenOptions::new()).expect("just written")
        };
        let segments: Vec<Segment> = (0..SEGMENTS).rev().map(segment).collect();
        let versions = segments.iter().map(|segment| segment.numeric("_version").expect("a column"));
        let ids = segments.iter().map(|segment| {
            let index = segment.ids().expect("undamaged").expect("an id index");
            Arc::clone(index.reader())
        });
        let store = IdStore::with_seed(1);
        store.add_all(&ids.collect::<Vec<_>>()).expect("few segments");
        let next = args.docs..args.docs + args.operations;
        let docs: Vec<_> = next.map(|doc| (IngestDoc::id(doc), IngestDoc::new(doc))).collect();
        let mut writer = Writer::new(usize::MAX);
        docs.iter().take(args.flush as usize).for_each(|(id, doc)| writer.add(id, doc, 0));
        let start = Instant::now();
        writer.finish();
        println!(
            "writing a segment of {} documents: {:.1} ms\n",
            args.flush,
            start.elapsed().as_secs_f64() * 1e3
        );
        Index { lookup: store.snapshot(), versions: versions.collect(), highest: args.docs.into(), docs }
    }

    /// The version of a document to come.
    pub(crate) fn version(&self, doc: u32) -> i64 {
        self.highest + 1 + i64::from(doc)
    }
}

/// Writes segments of one thread.
pub(crate) struct Writer {
    writer: SegmentWriter<Vec<u8>>,
    fields: ([FieldId; 8], FieldId, FieldId),
    /// Documents of a segment.
    flush: usize,
}

impl Writer {
    pub(crate) fn new(flush: usize) -> Writer {
        let (mut schema, fields) = schema();
        let id = FieldSpec::new("_id", LogicalType::Utf8).kind(BytesKind::Binary);
        let id = schema.add(id).expect("names differ");
        let version = schema.add(FieldSpec::new("_version", LogicalType::I64)).expect("names differ");
        let options = WriterOptions::new().budget(usize::MAX);
        let mut writer = SegmentWriter::in_memory(schema, options);
        writer.id_field(id, IdOptions::default()).expect("a binary field");
        Writer { writer, fields: (fields, id, version), flush }
    }

    /// Adds a document. The last one of a segment writes it.
    pub(crate) fn add(&mut self, id: &str, values: &IngestDoc, version: i64) {
        let (fields, id_field, version_field) = &self.fields;
        let mut doc = self.writer.document();
        doc.str(*id_field, id).and_then(|doc| doc.i64(*version_field, version)).expect("good values");
        values.add_to(&mut doc, fields).expect("good values");
        doc.finish().expect("good values");
        if self.writer.docs() as usize >= self.flush {
            std::mem::replace(self, Writer::new(self.flush)).finish();
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.writer.finish_bytes().expect("memory does not fail")
    }
}
