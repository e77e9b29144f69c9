//! A small search engine over packages of Debian: `cargo run --release --features store --example engine`.
//!
//! A store has their columns. An inverted index of the engine's own has the words of their descriptions: sorted lists of documents,
//! for each part of a snapshot. It follows updates, flushes and merges without reading a column, and is committed with the store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::sort::SortCursor;
use docvalues::search::{SearchAnswer, SearchRequest};
use docvalues::store::{Moves, Observer, PartId, Publication, Snapshot, Update};
use flate2::read::MultiGzDecoder;

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

/// The numbers of the documents with each word, ascending, for each part.
type Postings = BTreeMap<PartId, BTreeMap<String, Vec<u32>>>;

type Hit = (String, i64); // the name and the votes of a package

/// Adds documents to the list of a word.
fn add(postings: &mut Postings, part: PartId, word: &str, docs: impl IntoIterator<Item = u32>) {
    let list = postings.entry(part).or_default().entry(word.to_owned()).or_default();
    list.extend(docs);
    list.sort_unstable();
    list.dedup(); // `follow` adds what the observer has added
}

/// The postings of the documents that moved, at their places now. O(words) for each run: with an index sort, whose merges have
/// short runs, look for the run of each document instead.
fn moved(postings: &Postings, moves: Moves) -> Postings {
    let mut moved = Postings::new();
    for run in moves {
        let Some((part, first)) = run.to else { continue };
        for (word, docs) in postings.get(&run.from).into_iter().flatten() {
            let [from, to] = [run.docs.start, run.docs.end].map(|end| docs.partition_point(|doc| *doc < end));
            let docs = docs[from..to].iter().map(|doc| first.get() + (doc - run.docs.start));
            if from < to {
                add(&mut moved, part, word, docs);
            }
        }
    }
    moved
}

/// Writes the words of each new segment to a side file, so that a commit has both or neither. After a crash there is nothing to
/// repair: opening removes what was not committed. A file of all postings, named by the user data of `Store::commit_with`, takes
/// more work: to flush the buffer first, as the ids of its blocks end with the process, and to sync and remove files.
/// `put` indexes each batch before the next call, so that the words of the buffer are here. With a log or background threads they
/// may not be: keep the text in a column then, and read it here.
struct SaveWords(Arc<Mutex<Postings>>);

impl Observer for SaveWords {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<()> {
        let part = PartId::of_segment(publication.number());
        let words = moved(&lock(&self.0), publication.moves()).remove(&part).unwrap_or_default();
        publication.write("words", |out| serde_json::to_writer(out, &words).map_err(Into::into))?;
        lock(&self.0).insert(part, words); // the next publication may be before the next `follow`
        Ok(())
    }
}

fn lock(postings: &Mutex<Postings>) -> MutexGuard<'_, Postings> {
    postings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store, a snapshot of it, and the postings of the snapshot.
struct Engine {
    store: Store,
    snapshot: Snapshot,
    /// The observer locks it within `commit`, `merge` and `apply`: do not hold it there.
    postings: Arc<Mutex<Postings>>,
}

impl Engine {
    /// Opens the last commit of a store.
    fn open(path: &Path) -> Result<Engine> {
        let postings = Arc::<Mutex<Postings>>::default();
        let store = Store::open_with(path, StoreOptions::default(), Arc::new(SaveWords(postings.clone())))?;
        let snapshot = store.snapshot();
        for segment in snapshot.segments() {
            let words = snapshot.side_file(segment.number, "words").ok_or("a segment without words")?;
            let words = serde_json::from_reader(BufReader::new(words))?;
            lock(&postings).insert(PartId::of_segment(segment.number), words);
        }
        Ok(Engine { store, snapshot, postings })
    }

