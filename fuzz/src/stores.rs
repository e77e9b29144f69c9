//! Stores in memory for the targets of stores: always the same, and changes of every kind.

use std::sync::Arc;

use docvalues::column::Section;
use docvalues::search::Query;
use docvalues::writer::Document;
use docvalues::{Field, FieldId, Kind, LogicalType};
use docvalues_storage::Directory as _;
use docvalues_store::error::Result;
use docvalues_store::{Condition, Store, StoreOptions, StoreSchema, Update, WriteBatch};
use docvalues_testkit::faults::PowerLossDirectory;

/// A change of a store.
pub(crate) type Change = fn(&Store) -> Result<()>;

/// Changes of every kind. They can be made one after the other.
pub(crate) const CHANGES: [Change; 16] = [
    updates_of_all_kinds,
    |store| store.delete_ids(["1", "21", "39", "nowhere"]).map(drop),
    deletes_with_versions,
    |store| update(store, &Update::new(), &["size"], 0..40),
    |store| update(store, &Update::new(), &["title", "numbers"], 15..18),
    unset_all,
    sets,
    conditions,
    |store| operate(store, 10, 40),
    columns,
    by_query,
    long_values,
    |store| store.merge_to(1),
    |store| store.add_field(Field::new("price", Kind::Numeric, LogicalType::F64)),
    wider,
    |store| store.commit_with(b"postings").map(drop),
];

/// Creates a store with an id field, a version, and a field of each kind. Its id is always the same.
pub(crate) fn create(name: &str, options: StoreOptions) -> Result<(PowerLossDirectory, Store)> {
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        Field::new("size", Kind::Numeric, LogicalType::I64),
        Field::new("title", Kind::Binary, LogicalType::Utf8),
        Field::new("host", Kind::Sorted, LogicalType::Utf8),
        Field::new("numbers", Kind::SortedNumeric, LogicalType::I64),
        Field::new("tags", Kind::SortedSet, LogicalType::Utf8),
        Field::new("version", Kind::Numeric, LogicalType::I64),
    ];
    let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field)?;
    let schema = schema.with_id_field("id")?.with_version_field("version")?;
    let disk = PowerLossDirectory::new(name);
    drop(Store::create_in(Arc::new(disk.clone()), schema, StoreOptions::default())?);
    // Otherwise it is random, and a stream of one process would be of another store in the next one.
    recommit(&disk, 1, |json| {
        let id = |key: &str| json.split_once(key).and_then(|(_, rest)| rest.get(..16)).unwrap_or_default();
        [id("\"id\": \""), id("\"history\": \"")]
            .iter()
            .fold(json.clone(), |json, id| json.replace(id, "0123456789abcdef"))
    })?;
    let store = Store::open_in(Arc::new(disk.clone()), options)?;
    Ok((disk, store))
}

/// A store with two segments.
pub(crate) fn with_two_segments(name: &str, options: StoreOptions) -> Result<(PowerLossDirectory, Store)> {
    let (disk, store) = create(name, options)?;
    for first in [0, 20] {
        operate(&store, first, 5)?;
        store.commit()?;
    }
    Ok((disk, store))
}

/// Opens a copy of what is durable.
pub(crate) fn fork(disk: &PowerLossDirectory, options: StoreOptions) -> Result<(PowerLossDirectory, Store)> {
    let disk = disk.crash_image(0);
    let store = Store::open_in(Arc::new(disk.clone()), options)?;
    Ok((disk, store))
}

/// The bytes of a file.
pub(crate) fn read(disk: &PowerLossDirectory, name: &str) -> Result<Vec<u8>> {
    let file = disk.open(name.as_ref())?;
    let bytes = file.read_at(Section::Header, 0, usize::try_from(file.len()).unwrap_or(0));
    Ok(bytes.map(std::borrow::Cow::into_owned).unwrap_or_default())
}

