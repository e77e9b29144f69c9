//! Several numeric columns end to end, as one column.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{
    Batch, BatchDocs, Bounds, Column, ColumnInfo, Count, DocId, DocRange, Each, Gathered, MAX_DOCS, Pruning,
    Result, Rows, Values, bits,
};

/// The documents of several columns, one column after the other, such as the segments of an index.
///
/// The column is single-valued or multi-valued, as its parts are. It has no skip index, because the zones of the parts
/// are not aligned.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Column, DocId, Field, Kind, LogicalType};
/// use docvalues_testkit::{concat::Concat, model::ModelColumn};
///
/// # fn main() -> docvalues_column::Result<()> {
/// let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// let part = ModelColumn::Numeric(vec![Some(7), Some(8)]).open(field, 3);
/// let twice = Concat::new(vec![part.clone(), part]);
/// let mut row = Vec::new();
/// twice.values().numbers().unwrap().get(DocId::new(4), &mut row)?;
/// assert_eq!((row, twice.info().docs), (vec![8], 6));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Concat {
    parts: Vec<Part>,
    info: ColumnInfo,
}

#[derive(Debug)]
struct Part {
    column: Arc<dyn Column>,
    /// Its documents, numbered in the whole column.
    docs: DocRange,
}

impl Part {
    fn rows(&self) -> &dyn Rows<i64> {
        self.column.values().numbers().expect("`new` checked it")
    }

    /// The documents of `docs` that are in this part, numbered in the part.
    fn own(&self, docs: DocRange) -> DocRange {
        let (own, first) = (docs.intersection(self.docs), self.docs.start);
        DocRange::new(own.start - first, own.end - first)
    }

    /// Runs a filter over this part's documents of `docs`, and adds its result to `bits`.
    fn add(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        run: impl FnOnce(DocRange, &mut [u64]) -> Result<()>,
    ) -> Result<()> {
        let own = self.own(docs);
        if own.is_empty() {
            return Ok(());
        }
        let mut found = vec![0; own.words()];
        run(own, &mut found)?;
        let first = docs.place(DocId::new(self.docs.start + own.start));
        bits::ones(&found).for_each(|at| bits::set(bits, first + at));
        Ok(())
    }
}

impl Concat {
    /// The column of `parts` end to end, with the field of the first.
    ///
    /// # Panics
    ///
    /// If `parts` is empty, if a part is not numeric or differs in kind from the first, or if they have more than
    /// [`MAX_DOCS`] documents.
    pub fn new(parts: Vec<Arc<dyn Column>>) -> Concat {
        let mut info = parts[0].info().clone();
        let mut start = 0_u32;
        let place = |column: Arc<dyn Column>| {
            let part = column.info();
            assert!(column.values().numbers().is_some(), "\"{}\" has no numbers", part.field.name);
            assert_eq!(part.kind(), info.kind(), "the kind of \"{}\"", part.field.name);
            let end = start.checked_add(part.docs).filter(|end| *end <= MAX_DOCS);
            let docs = DocRange::new(start, end.expect("too many documents"));
            start = docs.end;
            Part { column, docs }
        };
        let parts: Vec<Part> = parts.into_iter().map(place).collect();
        let infos = || parts.iter().map(|part| part.column.info());
        let range = |range: RangeInclusive<i64>, part: RangeInclusive<i64>| {
            *range.start().min(part.start())..=*range.end().max(part.end())
        };
        info.docs = start;
        info.with_value = total(infos().map(|info| info.with_value));
        info.value_count = total(infos().map(|info| info.value_count));
        info.bounds = if infos().any(|info| info.bounds == Bounds::Unknown) {
            Bounds::Unknown
        } else {
            Bounds::Within(infos().map(|info| info.bounds.range()).fold(Bounds::NONE.range(), range))
        };
        info.sum = infos().map(|info| info.sum).sum();
        Concat { parts, info }
    }

    /// The part of `doc`, and the document there.
    fn find(&self, doc: DocId) -> Option<(usize, DocId)> {
        let at = self.parts.partition_point(|part| part.docs.end <= doc.get());
        Some((at, DocId::new(doc.get() - self.parts.get(at)?.docs.start)))
    }
}

/// The sum of counts: exact if all are.
fn total(mut counts: impl Iterator<Item = Count> + Clone) -> Count {
    let most = counts.clone().map(Count::most).sum();
    if counts.all(|count| count.exact().is_some()) { Count::Exact(most) } else { Count::AtMost(most) }
}

impl Column for Concat {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        bits::check(docs, bits);
        self.parts
            .iter()
            .try_for_each(|part| part.add(docs, bits, |own, found| part.column.exists(own, found)))
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }
}

impl Rows<i64> for Concat {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
        // Gathers the documents of each part, in their order in `docs`, and then takes the rows in this order.
        let mut asked = vec![Vec::new(); self.parts.len()];
        for (part, doc) in docs.iter().filter_map(|doc| self.find(doc)) {
            asked[part].push(doc);
        }
        let mut gathered = Vec::new();
        for (part, docs) in self.parts.iter().zip(&asked) {
            let mut rows = Gathered::new();
            part.rows().gather(BatchDocs::List(docs), &mut rows)?;
            gathered.push((rows, 0));
        }
        let mut next = |doc: DocId| {
            let (rows, at) = &mut gathered[self.find(doc)?.0];
            *at += 1;
            rows.row(*at - 1).map(<[i64]>::to_vec)
        };
        if self.info.is_multi_valued() {
            let (lists, _) = out.begin_many(docs.len());
            docs.iter().for_each(|doc| lists.push(&next(doc).unwrap_or_default()));
        } else {
            out.begin_one(docs.len());
            docs.iter().enumerate().for_each(|(at, doc)| out.set(at, next(doc).map(|row| row[0])));
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> Result<()> {
        let mut flow = ControlFlow::Continue(());
        for part in &self.parts {
            let own = part.own(docs);
            if flow.is_break() || own.is_empty() {
                continue;
            }
            let moved = |doc: u32| part.docs.start + doc;
            part.rows().scan(own, &mut |batch| {
                let list;
                let docs = match batch.docs {
                    BatchDocs::Run(run) => BatchDocs::Run(DocRange::new(moved(run.start), moved(run.end))),
                    BatchDocs::List(docs) => {
                        list = docs.iter().map(|doc| DocId::new(moved(doc.get()))).collect::<Vec<_>>();
                        BatchDocs::List(&list)
                    }
                };
                flow = each(Batch { docs, values: batch.values });
                flow
            })?;
        }
        Ok(())
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        bits::check(docs, bits);
        self.parts.iter().try_for_each(|part| {
            part.add(docs, bits, |own, found| part.rows().filter(own, wanted, found, pruned))
        })
    }

    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<bool> {
        let Some((part, doc)) = self.find(doc) else {
            out.clear();
            return Ok(false);
        };
        self.parts[part].rows().get(doc, out)
    }
}

#[cfg(test)]
mod tests;
