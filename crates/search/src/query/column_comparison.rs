//! Comparison of two columns: the values of both are read for the candidates, and compared document by document.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use docvalues_column::{BatchDocs, Column, DocId, Gathered, Lists, LogicalType, TermOrd, Values, bits};
use docvalues_format::file::kind::{to_f64, to_u64};

use super::Comparison;
use super::column_condition::Refused;
use super::convert_literal::nanos_of_unit;
use super::iso8601::DAY;
use crate::Result;

/// The number of candidates whose values are read at once.
const BATCH: usize = 256;

/// The same for byte strings, which may be long.
const BATCH_STRINGS: usize = 64;

/// Two columns and their comparison.
#[derive(Debug)]
pub(super) struct ColumnComparison {
    left: Arc<dyn Column>,
    comparison: Comparison,
    right: Arc<dyn Column>,
}

/// Buffers for the values of both columns.
#[derive(Default)]
pub(super) struct CompareBuffers {
    docs: Vec<DocId>,
    left: ValueBuffer,
    right: ValueBuffer,
}

impl ColumnComparison {
    /// The error is that of types that cannot be compared.
    pub(super) fn new(
        left: Arc<dyn Column>,
        comparison: Comparison,
        right: Arc<dyn Column>,
    ) -> Result<ColumnComparison, Refused> {
        let [left_field, right_field] = [&left, &right].map(|column| &column.info().field);
        let is_absent = left.is_absent() || right.is_absent();
        if !is_absent && family(left_field.logical) != family(right_field.logical) {
            let [is, other] = [left_field, right_field].map(|field| field.logical.name());
            let [left, right] = [left_field, right_field].map(|field| &field.name);
            let what =
                format!("expected a column comparable with \"{left}\" ({is}), found \"{right}\" ({other})");
            return Err((0, what));
        }
        Ok(ColumnComparison { left, comparison, right })
    }

    /// The name of a column without values; no document matches then.
    pub(super) fn column_without_values(&self) -> Option<&str> {
        let mut infos = [&self.left, &self.right].into_iter().map(|column| column.info());
        infos.find(|info| info.with_value.most() == 0).map(|info| info.field.name.as_str())
    }

    /// The expected share of matching documents, and the cost in nanoseconds per document: rough, to order clauses by.
    pub(super) fn expect(&self) -> (f64, f64) {
        let share = match self.comparison {
            Comparison::Equal => 0.1,
            Comparison::NotEqual => 0.9,
            _ => 0.4,
        };
        (share, if self.left.info().field.logical.is_bytes() { 100.0 } else { 10.0 })
    }

    /// Clears the bits of the candidates that do not match; bit 0 stands for document `first`. Returns the number of
    /// values read.
    pub(super) fn check(
        &self,
        first: u32,
        candidates: &mut [u64],
        buffers: &mut CompareBuffers,
    ) -> Result<u64> {
        let CompareBuffers { docs, left, right } = buffers;
        docs.clear();
        bits::push_docs(candidates, first, docs);
        let logicals = [&self.left, &self.right].map(|column| column.info().field.logical);
        let batch = if logicals[0].is_bytes() { BATCH_STRINGS } else { BATCH };
        let mut read = 0;
        for docs in docs.chunks(batch) {
            read += left.read(&*self.left, docs)? + right.read(&*self.right, docs)?;
            for (i, doc) in docs.iter().enumerate() {
                let order = |a, b| self.order(logicals, (left, a), (right, b));
                let (a, b) = (left.row(i), right.row(i));
                let has_both = !a.is_empty() && !b.is_empty();
                let (a, b) = (left.without_nan(a, logicals[0]), right.without_nan(b, logicals[1]));
                let holds = holds(self.comparison, a, b, &order);
                let matches =
                    if self.comparison == Comparison::NotEqual { has_both && !holds } else { holds };
                let at = (doc.get() - first) as usize;
                candidates[at / 64] &= !(u64::from(!matches) << (at % 64));
            }
        }
        Ok(read as u64)
    }

    /// The order of a value of each column; `None` if one is NaN.
    fn order(
        &self,
        logicals: [LogicalType; 2],
        (left, a): (&ValueBuffer, usize),
        (right, b): (&ValueBuffer, usize),
    ) -> Option<Ordering> {
        if logicals[0].is_bytes() {
            return Some(left.strings.get(a).cmp(right.strings.get(b)));
        }
        let is_equality = matches!(self.comparison, Comparison::Equal | Comparison::NotEqual);
        order_numbers(logicals, left.numbers[a], right.numbers[b], is_equality)
    }
}

/// Whether a comparison holds for some pair of two rows of ascending values, of which there is at least one each. O(values).
fn holds(
    comparison: Comparison,
    a: Range<usize>,
    b: Range<usize>,
    order: &dyn Fn(usize, usize) -> Option<Ordering>,
) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    // The least value on one side and the greatest on the other decide.
    let ends = |a, b, wanted: fn(Ordering) -> bool| order(a, b).is_some_and(wanted);
    match comparison {
        Comparison::Equal | Comparison::NotEqual => have_equal(a, b, order),
        Comparison::Less => ends(a.start, b.end - 1, Ordering::is_lt),
        Comparison::LessOrEqual => ends(a.start, b.end - 1, Ordering::is_le),
        Comparison::Greater => ends(a.end - 1, b.start, Ordering::is_gt),
        Comparison::GreaterOrEqual => ends(a.end - 1, b.start, Ordering::is_ge),
    }
}

