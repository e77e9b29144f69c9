//! [`Parts`]: sources that are searched together, with what searches keep about them: in `open_part`, about a source; in
//! `added_column`, a column beside those of the sources.

mod added_column;
mod open_part;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use docvalues_column::{ColumnSource, Field, LiveDocs, Part, bits};

pub(crate) use open_part::OpenPart;

use super::columns::ColumnSet;
use super::interrupt::Interrupt;
use super::term_ids::{TermIds, TermTable};
use super::threads::lock;
use crate::error::{Error, Result};

/// Several sources that are searched together, such as the segments of an index.
///
/// A set of parts never changes. [`with`](Self::with) and [`without`](Self::without) make another one, which shares
/// everything that stays: opened columns, and the identities of terms. So after a segment was added, a search looks
/// at that segment alone. [`with_column`](Self::with_column) adds a column, such as the scores of hits.
///
/// Cloning is cheap. Keep a set as long as its parts are searched, and make a [`Search`](crate::Search) for each
/// request: [`Search::over`](crate::Search::over).
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType, Part};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_search::{Docs, Parts, Query, Search};
///
/// # let of = |sizes: [i64; 2]| {
/// #     let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// #     Part::new(MemSource::new(2, [(field, ModelColumn::Numeric(sizes.map(Some).to_vec()))]))
/// # };
/// # let (old, new) = (of([512, 9]), of([70, 3]));
/// let parts = Parts::new([old]);
/// assert_eq!(Search::over(&parts).count(&Query::range("size", 50..))?, 1);
///
/// let parts = parts.with(new);
/// assert_eq!(Search::over(&parts).count(&Query::range("size", 50..))?, 2);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone)]
pub struct Parts {
    /// Shared with searches, as there may be many.
    pub(crate) parts: Arc<[Arc<OpenPart<'static>>]>,
    pub(crate) kept: Arc<Kept>,
}

/// A part of the set that [`Parts::changed`] makes.
#[derive(Clone)]
#[non_exhaustive]
pub enum PartChange {
    /// The part of the set before, by its index.
    Kept(usize),
    /// The same, with other live documents.
    Live(usize, LiveDocs),
    /// The same, with another source, in which some columns have other values. A dictionary may have more terms, and none less.
    Columns(usize, Part, Vec<String>),
    /// A part that the set before does not have.
    Added(Part),
}

/// The memory of the identities of a column's terms: see [`Parts::term_memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermMemory {
    /// The number of different terms.
    pub terms: u32,
    /// The bytes of their table, which sets of parts share.
    pub table: usize,
    /// The bytes of the maps from ords to identities, of all parts but the first.
    pub maps: usize,
}

/// The columns and term tables that the searches of a set of parts share.
#[derive(Default)]
pub(crate) struct Kept {
    /// The columns in all parts, by name; first those of equal types, then those whose types were promoted.
    columns: Mutex<[HashMap<String, Arc<ColumnSet>>; 2]>,
    /// The terms of columns, by name, shared with the sets that this one was made from.
    terms: Mutex<HashMap<String, Arc<TermTable>>>,
    /// Whether parts were dropped, so that a table may have terms of no part.
    has_dropped: bool,
    /// Fields that no part need have.
    declared: Arc<[Field]>,
    /// As in each [`OpenPart`].
    added: Option<(String, Arc<Kept>)>,
}

