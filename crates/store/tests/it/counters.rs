//! Numbers that updates compute: their order, their range, versions, and the log.

use docvalues_column::{DocAddress, Field, Kind, LogicalType};
use docvalues_search::Query;
use docvalues_search::export::Cell;
use docvalues_store::{Condition, Durability, Outcome, Store, StoreOptions, StoreSchema, Update, WriteBatch};
use docvalues_writer::FieldId;

fn schema() -> StoreSchema {
    let number = |name, logical| Field::new(name, Kind::Numeric, logical);
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        number("stock", LogicalType::I64),
        number("seen", LogicalType::U64),
        number("price", LogicalType::F64),
        number("day", LogicalType::Date),
        number("at", LogicalType::TimestampMillis),
        number("ok", LogicalType::Bool),
        Field::new("sizes", Kind::SortedNumeric, LogicalType::I64),
        number("version", LogicalType::U64),
    ];
    let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap();
    schema.with_id_field("id").unwrap().with_version_field("version").unwrap()
}

/// A batch, its fields by name, and rows of updates.
struct Rows(WriteBatch);

impl Rows {
    fn of(store: &Store) -> Rows {
        Rows(store.batch().unwrap())
    }

    fn field(&self, name: &str) -> FieldId {
        self.0.field(name).unwrap()
    }

    fn write(mut self, id: &str, stock: i64, version: u64) -> Rows {
        let (id_field, stock_field, version_field) =
            (self.field("id"), self.field("stock"), self.field("version"));
        let mut doc = self.0.upsert();
        doc.str(id_field, id).unwrap().i64(stock_field, stock).unwrap().u64(version_field, version).unwrap();
        doc.finish().unwrap();
        self
    }

    /// An update that has the id, if there is one, and a new stock or version, if they are given.
    fn row(mut self, id: &str, update: &Update, stock: Option<i64>, version: Option<u64>) -> Rows {
        let (id_field, stock_field, version_field) =
            (self.field("id"), self.field("stock"), self.field("version"));
        let mut row = self.0.update_with(update);
        if !id.is_empty() {
            row.str(id_field, id).unwrap();
        }
        if let Some(stock) = stock {
            row.i64(stock_field, stock).unwrap();
        }
        if let Some(version) = version {
            row.u64(version_field, version).unwrap();
        }
        row.finish().unwrap();
        self
    }

    fn add(self, id: &str, amount: i64) -> Rows {
        let update = Update::new().add(self.field("stock"), amount);
        self.row(id, &update, None, None)
    }

    fn apply(self, store: &Store) -> Vec<Outcome> {
        store.apply(self.0).unwrap().outcomes
    }
}

/// The stored number of a document in a column now.
fn number(store: &Store, id: &str, column: &str) -> Option<i64> {
    match store.get(id.as_bytes(), &[column]).unwrap().unwrap().row(0).value(0) {
        Cell::Number(number) => Some(number),
        _ => None,
    }
}

fn store(folder: &tempfile::TempDir, durability: Durability) -> Store {
    Store::create(folder.path().join("store"), schema(), StoreOptions::new().durability(durability)).unwrap()
}

#[test]
fn adds_and_sets_take_effect_in_their_order() {
    for is_committed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder, Durability::OnCommit);
        Rows::of(&store).write("a", 7, 1).write("b", 7, 1).write("c", 7, 1).apply(&store);
        if is_committed {
            store.commit().unwrap();
        }
        let set = Update::new();
        let rows = Rows::of(&store).add("a", 1).add("a", 2).add("a", -5);
        let rows = rows.add("b", 100).row("b", &set, Some(3), None).add("b", 1).add("b", 1);
        let unset = Update::new().unset(rows.field("stock"));
        let rows = rows.row("c", &unset, None, None).add("c", 9).add("d", 1);
        let outcomes = rows.apply(&store);
        assert!(outcomes[..9].iter().all(|outcome| *outcome == Outcome::Updated), "{outcomes:?}");
        assert_eq!(outcomes[9], Outcome::NotFound);
        let stocks = || ["a", "b", "c"].map(|id| number(&store, id, "stock"));
        assert_eq!(stocks(), [Some(5), Some(5), Some(9)]);
        assert!(store.get(b"d", &["stock"]).unwrap().is_none());
        // A document that was written in the same batch.
        Rows::of(&store).add("d", 1).write("d", 5, 1).add("d", 1).write("a", 0, 2).add("a", 3).apply(&store);
        assert_eq!((number(&store, "d", "stock"), number(&store, "a", "stock")), (Some(6), Some(3)));
        store.commit().unwrap();
        store.merge_to(1).unwrap();
        assert_eq!(stocks(), [Some(3), Some(5), Some(9)]);
        assert_eq!(store.snapshot().search().count(&Query::eq("stock", 6)).unwrap(), 1);
    }
}

