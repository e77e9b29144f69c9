//! Updates of every kind of field, wherever the documents are, against a map.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use docvalues_column::{DocAddress, DocId, DocRange, Field, Kind, LogicalType, SortKey, Values};
use docvalues_search::export::Cell;
use docvalues_search::facet::Facet;
use docvalues_search::{Docs, Query, Value};
use docvalues_store::{
    Durability, Outcome, Snapshot, Store, StoreOptions, StoreReader, StoreSchema, Update, WriteBatch,
};

use crate::fixture::{POLICY, Stop, id};

/// The values of a document. Strings are those of small numbers, and others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) size: Option<i64>,
    pub(crate) title: Option<String>,
    pub(crate) host: Option<String>,
    /// Ascending; some repeat.
    pub(crate) numbers: Vec<i64>,
    pub(crate) tags: BTreeSet<String>,
}

/// The documents, each with the number of the operation that wrote it.
type Model = BTreeMap<u32, (u64, Doc)>;

/// Documents also have a rank, by which the segments of some stores are sorted.
pub(crate) fn schema(is_sorted: bool) -> StoreSchema {
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        Field::new("size", Kind::Numeric, LogicalType::I64),
        Field::new("title", Kind::Binary, LogicalType::Utf8),
        Field::new("host", Kind::Sorted, LogicalType::Utf8),
        Field::new("numbers", Kind::SortedNumeric, LogicalType::I64),
        Field::new("tags", Kind::SortedSet, LogicalType::Utf8),
        Field::new("rank", Kind::Numeric, LogicalType::I64),
    ];
    let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap();
    let schema = schema.with_id_field("id").unwrap();
    if is_sorted { schema.with_sort([SortKey::of("rank")]).unwrap() } else { schema }
}

/// What an update does to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Keep,
    Set,
    Unset,
    Add,
    Remove,
    /// Adds the size to that of the document.
    Count,
    /// Multiplies the size of the document by -1.
    Negate,
}

/// A row: new values, and what is done with each field.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) doc: Doc,
    pub(crate) ways: [Way; 5],
}

impl Row {
    /// The document after the update.
    fn apply(&self, now: &mut Doc) {
        let Row { doc, ways } = self;
        fn single<T: Clone>(now: &mut Option<T>, new: &Option<T>, way: Way) {
            match way {
                Way::Unset => *now = None,
                Way::Set if new.is_some() => now.clone_from(new),
                _ => {}
            }
        }
        match ways[0] {
            Way::Count => now.size = Some(now.size.unwrap_or(0) + doc.size.unwrap_or(0)),
            Way::Negate => now.size = now.size.map(|size| -size),
            way => single(&mut now.size, &doc.size, way),
        }
        single(&mut now.title, &doc.title, ways[1]);
        single(&mut now.host, &doc.host, ways[2]);
        match ways[3] {
            Way::Unset => now.numbers.clear(),
            Way::Set if !doc.numbers.is_empty() => now.numbers.clone_from(&doc.numbers),
            Way::Add => {
                let lacks = |value: &&i64| !now.numbers.contains(value);
                let new: BTreeSet<i64> = doc.numbers.iter().filter(lacks).copied().collect();
                now.numbers.extend(new);
                now.numbers.sort_unstable();
            }
            Way::Remove => now.numbers.retain(|value| !doc.numbers.contains(value)),
            _ => {}
        }
        match ways[4] {
            Way::Unset => now.tags.clear(),
            Way::Set if !doc.tags.is_empty() => now.tags.clone_from(&doc.tags),
            Way::Add => now.tags.extend(doc.tags.iter().cloned()),
            Way::Remove => now.tags.retain(|value| !doc.tags.contains(value)),
            _ => {}
        }
    }

