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

use super::arithmetic::{Arithmetic, Operand};
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
    /// Computes the number from the one before.
    Compute(Arithmetic),
}

impl Change {
    /// Whether the new values depend on those before.
    pub(crate) fn needs_old(self) -> bool {
        matches!(self, Change::Add | Change::Remove | Change::Compute(_))
    }
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
#[must_use]
pub struct Update {
    pub(crate) condition: Condition,
    pub(crate) changes: Vec<(FieldId, Change)>,
    saturates: bool,
}

impl Update {
    /// An update that sets all fields with values.
    pub fn new() -> Update {
        Update::default()
    }

    /// The condition under which it takes place.
    pub fn condition(self, condition: Condition) -> Update {
        Update { condition, ..self }
    }

    /// Removes all values of a field.
    pub fn unset(self, field: FieldId) -> Update {
        self.with(field, Change::Unset)
    }

    /// Adds the values of a multi-valued field that the document lacks, each once. The document keeps its own, also those
    /// that repeat.
    pub fn add_to(self, field: FieldId) -> Update {
        self.with(field, Change::Add)
    }

    /// Removes the values of a multi-valued field from those of the document.
    pub fn remove_from(self, field: FieldId) -> Update {
        self.with(field, Change::Remove)
    }

    /// Adds `amount` to the number of a document, which counts from 0 if it has none. The field is single-valued, of numbers,
    /// dates or timestamps, in the units that are stored; it gets no value of its own in the row.
    ///
    /// Several updates of a document in a batch add up. A result out of the range of the field is [`Outcome::Overflow`], and an
    /// error of [`Store::update`] and [`Store::update_where`].
    ///
    /// [`Outcome::Overflow`]: crate::Outcome::Overflow
    /// [`Store::update`]: crate::Store::update
    /// [`Store::update_where`]: crate::Store::update_where
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema, Update};
    /// use docvalues_search::export::Cell;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("goods");
    /// let schema = StoreSchema::new()
    ///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
    ///     .with_field(Field::new("stock", Kind::Numeric, LogicalType::I64))?
    ///     .with_id_field("id")?;
    /// let store = Store::create(&path, schema, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let (id, stock) = (batch.field("id")?, batch.field("stock")?);
    /// let mut doc = batch.upsert();
    /// doc.str(id, "a")?.i64(stock, 7)?;
    /// doc.finish()?;
    /// for amount in [-1, 5] {
    ///     let mut row = batch.update_with(&Update::new().add(stock, amount));
    ///     row.str(id, "a")?;
    ///     row.finish()?;
    /// }
    /// store.apply(batch)?;
    ///
    /// let row = store.get(b"a", &["stock"])?.expect("a document");
    /// assert!(matches!(row.row(0).value(0), Cell::Number(11)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add(self, field: FieldId, amount: i64) -> Update {
        self.compute(field, Operand::Add(amount))
    }

    /// As [`add`](Self::add), for a field of doubles.
    pub fn add_f64(self, field: FieldId, amount: f64) -> Update {
        self.compute(field, Operand::AddF64(amount.to_bits()))
    }

    /// Multiplies the number of a document, if it has one. An integer is rounded to the nearest, halves away from zero. Overflows
    /// are those of [`add`](Self::add).
    pub fn multiply(self, field: FieldId, factor: f64) -> Update {
        self.compute(field, Operand::Multiply(factor.to_bits()))
    }

    /// Lets numbers out of the range of their field be its lowest or highest, in place of an overflow.
    pub fn saturating(self) -> Update {
        Update { saturates: true, ..self }
    }

    fn compute(self, field: FieldId, operand: Operand) -> Update {
        self.with(field, Change::Compute(Arithmetic { operand, saturates: false }))
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
            let change = match *change {
                Change::Compute(how) => Change::Compute(Arithmetic { saturates: update.saturates, ..how }),
                change => change,
            };
            changes.insert(place, (field.index(), change));
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
            Ok(change @ (Change::Unset | Change::Compute(_))) => Some(change),
            Ok(change) => has_value.then_some(change),
            Err(_) => has_value.then_some(Change::Set),
        }
    }

    /// The fields that some row computes.
    pub(crate) fn computed(&self) -> Vec<usize> {
        let mut fields = Vec::new();
        for (field, change) in self.kinds.iter().flatten() {
            if matches!(change, Change::Compute(_)) && !fields.contains(field) {
                fields.push(*field);
            }
        }
        fields
    }

    /// Refuses what cannot be updated. `keys` are the [places of keys](StoreSchema::key_places). Returns what is expected.
    pub(crate) fn check(&self, row: u32, schema: &StoreSchema, keys: &[usize]) -> Result<(), String> {
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
                Change::Compute(_) if has_value => {
                    return Err(format!("no values for \"{name}\", which is computed, found some"));
                }
                Change::Compute(_) if schema.version_field() == Some(name) => {
                    return Err(format!(
                        "a field that an update can compute, found that of versions, \"{name}\""
                    ));
                }
                Change::Compute(how) => how.check(field)?,
                Change::Add | Change::Remove if !field.kind.is_multi_valued() => {
                    return Err(format!(
                        "a multi-valued field, found \"{name}\", of which one value is added or removed"
                    ));
                }
                _ => {}
            }
        }
        let is_changed = |key: &&usize| self.change(row, **key).is_some();
        match keys.iter().find(is_changed).map(|key| &schema.fields()[*key].name) {
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
    pub(crate) fn push(
        &self,
        row: u32,
        (place, field): (usize, &Field),
        before: Before<'_>,
        out: &mut PlainColumn,
    ) {
        let (change, rows) = (self.change(row, place), self.rows.column(place));
        match (change, rows, before) {
            (Some(Change::Set), Some(rows), _) => out.push_row(rows, row),
            (Some(Change::Compute(how)), ..) => {
                let now = before.and_then(|(column, doc)| column.numbers(doc).first().copied());
                out.push_numbers(how.apply(now, field.logical).0.as_slice());
            }
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
        let changed = self.changes(row).last().map_or(0, |(place, _)| place + 1);
        let count = docs.columns().len().max(self.rows.columns().len()).max(changed);
        let column = |(place, field): (usize, &Field)| {
            let mut column = PlainColumn::of_kind(field.kind);
            let before = docs.column(place).filter(|column| column.has_value(doc));
            if before.is_some() || self.change(row, place).is_some() {
                self.push(row, (place, field), before.map(|column| (column, doc)), &mut column);
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