impl Parts {
    /// The set of `parts`, in this order.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Parts {
        Parts {
            parts: parts.into_iter().map(|part| Arc::new(OpenPart::new(part))).collect(),
            kept: Arc::default(),
        }
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The number of documents of all parts, live or not.
    pub fn docs(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.source.docs())).sum()
    }

    /// The source of a part.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    pub fn source(&self, part: usize) -> &Arc<dyn ColumnSource + Send + Sync> {
        &self.parts[part].source
    }

    /// Declares fields, such as those of a schema, instead of the fields declared before. If no part has a declared field, it is
    /// a column of its kind and type without values.
    ///
    /// ```
    /// # use docvalues_column::{Field, Kind, LogicalType, Part};
    /// # use docvalues_testkit::model::MemSource;
    /// use docvalues_search::{Parts, Query, Search};
    ///
    /// # let source = MemSource::new(3, []);
    /// let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
    /// let parts = Parts::new([Part::new(source)]).with_fields([host.clone()]);
    /// assert_eq!(parts.fields()?, [host]);
    /// assert_eq!(Search::over(&parts).count(&Query::missing("host"))?, 3);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    #[must_use]
    pub fn with_fields(self, fields: impl Into<Arc<[Field]>>) -> Parts {
        let (terms, has_dropped) = (self.kept.known_terms(), self.kept.has_dropped);
        let kept = Kept { terms, has_dropped, declared: fields.into(), ..Kept::default() };
        Parts { kept: Arc::new(kept), ..self }
    }

    /// The declared fields, and then those of the parts that these lack, in the order in which parts first have them. Parts
    /// may have fields of the same name in other kinds and types.
    ///
    /// # Errors
    ///
    /// If a part is damaged.
    pub fn fields(&self) -> Result<Vec<Field>> {
        let mut fields = self.kept.declared.to_vec();
        let mut known: HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
        for (at, part) in self.parts.iter().enumerate() {
            let of_part = part.source.fields();
            let of_part = of_part.map_err(|error| Error::from(error).in_part(at, self.len()))?;
            fields.extend(of_part.into_iter().filter(|field| known.insert(field.name.clone())));
        }
        Ok(fields)
    }

    /// The memory of the identities of a column's terms; `None` if no search has needed them yet.
    pub fn term_memory(&self, column: &str) -> Option<TermMemory> {
        let columns = lock(&self.kept.keeping(column).columns);
        let columns = columns.iter().find_map(|columns| columns.get(column))?;
        let ids = lock(&columns.ids).clone()?;
        let (table, maps) = ids.bytes();
        Some(TermMemory { terms: ids.len(), table, maps })
    }

    /// The set with one more part, the last.
    #[must_use]
    pub fn with(&self, part: Part) -> Parts {
        self.changed((0..self.len()).map(PartChange::Kept).chain([PartChange::Added(part)]))
    }

    /// The set without the parts whose indexes `is_dropped` returns true for.
    #[must_use]
    pub fn without(&self, is_dropped: impl Fn(usize) -> bool) -> Parts {
        self.changed((0..self.len()).filter(|part| !is_dropped(*part)).map(PartChange::Kept))
    }

    /// The set with other live documents for a part.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    #[must_use]
    pub fn with_live(&self, part: usize, live: &LiveDocs) -> Parts {
        self.with_change(part, PartChange::Live(part, live.clone()))
    }

    /// The set with another part in place of one.
    pub(crate) fn with_change(&self, part: usize, change: PartChange) -> Parts {
        let before = (0..part).map(PartChange::Kept);
        self.changed(before.chain([change]).chain((part + 1..self.len()).map(PartChange::Kept)))
    }

    /// The set of these parts, some of which are of this set. As a sequence of the other methods, in one step: O(parts).
    /// The first search of a part with other live documents takes O(documents / 64) more.
    ///
    /// # Panics
    ///
    /// If a part is not in this set.
    #[must_use]
    pub fn changed(&self, parts: impl IntoIterator<Item = PartChange>) -> Parts {
        let mut shared = 0;
        let part = |change| {
            shared += usize::from(!matches!(change, PartChange::Added(_)));
            match change {
                PartChange::Kept(part) => self.parts[part].clone(),
                PartChange::Live(part, live) => Arc::new(self.parts[part].with_live(&live)),
                PartChange::Columns(part, with, columns) => {
                    Arc::new(self.parts[part].with_columns(with, &columns))
                }
                PartChange::Added(part) => Arc::new(OpenPart::new(part)),
            }
        };
        let parts = parts.into_iter().map(part).collect();
        let (terms, declared) = (self.kept.known_terms(), self.kept.declared.clone());
        let has_dropped = self.kept.has_dropped || shared < self.len();
        Parts { parts, kept: Arc::new(Kept { terms, has_dropped, declared, ..Kept::default() }) }
    }
}

impl Kept {
    /// The declared field of this name.
    pub(crate) fn declared(&self, name: &str) -> Option<&Field> {
        self.declared.iter().find(|field| field.name == name)
    }

    /// Those that keep the column `name`.
    fn keeping(&self, name: &str) -> &Kept {
        match &self.added {
            Some((added, kept)) if added != name => kept.keeping(name),
            _ => self,
        }
    }

    /// The term tables of all columns. An added one has none.
    fn known_terms(&self) -> Mutex<HashMap<String, Arc<TermTable>>> {
        match &self.added {
            Some((_, kept)) => kept.known_terms(),
            None => Mutex::new(lock(&self.terms).clone()),
        }
    }

    /// The columns `name` of all parts, which `open` opens once.
    pub(crate) fn columns(
        &self,
        (name, promote): (&str, bool),
        open: impl FnOnce() -> Result<(ColumnSet, bool)>,
    ) -> Result<Arc<ColumnSet>> {
        let (kept, of_types) = (&self.keeping(name).columns, usize::from(promote));
        if let Some(columns) = lock(kept)[of_types].get(name) {
            return Ok(columns.clone());
        }
        let (columns, is_kept) = open()?;
        let columns = Arc::new(columns);
        if !is_kept {
            return Ok(columns);
        }
        Ok(lock(kept)[of_types].entry(name.to_owned()).or_insert(columns).clone())
    }

    /// The ids of the terms of a column in all parts. Terms of parts that were seen before are not read again, unless
    /// more than half of the known terms belong to dropped parts: then a new table is made.
    pub(crate) fn ids(
        &self,
        parts: &[Arc<OpenPart<'_>>],
        columns: &ColumnSet,
        stop: &Interrupt,
    ) -> Result<TermIds> {
        let name = columns.name();
        let kept = self.keeping(name);
        let in_table = |table: Arc<TermTable>| {
            let ids = parts.iter().zip(&columns.parts).enumerate().map(|(at, (part, column))| {
                part.ids(&**column, &table, stop).map_err(|error| error.in_part(at, parts.len()))
            });
            Ok::<_, Error>(TermIds::new(name, table.clone(), ids.collect::<Result<_>>()?))
        };
        let table = lock(&kept.terms).entry(name.to_owned()).or_default().clone();
        let ids = in_table(table)?;
        if !kept.has_dropped || bits::count(&ids.used(&columns.parts)) >= ids.len() as usize / 2 {
            return Ok(ids);
        }
        let table = Arc::<TermTable>::default();
        lock(&kept.terms).insert(name.to_owned(), table.clone());
        in_table(table)
    }
}
