//! Random changes, commits, merges and openings, against a map.

use std::collections::BTreeSet;

use docvalues::store::Outcome;
use docvalues_tantivy::{Error, Index, Searcher};
use docvalues_testkit::rng::SplitMix64;

use crate::fixture::{Contents, Doc, add, check, columns, create, options, set_size};

const WORDS: [&str; 6] = ["ant", "bee", "cow", "dog", "eel", "fox"];
const SECTIONS: [&str; 3] = ["net", "utils", "games"];

/// What searchers see, and what they will.
#[derive(Default)]
struct Model {
    /// After the last refresh or commit.
    visible: Contents,
    /// After the next commit.
    next: Contents,
    /// After the last commit.
    durable: Contents,
    /// Added or deleted since the last commit.
    pending: BTreeSet<u64>,
    /// Of documents that were committed, since the last refresh.
    updates: Vec<(u64, i64)>,
}

impl Model {
    fn put(&mut self, key: u64, doc: Option<Doc>) {
        self.pending.insert(key);
        self.next.remove(&key);
        self.next.extend(doc.map(|doc| (key, doc)));
    }

    fn set_size(&mut self, key: u64, size: i64) {
        if let Some(doc) = self.next.get_mut(&key) {
            doc.size = Some(size);
        }
        if !self.pending.contains(&key) {
            self.updates.push((key, size));
        }
    }

    /// Returns how many documents were found.
    fn refresh(&mut self) -> (usize, usize) {
        let (all, mut found) = (self.updates.len(), 0);
        for (key, size) in std::mem::take(&mut self.updates) {
            if let Some(doc) = self.visible.get_mut(&key) {
                doc.size = Some(size);
                found += 1;
            }
        }
        (all, found)
    }

    fn commit(&mut self) -> (usize, usize) {
        let found = self.refresh();
        self.visible = self.next.clone();
        self.durable = self.next.clone();
        self.pending.clear();
        found
    }

    fn open(&mut self) {
        *self = Model {
            visible: self.durable.clone(),
            next: self.durable.clone(),
            durable: std::mem::take(&mut self.durable),
            ..Model::default()
        };
    }
}

fn doc(rng: &mut SplitMix64) -> Doc {
    let words = (0..=rng.below(3)).map(|_| (*rng.pick(&WORDS)).to_owned()).collect();
    let size = rng.chance(3, 4).then(|| rng.below_u32(100).into());
    Doc { words, size, section: (*rng.pick(&SECTIONS)).to_owned() }
}

#[test]
fn any_history_leaves_text_and_columns_as_the_model() {
    let counts = |outcomes: Vec<Outcome>| {
        let found = outcomes.iter().filter(|outcome| **outcome == Outcome::Updated);
        (outcomes.len(), found.count())
    };
    for seed in 0..8 {
        let mut rng = SplitMix64::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let (mut index, mut writer) = create(folder.path(), columns());
        let mut model = Model::default();
        let mut older: Vec<(Searcher, Contents)> = Vec::new();
        for _ in 0..120 {
            let key = rng.below(40);
            match rng.below(20) {
                0..8 => {
                    let doc = doc(&mut rng);
                    add(&index, &mut writer, key, &doc);
                    model.put(key, Some(doc));
                }
                8..10 => {
                    writer.delete(key).unwrap();
                    model.put(key, None);
                }
                10..14 => {
                    let size = rng.below_u32(100).into();
                    set_size(&mut writer, key, size);
                    model.set_size(key, size);
                }
                14..16 => assert_eq!(counts(writer.refresh().unwrap()), model.refresh()),
                16..18 => assert_eq!(counts(writer.commit().unwrap()), model.commit()),
                18 => match writer.merge() {
                    // tantivy merges some of the segments.
                    Ok(()) | Err(Error::Text(_)) => {}
                    Err(error) => panic!("{error}"),
                },
                _ => {
                    drop((index, writer));
                    (index, writer) = Index::open(folder.path(), options()).unwrap();
                    model.open();
                }
            }
            let searcher = index.searcher();
            check(&searcher, &model.visible);
            if rng.chance(1, 8) {
                older.push((searcher, model.visible.clone()));
            }
            if rng.chance(1, 8) && !older.is_empty() {
                let (searcher, contents) = older.swap_remove(rng.place(older.len()));
                check(&searcher, &contents);
            }
        }
    }
}