#[test]
fn documents_of_segments_count_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, Durability::OnCommit);
    let ids = ["a", "b", "c", "d", "e", "f"];
    for (ids, version) in ids.chunks(3).zip(1..) {
        ids.iter().fold(Rows::of(&store), |rows, id| rows.write(id, 7, version)).apply(&store);
        store.commit().unwrap();
    }
    store.refresh().unwrap();
    let mut expected = [7; 6];
    // The second batch depends on the first, of which the snapshot has nothing yet.
    for places in [[5, 0, 2, 5, 1, 0], [2, 4, 0, 3, 2, 5]] {
        let mut rows = Rows::of(&store);
        for (place, amount) in places.into_iter().zip([1, 10, 100, 1_000, 10_000, 100_000]) {
            rows = rows.add(ids[place], amount);
            expected[place] += amount;
        }
        assert_eq!(rows.apply(&store), [Outcome::Updated; 6]);
        assert_eq!(ids.map(|id| number(&store, id, "stock")), expected.map(Some));
    }
    let snapshot = store.snapshot();
    let places = [5, 1, 5, 0];
    let found = places.map(|place| snapshot.find(ids[place].as_bytes()).unwrap().unwrap());
    assert_eq!(store.update(&snapshot, &found, Rows::of(&store).add("", 3).0).unwrap(), 4);
    places.iter().for_each(|place| expected[*place] += 3);
    assert_eq!(ids.map(|id| number(&store, id, "stock")), expected.map(Some));
}

#[test]
fn versions_and_conditions_decide_what_counts() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, Durability::OnCommit);
    Rows::of(&store).write("a", 7, 5).apply(&store);
    store.commit().unwrap();
    let rows = Rows::of(&store);
    let add = |amount| Update::new().add(rows.field("stock"), amount);
    let if_version = |version| add(100).condition(Condition::Version(version));
    let (one, ten, refused, holds) = (add(1), add(10), if_version(5), if_version(6));
    let outcomes = rows
        .row("a", &one, None, Some(6))
        .row("a", &ten, None, Some(6))
        .row("a", &refused, None, None)
        .row("a", &holds, None, None)
        .apply(&store);
    let (stale, refused) = (Outcome::Stale { current: 6 }, Outcome::Refused { current: Some(6) });
    assert_eq!(outcomes, [Outcome::Updated, stale, refused, Outcome::Updated]);
    assert_eq!(number(&store, "a", "stock"), Some(108));
}

