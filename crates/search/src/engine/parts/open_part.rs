//! [`OpenPart`]: a source, and what searches keep about it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use docvalues_column::{
    Bitset, Changes, Column, ColumnChanges, ColumnSource, Field, LiveDocs, OverlaySource, Part,
    Result as ColumnResult, SortKey, Terms,
};

use crate::engine::interrupt::Interrupt;
use crate::engine::term_ids::{PartIds, TermTable};
use crate::engine::threads::lock;
use crate::error::Result;

/// A source, its live documents, and its opened columns.
pub(crate) struct OpenPart<'s> {
    pub(crate) source: Arc<dyn ColumnSource + Send + Sync + 's>,
    /// The live documents; `None` if none is deleted.
    live: Option<LiveDocs>,
    /// The same as bits, which the first search makes.
    live_bits: OnceLock<Arc<Bitset>>,
    opened: Arc<Mutex<Opened>>,
    /// The column that [`Parts::with_column`](super::Parts::with_column) added, by name, and the part without it, which keeps all others.
    added: Option<(String, Arc<OpenPart<'s>>)>,
}

/// The opened columns of a source, and the ids of their terms.
#[derive(Default)]
struct Opened {
    columns: HashMap<String, Arc<dyn Column>>,
    /// The ids of the terms of a column, by name.
    ids: HashMap<String, KnownIds>,
}

/// The ids of the terms of a column, the table that they belong to, and how many terms there were.
#[derive(Clone)]
struct KnownIds {
    table: Arc<TermTable>,
    terms: u32,
    ids: PartIds,
}

impl OpenPart<'static> {
    pub(super) fn new(part: Part) -> OpenPart<'static> {
        let live = part.live.unwrap_or_else(|| Arc::new(LiveDocs::all(part.source.docs())));
        OpenPart::of_source(part.source).with_live(&live)
    }

    /// The part with another source, in which some columns are others.
    pub(super) fn with_columns(&self, with: Part, columns: &[String]) -> OpenPart<'static> {
        if let Some((_, part)) = &self.added {
            return part.with_columns(with, columns);
        }
        let before = lock(&self.opened);
        let mut opened = Opened { columns: before.columns.clone(), ids: before.ids.clone() };
        columns.iter().for_each(|column| drop(opened.columns.remove(column)));
        OpenPart { opened: Arc::new(Mutex::new(opened)), ..OpenPart::new(with) }
    }

    /// The part with one more column.
    pub(super) fn with_added(self: &Arc<Self>, field: &Field, changes: Changes<i64>) -> OpenPart<'static> {
        let changes = [(field.clone(), ColumnChanges::Numbers(changes))];
        // So that the sets with other columns share the bits.
        self.live();
        OpenPart {
            source: Arc::new(OverlaySource::new(self.source.clone(), changes)),
            live: self.live.clone(),
            live_bits: self.live_bits.clone(),
            opened: Arc::default(),
            added: Some((field.name.clone(), self.clone())),
        }
    }
}

impl<'s> OpenPart<'s> {
    /// A source of which nothing is deleted.
    pub(crate) fn of(source: &'s (dyn ColumnSource + Sync)) -> OpenPart<'s> {
        OpenPart::of_source(Arc::new(Borrowed(source)))
    }

    fn of_source(source: Arc<dyn ColumnSource + Send + Sync + 's>) -> OpenPart<'s> {
        OpenPart { source, live: None, live_bits: OnceLock::new(), opened: Arc::default(), added: None }
    }

    /// The same source with other live documents.
    pub(crate) fn with_live(&self, live: &LiveDocs) -> OpenPart<'s> {
        let some = !live.are_all() || live.docs() != self.source.docs();
        OpenPart {
            source: self.source.clone(),
            live: some.then(|| live.clone()),
            live_bits: OnceLock::new(),
            opened: self.opened.clone(),
            added: self.added.clone(),
        }
    }

    /// The live documents; `None` if none is deleted. O(documents / 64) the first time.
    pub(crate) fn live(&self) -> Option<&Arc<Bitset>> {
        let (live, docs) = (self.live.as_ref()?, self.source.docs());
        Some(self.live_bits.get_or_init(|| {
            let bits = live.to_bitset();
            Arc::new(if bits.docs() == docs { bits } else { bits.resized(docs) })
        }))
    }

    /// The column `name`, which is opened once.
    pub(crate) fn column(&self, name: &str) -> ColumnResult<Arc<dyn Column>> {
        let opened = self.opened(name);
        if let Some(column) = lock(opened).columns.get(name) {
            return Ok(column.clone());
        }
        let column = self.source.column(name)?;
        Ok(lock(opened).columns.entry(name.to_owned()).or_insert(column).clone())
    }

    /// The ids of the terms of `column`, which are found once.
    pub(super) fn ids(
        &self,
        column: &dyn Column,
        table: &Arc<TermTable>,
        stop: &Interrupt,
    ) -> Result<PartIds> {
        let name = &column.info().field.name;
        let (opened, terms) = (self.opened(name), column.values().terms().map_or(0, Terms::term_count));
        if let Some(known) = lock(opened).ids.get(name)
            && Arc::ptr_eq(&known.table, table)
            && known.terms == terms
        {
            return Ok(known.ids.clone());
        }
        let ids = table.add(column, stop)?;
        let known = KnownIds { table: table.clone(), terms, ids: ids.clone() };
        lock(opened).ids.insert(name.clone(), known);
        Ok(ids)
    }

    /// The opened columns that have, or will have, the column `name`.
    fn opened(&self, name: &str) -> &Mutex<Opened> {
        match &self.added {
            Some((added, part)) if added != name => part.opened(name),
            _ => &self.opened,
        }
    }
}

/// A borrowed source.
struct Borrowed<'s>(&'s (dyn ColumnSource + Sync));

impl ColumnSource for Borrowed<'_> {
    fn docs(&self) -> u32 {
        self.0.docs()
    }

    fn fields(&self) -> ColumnResult<Vec<Field>> {
        self.0.fields()
    }

    fn column(&self, name: &str) -> ColumnResult<Arc<dyn Column>> {
        self.0.column(name)
    }

    fn sort(&self) -> &[SortKey] {
        self.0.sort()
    }
}
