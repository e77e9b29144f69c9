//! [`Resolved`]: what the updates of a batch need to know of segments, read before anything changes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use docvalues_column::{DocId, PlainColumn};

use crate::error::{Error, Result};
use crate::new_rows::{Dictionary, NewRows, column_or_absent, has_terms};
use crate::schema::StoreSchema;
use crate::segment::StoreSegment;
use crate::segment_changes::SegmentChanges;
use crate::state::SegmentState;
use crate::update::{Change, Updates};

/// A segment, and what changed in it.
#[derive(Clone, Copy)]
pub(crate) struct SegmentView<'a> {
    pub(crate) segment: &'a Arc<StoreSegment>,
    pub(crate) changes: &'a SegmentChanges,
}

/// A document of a segment, and the row that updates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    /// The index of the segment.
    pub(crate) segment: usize,
    pub(crate) doc: DocId,
    pub(crate) row: u32,
}

/// Updates, and what was read for them.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) updates: Updates,
    /// By segment and field.
    pub(crate) dictionaries: HashMap<(usize, usize), Dictionary>,
    /// The values of documents before values are added or removed, by segment, document and field.
    current: HashMap<(usize, DocId, usize), PlainColumn>,
    /// The updates for which these were read, and what had changed in their segments then.
    read: Vec<(Target, SegmentChanges)>,
}

impl Resolved {
    pub(crate) fn new(updates: Updates) -> Resolved {
        Resolved { updates, ..Resolved::default() }
    }

    /// Forgets what was read.
    pub(crate) fn clear(&mut self) {
        (self.dictionaries, self.current, self.read) = Default::default();
    }

    /// Whether updates need anything.
    pub(crate) fn needs_reading(&self, schema: &StoreSchema) -> bool {
        let mut fields = self.updates.rows.columns().iter().zip(schema.fields());
        let mut changes = self.updates.kinds.iter().flatten();
        fields.any(|(column, field)| column.docs() > 0 && has_terms(field.kind))
            || changes.any(|(_, change)| matches!(change, Change::Add | Change::Remove))
    }

    /// Reads what an update needs.
    ///
    /// # Errors
    ///
    /// If a column is damaged.
    pub(crate) fn read(&mut self, target: Target, view: SegmentView<'_>, schema: &StoreSchema) -> Result<()> {
        let (Target { segment: at, doc, row }, mut reads_current) = (target, false);
        for place in self.updates.fields(row).collect::<Vec<_>>() {
            let field = &schema.fields()[place];
            let change = self.updates.change(row, place);
            let current = match change {
                Some(Change::Add | Change::Remove) => {
                    let source = view.changes.over(&view.segment.segment, schema.fields());
                    let rows = NewRows::read(&*column_or_absent(&*source, field)?, &[doc], vec![doc])?;
                    let mut current = PlainColumn::of_kind(field.kind);
                    rows.push_to(0, &mut current);
                    reads_current = true;
                    Some(current)
                }
                _ => None,
            };
            if has_terms(field.kind) {
                let dictionary = match self.dictionaries.entry((at, place)) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(free) => free.insert(Dictionary::open(&view.segment.segment, field)?),
                };
                let new = self.updates.rows.column(place).into_iter().flat_map(|column| column.strings(row));
                let now = current.iter().flat_map(|column| column.strings(0));
                new.chain(now).try_for_each(|term| dictionary.look_up(term))?;
            }
            if let Some(current) = current {
                self.current.insert((at, doc, place), current);
            }
        }
        if reads_current {
            self.read.push((target, view.changes.clone()));
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
        for (target, then) in std::mem::take(&mut self.read) {
            let state = &segments[target.segment];
            if state.now.has_values_of(&then) {
                self.read.push((target, then));
            } else {
                self.read(target, state.view(), schema)?;
            }
        }
        for (&(segment, field), dictionary) in &self.dictionaries {
            if !segments[segment].now.has_room(field, dictionary) {
                let field = schema.fields()[field].name.clone();
                let why =
                    format!("expected at most {} terms in a segment, found more: merge it first", u32::MAX);
                return Err(Error::Schema { field, why });
            }
        }
        Ok(())
    }

    /// The values of a field of documents after their updates. Targets are of one segment, and ascend by document; those of one
    /// document take effect in their order.
    pub(crate) fn new_rows(&self, targets: &[Target], (place, schema): (usize, &StoreSchema)) -> NewRows {
        let kind = schema.fields()[place].kind;
        let (mut docs, mut plain) = (Vec::new(), PlainColumn::of_kind(kind));
        for targets in targets.chunk_by(|a, b| a.doc == b.doc) {
            if let [Target { segment, doc, row }] = targets {
                if self.updates.change(*row, place).is_some() {
                    let before = self.current.get(&(*segment, *doc, place));
                    self.updates.push(*row, place, before.map(|before| (before, 0)), &mut plain);
                    docs.push(*doc);
                }
                continue;
            }
            let mut values: Option<PlainColumn> = None;
            for Target { segment, doc, row } in targets {
                if self.updates.change(*row, place).is_some() {
                    let before = values.as_ref().or_else(|| self.current.get(&(*segment, *doc, place)));
                    let mut after = PlainColumn::of_kind(kind);
                    self.updates.push(*row, place, before.map(|before| (before, 0)), &mut after);
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