    /// Adds packages, or replaces those of the same names, and indexes their words. No name may come twice.
    fn put(&mut self, packages: &[Package]) -> Result<()> {
        let mut batch = self.store.batch()?;
        let (name, section, votes) = (batch.field("name")?, batch.field("section")?, batch.field("votes")?);
        for package in packages {
            let mut doc = batch.upsert();
            doc.str(name, &package.name)?.str(section, &package.section)?.i64(votes, package.votes)?;
            doc.finish()?;
        }
        self.store.apply(batch)?;
        self.follow()?;
        for package in packages {
            let found = self.snapshot.find(package.name.as_bytes())?.ok_or("a package that is not there")?;
            let part = self.snapshot.part_id(found.part as usize).ok_or("a part that is not there")?;
            let mut postings = lock(&self.postings);
            package.words.iter().for_each(|word| add(&mut postings, part, word, [found.doc.get()]));
        }
        Ok(())
    }

    /// Adds a vote to packages, in place: their words, and all else of them, stay as they are.
    fn vote<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        let mut batch = self.store.batch()?;
        let (id, update) = (batch.field("name")?, Update::new().add(batch.field("votes")?, 1));
        for name in names {
            let mut row = batch.update_with(&update);
            row.str(id, name)?;
            row.finish()?;
        }
        self.store.apply(batch)?;
        self.follow()
    }

    /// Goes to what the store has now, after changes. Reads no column.
    fn follow(&mut self) -> Result<()> {
        self.store.refresh()?;
        let (now, mut postings) = (self.store.snapshot(), lock(&self.postings));
        for (part, words) in moved(&postings, now.moves_since(&self.snapshot)?) {
            words.into_iter().for_each(|(word, docs)| add(&mut postings, part, &word, docs));
        }
        postings.retain(|part, _| now.part_of(*part).is_some());
        self.snapshot = now;
        Ok(())
    }

    /// The documents of a part that have all words. Deleted ones may be among them: searches leave them out.
    fn matching(&self, part: PartId, words: &[&str]) -> Vec<DocId> {
        let postings = lock(&self.postings);
        let list = |word: &str| postings.get(&part)?.get(word);
        let has = |word: &str, doc: &u32| list(word).is_some_and(|docs| docs.binary_search(doc).is_ok());
        let first = words.first().and_then(|word| list(word)).into_iter().flatten();
        first.filter(|doc| words.iter().all(|word| has(word, doc))).map(|doc| DocId::new(*doc)).collect()
    }

    /// The packages with all words, by descending votes: the first page, or the one after a hit.
    fn page(&self, words: &[&str], after: Option<&Hit>) -> Result<(SearchAnswer, Vec<Hit>)> {
        let search = self.snapshot.search();
        let lists: Vec<_> = self.snapshot.part_ids().map(|part| self.matching(part, words)).collect();
        let docs = lists.iter().map(|docs| Docs::list(docs)).collect::<Result<Vec<_>, _>>()?;
        let hits = Query::hits(search.doc_set(&docs)?); // `hits.and(…)` adds conditions on columns
        let keys = [SortKey::of("votes").descending(), SortKey::of("name")];
        let mut request = SearchRequest::new().query(hits).facets([Facet::of("section")]).sort(keys).top(5);
        // A cursor of values alone stays valid when documents move. The last key is unique, so that it suffices.
        request.after = after.map(|hit| SortCursor::new([Some(hit.1.into()), Some(hit.0.as_str().into())]));
        let answer = search.request(&request)?;
        let mut retriever = search.retriever(&["name", "votes"])?;
        let rows = retriever.retrieve(&answer.top)?.rows();
        let hits = rows.map(|row| Ok((row.get(0)?, row.get(1)?))).collect::<Result<Vec<Hit>>>()?;
        Ok((answer, hits))
    }
}

/// A package, as it is indexed.
struct Package {
    name: String,
    section: String,
    words: BTreeSet<String>,
    votes: i64,
}

fn package(line: &str) -> Result<Package> {
    let row: serde_json::Value = serde_json::from_str(line)?;
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_lowercase();
    let words = text("description").split_whitespace().map(str::to_owned).collect();
    Ok(Package { name: text("package"), section: text("section"), words, votes: 0 })
}

