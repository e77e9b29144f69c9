//! Texts and ids in tantivy, beside the columns of a store.

use std::path::Path;

use docvalues_benches::updated_docs::{first_of, id, text};
use tantivy::collector::Count;
use tantivy::index::SegmentId;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::{BytesOptions, Field, IndexRecordOption, Schema, TEXT};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use crate::record::Shape;
use crate::unsynced::Unsynced;

/// Bytes of memory for documents of a build and of changes. Lucene has as much.
pub const BUILD: usize = 1_900_000_000;
const CHANGE: usize = 64_000_000;

/// An index of texts, and what shows it.
pub struct TextIndex {
    writer: IndexWriter,
    reader: IndexReader,
    directory: Unsynced,
    id: Field,
    text: Field,
}

impl TextIndex {
    /// Writes an index of all documents, with so many bytes of memory. Returns the segments that were merged.
    pub fn build(folder: &Path, shape: Shape, memory: usize) -> usize {
        std::fs::create_dir_all(folder).expect("a folder");
        let mut schema = Schema::builder();
        // Hits get to their columns by id.
        schema.add_bytes_field("id", BytesOptions::default().set_indexed().set_fast());
        schema.add_text_field("text", TEXT);
        Index::create_in_dir(folder, schema.build()).expect("a folder");
        let mut index = TextIndex::open_with(folder, memory);
        let (mut built, mut merged) = (Vec::new(), 0);
        let Shape { docs, words, segments } = shape;
        let mut some = String::new();
        for segment in 0..segments {
            for number in first_of(segment, segments, docs)..first_of(segment + 1, segments, docs) {
                text(number, words, &mut some);
                index.add(number, &some);
            }
            index.writer.commit().expect("a disk with room");
            let mut new = index.segments();
            new.retain(|segment| !built.contains(segment));
            if new.len() > 1 {
                merged += new.len();
                index.writer.merge(&new).wait().expect("a disk with room");
            }
            built = index.segments();
        }
        index.writer.garbage_collect_files().wait().expect("a folder");
        assert_eq!(built.len(), segments as usize);
        merged
    }

    pub fn open(folder: &Path) -> TextIndex {
        TextIndex::open_with(folder, CHANGE)
    }

    fn open_with(folder: &Path, memory: usize) -> TextIndex {
        let directory = Unsynced::open(folder);
        let index = Index::open(directory.clone()).expect("an index");
        let writer = index.writer_with_num_threads(1, memory).expect("memory");
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().expect("an index");
        let [id, text] = ["id", "text"].map(|name| index.schema().get_field(name).expect("a field"));
        TextIndex { writer, reader, directory, id, text }
    }

    fn segments(&self) -> Vec<SegmentId> {
        self.writer.index().searchable_segment_ids().expect("an index")
    }

    fn add(&self, number: u32, text: &str) {
        let mut document = TantivyDocument::new();
        document.add_bytes(self.id, &id(number));
        document.add_text(self.text, text);
        self.writer.add_document(document).expect("a disk with room");
    }

    /// Deletes a document, and adds it again.
    pub fn replace(&self, number: u32, text: &str) {
        self.writer.delete_term(Term::from_field_bytes(self.id, &id(number)));
        self.add(number, text);
    }

    /// Shows the changes so far.
    pub fn refresh(&mut self) {
        self.writer.commit().expect("a disk with room");
        self.reader.reload().expect("an index");
    }

    /// Makes what was shown durable, as a commit of tantivy does.
    pub fn sync(&self) {
        self.directory.sync().expect("a disk");
    }

    pub fn docs(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Whether exactly one document has this id, and the word.
    pub fn has(&self, number: u32, word: &str) -> bool {
        let terms = [Term::from_field_bytes(self.id, &id(number)), Term::from_field_text(self.text, word)];
        let query = |term| Box::new(TermQuery::new(term, IndexRecordOption::Basic)) as Box<dyn Query>;
        let query = BooleanQuery::intersection(terms.map(query).into());
        self.reader.searcher().search(&query, &Count).expect("good bytes") == 1
    }
}
