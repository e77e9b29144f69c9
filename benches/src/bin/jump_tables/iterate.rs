//! The workloads of the posts by iterators, one value after the other, as Lucene and Solr run them.
//!
//! Terms and ids are those of the segment: Lucene 7 finds both without a walk, too.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Write;

use docvalues::column::LogicalType;
use docvalues::{Binary, DocId, Kind, Segment, Sorted};
use docvalues_benches::layouts::Values;

use crate::Outcome;
use crate::work::{Asked, PAGE, RETRIEVED, Work, add, number_of, page, write_number};

/// Columns in some layout.
pub(crate) trait Layout {
    type Values: Values;

    /// A new iterator over a column of numbers or ords.
    fn values(&self, name: &str) -> Option<Self::Values>;
}

/// Columns in some layout, and the terms and ids of a segment. Each request has its own iterators.
pub(crate) struct Iterated<L> {
    layout: L,
    terms: HashMap<String, Sorted>,
    ids: HashMap<String, Binary>,
    types: HashMap<String, LogicalType>,
    headers: Cell<[u64; 2]>,
}

/// An iterator that adds the headers that it read to those of its columns.
struct Counted<'s, V: Values> {
    values: V,
    total: &'s Cell<[u64; 2]>,
}

impl<V: Values> Drop for Counted<'_, V> {
    fn drop(&mut self) {
        let [[presence, numbers], [more, others]] = [self.total.get(), self.values.headers()];
        self.total.set([presence + more, numbers + others]);
    }
}

impl<L: Layout> Iterated<L> {
    pub(crate) fn new(layout: L, segment: Segment) -> Outcome<Iterated<L>> {
        let (mut terms, mut ids, mut types) = (HashMap::new(), HashMap::new(), HashMap::new());
        for field in segment.fields()? {
            match field.kind {
                Kind::Sorted => drop(terms.insert(field.name.clone(), segment.sorted(&field.name)?)),
                Kind::Binary => drop(ids.insert(field.name.clone(), segment.binary(&field.name)?)),
                _ => {}
            }
            types.insert(field.name, field.logical);
        }
        Ok(Iterated { layout, terms, ids, types, headers: Cell::new([0; 2]) })
    }

    /// The headers that iterators read so far.
    pub(crate) fn headers(&self) -> [u64; 2] {
        self.headers.get()
    }

    fn values(&self, name: &str) -> Outcome<Counted<'_, L::Values>> {
        let values = self.layout.values(name).ok_or_else(|| format!("{name} is no number and no ord"))?;
        Ok(Counted { values, total: &self.headers })
    }

    fn term(&self, name: &str, ord: i64, buffer: &mut Vec<u8>) -> Outcome {
        let ord = docvalues::TermOrd::new(u32::try_from(ord)?);
        Ok(self.terms[name].terms().term(ord, buffer)?)
    }
}

/// Runs the workload, and returns the checksum that docvalues' own returns.
pub(crate) fn run<L: Layout>(
    source: &Iterated<L>,
    work: Work,
    asked: &Asked,
    hits: &[DocId],
) -> Outcome<u64> {
    Ok(match work {
        Work::Export => return Err("an export is measured by its own steps".into()),
        Work::Facets => facets(source, asked, hits)?,
        Work::Groups => groups(source, hits)?,
        Work::Sort => top(source, hits)?,
        Work::Retrieval => retrieve(source, &page(hits, PAGE))?,
        Work::Distinct => distinct(source, hits)?,
        Work::Production => [
            facets(source, asked, hits)?,
            groups(source, hits)?,
            distinct(source, hits)?,
            retrieve(source, &page(hits, PAGE))?,
        ]
        .into_iter()
        .fold(0, add),
    })
}

