//! A small search engine over packages of Debian: `cargo run --release --features store --example engine`.
//!
//! Their columns are in a store. The words of their descriptions are in an inverted index of the engine's own: for each part of a
//! snapshot, sorted lists of documents. The index follows updates, flushes and merges by the moves that the store reports, without
//! reading a column, and is committed with the store.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::sort::SortCursor;
use docvalues::search::{SearchAnswer, SearchRequest};
use docvalues::store::{Error as StoreError, Move, Moves, Observer, PartId, Publication, Snapshot, Update};
use flate2::read::MultiGzDecoder;

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

/// The numbers of the documents of a part that have each word, ascending.
type Words = BTreeMap<String, Vec<u32>>;

/// The words of each part.
type Postings = BTreeMap<PartId, Words>;

/// Adds documents to the list of a word.
fn add(postings: &mut Postings, part: PartId, word: &str, docs: impl IntoIterator<Item = u32>) {
    let list = postings.entry(part).or_default().entry(word.to_owned()).or_default();
    list.extend(docs);
    list.sort_unstable();
    list.dedup(); // the document that an updated copy replaced moves to the same place as the copy
}

/// The postings of the documents that moved, at their places now. O(words) for each run: an engine with an index sort, whose
/// merges have short runs, would rather look for the run of each document.
fn moved(postings: &Postings, moves: Moves) -> Postings {
    let mut moved = Postings::new();
    for run in moves {
        let Some((part, first)) = run.to else { continue };
        for (word, docs) in postings.get(&run.from).into_iter().flatten() {
            let [from, to] = [run.docs.start, run.docs.end].map(|end| docs.partition_point(|doc| *doc < end));
            if from < to {
                let docs = docs[from..to].iter().map(|doc| first.get() + (doc - run.docs.start));
                add(&mut moved, part, word, docs);
            }
        }
    }
    moved
}

/// Writes the words of each new segment to a side file, so that a commit has both or neither. After a crash there is nothing to
/// repair: opening removes segments that were not committed, with their side files.
///
/// A file of all postings, named by the user data of `Store::commit_with`, would be more work: the engine would have to flush the
/// buffer first, as the ids of its blocks end with the process, to sync and remove files, and to index what others committed.
///
/// `put` indexes each batch before the next call, so that the index has all documents of the buffer. If the store has a log, or
/// background threads, keep the text in a column, and read it here for documents that the index lacks.
struct SaveWords(Arc<Mutex<Postings>>);

impl Observer for SaveWords {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<()> {
        let mut moved = moved(&lock(&self.0), publication.moves());
        let words = moved.remove(&PartId::of_segment(publication.number())).unwrap_or_default();
        Ok(publication.write("words", |out| Ok(serde_json::to_writer(out, &words)?))?)
    }
}

/// The observer runs within `commit`, `merge` and `apply`: call none of them while this is locked.
fn lock(postings: &Mutex<Postings>) -> MutexGuard<'_, Postings> {
    postings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store, a snapshot of it, and the postings of the snapshot.
struct Engine {
    store: Store,
    snapshot: Snapshot,
    postings: Arc<Mutex<Postings>>,
}

/// The name and the votes of a package on a page.
type Hit = (String, i64);

impl Engine {
    /// Opens the last commit in a folder, or creates a store.
    fn open(path: &Path) -> Result<Engine> {
        let postings = Arc::<Mutex<Postings>>::default();
        let (options, observer) = (StoreOptions::default(), Arc::new(SaveWords(Arc::clone(&postings))));
        let store = match Store::open_with(path, options, observer.clone()) {
            Err(StoreError::NoStore { .. }) => {
                let schema = StoreSchema::new()
                    .with_field(Field::new("name", Kind::Binary, LogicalType::Utf8))?
                    .with_field(Field::new("section", Kind::Sorted, LogicalType::Utf8))?
                    .with_field(Field::new("votes", Kind::Numeric, LogicalType::I64))?
                    .with_id_field("name")?;
                Store::create_with(path, schema, options, observer)?
            }
            opened => opened?,
        };
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
            package.words().for_each(|word| add(&mut postings, part, word, [found.doc.get()]));
        }
        Ok(())
    }

    /// Adds votes to packages, in place: their words, and all else of them, stay as they are.
    fn vote(&mut self, names: &[String], votes: i64) -> Result<()> {
        let mut batch = self.store.batch()?;
        let (name, update) = (batch.field("name")?, Update::new().add(batch.field("votes")?, votes));
        for package in names {
            let mut row = batch.update_with(&update);
            row.str(name, package)?;
            row.finish()?;
        }
        self.store.apply(batch)?;
        self.follow()
    }

    /// Goes to what the store has now: to be called after each change. Reads no column.
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

    /// The documents of each part that have all words. Deleted ones may be among them: searches leave them out.
    fn matching(&self, words: &[&str]) -> Vec<Vec<DocId>> {
        let postings = lock(&self.postings);
        let matching = |part| {
            let list = |word: &str| postings.get(&part)?.get(word);
            let has = |word: &str, doc| list(word).is_some_and(|docs| docs.binary_search(doc).is_ok());
            let first = words.first().and_then(|word| list(word)).into_iter().flatten();
            let all = first.filter(|doc| words.iter().all(|word| has(word, doc)));
            all.map(|doc| DocId::new(*doc)).collect()
        };
        self.snapshot.part_ids().map(matching).collect()
    }

    /// The packages with all words, by descending votes: the first page, or the one after a hit.
    fn page(&self, words: &[&str], after: Option<&Hit>) -> Result<(SearchAnswer, Vec<Hit>)> {
        let (search, matching) = (self.snapshot.search(), self.matching(words));
        let docs = matching.iter().map(|docs| Docs::list(docs)).collect::<Result<Vec<_>, _>>()?;
        let hits = Query::hits(search.doc_set(&docs)?); // `hits.and(…)` adds conditions on columns
        let keys = [SortKey::of("votes").descending(), SortKey::of("name")];
        let facet = Facet::of("section").top(100);
        let mut request = SearchRequest::new().query(hits).facets([facet]).sort(keys).top(5);
        // Values without an address stay valid when documents move. The last key is unique, so they suffice.
        let position = |(name, votes): &Hit| [Some((*votes).into()), Some(name.as_str().into())];
        request.after = after.map(|last| SortCursor::new(position(last)));
        let answer = search.request(&request)?;
        let mut retriever = search.retriever(&["name", "votes"])?;
        let rows = retriever.retrieve(&answer.top)?.rows();
        let hits = rows.map(|row| Ok((row.get(0)?, row.get(1)?))).collect::<Result<_>>()?;
        Ok((answer, hits))
    }
}