    /// Adds the update of the document `number`, or of one that is found otherwise, to a batch.
    fn add(&self, number: Option<u32>, batch: &mut WriteBatch) {
        let fields = ["size", "title", "host", "numbers", "tags"].map(|name| batch.field(name).unwrap());
        let mut update = Update::new();
        for (field, way) in fields.into_iter().zip(self.ways) {
            update = match way {
                Way::Keep | Way::Set => update,
                Way::Unset => update.unset(field),
                Way::Add => update.add_to(field),
                Way::Remove => update.remove_from(field),
                Way::Count => update.add(field, self.doc.size.unwrap_or(0)),
                Way::Negate => update.multiply(field, -1.0),
            };
        }
        let (id_field, doc) = (batch.field("id").unwrap(), self.given());
        let mut row = batch.update_with(&update);
        if let Some(number) = number {
            row.str(id_field, &id(number)).unwrap();
        }
        fill(&mut row, &doc, fields);
        row.finish().unwrap();
    }

    /// The values that are given with the update.
    fn given(&self) -> Doc {
        let Row { doc, ways } = self;
        let gives = |way: Way| matches!(way, Way::Set | Way::Add | Way::Remove);
        Doc {
            size: doc.size.filter(|_| gives(ways[0])),
            title: doc.title.clone().filter(|_| gives(ways[1])),
            host: doc.host.clone().filter(|_| gives(ways[2])),
            numbers: if gives(ways[3]) { doc.numbers.clone() } else { Vec::new() },
            tags: if gives(ways[4]) { doc.tags.clone() } else { BTreeSet::new() },
        }
    }
}

fn fill(
    row: &mut docvalues_writer::Document<'_>,
    doc: &Doc,
    [size, title, host, numbers, tags]: [docvalues_writer::FieldId; 5],
) {
    if let Some(value) = doc.size {
        row.i64(size, value).unwrap();
    }
    let strings = [(title, &doc.title), (host, &doc.host)];
    for (field, value) in strings.into_iter().filter_map(|(field, value)| Some((field, value.as_ref()?))) {
        row.str(field, value).unwrap();
    }
    for value in &doc.numbers {
        row.i64(numbers, *value).unwrap();
    }
    for value in &doc.tags {
        row.str(tags, value).unwrap();
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Write(u32, Doc),
    Update(u32, Row),
    Delete(u32),
}

#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<Operation>),
    UpdateBelow(i64, Row),
    /// Each nth document of a snapshot that is as old as some steps, by its address.
    UpdateEach(usize, Row, usize),
    DeleteEach(usize, usize),
    Refresh,
    Commit,
    Merge,
    MergeTo(usize),
    Reopen,
}

fn doc() -> impl Strategy<Value = Doc> {
    let word = || "[a-d]{0,2}|new-[0-9]{1,2}";
    let size = prop::option::weighted(0.8, -50..50_i64);
    let numbers = prop::collection::vec(-5..5_i64, 0..5);
    let tags = prop::collection::btree_set(word(), 0..4);
    (size, prop::option::weighted(0.8, word()), prop::option::weighted(0.8, word()), numbers, tags).prop_map(
        |(size, title, host, mut numbers, tags)| {
            numbers.sort_unstable();
            Doc { size, title, host, numbers, tags }
        },
    )
}

fn row() -> impl Strategy<Value = Row> {
    let single = || prop_oneof![2 => Just(Way::Keep), 4 => Just(Way::Set), 1 => Just(Way::Unset)];
    let many = || prop_oneof![single(), Just(Way::Add), Just(Way::Remove)];
    let size = prop_oneof![3 => single(), 2 => Just(Way::Count), 1 => Just(Way::Negate)];
    (doc(), size, single(), single(), many(), many())
        .prop_map(|(doc, a, b, c, d, e)| Row { doc, ways: [a, b, c, d, e] })
}

fn step() -> impl Strategy<Value = Step> {
    let operation = prop_oneof![
        3 => (0..40_u32, doc()).prop_map(|(number, doc)| Operation::Write(number, doc)),
        6 => (0..40_u32, row()).prop_map(|(number, row)| Operation::Update(number, row)),
        1 => (0..40_u32).prop_map(Operation::Delete),
    ];
    prop_oneof![
        8 => prop::collection::vec(operation, 0..12).prop_map(Step::Apply),
        1 => (-40..0_i64, row()).prop_map(|(size, row)| Step::UpdateBelow(size, row)),
        1 => (2..9_usize, row(), 0..4_usize).prop_map(|(nth, row, age)| Step::UpdateEach(nth, row, age)),
        1 => (4..9_usize, 0..4_usize).prop_map(|(nth, age)| Step::DeleteEach(nth, age)),
        2 => Just(Step::Refresh),
        4 => Just(Step::Commit),
        2 => Just(Step::Merge),
        1 => (1..4_usize).prop_map(Step::MergeTo),
        2 => Just(Step::Reopen),
    ]
}