/// Counts ords in an array and numbers in a hash table, as Solr does; the most frequent ones get their terms.
fn facets<L: Layout>(source: &Iterated<L>, asked: &Asked, hits: &[DocId]) -> Outcome<u64> {
    let (mut sum, mut term) = (0, Vec::new());
    for &name in asked.facets() {
        let mut values = source.values(name)?;
        let found = hits.iter().filter_map(|&doc| values.values.get(doc));
        let mut counts: Vec<(u64, i64)> = if let Some(column) = source.terms.get(name) {
            let mut counts = vec![0_u64; column.terms().term_count() as usize];
            found.for_each(|ord| counts[ord as usize] += 1);
            counts.into_iter().zip(0..).filter(|(count, _)| *count > 0).collect()
        } else {
            let mut counts = LongCounts::new();
            found.for_each(|value| counts.add(value));
            counts.slots.into_iter().filter(|(count, _)| *count > 0).collect()
        };
        let top = counts.len().min(PAGE);
        if top < counts.len() {
            counts.select_nth_unstable_by_key(top, |&(count, _)| std::cmp::Reverse(count));
        }
        counts.truncate(top);
        counts.sort_unstable_by_key(|&(count, ord)| (std::cmp::Reverse(count), ord));
        for &(count, ord) in &counts {
            if source.terms.contains_key(name) {
                source.term(name, ord, &mut term)?;
            }
            sum = add(sum, count);
        }
    }
    Ok(sum)
}

/// Counts of numbers in an open-addressed table, at most half full.
struct LongCounts {
    /// Counts and numbers.
    slots: Vec<(u64, i64)>,
    taken: usize,
}

impl LongCounts {
    fn new() -> LongCounts {
        LongCounts { slots: vec![(0, 0); 64], taken: 0 }
    }

    fn add(&mut self, value: i64) {
        let slot = self.slot(value);
        self.taken += usize::from(self.slots[slot].0 == 0);
        self.slots[slot] = (self.slots[slot].0 + 1, value);
        if 2 * self.taken > self.slots.len() {
            let more = vec![(0, 0); 2 * self.slots.len()];
            for entry in std::mem::replace(&mut self.slots, more).into_iter().filter(|(count, _)| *count > 0)
            {
                let slot = self.slot(entry.1);
                self.slots[slot] = entry;
            }
        }
    }