#[test]
fn an_overflow_changes_nothing_unless_it_saturates() {
    for (is_committed, durability) in
        [(false, Durability::OnCommit), (true, Durability::OnCommit), (true, Durability::EachBatch)]
    {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder, durability);
        Rows::of(&store).write("a", i64::MAX - 5, 1).write("b", 0, 1).apply(&store);
        if is_committed {
            store.commit().unwrap();
        }
        let rows = Rows::of(&store);
        let (stock, seen) = (rows.field("stock"), rows.field("seen"));
        // The sum is out of range, though each update alone is not. The field before it does not count either.
        let both = Update::new().add(stock, 1).add(seen, -1);
        let outcomes =
            rows.add("a", 4).add("a", 4).row("a", &both, None, None).add("a", 1).add("b", 1).apply(&store);
        let overflow = |field: FieldId| Outcome::Overflow { field: field.index() };
        let updated = Outcome::Updated;
        assert_eq!(outcomes, [updated, overflow(stock), overflow(seen), updated, updated]);
        let found =
            || (number(&store, "a", "stock"), number(&store, "a", "seen"), number(&store, "b", "stock"));
        assert_eq!(found(), (Some(i64::MAX), None, Some(1)));

        // By a query or by addresses, all documents are updated or none.
        store.refresh().unwrap();
        let error = store.update_where(&Query::all_of([]), Rows::of(&store).add("", 1).0).unwrap_err();
        let expected = "expected a result in the range of its type in the field \"stock\" of document \"a\", found an overflow";
        assert_eq!(error.to_string(), expected);
        assert_eq!(found(), (Some(i64::MAX), None, Some(1)));
        let snapshot = store.snapshot();
        let b: DocAddress = snapshot.find(b"b").unwrap().unwrap();
        let half = i64::MAX / 2;
        assert_eq!(store.update(&snapshot, &[b, b], Rows::of(&store).add("", half).0).unwrap(), 2);
        let error = store.update(&snapshot, &[b, b], Rows::of(&store).add("", 1).0).unwrap_err();
        assert!(error.to_string().contains("document \"b\""), "{error}");
        assert_eq!(number(&store, "b", "stock"), Some(i64::MAX));

        let rows = Rows::of(&store);
        let most = Update::new().saturating().add(stock, 9).add(seen, -9);
        assert_eq!(rows.row("a", &most, None, None).apply(&store), [updated]);
        let zero = Some(i64::MIN);
        assert_eq!(found(), (Some(i64::MAX), zero, Some(i64::MAX)));
        if durability == Durability::EachBatch {
            drop(store);
            let store = Store::open(folder.path().join("store"), StoreOptions::new().durability(durability));
            let store = store.unwrap();
            assert_eq!(number(&store, "a", "stock"), Some(i64::MAX));
            assert_eq!((number(&store, "a", "seen"), number(&store, "b", "stock")), (zero, Some(i64::MAX)));
        }
    }
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, Durability::OnCommit);
    Rows::of(&store).write("a", 1, 1).apply(&store);
    let refused = |update: &dyn Fn(&Rows) -> Update, stock| {
        let rows = Rows::of(&store);
        let update = update(&rows);
        let error = store.apply(rows.row("a", &update, stock, None).0).unwrap_err().to_string();
        error.strip_prefix("operation 0 of the batch: expected ").unwrap().to_owned()
    };
    let add = |name: &'static str| refused(&|rows| Update::new().add(rows.field(name), 1), None);
    let expected = "a number, date or timestamp in a single-valued field to compute with, found";
    for name in ["ok", "sizes"] {
        assert_eq!(add(name), format!("{expected} \"{name}\""));
    }
    assert_eq!(add("version"), "a field that an update can compute, found that of versions, \"version\"");
    let error = refused(&|rows| Update::new().add_f64(rows.field("stock"), 1.0), None);
    assert_eq!(error, "a double in a single-valued field to compute with, found \"stock\"");
    let error = refused(&|rows| Update::new().multiply(rows.field("day"), 2.0), None);
    assert_eq!(error, "a number in a single-valued field to compute with, found \"day\"");
    let error = refused(&|rows| Update::new().multiply(rows.field("stock"), f64::NAN), None);
    assert_eq!(error, "a finite number to compute \"stock\" with, found NaN");
    let error = refused(&|rows| Update::new().add(rows.field("stock"), 1), Some(7));
    assert_eq!(error, "no values for \"stock\", which is computed, found some");
    for name in ["day", "at"] {
        let update = Update::new().add(Rows::of(&store).field(name), 86_400);
        assert_eq!(Rows::of(&store).row("a", &update, None, None).apply(&store), [Outcome::Updated]);
        assert_eq!(number(&store, "a", name), Some(86_400));
    }
    assert!(store.get(b"a", &["nothing"]).is_err());
}