/// Some buffers are so small that nearly every batch fills one. Some stores have a log.
pub(crate) fn options(kind: u8) -> StoreOptions {
    let buffer_bytes = if kind == 1 { 2_000 } else { 64 << 20 };
    let durability = if kind == 2 { Durability::EachBatch } else { Durability::OnCommit };
    StoreOptions::new().buffer_bytes(buffer_bytes).durability(durability)
}

/// All documents, by every way to read their columns.
pub(crate) fn contents(snapshot: &Snapshot) -> BTreeMap<u32, Doc> {
    let mut found = BTreeMap::new();
    let live = snapshot.search().filter(&Query::all_of([])).unwrap();
    let live: BTreeSet<DocAddress> = live.iter().collect();
    for (at, part) in (0..snapshot.parts().len()).zip(0..) {
        let source = snapshot.parts().source(at);
        let docs = source.docs();
        let live: Vec<u32> = live.iter().filter(|doc| doc.part == part).map(|doc| doc.doc.get()).collect();
        let ids = strings(source.column("id").ok().as_deref(), docs);
        let single = |name: &str| strings(source.column(name).ok().as_deref(), docs);
        let (titles, hosts, tags) = (single("title"), single("host"), single("tags"));
        let (sizes, numbers) = (
            rows(source.column("size").ok().as_deref(), docs),
            rows(source.column("numbers").ok().as_deref(), docs),
        );
        for doc in live.into_iter().map(|doc| doc as usize) {
            let number = ids[doc][0].strip_prefix("doc-").unwrap().parse().unwrap();
            let values = Doc {
                size: sizes[doc].first().copied(),
                title: titles[doc].first().cloned(),
                host: hosts[doc].first().cloned(),
                numbers: numbers[doc].clone(),
                tags: tags[doc].iter().cloned().collect(),
            };
            assert_eq!(found.insert(number, values), None, "one document for each id");
        }
    }
    assert_eq!(snapshot.docs(), found.len() as u64);
    check_searches(snapshot, &found);
    found
}

/// The numbers of each document, as a scan and as single reads find them.
fn rows(column: Option<&dyn docvalues_column::Column>, docs: u32) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new(); docs as usize];
    let Some(column) = column else { return all };
    let rows = column.values().numbers().unwrap();
    let scanned = |batch: docvalues_column::Batch<'_, i64>| {
        for (at, doc) in batch.docs.iter().enumerate() {
            all[doc.get() as usize] = batch.values.row(at).to_vec();
        }
        ControlFlow::Continue(())
    };
    rows.scan(DocRange::new(0, docs), &mut { scanned }).unwrap();
    let mut row = Vec::new();
    for (doc, all) in (0..).map(DocId::new).zip(&all) {
        let is_there = rows.get(doc, &mut row).unwrap();
        assert_eq!(if is_there { &row[..] } else { &[] }, &all[..], "{doc}");
    }
    all
}

fn strings(column: Option<&dyn docvalues_column::Column>, docs: u32) -> Vec<Vec<String>> {
    let Some(column) = column else { return vec![Vec::new(); docs as usize] };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let of = |doc: DocId| match column.values() {
        Values::Bytes(rows) => {
            let mut row = Vec::new();
            if rows.get(doc, &mut row).unwrap() { vec![text(&row)] } else { Vec::new() }
        }
        Values::Ords(rows, terms) => {
            let (mut row, mut term) = (Vec::new(), Vec::new());
            if !rows.get(doc, &mut row).unwrap() {
                return Vec::new();
            }
            let mut term = |ord| {
                terms.term(ord, &mut term).unwrap();
                text(&term)
            };
            row.iter().map(|ord| term(*ord)).collect()
        }
        Values::Numbers(_) => panic!("strings"),
    };
    (0..docs).map(DocId::new).map(of).collect()
}

