//! Tuples as numbers: a virtual numeric column over several columns of one part, if the numbers of all possible tuples fit
//! an `i64`.
//!
//! A tuple is a number whose digits are the positions of its values between the bounds of their columns, so that tuples
//! are in the order of their values. Groups by such numbers take an array or a table of integers instead of byte
//! strings: about a tenth of the time.

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, DocRange, Each, Field, Gathered, Kind, LogicalType,
    Result as ColumnResult, Rows, TermOrd, Values, bits, scan_by_gather,
};

use super::tuple_column::{push_bytes, push_number, push_optional, tuple_info};
use crate::engine::{ColumnSet, value, value_bounds};

/// The numbers of the tuples of some columns with one value a document.
pub(super) struct TupleNumbers {
    info: ColumnInfo,
    digits: Vec<Digit>,
}

/// A column of a tuple.
struct Digit {
    column: Arc<dyn Column>,
    /// The least number, or ord as a number.
    first: i64,
    /// The number of numbers from the first to the last.
    values: u64,
    /// Whether the digit after that of the last number stands for a missing value.
    with_missing: bool,
    has_negative_zero: bool,
}

impl TupleNumbers {
    /// The only part of some columns as one column of numbers, and the tuples that these stand for; `None` if there are
    /// too many possible tuples.
    pub(super) fn over(
        sets: &[Arc<ColumnSet>],
        with_missing: bool,
    ) -> Option<(ColumnSet, Arc<TupleNumbers>)> {
        let digits: Vec<Digit> =
            sets.iter().map(|set| Digit::new(set.parts.first()?, with_missing)).collect::<Option<_>>()?;
        let all = digits.iter().try_fold(1_u64, |all, digit| all.checked_mul(digit.len()))?;
        let last = i64::try_from(all).ok()?.checked_sub(1)?;
        let names: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        let field = Field::new(names.join(", "), Kind::Numeric, LogicalType::I64);
        let infos = digits.iter().map(|digit| digit.column.info());
        let info = ColumnInfo { bounds: Bounds::Within(0..=last), ..tuple_info(field, infos, with_missing) };
        let tuples = Arc::new(TupleNumbers { info, digits });
        let column: Arc<dyn Column> = tuples.clone();
        let set = ColumnSet::new(column.info().field.clone(), vec![column]);
        Some((set, tuples))
    }

    /// The tuple of a number, as [`TupleColumn`](super::TupleColumn) has it.
    pub(super) fn tuple(&self, number: i64) -> ColumnResult<Vec<u8>> {
        let mut rest = number.unsigned_abs();
        let mut values = Vec::with_capacity(self.digits.len());
        for digit in self.digits.iter().rev() {
            let at = rest % digit.len();
            values.push((at < digit.values).then(|| digit.first.wrapping_add_unsigned(at)));
            rest /= digit.len();
        }
        let (mut tuple, mut term) = (Vec::new(), Vec::new());
        for (digit, value) in self.digits.iter().zip(values.into_iter().rev()) {
            if let (Some(value), Some(terms)) = (value, digit.column.values().terms()) {
                terms.term(TermOrd::new(u32::try_from(value).unwrap_or(u32::MAX)), &mut term)?;
            }
            let is_term = digit.column.values().terms().is_some();
            let push = |out: &mut Vec<u8>| {
                match value {
                    Some(_) if is_term => push_bytes(&term, out),
                    Some(number) => push_number(number, out),
                    None => return false,
                }
                true
            };
            if digit.with_missing {
                push_optional(&mut tuple, push);
            } else {
                push(&mut tuple);
            }
        }
        Ok(tuple)
    }
}

impl Digit {
    fn new(column: &Arc<dyn Column>, with_missing: bool) -> Option<Digit> {
        let bounds = value_bounds(&**column)?;
        let has_negative_zero = value::has_negative_zero(column.info());
        let one_zero = |number| if has_negative_zero { value::one_zero(number) } else { number };
        let (first, last) = (one_zero(*bounds.start()), one_zero(*bounds.end()));
        let values = if bounds.is_empty() { 0 } else { last.abs_diff(first).checked_add(1)? };
        let digit = Digit { column: Arc::clone(column), first, values, with_missing, has_negative_zero };
        (values < u64::MAX && digit.len() > 0).then_some(digit)
    }

    /// The number of different digits.
    fn len(&self) -> u64 {
        self.values + u64::from(self.with_missing)
    }

    /// Appends the digit of each document to its number. Those without a value are cleared from `present`, as are values
    /// outside of the bounds.
    fn append(&self, docs: BatchDocs<'_>, numbers: &mut [i64], present: &mut [bool]) -> ColumnResult<()> {
        let mut add = |at: usize, value: Option<i64>| {
            let digit = match value {
                Some(value) => {
                    Some(value.wrapping_sub(self.first).cast_unsigned()).filter(|digit| *digit < self.values)
                }
                None => self.with_missing.then_some(self.values),
            };
            match digit {
                // The product of all lengths fits.
                Some(digit) => {
                    let number = numbers[at].cast_unsigned().wrapping_mul(self.len()).wrapping_add(digit);
                    numbers[at] = number.cast_signed();
                }
                None => present[at] = false,
            }
        };
        match self.column.values() {
            Values::Numbers(rows) => {
                let mut gathered = Gathered::new();
                rows.gather(docs, &mut gathered)?;
                let one_zero = |number| if self.has_negative_zero { value::one_zero(number) } else { number };
                (0..docs.len()).for_each(|at| add(at, gathered.value(at).map(one_zero)));
            }
            Values::Ords(rows, _) => {
                let mut gathered = Gathered::new();
                rows.gather(docs, &mut gathered)?;
                (0..docs.len())
                    .for_each(|at| add(at, gathered.value(at).map(|ord: TermOrd| ord.get().into())));
            }
            // They have no bounds.
            Values::Bytes(_) => present.fill(false),
        }
        Ok(())
    }
}

impl Column for TupleNumbers {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> ColumnResult<()> {
        bits::check(docs, bits);
        let mut tuples = Gathered::new();
        self.gather(BatchDocs::Run(docs), &mut tuples)?;
        (0..docs.len()).filter(|at| tuples.value(*at).is_some()).for_each(|at| bits::set(bits, at));
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }
}

impl Rows<i64> for TupleNumbers {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> ColumnResult<()> {
        // Past the last document, there are no missing values either.
        let mut present: Vec<bool> = match docs {
            BatchDocs::Run(run) => {
                let mut present = vec![true; run.len()];
                present[run.clip(self.info.docs).len()..].fill(false);
                present
            }
            BatchDocs::List(list) => list.iter().map(|doc| doc.get() < self.info.docs).collect(),
        };
        let (numbers, _) = out.begin_one(docs.len());
        numbers.fill(0);
        self.digits.iter().try_for_each(|digit| digit.append(docs, numbers, &mut present))?;
        (0..docs.len()).filter(|at| !present[*at]).for_each(|at| out.set(at, None));
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> ColumnResult<()> {
        scan_by_gather(self, docs.clip(self.info.docs), each)
    }
}
