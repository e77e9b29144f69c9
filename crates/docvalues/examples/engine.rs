//! A small search engine over mails: `cargo run --release --example engine`.
//!
//! An inverted index of words is kept outside of the segment, whose documents are sorted by score. Mails can be
//! deleted. A page of results has the best mails for some words, their values, and a facet of the senders of all
//! matching mails.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use docvalues::column::Part;
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Error as SearchError, Query, Search};
use docvalues::{LiveDocs, Value};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A mail, as it is indexed.
struct Mail {
    text: String,
    sender: String,
    bytes: i64,
    score: f64,
    is_read: bool,
}

/// A mail on a result page.
#[derive(Debug, PartialEq)]
struct Hit {
    doc: DocId,
    score: f64,
    bytes: i64,
    is_read: bool,
}

/// A result page.
#[derive(Debug)]
struct Page {
    matching: u64,
    best: Vec<Hit>,
    senders: Vec<(String, u64)>,
}

/// The values of mails in a segment, and an inverted index of their words.
struct Engine {
    segment: Segment,
    live: LiveDocs,
    postings: BTreeMap<String, Vec<DocId>>,
    stop: Arc<AtomicBool>,
}

impl Engine {
    /// Writes a segment of `mails`, sorted by descending score, and indexes their words.
    fn build(mails: &[Mail]) -> Result<Engine> {
        let mut schema = Schema::new();
        let sender = schema.add(FieldSpec::new("sender", LogicalType::Utf8))?;
        let bytes = schema.add(FieldSpec::new("bytes", LogicalType::I64))?;
        let score = schema.add(FieldSpec::new("score", LogicalType::F64))?;
        let is_read = schema.add(FieldSpec::new("is_read", LogicalType::Bool))?;
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        writer.sort_by([SortKey::of("score").descending()])?;
        for mail in mails {
            let mut doc = writer.document();
            doc.str(sender, &mail.sender)?.i64(bytes, mail.bytes)?;
            doc.f64(score, mail.score)?.bool(is_read, mail.is_read)?;
            doc.finish()?;
        }
        // Sorting moves documents: index the words of a mail under its new document id.
        let mut postings = BTreeMap::<String, Vec<DocId>>::new();
        let (file, _) = writer.finish_moved(|added, doc| {
            for word in mails[added.get() as usize].text.split(' ') {
                postings.entry(word.to_owned()).or_default().push(doc);
            }
        })?;
        for docs in postings.values_mut() {
            docs.sort_unstable();
            docs.dedup();
        }
        let segment = Segment::from_bytes(file, OpenOptions::new())?;
        let live = LiveDocs::all(segment.docs());
        Ok(Engine { segment, live, postings, stop: Arc::default() })
    }

    /// Deletes the mails that match, and returns their number.
    fn delete(&mut self, query: &Query) -> Result<u32> {
        let found = Search::new(&self.segment).filter(query)?;
        let deleted = found.iter().filter(|found| self.live.delete(found.doc)).count();
        Ok(u32::try_from(deleted)?)
    }

    /// The documents that have all of `words`, including deleted ones.
    fn matching(&self, words: &[&str]) -> Vec<DocId> {
        let mut lists = words.iter().map(|word| self.postings.get(*word).map_or(&[][..], Vec::as_slice));
        let first = lists.next().unwrap_or_default().to_vec();
        lists.fold(first, |mut docs, list| {
            docs.retain(|doc| list.binary_search(doc).is_ok());
            docs
        })
    }

    /// The result page for `words`: mails by descending score, then by ascending size.
    fn page(&self, words: &[&str], len: usize) -> Result<Page> {
        let part = Part::new(self.segment.clone()).live(Arc::new(self.live.clone()));
        let stop = Arc::clone(&self.stop);
        let search = Search::part(&part).interrupt(move || stop.load(Ordering::Relaxed));

        let matching = self.matching(words);
        let matching = Docs::list(&matching)?;
        let senders = search.facet(matching, &Facet::of("sender").top(3))?;
        let keys = [SortKey::of("score").descending(), SortKey::of("bytes")];
        let best = search.top(matching, &keys, len)?;
        Ok(Page {
            matching: senders.docs,
            best: best.iter().map(|found| self.hit(found.doc)).collect::<Result<_>>()?,
            senders: senders.values.iter().map(|(sender, count)| (text(sender), *count)).collect(),
        })
    }

    /// The values of a mail, in their own types.
    fn hit(&self, doc: DocId) -> Result<Hit> {
        let missing = || format!("document {doc} has a missing value");
        Ok(Hit {
            doc,
            score: self.segment.typed::<f64>("score")?.get(doc)?.ok_or_else(missing)?,
            bytes: self.segment.numeric("bytes")?.get(doc)?.ok_or_else(missing)?,
            is_read: self.segment.typed::<bool>("is_read")?.get(doc)?.ok_or_else(missing)?,
        })
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    }
}

/// Generated mails.
fn mails() -> Vec<Mail> {
    let words = ["release", "notes", "party", "invoice", "minutes", "lunch", "bug", "report"];
    let mail = |i: u32| {
        let mixed = i.wrapping_mul(2_654_435_761) >> 7;
        let word = |shift: u32| words[(mixed >> shift) as usize % words.len()];
        Mail {
            text: format!("{} {} {}", word(0), word(3), word(6)),
            sender: format!("{}@example.org", ["ann", "bob", "cem", "dia", "eve"][mixed as usize % 5]),
            bytes: i64::from(mixed % 90_000) + 200,
            score: f64::from(mixed % 1_000) / 8.0,
            is_read: i.is_multiple_of(3),
        }
    };
    (0..40_000).map(mail).collect()
}

/// The expected result, by a loop over all mails: the number of matches, and their scores and sizes in order.
fn expected(mails: &[Mail], words: &[&str], lives: impl Fn(&Mail) -> bool) -> (u64, Vec<(f64, i64)>) {
    let has_all = |mail: &&Mail| words.iter().all(|word| mail.text.split(' ').any(|other| other == *word));
    let found = mails.iter().filter(has_all).filter(|mail| lives(mail));
    let mut found: Vec<(f64, i64)> = found.map(|mail| (mail.score, mail.bytes)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    (found.len() as u64, found)
}

/// Builds the engine, searches, deletes, searches again, and interrupts a search. Compares each page with a loop over
/// all mails.
pub(crate) fn main() -> Result<()> {
    let (mails, words) = (mails(), ["release", "notes"]);
    let mut engine = Engine::build(&mails)?;
    for deletes in [false, true] {
        if deletes {
            let deleted = engine
                .delete(&Query::eq("sender", "eve@example.org").and(Query::range("bytes", 50_000..)))?;
            println!("{deleted} mails deleted");
        }
        let page = engine.page(&words, 5)?;
        println!("{} mails have {words:?}; most are from {:?}", page.matching, page.senders);
        page.best.iter().for_each(|hit| println!("  {hit:?}"));

        let lives = |mail: &Mail| !deletes || mail.sender != "eve@example.org" || mail.bytes < 50_000;
        let (matching, best) = expected(&mails, &words, lives);
        assert_eq!(page.matching, matching);
        let found: Vec<(f64, i64)> = page.best.iter().map(|hit| (hit.score, hit.bytes)).collect();
        assert_eq!(found, best[..5]);
    }

    engine.stop.store(true, Ordering::Relaxed);
    match engine.page(&words, 5).map_err(|error| error.downcast::<SearchError>()) {
        Err(Ok(error)) if matches!(*error, SearchError::Interrupted) => println!("interrupted: no page"),
        other => return Err(format!("not interrupted: {other:?}").into()),
    }
    Ok(())
}