/// Whether two rows of ascending values have an equal one.
fn have_equal(
    mut a: Range<usize>,
    mut b: Range<usize>,
    order: &dyn Fn(usize, usize) -> Option<Ordering>,
) -> bool {
    while !a.is_empty() && !b.is_empty() {
        match order(a.start, b.start) {
            Some(Ordering::Equal) => return true,
            Some(Ordering::Less) => a.start += 1,
            Some(Ordering::Greater) => b.start += 1,
            None => return false,
        }
    }
    false
}

/// One of the types whose values can be compared with those of this type: the same one for all of them.
fn family(logical: LogicalType) -> LogicalType {
    match logical {
        LogicalType::U64 | LogicalType::F64 => LogicalType::I64,
        LogicalType::Bytes => LogicalType::Utf8,
        _ if nanos_of_unit(logical).is_some() => LogicalType::Date,
        _ => logical,
    }
}

/// The order of two stored numbers of the same family. If it `is_equality`, a day equals every moment of it.
fn order_numbers(logicals: [LogicalType; 2], a: i64, b: i64, is_equality: bool) -> Option<Ordering> {
    use LogicalType::{Date, F64};
    let integer = |logical, stored| match logical {
        LogicalType::U64 => to_u64(stored).into(),
        _ => i128::from(stored).saturating_mul(nanos_of_unit(logical).unwrap_or(1)),
    };
    let [left, right] = logicals;
    match logicals {
        [F64, F64] => to_f64(a).partial_cmp(&to_f64(b)),
        [F64, _] => order_with_double(integer(right, b), to_f64(a)).map(Ordering::reverse),
        [_, F64] => order_with_double(integer(left, a), to_f64(b)),
        _ if is_equality && left != right && (left == Date || right == Date) => {
            Some(integer(left, a).div_euclid(DAY).cmp(&integer(right, b).div_euclid(DAY)))
        }
        _ => Some(integer(left, a).cmp(&integer(right, b))),
    }
}

/// The order of an integer and a double, exactly; `None` for NaN.
#[expect(clippy::cast_possible_truncation, reason = "a double beyond all integers becomes the last of them")]
fn order_with_double(integer: i128, double: f64) -> Option<Ordering> {
    let whole = double.floor();
    let order = integer.cmp(&(whole as i128));
    (!double.is_nan()).then(|| order.then(if whole < double { Ordering::Less } else { Ordering::Equal }))
}

/// The values of one column for a batch of documents.
#[derive(Default)]
struct ValueBuffer {
    /// The start of each row among the values, and the end of the last.
    starts: Vec<usize>,
    numbers: Vec<i64>,
    strings: Lists<u8>,
    gathered_numbers: Gathered<i64>,
    gathered_ords: Gathered<TermOrd>,
    gathered_bytes: Gathered<u8>,
    ords: Vec<TermOrd>,
}

impl ValueBuffer {
    /// The places of the values of document `at`.
    fn row(&self, at: usize) -> Range<usize> {
        self.starts[at]..self.starts[at + 1]
    }

    /// A row without its NaNs, which are at its ends.
    fn without_nan(&self, mut row: Range<usize>, logical: LogicalType) -> Range<usize> {
        let is_nan = |at: usize| logical == LogicalType::F64 && to_f64(self.numbers[at]).is_nan();
        while !row.is_empty() && is_nan(row.start) {
            row.start += 1;
        }
        while !row.is_empty() && is_nan(row.end - 1) {
            row.end -= 1;
        }
        row
    }

    /// Reads the values of `docs`. Returns their number.
    fn read(&mut self, column: &dyn Column, docs: &[DocId]) -> Result<usize> {
        let (list, len) = (BatchDocs::List(docs), docs.len());
        self.starts.clear();
        self.starts.push(0);
        match column.values() {
            Values::Numbers(rows) => {
                rows.gather(list, &mut self.gathered_numbers)?;
                self.numbers.clear();
                for at in 0..len {
                    self.numbers.extend_from_slice(self.gathered_numbers.row(at).unwrap_or_default());
                    self.starts.push(self.numbers.len());
                }
            }
            Values::Ords(rows, terms) => {
                rows.gather(list, &mut self.gathered_ords)?;
                self.ords.clear();
                for at in 0..len {
                    self.ords.extend_from_slice(self.gathered_ords.row(at).unwrap_or_default());
                    self.starts.push(self.ords.len());
                }
                terms.gather_terms(&self.ords, &mut self.strings)?;
            }
            Values::Bytes(rows) => {
                rows.gather(list, &mut self.gathered_bytes)?;
                self.strings.clear();
                for at in 0..len {
                    if let Some(value) = self.gathered_bytes.row(at) {
                        self.strings.push(value);
                    }
                    self.starts.push(self.strings.len());
                }
            }
        }
        Ok(self.starts.last().copied().unwrap_or(0))
    }
}