/// A package, as it is indexed.
#[derive(Default)]
struct Package {
    name: String,
    section: String,
    text: String,
    votes: i64,
}

impl Package {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
    }

    fn read(line: &str) -> Result<Package> {
        let row: serde_json::Value = serde_json::from_str(line)?;
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let (name, section, text) = (text("package"), text("section"), text("description").to_lowercase());
        Ok(Package { name, section, text, votes: 0 })
    }
}

/// Compares all pages of a search with a loop over all packages.
fn check(engine: &Engine, packages: &[Package], words: &[&str]) -> Result<()> {
    let has = |package: &Package, word: &str| package.words().any(|other| other == word);
    let mut expected: Vec<&Package> = packages.iter().collect();
    expected.retain(|package| words.iter().all(|word| has(package, word)));
    expected.sort_by(|a, b| b.votes.cmp(&a.votes).then_with(|| a.name.cmp(&b.name)));
    let mut sections = BTreeMap::<String, u64>::new();
    expected.iter().for_each(|package| *sections.entry(package.section.clone()).or_default() += 1);

    let mut found = Vec::new();
    loop {
        let (answer, hits) = engine.page(words, found.last())?;
        assert_eq!(answer.hits, expected.len() as u64);
        let counts = answer.facets[0].values.iter().map(|(value, docs)| (value.to_string(), *docs));
        assert_eq!(counts.collect::<BTreeMap<_, _>>(), sections);
        if hits.is_empty() {
            break;
        }
        found.extend(hits);
    }
    assert!(found.into_iter().eq(expected.iter().map(|package| (package.name.clone(), package.votes))));
    Ok(())
}

/// Indexes packages, votes, replaces and deletes, merges, and loses what was not committed. Checks searches after each step.
pub(crate) fn main() -> Result<()> {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/packages.ndjson.gz"))?;
    let lines = BufReader::new(MultiGzDecoder::new(file)).lines();
    let mut packages = lines.map(|line| Package::read(&line?)).collect::<Result<Vec<_>>>()?;
    let (folder, words) = (tempfile::tempdir()?, ["development", "files"]);
    let mut engine = Engine::open(folder.path())?;
    for some in packages.chunks(600) {
        engine.store.commit()?; // those before become a segment; the last ones stay in the buffer
        engine.follow()?;
        engine.put(some)?;
    }
    check(&engine, &packages, &words)?;
    println!("{} packages in {} parts", engine.snapshot.docs(), engine.snapshot.parts().len());

    for (step, votes) in [(40, 1), (60, 2)] {
        packages.iter_mut().step_by(step).for_each(|package| package.votes += votes);
        let names: Vec<String> = packages.iter().step_by(step).map(|package| package.name.clone()).collect();
        engine.vote(&names, votes)?;
    }
    "development files of nothing".clone_into(&mut packages[0].text);
    engine.put(&packages[..1])?;
    engine.store.delete_where(&Query::eq("section", "games"))?;
    engine.follow()?;
    packages.retain(|package| package.section != "games");
    check(&engine, &packages, &words)?;
    let (answer, hits) = engine.page(&words, None)?;
    println!("{} have {words:?}; those with most votes: {hits:?}", answer.hits);

    // Hits and positions that somebody holds are good for after a flush and a merge, too.
    let (before, next) = (engine.snapshot.clone(), engine.page(&words, hits.last())?.1);
    engine.store.commit()?;
    engine.store.merge_to(1)?;
    engine.follow()?;
    check(&engine, &packages, &words)?;
    assert_eq!(engine.page(&words, hits.last())?.1, next);
    let place = engine.snapshot.resolve(&before, answer.top[0])?;
    assert_eq!(place, engine.snapshot.find(hits[0].0.as_bytes())?);
    let runs = engine.snapshot.moves_since(&before)?.count();
    println!("merged: {runs} runs of documents moved; the next page is {next:?}");

    // The process ends after a merge that is not committed: the postings and columns of the last commit are there.
    engine.store.commit()?;
    engine.put(&[Package { name: "lost".to_owned(), ..Package::default() }])?;
    engine.vote(&[hits[0].0.clone()], 100)?;
    engine.store.merge_to(1)?;
    drop(engine);
    let engine = Engine::open(folder.path())?;
    check(&engine, &packages, &words)?;
    let files = fs::read_dir(folder.path())?.collect::<Result<Vec<_>, _>>()?;
    let side_files = files.iter().filter(|file| file.path().extension().is_some_and(|end| end == "side"));
    assert_eq!(side_files.count(), engine.snapshot.segments().len());
    println!("reopened: {} packages, as committed", engine.snapshot.docs());
    Ok(())
}