/// Filters, facets and sums over all parts agree with the documents.
fn check_searches(snapshot: &Snapshot, docs: &BTreeMap<u32, Doc>) {
    if snapshot.parts().is_empty() {
        return;
    }
    let search = snapshot.search();
    let count = |query: Query| search.count(&query).unwrap();
    let expected = |is_found: &dyn Fn(&Doc) -> bool| docs.values().filter(|doc| is_found(doc)).count() as u64;
    let has = |name: &str| {
        (0..snapshot.parts().len()).any(|part| snapshot.parts().source(part).column(name).is_ok())
    };
    if has("size") {
        let found = expected(&|doc| doc.size.is_some_and(|size| (-10..20).contains(&size)));
        assert_eq!(count(Query::range("size", -10..20)), found);
    }
    if has("host") {
        assert_eq!(count(Query::eq("host", "a")), expected(&|doc| doc.host.as_deref() == Some("a")));
        let found = expected(&|doc| doc.host.as_ref().is_some_and(|host| host.as_str() >= "b"));
        assert_eq!(count(Query::range("host", "b"..)), found);
        let mut counts = BTreeMap::<String, u64>::new();
        let hosts = docs.values().filter_map(|doc| doc.host.clone());
        hosts.for_each(|host| *counts.entry(host).or_default() += 1);
        let facet = search.facet(Docs::All, &Facet::of("host").top(usize::MAX)).unwrap();
        let text = |value| match value {
            Value::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
            value => panic!("{value:?}"),
        };
        let found = facet.values.into_iter().map(|(value, count)| (text(value), count));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), counts);
    }
    if has("tags") {
        let found = expected(&|doc| doc.tags.iter().any(|tag| tag.starts_with("new")));
        assert_eq!(count(Query::prefix("tags", "new")), found);
    }
}

fn run(kind: u8, steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut store = Store::create(&path, schema(kind == 3), options(kind)).unwrap();
    let mut reader = StoreReader::open(&path, options(kind).open).unwrap();
    let (mut now, mut committed, mut written) = (Model::new(), Model::new(), 0);
    // Snapshots, with what they contain.
    let mut snapshots = vec![(store.snapshot(), now.clone())];
    for step in steps {
        let mut is_published = true;
        match step {
            Step::Apply(operations) => {
                let outcomes = apply(&store, operations);
                for (operation, outcome) in operations.iter().zip(outcomes) {
                    written += 1;
                    assert_eq!(outcome, operate(&mut now, operation, written), "{operation:?}");
                }
                for number in (0..40).step_by(7) {
                    let expected = now.get(&number).map(|(_, doc)| doc.size);
                    assert_eq!(size_now(&store, number), expected, "{number}, not refreshed");
                }
                is_published = false;
            }
            Step::UpdateBelow(size, row) => {
                store.refresh().unwrap();
                let matches = |doc: &&mut Doc| doc.size.is_some_and(|now| now < *size);
                if now.values().any(|(_, doc)| doc.size.is_some()) {
                    let docs = now.values_mut().map(|(_, doc)| doc);
                    let found = docs.filter(matches).map(|doc| row.apply(doc)).count();
                    let mut batch = store.batch().unwrap();
                    row.add(None, &mut batch);
                    assert_eq!(
                        store.update_where(&Query::range("size", ..*size), batch).unwrap(),
                        found as u64
                    );
                }
            }
            Step::UpdateEach(nth, row, age) => {
                let (snapshot, then) = &snapshots[snapshots.len().saturating_sub(1 + age)];
                let ids: Vec<u32> = then.keys().copied().step_by(*nth).collect();
                let mut batch = store.batch().unwrap();
                row.add(None, &mut batch);
                let found = store.update(snapshot, &addresses(snapshot, &ids), batch);
                let ids = same_docs(&ids, then, &now);
                assert_eq!(found.unwrap(), ids.len() as u64);
                ids.iter().for_each(|number| row.apply(&mut now.get_mut(number).unwrap().1));
            }
            Step::DeleteEach(nth, age) => {
                let (snapshot, then) = &snapshots[snapshots.len().saturating_sub(1 + age)];
                let ids: Vec<u32> = then.keys().copied().step_by(*nth).collect();
                let found = store.delete(snapshot, &addresses(snapshot, &ids));
                let ids = same_docs(&ids, then, &now);
                assert_eq!(found.unwrap(), ids.len() as u64);
                now.retain(|number, _| !ids.contains(number));
            }
            Step::Refresh => drop(store.refresh().unwrap()),
            Step::Commit => {
                store.commit().unwrap();
                committed.clone_from(&now);
                reader.reopen().unwrap();
                assert_eq!(contents(&reader.snapshot()), docs(&now));
            }
            Step::Merge => drop(store.merge(&POLICY).unwrap()),
            Step::MergeTo(segments) => store.merge_to(*segments).unwrap(),
            Step::Reopen => {
                drop(store);
                store = Store::open(&path, options(kind)).unwrap();
                if options(kind).durability == Durability::OnCommit {
                    now.clone_from(&committed);
                }
                snapshots.clear();
            }
        }
        if is_published {
            store.refresh().unwrap();
            snapshots.push((store.snapshot(), now.clone()));
            assert_eq!(contents(&store.snapshot()), docs(&now), "{step:?}");
        }
        if snapshots.len() > 5 {
            snapshots.remove(0);
        }
        // Snapshots do not change.
        if let Some((oldest, then)) = snapshots.first() {
            assert_eq!(contents(oldest), docs(then));
        }
    }
    store.commit().unwrap();
    drop(store);
    let mut problems = Vec::new();
    StoreReader::check(&path, options(kind).open, &mut |problem| problems.push(problem)).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(contents(&StoreReader::open(&path, options(kind).open).unwrap().snapshot()), docs(&now));
}

