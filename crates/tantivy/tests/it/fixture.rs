//! An index of documents with words, a size and a section, and what it should contain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use docvalues::prelude::*;
use docvalues::search::DocSet;
use docvalues::search::facet::Facet;
use docvalues::store::MergePolicy;
use docvalues::writer::{Document, Result as WriteResult};
use docvalues_tantivy::{Index, KEY, Options, Searcher, Writer};
use tantivy::collector::DocSetCollector;
use tantivy::query::{AllQuery, TermQuery};
use tantivy::schema::{self, IndexRecordOption, TEXT};
use tantivy::{TantivyDocument, Term};

/// A document: the words of its text, and its values in the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) words: Vec<String>,
    pub(crate) size: Option<i64>,
    pub(crate) section: String,
}

/// All documents by their keys.
pub(crate) type Contents = BTreeMap<u64, Doc>;

/// A document of one word.
pub(crate) fn doc(word: &str, size: i64) -> Doc {
    Doc { words: vec![word.to_owned()], size: Some(size), section: "net".to_owned() }
}

/// Merges small segments.
pub(crate) fn options() -> Options {
    Options::new().text_memory(15_000_000).merge(MergePolicy::new().segments_per_tier(3).floor_bytes(1 << 10))
}

pub(crate) fn columns() -> StoreSchema {
    let section = Field::new("section", Kind::Sorted, LogicalType::Utf8);
    let size = Field::new("size", Kind::Numeric, LogicalType::I64);
    StoreSchema::new().with_fields([section, size]).unwrap()
}

pub(crate) fn create(folder: &Path, columns: StoreSchema) -> (Index, Writer) {
    create_with(folder, columns, options())
}

pub(crate) fn create_with(folder: &Path, columns: StoreSchema, options: Options) -> (Index, Writer) {
    let mut text = schema::Schema::builder();
    text.add_text_field("body", TEXT);
    Index::create(folder, text, columns, options).unwrap()
}

fn body(searcher: &Searcher) -> schema::Field {
    searcher.text().schema().get_field("body").unwrap()
}

pub(crate) fn add(index: &Index, writer: &mut Writer, key: u64, doc: &Doc) {
    let (section, size) = (writer.field("section").unwrap(), writer.field("size").unwrap());
    let mut text = TantivyDocument::new();
    text.add_text(body(&index.searcher()), doc.words.join(" "));
    let columns = |row: &mut Document<'_>| -> WriteResult<()> {
        row.str(section, &doc.section)?;
        if let Some(value) = doc.size {
            row.i64(size, value)?;
        }
        Ok(())
    };
    writer.add(key, text, columns).unwrap();
}

pub(crate) fn set_size(writer: &mut Writer, key: u64, value: i64) {
    let size = writer.field("size").unwrap();
    writer.update(key, |row| row.i64(size, value).map(drop)).unwrap();
}

/// The values of a document in the columns.
fn values(doc: &Doc) -> (Option<i64>, String) {
    (doc.size, doc.section.clone())
}

/// The documents that have a word.
pub(crate) fn hits(searcher: &Searcher, word: &str) -> DocSet {
    let term = Term::from_field_text(body(searcher), word);
    searcher.hits(&TermQuery::new(term, IndexRecordOption::Basic)).unwrap()
}

/// The values of documents in the columns, by their keys.
fn rows(searcher: &Searcher, docs: &DocSet) -> BTreeMap<u64, (Option<i64>, String)> {
    let docs: Vec<_> = docs.iter().collect();
    let mut retriever = searcher.search().retriever(&[KEY, "size", "section"]).unwrap();
    let rows = retriever.retrieve(&docs).unwrap().rows().map(|row| {
        let key = row.get::<Vec<u8>>(0).unwrap().try_into().unwrap();
        (u64::from_be_bytes(key), (row.get(1).unwrap(), row.get(2).unwrap()))
    });
    let found: BTreeMap<_, _> = rows.collect();
    assert_eq!(found.len(), docs.len(), "a key twice");
    found
}

/// Compares text, columns, and the places of one in the other with `expected`.
pub(crate) fn check(searcher: &Searcher, expected: &Contents) {
    let everything: BTreeMap<_, _> = expected.iter().map(|(key, doc)| (*key, values(doc))).collect();
    assert_eq!(rows(searcher, &searcher.search().filter(&Query::All).unwrap()), everything);
    assert_eq!(rows(searcher, &searcher.hits(&AllQuery).unwrap()), everything);

    let words: BTreeSet<&str> = expected.values().flat_map(|doc| &doc.words).map(String::as_str).collect();
    for word in words.into_iter().chain(["nothing"]) {
        let having: BTreeMap<_, _> =
            expected.iter().filter(|(_, doc)| doc.words.iter().any(|other| other == word)).collect();
        let hits = hits(searcher, word);
        let found: BTreeMap<_, _> = having.iter().map(|(key, doc)| (**key, values(doc))).collect();
        assert_eq!(rows(searcher, &hits), found, "{word}");

        let sections: BTreeSet<&str> = having.values().map(|doc| &*doc.section).collect();
        let facet = searcher.search().facet(&hits, &Facet::of("section")).unwrap();
        assert_eq!((facet.docs, facet.distinct), (having.len() as u64, sections.len() as u64), "{word}");

        let large = having.values().filter(|doc| doc.size.is_some_and(|size| size >= 50)).count();
        let both = Query::hits(hits).and(Query::range("size", 50..));
        assert_eq!(searcher.search().count(&both).unwrap(), large as u64, "{word}");
    }

    let text = searcher.text().search(&AllQuery, &DocSetCollector).unwrap();
    assert_eq!(text.len(), expected.len());
    for place in text {
        let keys = searcher.text().segment_reader(place.segment_ord).fast_fields().u64(KEY).unwrap();
        let key = keys.first(place.doc_id).unwrap();
        let address = searcher.address(place).unwrap().unwrap();
        assert_eq!(searcher.key(address).unwrap(), Some(key));
        assert_eq!(searcher.find(key).unwrap(), Some(address));
        assert_eq!(searcher.text_address(key).unwrap(), Some(place));
    }
    assert_eq!(searcher.find(u64::MAX).unwrap(), None);
    assert_eq!(searcher.text_address(u64::MAX).unwrap(), None);
}
