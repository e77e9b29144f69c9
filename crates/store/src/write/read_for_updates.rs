//! [`Resolved`]: the updates of a batch, with everything that they need from segments, read before anything changes.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use docvalues_column::{DocId, PlainColumn};

use crate::batch::{Before, Change, Updates};
use crate::error::{Error, Result};
use crate::schema::StoreSchema;
use crate::segments::{Dictionary, NewRows, SegmentChanges, SegmentState, SegmentView, has_terms};

/// A document of a segment, and the row that updates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UpdateTarget {
    /// The index of the segment.
    pub(crate) segment: usize,
    pub(crate) doc: DocId,
    pub(crate) row: u32,
}

/// By segment and field.
type Dictionaries = HashMap<(usize, usize), Dictionary>;

/// Updates, and what was read for them.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) updates: Updates,
    /// The fields of numbers that some of them compute.
    pub(crate) computed: Vec<usize>,
    pub(crate) dictionaries: Dictionaries,
    /// By segment and field.
    current: BTreeMap<(usize, usize), CurrentValues>,
}

impl Resolved {
    pub(crate) fn new(updates: Updates) -> Resolved {
        Resolved { computed: updates.computed(), updates, ..Resolved::default() }
    }

    /// Forgets what was read.
    pub(crate) fn clear(&mut self) {
        (self.dictionaries, self.current) = Default::default();
    }

    /// Whether updates need anything.
    pub(crate) fn needs_reading(&self, schema: &StoreSchema) -> bool {
        let mut fields = self.updates.rows.columns().iter().zip(schema.fields());
        let needs_old = |(_, change): &(usize, Change)| change.needs_old();
        fields.any(|(column, field)| column.docs() > 0 && has_terms(field.kind))
            || self.updates.kinds.iter().any(|changes| changes.iter().any(needs_old))
    }

    /// Reads what updates need: the values of a field in a segment at once.
    ///
    /// # Errors
    ///
    /// If a column is damaged.
    pub(crate) fn read<'v>(
        &mut self,
        targets: impl Iterator<Item = UpdateTarget>,
        view: impl Fn(usize) -> SegmentView<'v>,
        schema: &StoreSchema,
    ) -> Result<()> {
        let mut needed: BTreeMap<(usize, usize), Vec<DocId>> = BTreeMap::new();
        for UpdateTarget { segment, doc, row } in targets {
            for place in self.updates.fields(row) {
                if self.updates.change(row, place).is_some_and(Change::needs_old) {
                    needed.entry((segment, place)).or_default().push(doc);
                }
                let column = self.updates.rows.column(place).into_iter();
                let terms = column.flat_map(|column| column.strings(row));
                look_up(&mut self.dictionaries, (segment, place), view(segment), schema, terms)?;
            }
        }
        for (of, mut docs) in needed {
            docs.sort_unstable();
            docs.dedup();
            let (rows, values) = (Vec::new(), PlainColumn::of_kind(schema.fields()[of.1].kind));
            let changes = view(of.0).changes.clone();
            let current = self.current.entry(of).or_insert(CurrentValues { rows, values, changes });
            current.read(&docs, of, view(of.0), (schema, &mut self.dictionaries))?;
        }
        Ok(())
    }

    /// Reads again what has changed since it was read, and makes sure that the updates can be made: then nothing fails any
    /// more.
    ///
    /// # Errors
    ///
    /// If a column is damaged, or a segment would have 2^32 terms of a field.
    pub(crate) fn read_again(&mut self, segments: &[SegmentState], schema: &StoreSchema) -> Result<()> {
        for (&of, current) in &mut self.current {
            let (now, then) = (&segments[of.0].now, &current.changes);
            if now.has_values_of(then) {
                continue;
            }
            let docs = current.rows.iter().map(|(doc, _)| *doc);
            let changed: Vec<DocId> = docs.filter(|doc| !now.has_row_of(then, of.1, *doc)).collect();
            if !changed.is_empty() {
                current.read(&changed, of, segments[of.0].view(), (schema, &mut self.dictionaries))?;
            }
        }
        for (&(segment, field), dictionary) in &self.dictionaries {
            if !segments[segment].now.has_room(field, dictionary) {
                let field = schema.fields()[field].name.clone();
                let most = u32::MAX;
                let why = format!("expected at most {most} terms in a segment, found more: merge it first");
                return Err(Error::Schema { field, why });
            }
        }
        Ok(())
    }

    /// The number of a document of a segment that was read.
    pub(crate) fn number(&self, segment: usize, doc: DocId, field: usize) -> Option<i64> {
        let (values, row) = self.before(segment, doc, field)?;
        values.numbers(row).first().copied()
    }

    /// The row with the values of a document, if they were read.
    fn before(&self, segment: usize, doc: DocId, field: usize) -> Before<'_> {
        let CurrentValues { rows, values, .. } = self.current.get(&(segment, field))?;
        let at = rows.binary_search_by_key(&doc, |(doc, _)| *doc).ok()?;
        Some((values, rows[at].1))
    }

    /// The values of a field of documents after their updates. Targets are of one segment, and ascend by document; those of one
    /// document take effect in their order.
    pub(crate) fn new_rows(
        &self,
        targets: &[UpdateTarget],
        (place, schema): (usize, &StoreSchema),
    ) -> NewRows {
        let field = &schema.fields()[place];
        let kind = field.kind;
        let (mut docs, mut plain) = (Vec::new(), PlainColumn::of_kind(kind));
        for targets in targets.chunk_by(|a, b| a.doc == b.doc) {
            if let [UpdateTarget { segment, doc, row }] = targets {
                if self.updates.change(*row, place).is_some() {
                    let before = self.before(*segment, *doc, place);
                    self.updates.push(*row, (place, field), before, &mut plain);
                    docs.push(*doc);
                }
                continue;
            }
            let mut values: Option<PlainColumn> = None;
            for UpdateTarget { segment, doc, row } in targets {
                if self.updates.change(*row, place).is_some() {
                    let before = values.as_ref().map(|values| (values, 0));
                    let before = before.or_else(|| self.before(*segment, *doc, place));
                    let mut after = PlainColumn::of_kind(kind);
                    self.updates.push(*row, (place, field), before, &mut after);
                    values = Some(after);
                }
            }
            if let Some(values) = values {
                docs.push(targets[0].doc);
                plain.push_row(&values, 0);
            }
        }
        NewRows::new(kind, docs, plain)
    }
}