/// The names of the files that begin with `prefix`, ascending.
pub(crate) fn names(disk: &PowerLossDirectory, prefix: &str) -> Result<Vec<String>> {
    let names = disk.list()?.into_iter().map(|entry| entry.name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    Ok(names)
}

/// The name of the newest file that begins with `prefix`.
pub(crate) fn newest(disk: &PowerLossDirectory, prefix: &str) -> Result<String> {
    Ok(names(disk, prefix)?.pop().unwrap_or_default())
}

/// The JSON of a commit.
pub(crate) fn json_of(disk: &PowerLossDirectory, name: &str) -> Result<String> {
    let text = String::from_utf8_lossy(&read(disk, name)?).into_owned();
    Ok(text.rsplit_once("crc32").map_or("", |(json, _)| json).to_owned())
}

/// The JSON of a commit with another number.
pub(crate) fn numbered(json: &str, number: u64) -> String {
    let Some((before, rest)) = json.split_once("\"number\": ") else { return json.to_owned() };
    let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    format!("{before}\"number\": {number}{rest}")
}

/// The bytes of a commit with this JSON.
pub(crate) fn sealed(json: &[u8]) -> Vec<u8> {
    [json, format!("crc32 {:08x}\n", crc32fast::hash(json)).as_bytes()].concat()
}

/// Puts a file in the place of one of the same name.
pub(crate) fn put(disk: &PowerLossDirectory, name: &str, bytes: &[u8]) {
    drop(disk.remove(name.as_ref()));
    let written = disk.create(name.as_ref()).map(|file| file.write_at(bytes, 0).and_then(|_| file.sync()));
    assert!(matches!(written, Ok(Ok(_))));
}

/// Writes a changed copy of the newest commit as commit `number`.
pub(crate) fn recommit(
    disk: &PowerLossDirectory,
    number: u64,
    edit: impl FnOnce(String) -> String,
) -> Result<()> {
    let json = edit(json_of(disk, &newest(disk, "commit-")?)?);
    put(disk, &format!("commit-{number:08}"), &sealed(numbered(&json, number).as_bytes()));
    Ok(disk.sync()?)
}

/// The fields of a batch.
struct Fields {
    id: FieldId,
    size: FieldId,
    title: FieldId,
    host: FieldId,
    numbers: FieldId,
    tags: FieldId,
    version: FieldId,
}

impl Fields {
    fn of(batch: &WriteBatch) -> Result<Fields> {
        Ok(Fields {
            id: batch.field("id")?,
            size: batch.field("size")?,
            title: batch.field("title")?,
            host: batch.field("host")?,
            numbers: batch.field("numbers")?,
            tags: batch.field("tags")?,
            version: batch.field("version")?,
        })
    }

    /// Gives a document values in the fields of these names.
    fn set(&self, row: &mut Document<'_>, names: &[&str], number: u32) -> Result<()> {
        for name in names {
            match *name {
                "size" => row.i64(self.size, -i64::from(number))?,
                "title" => row.str(self.title, "another")?,
                "host" => row.str(self.host, "new.example")?,
                "numbers" => row.i64(self.numbers, number.into())?.i64(self.numbers, 7)?,
                _ => row.str(self.tags, "new")?,
            };
        }
        Ok(())
    }
}

/// Writes twenty documents of this version.
pub(crate) fn operate(store: &Store, first: u32, version: i64) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    for number in first..first + 20 {
        let mut doc = batch.upsert();
        doc.str(fields.id, &number.to_string())?.i64(fields.size, number.into())?;
        doc.str(fields.title, &format!("title {number}"))?
            .str(fields.host, &format!("host-{}", number % 5))?;
        doc.str(fields.tags, "a")?.i64(fields.version, version)?;
        doc.finish()?;
    }
    store.apply(batch).map(drop)
}

/// Updates the documents with these ids, with new values in the fields `set`.
fn update(store: &Store, update: &Update, set: &[&str], ids: impl IntoIterator<Item = u32>) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    for number in ids {
        let mut row = batch.update_with(update);
        row.str(fields.id, &number.to_string())?;
        fields.set(&mut row, set, number)?;
        row.finish()?;
    }
    store.apply(batch).map(drop)
}

fn updates_of_all_kinds(store: &Store) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    // Each with the fields that it gives values.
    let updates: [(Update, &[&str]); 4] = [
        (Update::new(), &["title", "host", "tags"]),
        (Update::new().unset(fields.title), &["host", "tags"]),
        (Update::new().add_to(fields.tags).remove_from(fields.numbers), &["title", "host", "tags"]),
        (Update::new().unset(fields.host).unset(fields.tags), &["title"]),
    ];
    for (number, (update, set)) in (3..27_u32).step_by(3).zip(updates.iter().cycle()) {
        let mut row = batch.update_with(update);
        row.str(fields.id, &number.to_string())?.i64(fields.size, -1)?.i64(fields.version, 9)?;
        row.i64(fields.numbers, number.into())?;
        fields.set(&mut row, set, number)?;
        row.finish()?;
    }
    batch.delete(b"7");
    batch.delete_version(b"8", 70);
    store.apply(batch).map(drop)
}