/// Compares all pages of a search with a loop over all packages.
fn check(engine: &Engine, packages: &[Package], words: &[&str]) -> Result<()> {
    let mut expected: Vec<&Package> = packages.iter().collect();
    expected.retain(|package| words.iter().all(|word| package.words.contains(*word)));
    expected.sort_by(|a, b| b.votes.cmp(&a.votes).then_with(|| a.name.cmp(&b.name)));
    let mut found = Vec::<Hit>::new();
    for _ in expected.chunks(5) {
        let (answer, hits) = engine.page(words, found.last())?;
        let (section, docs) = &answer.facets[0].values[0];
        let there = expected.iter().filter(|package| section.as_bytes() == Some(package.section.as_bytes()));
        assert_eq!((answer.hits, *docs), (expected.len() as u64, there.count() as u64));
        found.extend(hits);
    }
    assert!(found.into_iter().eq(expected.iter().map(|package| (package.name.clone(), package.votes))));
    Ok(())
}

/// Indexes packages, votes, replaces and deletes, merges, and loses what was not committed. Checks searches after each step.
pub(crate) fn main() -> Result<()> {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/packages.ndjson.gz"))?;
    let lines = BufReader::new(MultiGzDecoder::new(file)).lines();
    let mut packages = lines.map(|line| package(&line?)).collect::<Result<Vec<_>>>()?;
    let (folder, words) = (tempfile::tempdir()?, ["library", "for"]);
    let schema = StoreSchema::new()
        .with_field(Field::new("name", Kind::Binary, LogicalType::Utf8))?
        .with_field(Field::new("section", Kind::Sorted, LogicalType::Utf8))?
        .with_field(Field::new("votes", Kind::Numeric, LogicalType::I64))?
        .with_id_field("name")?;
    Store::create(folder.path(), schema, StoreOptions::default())?;
    let mut engine = Engine::open(folder.path())?;
    for some in packages.chunks(600) {
        engine.store.commit()?; // those before become a segment; the last ones stay in the buffer
        engine.put(some)?;
    }
    check(&engine, &packages, &words)?;
    for step in [40, 60] {
        packages.iter_mut().step_by(step).for_each(|package| package.votes += 1);
        engine.vote(packages.iter().step_by(step).map(|package| package.name.as_str()))?;
    }
    packages[0] = package(r#"{"package": "2ping", "section": "net", "description": "library for all"}"#)?;
    engine.put(&packages[..1])?;
    engine.store.delete_where(&Query::eq("section", "games"))?;
    engine.follow()?;
    packages.retain(|package| package.section != "games");
    check(&engine, &packages, &words)?;
    let (answer, hits) = engine.page(&words, None)?;
    println!("{} of {} packages have {words:?}: {hits:?}", answer.hits, engine.snapshot.docs());

    // Hits that somebody holds can be followed through a flush and a merge, and pages go on.
    let (before, next) = (engine.snapshot.clone(), engine.page(&words, hits.last())?.1);
    engine.store.commit()?;
    engine.store.merge_to(1)?;
    engine.follow()?;
    check(&engine, &packages, &words)?;
    assert_eq!(engine.page(&words, hits.last())?.1, next);
    let first = engine.snapshot.resolve(&before, answer.top[0])?;
    assert_eq!(first, engine.snapshot.find(hits[0].0.as_bytes())?);
    println!("the next page, after a merge that moved the first hit to {first:?}: {next:?}");
    // The process ends after changes and a merge that are not committed: words and columns are those of the last commit.
    engine.store.commit()?;
    engine.put(&[package(r#"{"package": "lost", "description": "library for all"}"#)?])?;
    engine.vote(["2ping"])?;
    engine.store.merge_to(1)?;
    drop(engine);
    let engine = Engine::open(folder.path())?;
    check(&engine, &packages, &words)?;
    println!("reopened: {} packages, as committed", engine.snapshot.docs());
    Ok(())
}