/// The size that a document has, published or not, if there is the document.
pub(crate) fn size_now(store: &Store, number: u32) -> Option<Option<i64>> {
    let found = store.get(id(number).as_bytes(), &["title", "size"]).unwrap()?;
    assert_eq!(found.len(), 1);
    Some(match found.row(0).value(1) {
        Cell::Number(size) => Some(size),
        Cell::Missing => None,
        other => panic!("{other:?}"),
    })
}

fn docs(model: &Model) -> BTreeMap<u32, Doc> {
    model.iter().map(|(number, (_, doc))| (*number, doc.clone())).collect()
}

fn addresses(snapshot: &Snapshot, ids: &[u32]) -> Vec<DocAddress> {
    ids.iter().map(|number| snapshot.find(id(*number).as_bytes()).unwrap().unwrap()).collect()
}

/// Those of `ids` whose documents were not written again, or deleted, since `then`.
fn same_docs(ids: &[u32], then: &Model, now: &Model) -> Vec<u32> {
    let written = |model: &Model, number: &u32| model.get(number).map(|(written, _)| *written);
    ids.iter().copied().filter(|number| written(then, number) == written(now, number)).collect()
}

pub(crate) fn apply(store: &Store, operations: &[Operation]) -> Vec<Outcome> {
    let mut batch = store.batch().unwrap();
    let id_field = batch.field("id").unwrap();
    let rank = batch.field("rank").unwrap();
    let fields = ["size", "title", "host", "numbers", "tags"].map(|name| batch.field(name).unwrap());
    for operation in operations {
        match operation {
            Operation::Write(number, doc) => {
                let mut row = batch.upsert();
                row.str(id_field, &id(*number)).unwrap().i64(rank, i64::from(number % 7)).unwrap();
                fill(&mut row, doc, fields);
                row.finish().unwrap();
            }
            Operation::Update(number, row) => row.add(Some(*number), &mut batch),
            Operation::Delete(number) => batch.delete(id(*number).as_bytes()),
        }
    }
    store.apply(batch).unwrap().outcomes
}

fn operate(now: &mut Model, operation: &Operation, written: u64) -> Outcome {
    match operation {
        Operation::Write(number, doc) => match now.insert(*number, (written, doc.clone())) {
            Some(_) => Outcome::Replaced,
            None => Outcome::Added,
        },
        Operation::Update(number, row) => match now.get_mut(number) {
            Some((_, doc)) => {
                row.apply(doc);
                Outcome::Updated
            }
            None => Outcome::NotFound,
        },
        Operation::Delete(number) => match now.remove(number) {
            Some(_) => Outcome::Deleted,
            None => Outcome::NotFound,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(40, 50_000)))]
    #[test]
    fn documents_are_as_in_a_map(kind in 0..4_u8, steps in prop::collection::vec(step(), 1..50)) {
        run(kind, &steps);
    }
}

