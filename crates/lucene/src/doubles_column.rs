//! Open columns of doubles and floats that Lucene stores in another form.

use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_column::{
    Batch, BatchDocs, Bounds, Column, ColumnInfo, DocId, DocRange, Each, Element as _, Field, Gathered,
    Lists, Pruning, Result, Rows, Slices, Values, View, bits, filter_by_scan,
};
use docvalues_format::file::kind::from_f64;

use crate::types::Form;

/// A column of doubles over one of their stored numbers.
#[derive(Debug)]
pub(crate) struct DoublesColumn {
    info: ColumnInfo,
    form: Form,
    stored: Arc<dyn Column>,
}

impl Form {
    /// Appends lists of docvalues' numbers for stored ones.
    fn push_lists(self, stored: Slices<'_, i64>, lists: &mut Lists<i64>) {
        for list in stored.iter() {
            lists.push_with(|numbers| numbers.extend(list.iter().map(|number| self.number(*number))));
        }
    }

    /// The number of docvalues for a stored one.
    fn number(self, stored: i64) -> i64 {
        match self {
            Form::Same | Form::Flags => stored,
            Form::Doubles => from_f64(f64::from_bits(stored.cast_unsigned())),
            Form::Floats => of_float(low_bits(stored)),
            Form::SortableFloats => {
                let bits = low_bits(stored).cast_signed();
                of_float((bits ^ ((bits >> 31) & i32::MAX)).cast_unsigned())
            }
        }
    }
}

/// The lower 32 bits: a float is stored with its sign extended.
fn low_bits(stored: i64) -> u32 {
    u32::try_from(stored & 0xFFFF_FFFF).unwrap_or(0)
}

fn of_float(bits: u32) -> i64 {
    from_f64(f32::from_bits(bits).into())
}

impl DoublesColumn {
    /// The column `field` of numbers that are stored in this form.
    pub(crate) fn new(field: Field, form: Form, stored: Arc<dyn Column>) -> DoublesColumn {
        let mut info = ColumnInfo { field, sum: None, ..stored.info().clone() };
        // Positive doubles are stored as their bits.
        let is_same =
            *info.bounds.range().start() >= 0 && (form == Form::Doubles || info.bounds == Bounds::NONE);
        if !is_same {
            info.bounds = Bounds::Unknown;
        }
        DoublesColumn { info, form, stored }
    }

    /// Reads the stored numbers.
    fn stored(&self, read: impl FnOnce(&dyn Rows<i64>) -> Result<()>) -> Result<()> {
        // The caller of `new` has checked the type of doc values.
        self.stored.values().numbers().map_or(Ok(()), read)
    }
}

impl Column for DoublesColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        self.stored.exists(docs, out)
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }
}

impl Rows<i64> for DoublesColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
        let mut stored = Gathered::new();
        self.stored(|rows| rows.gather(docs, &mut stored))?;
        if stored.is_many() {
            self.form.push_lists(stored.lists(), out.begin_many(docs.len()).0);
            return Ok(());
        }
        let fill = out.fill();
        let (values, mut presence) = out.begin_one(docs.len());
        for (at, value) in values.iter_mut().enumerate() {
            *value = stored.value(at).map_or(fill, |number| self.form.number(number));
        }
        if let Some(words) = stored.present() {
            presence.mark_words(0, words.iter().copied());
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> Result<()> {
        let (mut numbers, mut lists) = (Vec::new(), Lists::new());
        self.stored(|rows| {
            rows.scan(docs, &mut |batch| {
                let values = match batch.values {
                    View::One(stored) => {
                        numbers.clear();
                        numbers.extend(stored.iter().map(|number| self.form.number(*number)));
                        View::One(&numbers[..])
                    }
                    View::Many(stored) => {
                        lists.clear();
                        self.form.push_lists(stored, &mut lists);
                        View::Many(lists.slices())
                    }
                };
                each(Batch { docs: batch.docs, values })
            })
        })
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        out: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        if self.form != Form::Doubles {
            return filter_by_scan(self, docs, out, pruned, |row| i64::is_within(row, wanted));
        }
        bits::check(docs, out);
        // Bits of positive doubles are their numbers. Those of negative ones are in the opposite order.
        let (start, end) = (*wanted.start(), *wanted.end());
        let positive = start.max(0)..=end;
        let negative = (end.min(-1) ^ i64::MAX)..=(start ^ i64::MAX);
        self.stored(|rows| {
            if !positive.is_empty() {
                rows.filter(docs, &positive, out, pruned)?;
            }
            match start <= end && start < 0 {
                true => rows.filter(docs, &negative, out, pruned),
                false => Ok(()),
            }
        })
    }

    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<bool> {
        let mut is_there = false;
        out.clear();
        self.stored(|rows| rows.get(doc, out).map(|found| is_there = found))?;
        out.iter_mut().for_each(|number| *number = self.form.number(*number));
        Ok(is_there)
    }
}
