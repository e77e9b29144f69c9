//! The plan of a merge: columns, documents and sort keys, checked before anything is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use docvalues_column::{Column, Count, DocRange, Field, Kind, MAX_DOCS, SortKey, promotion};
use docvalues_storage::Spill;
use docvalues_terms::build::{Duplicates, IdOptions};

use super::{MergeOptions, Source};
use crate::buffer::SpillBudget;
use crate::encode::Encoder;
use crate::error::{Error, ErrorKind, Result};
use crate::file::sorted_ids::OrderedIds;
use crate::live_set::LiveSet;
use crate::schema::{BytesKind, FieldSpec, Schema};
use crate::sort::{DocMap, KeyColumn, check_keys};

/// A checked merge.
pub(super) struct Plan<'a> {
    /// The number of live documents.
    pub(super) docs: u32,
    /// The columns, sorted by name.
    pub(super) columns: Vec<MergedColumn<'a>>,
    /// The sort keys.
    pub(super) sort: Vec<SortKey>,
}

/// A column of the merged segment.
pub(super) struct MergedColumn<'a> {
    pub(super) spec: FieldSpec,
    pub(super) parts: Vec<SourceColumn<'a>>,
}

/// A column of a source.
pub(super) struct SourceColumn<'a> {
    /// The source's name.
    pub(super) source: &'a str,
    pub(super) live: &'a LiveSet,
    /// The new number of the source's first live document.
    pub(super) first: u32,
    pub(super) column: Arc<dyn Column>,
}

/// The error for rows that do not match the column's kind.
pub(super) const MISFIT: ErrorKind = ErrorKind::Disorder("values of a document");