/// Merges move new values out of memory, largest first, until the rest takes no more than is allowed.
#[test]
fn new_values_leave_memory_if_they_take_too_much() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(false), options(0)).unwrap();
    let doc = |number: u32| Doc { size: Some(i64::from(number)), ..Doc::default() };
    let mut now = BTreeMap::new();
    for segment in 0..3 {
        let numbers = segment * 1_000..(segment + 1) * 1_000;
        let writes: Vec<_> = numbers.map(|number| Operation::Write(number, doc(number))).collect();
        apply(&store, &writes);
        store.commit().unwrap();
    }
    now.extend((0..3_000).map(|number| (number, doc(number))));
    let ways = [Way::Set, Way::Keep, Way::Keep, Way::Keep, Way::Keep];
    // Few of the first, more of the last segment, and less than a fifth of each.
    for number in (0..3_000).filter(|number| number % (300 / (number / 1_000 * 15 + 1)) == 0) {
        let row = Row { doc: doc(number + 5_000), ways };
        apply(&store, &[Operation::Update(number, row)]);
        now.insert(number, doc(number + 5_000));
    }
    let bytes = || store.stats().unwrap().updates_bytes as u64;
    let all = bytes();
    let policy = POLICY.max_updates_bytes(all - 1);
    assert_eq!(store.merge(&policy.max_updates_bytes(all)).unwrap(), 0);
    assert_eq!(store.merge(&policy).unwrap(), 1);
    let left = bytes();
    assert!(0 < left && left < all / 2, "{left} of {all}");
    assert_eq!(store.merge(&policy.max_updates_bytes(0)).unwrap(), 2);
    assert_eq!(bytes(), 0);
    store.refresh().unwrap();
    assert_eq!(contents(&store.snapshot()), now);
}

/// Updates documents while another thread merges all segments, again and again.
fn update_while_merging(is_sorted: bool) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(is_sorted), options(1)).unwrap();
    let (stop, mut now) = (AtomicBool::new(false), Model::new());
    let doc = |number: u32, round: u32| Doc {
        size: Some(i64::from(number * 31 % 17 + round)),
        title: Some(format!("title-{number}-{round}")),
        host: (!(number + round).is_multiple_of(5)).then(|| format!("host-{}", (number + round) % 40)),
        numbers: vec![i64::from(round)],
        tags: BTreeSet::from([format!("tag-{}", round % 7), format!("only-{round}")]),
    };
    std::thread::scope(|scope| {
        let merger = scope.spawn(|| {
            let mut merges = 0;
            while !stop.load(Ordering::Relaxed) {
                merges += u32::from(store.snapshot().segments().len() > 1);
                store.merge_to(1).unwrap();
            }
            merges
        });
        let changing = Stop(&stop);
        for round in 0..crate::cases(150, 15_000) {
            let written =
                (0..20).map(|i| round * 20 + i).map(|number| Operation::Write(number, doc(number, round)));
            let ways = match round % 3 {
                0 => [Way::Set, Way::Keep, Way::Set, Way::Add, Way::Add],
                1 => [Way::Unset, Way::Set, Way::Unset, Way::Remove, Way::Set],
                _ => [Way::Set, Way::Set, Way::Set, Way::Set, Way::Remove],
            };
            let updated = (0..60).map(|i| (round * 7 + i * 53) % (round * 20 + 20));
            let updated =
                updated.map(|number| Operation::Update(number, Row { doc: doc(number, round), ways }));
            let operations: Vec<Operation> =
                written.chain(updated).chain([Operation::Delete(round * 13)]).collect();
            let outcomes = apply(&store, &operations);
            for (operation, outcome) in operations.iter().zip(outcomes) {
                assert_eq!(outcome, operate(&mut now, operation, 0), "{operation:?}");
            }
            if round % 16 == 0 {
                store.commit().unwrap();
            }
        }
        drop(changing);
        let merges = merger.join().unwrap();
        println!("{merges} merges beside updates");
        assert!(merges > 2);
    });
    store.refresh().unwrap();
    assert_eq!(contents(&store.snapshot()), docs(&now));
    store.commit().unwrap();
    drop(store);
    let store = Store::open(folder.path(), options(1)).unwrap();
    assert_eq!(contents(&store.snapshot()), docs(&now));
    store.merge_to(1).unwrap();
    assert_eq!(contents(&store.snapshot()), docs(&now));
    assert_eq!(store.stats().unwrap().updates_bytes, 0, "a merge takes new values in");
}