fn deletes_with_versions(store: &Store) -> Result<()> {
    let mut batch = store.batch()?;
    for number in 0..12_u64 {
        batch.delete_version((3 * number).to_string().as_bytes(), 4 + number % 8);
    }
    batch.delete_version(b"never there", 1_000);
    store.apply(batch).map(drop)
}

fn unset_all(store: &Store) -> Result<()> {
    let batch = store.batch()?;
    let Fields { size, title, host, numbers, tags, .. } = Fields::of(&batch)?;
    let all = [size, title, host, numbers, tags].into_iter().fold(Update::new(), Update::unset);
    update(store, &all, &[], 5..35)
}

fn sets(store: &Store) -> Result<()> {
    let batch = store.batch()?;
    let Fields { size, numbers, tags, .. } = Fields::of(&batch)?;
    update(store, &Update::new().add(size, i64::MAX), &["tags"], (0..40).step_by(3))?;
    update(store, &Update::new().multiply(size, -1.5).saturating(), &[], (0..40).step_by(5))?;
    update(store, &Update::new().add_to(numbers).add_to(tags), &["numbers", "tags"], (0..40).step_by(2))?;
    update(
        store,
        &Update::new().remove_from(numbers).remove_from(tags),
        &["numbers", "tags"],
        (0..40).step_by(6),
    )
}

fn conditions(store: &Store) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    let conditions = [Condition::Always, Condition::Absent, Condition::Version(5), Condition::Version(77)];
    for (number, condition) in (30..60_u32).zip(conditions.into_iter().cycle()) {
        let mut doc = batch.upsert_if(condition);
        doc.str(fields.id, &number.to_string())?.i64(fields.size, number.into())?;
        doc.finish()?;
        batch.delete_if((number - 25).to_string().as_bytes(), condition);
        if condition == Condition::Absent {
            // No update can take place then.
            continue;
        }
        let mut row = batch.update_with(&Update::new().condition(condition));
        row.str(fields.id, &(number - 10).to_string())?.str(fields.host, "a.example")?;
        row.finish()?;
    }
    store.apply(batch).map(drop)
}

/// Documents and updates, column by column.
fn columns(store: &Store) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    let mut docs = batch.upsert_columns(3)?;
    docs.bytes(fields.id, &[0, 1, 3, 6], b"a10100", None)?.i64(fields.size, &[1, 2, 3], None)?;
    docs.i64_lists(fields.numbers, &[0, 0, 2, 5], &[1, 2, 3, 3, 1], None)?;
    docs.finish();
    let mut rows = batch.update_columns(2, &Update::new())?;
    rows.bytes(fields.id, &[0, 2, 4], b"1112", None)?.i64(fields.size, &[-5, i64::MAX], None)?;
    rows.finish();
    store.apply(batch).map(drop)
}

fn by_query(store: &Store) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    let mut row = batch.update();
    fields.set(&mut row, &["host", "numbers"], 0)?;
    row.finish()?;
    store.update_where(&Query::range("size", 30..), batch)?;
    store.delete_where(&Query::range("size", 36..)).map(drop)
}

fn long_values(store: &Store) -> Result<()> {
    let mut batch = store.batch()?;
    let fields = Fields::of(&batch)?;
    for number in 0..12_u32 {
        let mut row = batch.update();
        let title = format!("https://www.example.org/{number}/").repeat(20);
        row.str(fields.id, &number.to_string())?.str(fields.title, &title)?;
        row.finish()?;
    }
    store.apply(batch).map(drop)
}

fn wider(store: &Store) -> Result<()> {
    store.alter([
        Field::new("size", Kind::SortedNumeric, LogicalType::F64),
        Field::new("host", Kind::SortedSet, LogicalType::Utf8),
    ])?;
    store.set_fields([Field {
        format: Some("float".to_owned()),
        ..Field::new("size", Kind::SortedNumeric, LogicalType::F64)
    }])
}
