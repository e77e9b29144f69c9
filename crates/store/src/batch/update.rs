//! Updates: new values for some fields of documents that are there.
//!
//! An update is a row of new values, and a list of the fields to change in another way. What becomes of a document depends
//! on where it is:
//!
//! ```text
//! in a segment   the segment stays; its new values are kept beside it, in its SegmentChanges
//! in the buffer  a changed copy is appended to the buffer, and the document is deleted
//! ```

use docvalues_column::{Field, PlainColumn, PlainColumns, PlainValues};
use docvalues_writer::FieldId;
use serde::{Deserialize, Serialize};

use super::operation::Condition;
use super::plain_body::{read_columns, write_columns};
use crate::schema::StoreSchema;

/// The effect of an update on a field: see [`FieldChange`](crate::FieldChange).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Change {
    /// Replaces all values.
    Set,
    /// Removes all values.
    Unset,
    /// Adds the values that the document lacks.
    Add,
    /// Removes these values.
    Remove,
}

/// Options of an update: [`WriteBatch::update_with`](crate::WriteBatch::update_with).
///
/// Without options, fields with values are set to them, and all others stay as they are.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_search::Query;
/// use docvalues_store::{Outcome, Store, StoreOptions, StoreSchema, Update};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let schema = StoreSchema::new()
///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
///     .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?
///     .with_field(Field::new("tag", Kind::SortedSet, LogicalType::Utf8))?
///     .with_id_field("id")?;
/// let store = Store::create(&path, schema, StoreOptions::default())?;
/// let mut batch = store.batch()?;
/// let (id, size, tag) = (batch.field("id")?, batch.field("size")?, batch.field("tag")?);
/// let mut doc = batch.upsert();
/// doc.str(id, "a")?.i64(size, 7)?.str(tag, "new")?;
/// doc.finish()?;
///
/// let mut doc = batch.update_with(&Update::new().add_to(tag).unset(size));
/// doc.str(id, "a")?.str(tag, "read")?;
/// doc.finish()?;
/// assert_eq!(store.apply(batch)?.outcomes, [Outcome::Added, Outcome::Updated]);
///
/// store.refresh()?;
/// let both = Query::eq("tag", "read").and(Query::eq("tag", "new"));
/// assert_eq!(store.snapshot().search().count(&both)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    pub(crate) condition: Condition,
    pub(crate) changes: Vec<(FieldId, Change)>,
}

impl Update {
    /// An update that sets all fields with values.
    pub fn new() -> Update {
        Update::default()
    }

    /// The condition under which it takes place.
    #[must_use]
    pub fn condition(self, condition: Condition) -> Update {
        Update { condition, ..self }
    }

    /// Removes all values of a field.
    #[must_use]
    pub fn unset(self, field: FieldId) -> Update {
        self.with(field, Change::Unset)
    }

    /// Adds the values of a multi-valued field that the document lacks, each once. The document keeps its own, also those
    /// that repeat.
    #[must_use]
    pub fn add_to(self, field: FieldId) -> Update {
        self.with(field, Change::Add)
    }

    /// Removes the values of a multi-valued field from those of the document.
    #[must_use]
    pub fn remove_from(self, field: FieldId) -> Update {
        self.with(field, Change::Remove)
    }

    fn with(mut self, field: FieldId, change: Change) -> Update {
        self.changes.retain(|(other, _)| *other != field);
        self.changes.push((field, change));
        self
    }
}

/// The effects of an update on fields that it does not simply set, ascending by place.
pub(crate) type FieldChanges = Vec<(usize, Change)>;

/// The updates of a batch: rows of new values, and their effects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Updates {
    #[serde(serialize_with = "write_columns", deserialize_with = "read_columns")]
    pub(crate) rows: PlainColumns,
    /// The place in `kinds` of each row.
    pub(crate) of_rows: Vec<u32>,
    pub(crate) kinds: Vec<FieldChanges>,
}