#[test]
fn documents_that_are_updated_during_a_merge_are_so_in_the_merged_segment() {
    update_while_merging(false);
}

#[test]
fn the_same_in_sorted_segments() {
    update_while_merging(true);
}

/// A field that was added after the segments were written.
#[test]
fn a_field_that_no_segment_has_is_updated() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(false), options(0)).unwrap();
    apply(&store, &[Operation::Write(1, Doc::default()), Operation::Write(2, Doc::default())]);
    store.commit().unwrap();
    store.add_field(Field::new("late", Kind::SortedSet, LogicalType::Utf8)).unwrap();
    let mut batch = store.batch().unwrap();
    let (id_field, late) = (batch.field("id").unwrap(), batch.field("late").unwrap());
    for number in [1, 2] {
        let mut row = batch.update();
        row.str(id_field, &id(number)).unwrap().str(late, "b").unwrap().str(late, "a").unwrap();
        row.finish().unwrap();
    }
    assert_eq!(store.apply(batch).unwrap().outcomes, [Outcome::Updated; 2]);
    store.commit().unwrap();
    let found = |snapshot: &Snapshot| snapshot.search().count(&Query::eq("late", "b")).unwrap();
    assert_eq!(found(&store.snapshot()), 2);
    drop(store);
    let store = Store::open(folder.path(), options(0)).unwrap();
    assert_eq!(found(&store.snapshot()), 2);
    store.merge_to(1).unwrap();
    assert_eq!((found(&store.snapshot()), store.snapshot().segments().len()), (2, 1));
}

/// Commits that fold, at blocks of 65,536 documents: nothing is lost, and files stay few.
#[test]
fn many_commits_leave_few_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(false), options(0)).unwrap();
    let mut sizes: Vec<i64> = (0..140_000).collect();
    let mut segment = store.new_segment().unwrap();
    let fields = ["id", "size"].map(|name| segment.field(name).unwrap());
    for size in &sizes {
        let mut doc = segment.document();
        doc.str(fields[0], &id(u32::try_from(*size).unwrap())).unwrap().i64(fields[1], *size).unwrap();
        doc.finish().unwrap();
    }
    segment.finish().unwrap();
    for round in 0..40_u32 {
        let mut batch = store.batch().unwrap();
        let fields = ["id", "size"].map(|name| batch.field(name).unwrap());
        let edges = [0, 1, 511, 512, 513, 16_383, 16_384, 65_535, 65_536, 65_537, 131_071, 131_072, 139_999];
        for number in edges.into_iter().chain((0..round * 30).map(|at| at * 1_117 % 140_000)) {
            let mut row = batch.update();
            row.str(fields[0], &id(number)).unwrap().i64(fields[1], i64::from(round)).unwrap();
            row.finish().unwrap();
            sizes[number as usize] = round.into();
        }
        store.apply(batch).unwrap();
        store.commit().unwrap();
    }
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let folds = names.iter().filter(|name| name.contains(".g")).count();
    let deltas = names.iter().filter(|name| name.starts_with("delta")).count();
    assert!(folds == 1 && deltas <= 8, "{names:?}");
    let check = |snapshot: &Snapshot| {
        let column = snapshot.parts().source(0).column("size").unwrap();
        let found = rows(Some(&*column), 140_000);
        assert!(found.iter().map(|row| row[0]).eq(sizes.iter().copied()));
    };
    check(&store.snapshot());
    check(&StoreReader::open(folder.path(), options(0).open).unwrap().snapshot());
    drop(store);
    check(&Store::open(folder.path(), options(0)).unwrap().snapshot());
}