/// The values of a field in a segment on which new ones depend.
struct CurrentValues {
    /// The documents, ascending, and the row of each in `values`.
    rows: Vec<(DocId, u32)>,
    values: PlainColumn,
    /// The changes of the segment when they were read.
    changes: SegmentChanges,
}

impl CurrentValues {
    /// Reads the values of documents, which ascend, for the first time or again.
    fn read(
        &mut self,
        docs: &[DocId],
        (segment, place): (usize, usize),
        view: SegmentView<'_>,
        (schema, dictionaries): (&StoreSchema, &mut Dictionaries),
    ) -> Result<()> {
        let column = view.changes.column(&view.segment.segment, (place, &schema.fields()[place]))?;
        let read = NewRows::read(&*column, docs, docs.to_vec())?;
        look_up(dictionaries, (segment, place), view, schema, read.terms.slices().iter())?;
        self.rows.retain(|(doc, _)| docs.binary_search(doc).is_err());
        self.rows.extend(docs.iter().copied().zip(self.values.docs()..));
        self.rows.sort_unstable();
        (0..read.values.docs()).for_each(|row| read.push_to(row, &mut self.values));
        self.changes = view.changes.clone();
        Ok(())
    }
}

/// Looks up terms in the dictionary of a segment's column, if the field has one.
fn look_up<'t>(
    dictionaries: &mut Dictionaries,
    (segment, place): (usize, usize),
    view: SegmentView<'_>,
    schema: &StoreSchema,
    mut terms: impl Iterator<Item = &'t [u8]>,
) -> Result<()> {
    let field = &schema.fields()[place];
    if !has_terms(field.kind) {
        return Ok(());
    }
    let dictionary = match dictionaries.entry((segment, place)) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(free) => free.insert(Dictionary::open(&view.segment.segment, field)?),
    };
    terms.try_for_each(|term| dictionary.look_up(term))
}
