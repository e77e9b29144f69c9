//! The numbers and ords of the segment in memory, in the layouts of Lucene and of docvalues.

use std::collections::BTreeMap;

use docvalues::{DocId, Kind, Segment, TermOrd};
use docvalues_benches::layouts::{Tables, docvalues as own, lucene};

use crate::Outcome;
use crate::iterate::Layout;
use crate::work::Asked;

/// The numbers of a block of Lucene.
const BLOCK: usize = 16_384;

/// All columns in both layouts.
#[derive(Default)]
pub(crate) struct Columns {
    lucene: BTreeMap<&'static str, lucene::Column>,
    docvalues: BTreeMap<&'static str, own::Column>,
}

impl Columns {
    /// Encodes the numbers and ords of a segment.
    pub(crate) fn of(segment: &Segment, asked: &Asked) -> Outcome<Columns> {
        let mut columns = Columns::default();
        for &name in asked.fields() {
            let Some((values, present, are_ords)) = read(segment, name)? else { continue };
            let all = present.iter().map(|word| word.count_ones()).sum::<u32>() == segment.docs();
            let present = (!all).then_some(&*present);
            columns.lucene.insert(name, lucene::Column::encode(&values, present, are_ords, BLOCK));
            columns.docvalues.insert(name, own::Column::encode(&values, present));
        }
        Ok(columns)
    }

    pub(crate) fn lucene(&self, tables: Tables) -> Lucene<'_> {
        Lucene { columns: &self.lucene, tables }
    }

    pub(crate) fn docvalues(&self, tables: Tables) -> Docvalues<'_> {
        Docvalues { columns: &self.docvalues, tables }
    }

    /// The blocks of presence and of numbers that a walk over each column of Lucene's layout reads.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&'static str, [u64; 2])> {
        self.lucene.iter().map(|(name, column)| (*name, column.blocks()))
    }
}

/// The numbers or ords of a column, a slot for each document; a bitset of the documents with a value; whether they are
/// ords.
type Values = (Vec<i64>, Vec<u64>, bool);

fn read(segment: &Segment, name: &str) -> Outcome<Option<Values>> {
    const BATCH: usize = 1 << 16;
    let field = segment.fields()?.into_iter().find(|field| field.name == name).ok_or("no such column")?;
    let docs: Vec<DocId> = (0..segment.docs()).map(DocId::new).collect();
    let (mut values, mut present) = (vec![0; docs.len()], vec![0; docs.len().div_ceil(64)]);
    let batches = docs.chunks(BATCH).zip(values.chunks_mut(BATCH)).zip(present.chunks_mut(BATCH / 64));
    match field.kind {
        Kind::Sorted => {
            let (column, mut ords) = (segment.sorted(name)?, vec![TermOrd::new(0); BATCH]);
            for ((docs, values), present) in batches {
                column.gather(docs, &mut ords[..docs.len()], present)?;
                values.iter_mut().zip(&ords).for_each(|(value, ord)| *value = ord.get().into());
            }
        }
        Kind::Numeric => {
            let column = segment.stored(name)?;
            for ((docs, values), present) in batches {
                column.gather(docs, values, present)?;
            }
        }
        _ => return Ok(None),
    }
    Ok(Some((values, present, field.kind == Kind::Sorted)))
}

/// Columns in the layout of Lucene, read with some tables.
#[derive(Clone, Copy)]
pub(crate) struct Lucene<'c> {
    columns: &'c BTreeMap<&'static str, lucene::Column>,
    tables: Tables,
}

/// Columns in the layout of docvalues, read with some tables.
#[derive(Clone, Copy)]
pub(crate) struct Docvalues<'c> {
    columns: &'c BTreeMap<&'static str, own::Column>,
    tables: Tables,
}

impl<'c> Layout for Lucene<'c> {
    type Values = lucene::Iterator<'c>;

    fn values(&self, name: &str) -> Option<lucene::Iterator<'c>> {
        Some(self.columns.get(name)?.iterator(self.tables))
    }
}

impl<'c> Layout for Docvalues<'c> {
    type Values = own::Iterator<'c>;

    fn values(&self, name: &str) -> Option<own::Iterator<'c>> {
        Some(self.columns.get(name)?.iterator(self.tables))
    }
}
