//! [`Resolved`]: the updates of a batch, with everything that they need from segments, read before anything changes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use docvalues_column::{Column, DocId, Field, PlainColumn};

use crate::batch::{Change, Updates};
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

/// Updates, and what was read for them.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) updates: Updates,
    /// The fields of numbers that some of them compute.
    pub(crate) computed: Vec<usize>,
    /// By segment and field.
    pub(crate) dictionaries: HashMap<(usize, usize), Dictionary>,
    /// The values of documents before those that depend on them, by segment, document and field.
    current: HashMap<(usize, DocId, usize), PlainColumn>,
    /// The columns that have them, by segment and field, and what had changed in the segment then.
    columns: HashMap<(usize, usize), (Arc<dyn Column>, SegmentChanges)>,
}

impl Resolved {
    pub(crate) fn new(updates: Updates) -> Resolved {
        Resolved { computed: updates.computed(), updates, ..Resolved::default() }
    }

    /// Forgets what was read.
    pub(crate) fn clear(&mut self) {
        (self.dictionaries, self.current, self.columns) = Default::default();
    }

    /// Whether updates need anything.
    pub(crate) fn needs_reading(&self, schema: &StoreSchema) -> bool {
        let mut fields = self.updates.rows.columns().iter().zip(schema.fields());
        let needs_old = |(_, change): &(usize, Change)| change.needs_old();
        fields.any(|(column, field)| column.docs() > 0 && has_terms(field.kind))
            || self.updates.kinds.iter().any(|changes| changes.iter().any(needs_old))
    }

    /// Reads what an update needs.
    ///
    /// # Errors
    ///
    /// If a column is damaged.
    pub(crate) fn read(
        &mut self,
        target: UpdateTarget,
        view: SegmentView<'_>,
        schema: &StoreSchema,
    ) -> Result<()> {
        let UpdateTarget { segment: at, doc, row } = target;
        for place in self.updates.fields(row).collect::<Vec<_>>() {
            let field = (place, &schema.fields()[place]);
            if self.updates.change(row, place).is_some_and(Change::needs_old) {
                self.read_current((at, doc), view, field)?;
            }
            if has_terms(field.1.kind) {
                let column = self.updates.rows.column(place);
                let terms = column.map_or_else(Vec::new, |column| column.strings(row).collect());
                look_up(&mut self.dictionaries, (at, place), view, field.1, &terms)?;
            }
        }
        Ok(())
    }

    /// Reads the values of a document on which new ones depend.
    fn read_current(
        &mut self,
        (at, doc): (usize, DocId),
        view: SegmentView<'_>,
        (place, field): (usize, &Field),
    ) -> Result<()> {
        let column = match self.columns.entry((at, place)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let column = view.changes.column(&view.segment.segment, (place, field))?;
                free.insert((column, view.changes.clone()))
            }
        };
        let rows = NewRows::read(&*column.0, &[doc], vec![doc])?;
        let mut current = PlainColumn::of_kind(field.kind);
        rows.push_to(0, &mut current);
        if has_terms(field.kind) {
            let terms: Vec<&[u8]> = current.strings(0).collect();
            look_up(&mut self.dictionaries, (at, place), view, field, &terms)?;
        }
        self.current.insert((at, doc, place), current);
        Ok(())
    }

    /// Reads again what has changed since it was read, and makes sure that the updates can be made: then nothing fails any
    /// more.
    ///
    /// # Errors
    ///
    /// If a column is damaged, or a segment would have 2^32 terms of a field.
    pub(crate) fn read_again(&mut self, segments: &[SegmentState], schema: &StoreSchema) -> Result<()> {
        let is_old = |(segment, doc, field): &(usize, DocId, usize)| {
            let then = self.columns.get(&(*segment, *field)).map(|(_, then)| then);
            then.is_none_or(|then| !segments[*segment].now.has_row_of(then, *field, *doc))
        };
        let old: Vec<_> = self.current.keys().filter(|key| is_old(key)).copied().collect();
        self.columns.clear();
        for (segment, doc, place) in old {
            let field = (place, &schema.fields()[place]);
            self.read_current((segment, doc), segments[segment].view(), field)?;
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
        self.current.get(&(segment, doc, field))?.numbers(0).first().copied()
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
                    let before = self.current.get(&(*segment, *doc, place));
                    self.updates.push(*row, (place, field), before.map(|before| (before, 0)), &mut plain);
                    docs.push(*doc);
                }
                continue;
            }
            let mut values: Option<PlainColumn> = None;
            for UpdateTarget { segment, doc, row } in targets {
                if self.updates.change(*row, place).is_some() {
                    let before = values.as_ref().or_else(|| self.current.get(&(*segment, *doc, place)));
                    let mut after = PlainColumn::of_kind(kind);
                    self.updates.push(*row, (place, field), before.map(|before| (before, 0)), &mut after);
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

/// Looks up terms in the dictionary of a segment's column.
fn look_up(
    dictionaries: &mut HashMap<(usize, usize), Dictionary>,
    of: (usize, usize),
    view: SegmentView<'_>,
    field: &Field,
    terms: &[&[u8]],
) -> Result<()> {
    let dictionary = match dictionaries.entry(of) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(free) => free.insert(Dictionary::open(&view.segment.segment, field)?),
    };
    terms.iter().try_for_each(|term| dictionary.look_up(term))
}