    /// The slot of a number, or the free one for it.
    fn slot(&self, value: i64) -> usize {
        let mask = self.slots.len() - 1;
        let hash = (value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut slot = (hash >> (mask.leading_zeros())) as usize;
        while self.slots[slot].0 > 0 && self.slots[slot].1 != value {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// The first document of each of the first groups, and their numbers of documents. Two passes read every hit's ord, as
/// Lucene's collectors do, which also look up the term of each new group.
fn groups<L: Layout>(source: &Iterated<L>, hits: &[DocId]) -> Outcome<u64> {
    let mut values = source.values("url_norm")?;
    let mut found: Vec<(i64, DocId, u64)> = Vec::new();
    for &doc in hits {
        let Some(ord) = values.values.get(doc) else { continue };
        if found.len() < PAGE && found.iter().all(|&(other, ..)| other != ord) {
            found.push((ord, doc, 0));
        }
    }
    let mut by_ord: Vec<(i64, usize)> = found.iter().zip(0..).map(|(&(ord, ..), at)| (ord, at)).collect();
    by_ord.sort_unstable();
    let mut values = source.values("url_norm")?;
    for ord in hits.iter().filter_map(|&doc| values.values.get(doc)) {
        if let Ok(at) = by_ord.binary_search_by_key(&ord, |&(ord, _)| ord) {
            found[by_ord[at].1].2 += 1;
        }
    }
    let mut term = Vec::new();
    found.iter().try_fold(0, |sum, &(ord, doc, count)| {
        source.term("url_norm", ord, &mut term)?;
        Ok(add(add(sum, doc.get().into()), count))
    })
}

/// The documents with the greatest lengths, the first ones of equal lengths.
fn top<L: Layout>(source: &Iterated<L>, hits: &[DocId]) -> Outcome<u64> {
    let mut values = source.values("content_length")?;
    let mut best = std::collections::BinaryHeap::new();
    for &doc in hits {
        // Documents without a length come last.
        let key = std::cmp::Reverse((values.values.get(doc), std::cmp::Reverse(doc)));
        if best.len() < PAGE {
            best.push(key);
        } else if best.peek().is_some_and(|worst| key < *worst) {
            best.pop();
            best.push(key);
        }
    }
    let docs = best.into_sorted_vec().into_iter().map(|std::cmp::Reverse((_, std::cmp::Reverse(doc)))| doc);
    Ok(docs.fold(0, |sum, doc| add(sum, doc.get().into())))
}

fn distinct<L: Layout>(source: &Iterated<L>, hits: &[DocId]) -> Outcome<u64> {
    let mut values = source.values("domain")?;
    let mut seen = vec![false; source.terms["domain"].terms().term_count() as usize];
    hits.iter().filter_map(|&doc| values.values.get(doc)).for_each(|ord| seen[ord as usize] = true);
    Ok(seen.into_iter().filter(|seen| *seen).count() as u64)
}

/// The fields of a row, each with its iterator.
enum Field<'s, L: Layout> {
    Number(Counted<'s, L::Values>, LogicalType),
    Term(Counted<'s, L::Values>, &'s str),
    Id(&'s Binary),
}

impl<'s, L: Layout> Field<'s, L> {
    fn open(source: &'s Iterated<L>, name: &'s str) -> Outcome<Field<'s, L>> {
        Ok(if let Some(id) = source.ids.get(name) {
            Field::Id(id)
        } else if source.terms.contains_key(name) {
            Field::Term(source.values(name)?, name)
        } else {
            Field::Number(source.values(name)?, source.types[name])
        })
    }
}

fn retrieve<L: Layout>(source: &Iterated<L>, docs: &[DocId]) -> Outcome<u64> {
    let cells = RETRIEVED.map(|name| Field::open(source, name));
    let mut cells = cells.into_iter().collect::<Outcome<Vec<_>>>()?;
    let (mut sum, mut buffer) = (0, Vec::new());
    let of_bytes = |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| add(sum, byte.into()));
    for &doc in docs {
        for cell in &mut cells {
            let found = match cell {
                Field::Number(values, logical) => {
                    values.values.get(doc).map(|stored| number_of(stored, *logical))
                }
                Field::Id(column) => column.get(doc, &mut buffer)?.map(of_bytes),
                Field::Term(values, name) => match values.values.get(doc) {
                    Some(ord) => {
                        source.term(name, ord, &mut buffer)?;
                        Some(of_bytes(&buffer))
                    }
                    None => None,
                },
            };
            sum = add(sum, found.unwrap_or(1));
        }
    }
    Ok(sum)
}

/// The lines of CSV of `docs`, one document and one value after the other, as in Solr 7.
pub(crate) fn export<L: Layout>(
    source: &Iterated<L>,
    asked: &Asked,
    docs: &[DocId],
    out: &mut Vec<u8>,
) -> Outcome {
    let names = asked.exported();
    let cells = names.iter().map(|name| Field::open(source, name));
    let mut cells = cells.collect::<Outcome<Vec<_>>>()?;
    let mut buffer = Vec::new();
    out.clear();
    for &doc in docs {
        for (at, cell) in cells.iter_mut().enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            match cell {
                Field::Number(values, logical) => {
                    if let Some(number) = values.values.get(doc) {
                        write_number(number, *logical, out)?;
                    }
                }
                Field::Id(column) => out.extend_from_slice(column.get(doc, &mut buffer)?.unwrap_or_default()),
                Field::Term(values, name) => {
                    if let Some(ord) = values.values.get(doc) {
                        source.term(name, ord, &mut buffer)?;
                        out.extend_from_slice(&buffer);
                    }
                }
            }
        }
        out.push(b'\n');
    }
    Ok(())
}
