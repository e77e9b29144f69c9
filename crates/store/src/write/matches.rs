//! [`Matches`]: the documents that match a query when a change takes the lock, of which most are searched before.

use docvalues_column::{DocAddress, DocId};
use docvalues_search::{Docs, Query, Search};

use crate::error::Result;
use crate::read::Snapshot;
use crate::store::{Current, Store, Writer};

/// The searches without the lock: of all documents, and of those that changed during the first.
const SEARCHES: usize = 2;

/// A search that goes on from a snapshot to a later one: it looks at new documents, and at those whose values changed.
///
/// The calling thread searches. All of rayon's pool may wait for the lock of the writer, or this thread, as one of them, may
/// meanwhile do other work that locks it.
pub(super) struct Matches<'q> {
    query: &'q Query,
    /// The last snapshot that was searched, and what was found in each of its parts, ascending.
    searched: Option<(Snapshot, Vec<Vec<DocId>>)>,
    /// The one before, which is dropped without the lock, as that may unmap files.
    older: Option<Snapshot>,
}

impl<'q> Matches<'q> {
    /// Searches without the lock of the writer.
    ///
    /// # Errors
    ///
    /// If the store is a replica; as [`Search::filter`].
    pub(super) fn search(store: &Store, query: &'q Query) -> Result<Matches<'q>> {
        // The change would be refused after the search.
        store.change_quietly(|writer| writer.require_leader(&*store.directory))?;
        let mut matches = Matches { query, searched: None, older: None };
        // A set of documents names them by their parts in the lock.
        if !has_set(query) {
            for _ in 0..SEARCHES {
                store.refresh()?;
                matches.search_changed(store.snapshot())?;
            }
            // Otherwise the search in the lock would drop the first snapshot.
            matches.older = None;
        }
        Ok(matches)
    }

    /// The places of the documents that match now. In the lock of the writer, all of whose changes are published.
    ///
    /// # Errors
    ///
    /// As [`Search::filter`].
    pub(super) fn places(&mut self, store: &Store, writer: &Writer) -> Result<Vec<Current>> {
        self.search_changed(store.snapshot())?;
        let Some((now, by_part)) = &self.searched else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (part, docs) in (0..).zip(by_part) {
            let Some(live) = now.live(part as usize) else { continue };
            // One that was updated in the buffer is deleted, and has a copy, which was searched.
            let docs = docs.iter().copied().filter(|doc| live.contains(*doc));
            found.extend(docs.map(|doc| DocAddress { part, doc }));
        }
        writer.docs.require(now, &found)
    }

    /// Searches the documents of a snapshot that the last one lacks, or has with other values.
    fn search_changed(&mut self, now: Snapshot) -> Result<()> {
        let (older, before) = self.searched.take().unzip();
        let mut before: Vec<Vec<DocId>> = before.unwrap_or_default();
        let known = match &older {
            Some(older) => now.known_parts(older),
            None => vec![None; now.parts().len()],
        };
        let mut found: Vec<Vec<DocId>> = Vec::with_capacity(known.len());
        let (mut left, mut docs) = (Vec::new(), Vec::new());
        for (part, known) in known.iter().enumerate() {
            let Some((place, changed)) = known else {
                found.push(Vec::new());
                left.push(part);
                docs.push(Docs::All);
                continue;
            };
            let mut unchanged = std::mem::take(&mut before[*place]);
            if !changed.is_empty() {
                unchanged.retain(|doc| changed.binary_search(doc).is_err());
                left.push(part);
                docs.push(Docs::list(changed)?);
            }
            found.push(unchanged);
        }
        // The first one, also of no parts, refuses a query that cannot be bound.
        if older.is_none() || !left.is_empty() {
            let parts = match left.len() < known.len() {
                true => now.parts().without(|part| left.binary_search(&part).is_err()),
                // With the columns that other searches have opened.
                false => now.parts().clone(),
            };
            let set = Search::over(&parts).threads(1).bind(self.query)?.collect(&docs)?;
            for (at, part) in left.into_iter().enumerate() {
                found[part].extend(set.of_part(at).iter(parts.source(at).docs()));
                found[part].sort_unstable();
            }
        }
        (self.searched, self.older) = (Some((now, found)), older);
        Ok(())
    }
}

/// Whether a query has a set of documents.
fn has_set(query: &Query) -> bool {
    match query {
        Query::Docs(_) | Query::Hits(_) => true,
        Query::And(parts) | Query::Or(parts) => parts.iter().any(has_set),
        Query::Not(part) => has_set(part),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use docvalues_column::{Field, Kind, LogicalType};
    use docvalues_testkit::faults::PowerLossDirectory;
    use docvalues_testkit::rng::SplitMix64;

    use super::*;
    use crate::batch::Update;
    use crate::options::StoreOptions;
    use crate::schema::StoreSchema;

    fn store() -> Store {
        let fields = [
            Field::new("id", Kind::Binary, LogicalType::Utf8),
            Field::new("size", Kind::Numeric, LogicalType::I64),
            Field::new("host", Kind::Sorted, LogicalType::Utf8),
            Field::new("tag", Kind::Binary, LogicalType::Utf8),
        ];
        let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap();
        let disk = Arc::new(PowerLossDirectory::new("/disk"));
        Store::create_in(disk, schema.with_id_field("id").unwrap(), StoreOptions::default()).unwrap()
    }

    /// Writes some of 40 documents, or changes fields of each. Only updates give a tag.
    fn apply(store: &Store, random: &mut SplitMix64, is_update: bool) {
        let mut batch = store.batch().unwrap();
        let [id, size, host, tag] = ["id", "size", "host", "tag"].map(|name| batch.field(name).unwrap());
        for _ in 0..1 + random.below(5) {
            let sets_size = !is_update || random.chance(1, 2);
            let sets_host = !sets_size || random.chance(1, 2);
            let removes_host = is_update && !sets_host && random.chance(1, 2);
            let change = if removes_host { Update::new().unset(host) } else { Update::new() };
            let mut doc = if is_update { batch.update_with(&change) } else { batch.upsert() };
            doc.str(id, &random.below(40).to_string()).unwrap();
            if sets_size {
                doc.i64(size, random.below(10).cast_signed()).unwrap();
            }
            if sets_host {
                doc.str(host, ["a", "b", "c"][random.place(3)]).unwrap();
            }
            if is_update && random.chance(1, 2) {
                doc.str(tag, ["x", "y"][random.place(2)]).unwrap();
            }
            doc.finish().unwrap();
        }
        store.apply(batch).unwrap();
    }

    fn step(store: &Store, random: &mut SplitMix64) {
        match random.below(10) {
            0..=2 => apply(store, random, false),
            3..=5 => apply(store, random, true),
            6 => drop(store.delete_ids([random.below(40).to_string()]).unwrap()),
            7 => drop(store.commit().unwrap()),
            8 => store.merge_to(1 + random.place(3)).unwrap(),
            9 if random.chance(1, 9) => {
                store.alter([Field::new("size", Kind::SortedNumeric, LogicalType::I64)]).unwrap();
            }
            _ => drop(store.refresh().unwrap()),
        }
    }

    /// Whatever changes between two searches.
    #[test]
    fn what_is_found_matches_in_the_lock() {
        let queries = [
            Query::range("size", 3..7).or(Query::eq("host", "b")),
            !Query::eq("host", "a"),
            Query::missing("tag").and(Query::exists("size")),
            Query::eq("tag", "x").or(Query::missing("host")),
        ];
        let mut found = 0;
        for seed in 0..50 {
            let (store, mut random) = (store(), SplitMix64::new(seed));
            for _ in 0..20 {
                let query = random.pick(&queries);
                let mut matches = Matches { query, searched: None, older: None };
                for _ in 0..random.below(4) {
                    matches.search_changed(store.snapshot()).unwrap();
                    for _ in 0..random.below(6) {
                        step(&store, &mut random);
                    }
                }
                let compared = store.change(|writer| {
                    let places = matches.places(&store, writer)?;
                    let now = store.snapshot();
                    let all: Vec<DocAddress> = now.search().threads(1).filter(query)?.iter().collect();
                    assert_eq!(places, writer.docs.require(&now, &all)?, "seed {seed}");
                    Ok(places.len())
                });
                found += compared.unwrap();
            }
        }
        assert!(found > 1_000, "{found}");
    }

    /// As many parts as the set has.
    #[test]
    fn a_set_names_documents_by_their_parts_in_the_lock() {
        let (store, mut random) = (store(), SplitMix64::new(7));
        apply(&store, &mut random, false);
        store.commit().unwrap();
        let now = store.snapshot();
        let hits = Query::range("size", ..100).and(Query::hits(now.search().filter(&Query::All).unwrap()));
        assert_eq!(store.delete_where(&hits).unwrap(), now.docs());
        apply(&store, &mut random, false);
        store.delete_where(&hits).unwrap_err();
    }

    /// Then a query that cannot be bound is no error.
    #[test]
    fn what_did_not_change_is_not_searched_in_the_lock() {
        let (store, mut random) = (store(), SplitMix64::new(7));
        apply(&store, &mut random, false);
        store.commit().unwrap();
        apply(&store, &mut random, false);
        let (query, unknown) = (Query::range("size", ..100), Query::eq("unknown", 1));
        let mut matches = Matches::search(&store, &query).unwrap();
        assert!(matches.older.is_none(), "it would be dropped in the lock");
        matches.query = &unknown;
        let mut count = || store.change(|writer| Ok(matches.places(&store, writer)?.len()));
        assert!(count().unwrap() > 0);
        store.delete_ids((0..40).map(|id| id.to_string())).unwrap();
        assert_eq!(count().unwrap(), 0);
        apply(&store, &mut random, false);
        count().unwrap_err();
    }
}