impl<'a> Plan<'a> {
    pub(super) fn new(sources: &'a [Source<'a>], options: &MergeOptions<'_>) -> Result<Plan<'a>> {
        let (mut docs, mut parts) = (0_u32, BTreeMap::<String, Vec<SourceColumn<'a>>>::new());
        for Source { name: source, columns, live } in sources {
            let first = docs;
            let more = docs.checked_add(live.count()).filter(|&docs| docs <= MAX_DOCS);
            docs = more.ok_or_else(|| Error::new(ErrorKind::TooManyDocs { max: MAX_DOCS }))?;
            for field in columns.fields().map_err(ErrorKind::Read)? {
                let column = columns.column(&field.name).map_err(ErrorKind::Read)?;
                parts.entry(field.name).or_default().push(SourceColumn { source, live, first, column });
            }
        }
        let columns = parts.into_values().map(|parts| {
            if options.same_columns {
                in_every_source(&parts, sources)?;
            }
            MergedColumn::new(parts, options)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        // Checks the names: a source other than a segment may have invalid ones.
        let mut schema = Schema::new();
        columns.iter().try_for_each(|column| schema.add(column.spec.clone()).map(drop))?;
        let sort = match &options.sort {
            Some(keys) => {
                check_keys(keys, &schema)?;
                keys.clone()
            }
            None => {
                let mut keys = common_sort(sources);
                // The keys that a source reports may be invalid.
                while check_keys(&keys, &schema).is_err() {
                    keys.pop();
                }
                keys
            }
        };
        Ok(Plan { docs, columns, sort })
    }

    /// Sorts the documents; `None` if they keep their order.
    pub(super) fn doc_map(
        &self,
        encoder: &Encoder<'_>,
        budget: usize,
        spill_budget: &SpillBudget,
    ) -> Result<Option<DocMap>> {
        let mut compared = Vec::with_capacity(self.sort.len());
        for key in &self.sort {
            let Some(column) = self.column(&key.column) else { continue };
            let read = column.read(false, budget, spill_budget.spill.as_ref());
            let numbers = read.and_then(|values| values.into_numbers(&column.spec, encoder, spill_budget));
            compared.push((key, numbers.map_err(|kind| column.refuse(kind))?));
        }
        let keys = compared.iter();
        let keys = keys.map(|(sort, (presence, numbers))| KeyColumn { presence, numbers: &**numbers, sort });
        Ok(DocMap::new(self.docs, &keys.collect::<Vec<_>>(), spill_budget)?)
    }

    /// The sorted ids of the column `name`. Of documents with the same id, all but the last are added to `older`;
    /// without it, they are an error.
    pub(super) fn ids(
        &self,
        name: &str,
        doc_map: Option<&DocMap>,
        budget: usize,
        spill_budget: &SpillBudget,
        older: Option<&mut Vec<u32>>,
    ) -> Result<OrderedIds> {
        let none = || Error::new(ErrorKind::NoIdField("there is no such column")).of(name);
        let column = self.column(name).ok_or_else(none)?;
        let values = column.read(false, budget, spill_budget.spill.as_ref());
        let ids =
            values.and_then(|values| values.ids(&LiveSet::all(self.docs), doc_map, spill_budget, older));
        ids.map_err(|kind| column.refuse(kind))
    }

    fn column(&self, name: &str) -> Option<&MergedColumn<'a>> {
        self.columns.iter().find(|column| column.spec.name() == name)
    }
}

/// Removes all but the last of the documents with the same id from `sources`, if the options are `KeepLast`.
pub(super) fn keep_last(
    sources: &mut [Source<'_>],
    options: &MergeOptions<'_>,
    spill: Option<&Spill>,
) -> Result<()> {
    let Some((name, IdOptions { duplicates: Duplicates::KeepLast, .. })) = &options.ids else {
        return Ok(());
    };
    let (budget, mut older) = (options.writer.budget, Vec::new());
    let plan = Plan::new(sources, options)?;
    drop(plan.ids(name, None, budget, &SpillBudget::new(budget, spill), Some(&mut older))?);
    drop(plan);
    older.sort_unstable();
    let mut first = 0;
    for source in sources {
        let docs = source.live.count();
        let dead = |doc| older.binary_search(&(first + doc)).is_ok();
        if !older.is_empty() {
            source.live = source.live.without(dead);
        }
        first += docs;
    }
    Ok(())
}

/// The common prefix of the sort keys of all sources that have documents; of all sources, if none has any.
fn common_sort(sources: &[Source<'_>]) -> Vec<SortKey> {
    let has = |source: &Source<'_>| source.live.count() > 0;
    let any = sources.iter().any(has);
    let mut sorts = sources.iter().filter(|source| !any || has(source)).map(|source| source.columns.sort());
    let Some(first) = sorts.next() else { return Vec::new() };
    let alike = |keys: usize, sort: &[SortKey]| {
        first[..keys].iter().zip(sort).take_while(|(key, other)| key == other).count()
    };
    first[..sorts.fold(first.len(), alike)].to_vec()
}

impl<'a> MergedColumn<'a> {
    /// The merged column of `parts`, of which there is at least one.
    fn new(parts: Vec<SourceColumn<'a>>, options: &MergeOptions<'_>) -> Result<MergedColumn<'a>> {
        let Field { name, kind, mut logical, .. } = parts[0].field().clone();
        let mut bytes = if kind == Kind::Sorted { BytesKind::Sorted } else { BytesKind::Binary };
        for part in &parts[1..] {
            let other = part.field();
            if other.logical == logical && is_either(kind) && is_either(other.kind) {
                if other.kind != kind {
                    bytes = BytesKind::Auto;
                }
            } else if other.kind != kind || other.logical != logical {
                let common = promotion::common(logical, other.logical);
                match common.filter(|_| options.promote && other.kind == kind) {
                    Some(common) => logical = common,
                    None => return Err(differ(&parts[0], part)),
                }
            }
        }
        let with_values = with_values(&parts)?;
        let spellings: Vec<_> = with_values.iter().map(|part| part.field().format.as_deref()).collect();
        let spec = FieldSpec::new(name, logical).compression(options.compression);
        let is_id = options.ids.as_ref().is_some_and(|(name, _)| name == spec.name());
        let spec = match kind {
            Kind::Numeric => spec,
            Kind::Binary | Kind::Sorted if is_id => spec.kind(BytesKind::Binary),
            Kind::Binary | Kind::Sorted => spec.kind(bytes),
            Kind::SortedNumeric | Kind::SortedSet => spec.multi_valued(),
        };
        let spec = spec.format((options.spelling)(&spellings).unwrap_or_default());
        Ok(MergedColumn { spec, parts })
    }
}

/// Checks that every source has the column.
fn in_every_source(parts: &[SourceColumn<'_>], sources: &[Source<'_>]) -> Result<()> {
    let has = |source: &&Source<'_>| parts.iter().any(|part| std::ptr::eq(part.live, &source.live));
    let Some(lacking) = sources.iter().find(|source| !has(source)) else { return Ok(()) };
    let missing = ErrorKind::MissingColumn { sources: [parts[0].source, &lacking.name].map(str::to_owned) };
    Err(Error::new(missing).of(&parts[0].field().name))
}

/// The error for two columns that cannot be merged.
fn differ(a: &SourceColumn<'_>, b: &SourceColumn<'_>) -> Error {
    let differ = ErrorKind::Differ {
        sources: [a, b].map(|part| part.source.to_owned()),
        kinds: [a, b].map(|part| part.field().kind),
        types: [a, b].map(|part| part.field().logical),
    };
    Error::new(differ).of(&a.field().name)
}

/// Whether this is a kind of single-valued byte strings, so that the writer may choose the other kind.
fn is_either(kind: Kind) -> bool {
    matches!(kind, Kind::Binary | Kind::Sorted)
}

impl MergedColumn<'_> {
    /// An error of this column.
    pub(super) fn refuse(&self, kind: ErrorKind) -> Error {
        match kind {
            // It names the column already.
            ErrorKind::Read(_) => Error::new(kind),
            _ => Error::new(kind).of(self.spec.name()),
        }
    }
}

/// The parts that have values; all parts, if none has any.
fn with_values<'p, 'a>(parts: &'p [SourceColumn<'a>]) -> Result<Vec<&'p SourceColumn<'a>>> {
    let found = |part: &'p SourceColumn<'a>| part.has_values().map(|has| has.then_some(part)).transpose();
    let with_values: Result<Vec<_>, _> = parts.iter().filter_map(found).collect();
    let with_values = with_values.map_err(ErrorKind::Read)?;
    Ok(if with_values.is_empty() { parts.iter().collect() } else { with_values })
}

impl SourceColumn<'_> {
    /// An upper bound of the number of live documents with a value.
    pub(super) fn values(&self) -> u32 {
        let most = self.column.info().with_value.most();
        u32::try_from(most).unwrap_or(u32::MAX).min(self.live.count())
    }

    pub(super) fn field(&self) -> &Field {
        &self.column.info().field
    }

    /// Whether any document of the source has a value.
    fn has_values(&self) -> docvalues_column::Result<bool> {
        let info = self.column.info();
        match info.with_value {
            Count::Exact(count) => Ok(count > 0),
            Count::AtMost(0) => Ok(false),
            Count::AtMost(_) => {
                let docs = DocRange::new(0, info.docs);
                let mut bits = vec![0; docs.words()];
                self.column.exists(docs, &mut bits)?;
                Ok(bits.iter().any(|&word| word != 0))
            }
        }
    }
}