impl Updates {
    /// The number of rows with changes.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.of_rows.len()).unwrap_or(u32::MAX)
    }

    /// Whether its parts fit each other, as those of a batch do.
    pub(crate) fn is_consistent(&self) -> bool {
        self.of_rows.len() == self.rows.docs() as usize
            && self.of_rows.iter().all(|kind| (*kind as usize) < self.kinds.len())
            && self.kinds.iter().all(|changes| changes.is_sorted_by(|a, b| a.0 < b.0))
    }

    /// Begins rows of an update.
    pub(crate) fn begin(&mut self, update: &Update) {
        let mut changes = FieldChanges::with_capacity(update.changes.len());
        for (field, change) in &update.changes {
            let place = changes.partition_point(|(other, _)| *other < field.index());
            changes.insert(place, (field.index(), *change));
        }
        if self.kinds.last() != Some(&changes) {
            self.kinds.push(changes);
        }
    }

    /// Ends them: there are `rows` rows.
    pub(crate) fn finish(&mut self, rows: u32) {
        let kind = u32::try_from(self.kinds.len().saturating_sub(1)).unwrap_or(u32::MAX);
        self.of_rows.resize(rows as usize, kind);
    }

    /// The fields that a row changes in another way than by setting them.
    pub(crate) fn changes(&self, row: u32) -> &[(usize, Change)] {
        &self.kinds[self.of_rows[row as usize] as usize]
    }

    /// The effect of a row on a field, if it has one.
    pub(crate) fn change(&self, row: u32, field: usize) -> Option<Change> {
        let has_value = self.rows.column(field).is_some_and(|column| column.has_value(row));
        let changes = self.changes(row);
        match changes.binary_search_by_key(&field, |(place, _)| *place).map(|at| changes[at].1) {
            Ok(Change::Unset) => Some(Change::Unset),
            Ok(change) => has_value.then_some(change),
            Err(_) => has_value.then_some(Change::Set),
        }
    }

    /// Refuses what cannot be updated. Returns what is expected.
    pub(crate) fn check(&self, row: u32, schema: &StoreSchema) -> Result<(), String> {
        for (place, change) in self.changes(row) {
            let Some(field) = schema.fields().get(*place) else {
                return Err(format!("a field of the store, found number {place}"));
            };
            let name = &field.name;
            let has_value = self.rows.column(*place).is_some_and(|column| column.has_value(row));
            match change {
                Change::Unset if has_value => {
                    return Err(format!("no values for \"{name}\", which is to lose them, found some"));
                }
                Change::Unset if schema.id_field() == Some(name) || schema.version_field() == Some(name) => {
                    return Err(format!("a field that documents may lack, found \"{name}\""));
                }
                Change::Add | Change::Remove if !field.kind.is_multi_valued() => {
                    return Err(format!(
                        "a multi-valued field, found \"{name}\", of which one value is added or removed"
                    ));
                }
                _ => {}
            }
        }
        // The id tells which document.
        let is_key = |field: &usize| Some(*field) != schema.id_place() && !schema.can_be_updated(*field);
        match self.fields(row).find(is_key).map(|field| &schema.fields()[field].name) {
            Some(name) => Err(format!(
                "a field by which segments are not sorted, found \"{name}\": write the whole document instead"
            )),
            None => Ok(()),
        }
    }

    /// The places of the fields that a row changes, ascending.
    pub(crate) fn fields(&self, row: u32) -> impl Iterator<Item = usize> {
        let unset = self.changes(row).last().map_or(0, |(place, _)| place + 1);
        let fields = 0..self.rows.columns().len().max(unset);
        fields.filter(move |field| self.change(row, *field).is_some())
    }

    /// Appends to `out` the values of a field that had those of `before`, after row `row`.
    pub(crate) fn push(&self, row: u32, field: usize, before: Before<'_>, out: &mut PlainColumn) {
        let (change, rows) = (self.change(row, field), self.rows.column(field));
        match (change, rows, before) {
            (Some(Change::Set), Some(rows), _) => out.push_row(rows, row),
            (Some(Change::Add | Change::Remove), Some(rows), _) => {
                let is_added = change == Some(Change::Add);
                match rows.values() {
                    PlainValues::Numbers(_) => {
                        let now = before.map_or(&[][..], |(column, doc)| column.numbers(doc));
                        out.push_numbers(&combined(now.to_vec(), rows.numbers(row).to_vec(), is_added));
                    }
                    PlainValues::Strings(_) => {
                        let now = before.map_or_else(Vec::new, |(column, doc)| column.strings(doc).collect());
                        out.push_strings(combined(now, rows.strings(row).collect(), is_added));
                    }
                }
            }
            (None, _, Some((column, doc))) => out.push_row(column, doc),
            _ => out.append_absent(1),
        }
    }

    /// A document after row `row`.
    pub(crate) fn updated(
        &self,
        row: u32,
        (docs, doc): (&PlainColumns, u32),
        fields: &[Field],
    ) -> PlainColumns {
        let count = docs.columns().len().max(self.rows.columns().len());
        let column = |(place, field): (usize, &Field)| {
            let mut column = PlainColumn::of_kind(field.kind);
            let before = docs.column(place).filter(|column| column.has_value(doc));
            if before.is_some() || self.change(row, place).is_some() {
                self.push(row, place, before.map(|column| (column, doc)), &mut column);
            }
            if column.docs() > 0 && !column.has_value(0) { PlainColumn::of_kind(field.kind) } else { column }
        };
        let columns = fields.iter().take(count).enumerate().map(column).collect();
        PlainColumns::new(1, columns).unwrap_or_default()
    }
}

/// A document of a plain column, if it may have values.
pub(crate) type Before<'a> = Option<(&'a PlainColumn, u32)>;

/// `all` with those of `others` that it lacks, each once, or without any of `others`; ascending.
fn combined<T: Ord>(mut all: Vec<T>, mut others: Vec<T>, is_added: bool) -> Vec<T> {
    all.sort_unstable();
    others.sort_unstable();
    if is_added {
        others.dedup();
        others.retain(|value| all.binary_search(value).is_err());
        all.append(&mut others);
        all.sort_unstable();
    } else {
        all.retain(|value| others.binary_search(value).is_err());
    }
    all
}
