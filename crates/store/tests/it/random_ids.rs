//! Ids of 16 random bytes: the id index of a segment has no copies of them.

use std::collections::BTreeMap;

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_reader::IdForm;
use docvalues_store::{Store, StoreOptions, StoreSchema};
use docvalues_testkit::rng::SplitMix64;

use crate::fixture::problems;

type Id = [u8; 16];

fn schema() -> StoreSchema {
    let id = Field::new("id", Kind::Binary, LogicalType::Bytes);
    let size = Field::new("size", Kind::Numeric, LogicalType::I64);
    let schema = StoreSchema::new().with_field(id).unwrap().with_field(size).unwrap();
    schema.with_id_field("id").unwrap()
}

/// Writes and deletes documents, and makes a segment of them.
fn apply(store: &Store, upserts: &[(Id, i64)], deletes: &[Id]) {
    let mut batch = store.batch().unwrap();
    let (id_field, size) = (batch.field("id").unwrap(), batch.field("size").unwrap());
    for (id, value) in upserts {
        let mut doc = batch.upsert();
        doc.bytes(id_field, id).unwrap().i64(size, *value).unwrap();
        doc.finish().unwrap();
    }
    deletes.iter().for_each(|id| batch.delete(id));
    store.apply(batch).unwrap();
    store.commit().unwrap();
}

/// Compares each id, and others, with the model. Each large segment has its ids only in their column.
fn check(store: &Store, now: &BTreeMap<Id, i64>, absent: &[Id]) {
    let snapshot = store.snapshot();
    assert_eq!(snapshot.docs(), now.len() as u64);
    for part in snapshot.segments() {
        let form = part.segment.ids().unwrap().unwrap().form();
        assert_eq!(form == IdForm::Column, part.segment.docs() >= 256);
    }
    let mut size = Vec::new();
    for (id, value) in now {
        let address = snapshot.find(id).unwrap().unwrap();
        let sizes = snapshot.parts().source(address.part as usize).column("size").unwrap();
        assert!(sizes.values().numbers().unwrap().get(address.doc, &mut size).unwrap());
        assert_eq!(size, [*value]);
    }
    for id in absent {
        assert_eq!(snapshot.find(id).unwrap(), None);
    }
}

#[test]
fn documents_are_found_replaced_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = SplitMix64::new(5);
    let mut id = || -> Id {
        let halves = [rng.next_u64(), rng.next_u64()].map(u64::to_be_bytes);
        halves.concat().try_into().unwrap()
    };
    let ids: Vec<Id> = (0..3_000).map(|_| id()).collect();
    let mut absent: Vec<Id> = (0..500).map(|_| id()).collect();
    let mut now = BTreeMap::new();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    for round in 0..6 {
        // A third of the ids of the round before are replaced.
        let upserts: Vec<(Id, i64)> =
            ids.iter().skip(round * 400).take(600).map(|id| (*id, round as i64)).collect();
        let deletes: Vec<Id> = ids.iter().skip(round * 400).step_by(9).take(20).copied().collect();
        apply(&store, &upserts, &deletes);
        now.extend(upserts);
        for id in deletes {
            now.remove(&id);
        }
        check(&store, &now, &absent);
    }
    absent.extend(ids.iter().filter(|id| !now.contains_key(*id)));
    store.merge_to(1).unwrap();
    check(&store, &now, &absent);
    store.commit().unwrap();
    drop(store);
    assert_eq!(problems(folder.path()), <[String; 0]>::default());
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    check(&store, &now, &absent);
    apply(&store, &[(ids[1], 77)], &[ids[2]]);
    now.insert(ids[1], 77);
    now.remove(&ids[2]);
    check(&store, &now, &[ids[2]]);
}
