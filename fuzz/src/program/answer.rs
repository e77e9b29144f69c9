//! Questions to a column, and answers that do not depend on who gives them.

use std::fmt;
use std::ops::{Bound, ControlFlow, Range, RangeInclusive};

use docvalues::{
    AnyColumn, BinaryColumn, Column, DocId, Lists, NumericColumn, Result, Segment, SortedColumn,
    SortedNumericColumn, SortedSetColumn, TermOrd, Terms, bits,
};

/// What can be asked of a column. What a kind does not know has an empty answer.
#[derive(Debug)]
pub(crate) enum Question {
    /// What the directory knows: how many documents, values and terms there are, and between which bounds.
    Totals,
    /// Documents one by one.
    Get(Vec<DocId>),
    /// Documents one by one, by one cursor.
    Follow(Vec<DocId>),
    /// Documents together.
    Gather(Vec<DocId>),
    /// Documents together, and something in place of what is missing.
    GatherOr(Vec<DocId>, i64),
    /// A range of documents, of which at least so many with a value are taken.
    Scan(Range<u32>, usize),
    /// Documents of a range with a value, added to some bits.
    Exists(Range<u32>, u64),
    /// Documents of a range with a number, or an ord, in another range; added to some bits.
    Filter(Range<u32>, RangeInclusive<i64>, u64),
    /// Documents of a range with a byte string between two bounds.
    FilterBytes(Range<u32>, Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Where a term is, or would be.
    Seek(Vec<u8>),
    /// The terms that begin like this.
    Prefix(Vec<u8>),
    /// The terms between two bounds.
    TermRange(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Terms, one by one and together; none of them, if one does not exist.
    Terms(Vec<TermOrd>),
    /// A range of terms, of which at most so many are taken.
    EachTerm(Range<u32>, usize),
}

/// Rows of what was asked for (a document, an ord, a place in a bitset) and what it has.
#[derive(PartialEq)]
pub(crate) struct Answer(Vec<(u64, Value)>);

#[derive(Debug, PartialEq)]
enum Value {
    Nothing,
    Number(i64),
    Numbers(Vec<i64>),
    Bytes(Vec<u8>),
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Value {
        number.map_or(Value::Nothing, Value::Number)
    }
}

impl From<TermOrd> for Value {
    fn from(ord: TermOrd) -> Value {
        Value::Number(number(ord))
    }
}

impl From<Option<&[u8]>> for Value {
    fn from(bytes: Option<&[u8]>) -> Value {
        bytes.map_or(Value::Nothing, |bytes| Value::Bytes(bytes.to_vec()))
    }
}

impl From<&[TermOrd]> for Value {
    fn from(ords: &[TermOrd]) -> Value {
        Value::Numbers(ords.iter().copied().map(number).collect())
    }
}

impl From<&[i64]> for Value {
    fn from(numbers: &[i64]) -> Value {
        Value::Numbers(numbers.to_vec())
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().take(20)).finish()?;
        write!(f, " ({} rows)", self.0.len())
    }
}

impl Answer {
    fn nothing() -> Answer {
        Answer(Vec::new())
    }

    fn of<V: Into<Value>>(rows: impl IntoIterator<Item = (u64, V)>) -> Answer {
        Answer(rows.into_iter().map(|(key, value)| (key, value.into())).collect())
    }

    /// One row for each document that was asked for.
    fn of_docs<V: Into<Value>>(docs: &[DocId], values: impl IntoIterator<Item = V>) -> Answer {
        Answer::of(docs.iter().map(|doc| doc.get().into()).zip(values))
    }

    fn of_bits(words: &[u64]) -> Answer {
        Answer::of((0..).zip(words.iter().map(|word| Some(word.cast_signed()))))
    }

    /// A range of ords; where an empty one lies is nobody's business.
    fn of_ords(ords: &Range<u32>) -> Answer {
        Answer::of((!ords.is_empty()).then_some((ords.start.into(), Some(i64::from(ords.end)))))
    }

    /// The row in which two answers differ.
    pub(crate) fn difference(&self, other: &Answer) -> String {
        let rows = self.0.len().max(other.0.len());
        let Some(row) = (0..rows).find(|&row| self.0.get(row) != other.0.get(row)) else {
            return "none".to_owned();
        };
        let mut text = format!("row {row}: {:?} is not {:?}", self.0.get(row), other.0.get(row));
        text.truncate(text.floor_char_boundary(1_000));
        text
    }
}

/// Puts a question to a column of any kind.
///
/// # Errors
///
/// Those of the column: of one that is good, only for terms that it does not have.
pub(crate) fn ask(column: &AnyColumn, question: &Question) -> Result<Answer> {
    if let Question::Exists(docs, pattern) = question {
        return filtered(docs, *pattern, |bits| column.as_column().exists(docs.clone(), bits));
    }
    match column {
        AnyColumn::Numeric(column) => numeric(&**column, question),
        AnyColumn::Binary(column) => binary(&**column, question),
        AnyColumn::Sorted(column) => sorted(&**column, question),
        AnyColumn::SortedNumeric(column) => sorted_numeric(&**column, question),
        AnyColumn::SortedSet(column) => sorted_set(&**column, question),
    }
}

/// What `Get` asks, answered by a cursor over a segment's column.
///
/// # Errors
///
/// When the column is damaged.
pub(crate) fn follow(segment: &Segment, column: &AnyColumn, docs: &[DocId]) -> Result<Answer> {
    let name = &column.as_column().field().name;
    match column {
        AnyColumn::Numeric(_) => {
            let column = segment.numeric(name)?;
            let mut cursor = column.cursor();
            each(docs, |doc| Ok(cursor.get(doc)?.into()))
        }
        AnyColumn::Binary(_) => {
            let column = segment.binary(name)?;
            let mut cursor = column.cursor();
            each(docs, |doc| Ok(cursor.get(doc)?.into()))
        }
        AnyColumn::Sorted(_) => {
            let column = segment.sorted(name)?;
            let mut cursor = column.cursor();
            each(docs, |doc| Ok(cursor.ord(doc)?.map(number).into()))
        }
        AnyColumn::SortedNumeric(_) => {
            let (column, mut out) = (segment.sorted_numeric(name)?, Vec::new());
            let mut cursor = column.cursor();
            each(docs, |doc| cursor.get(doc, &mut out).map(|()| out.as_slice().into()))
        }
        AnyColumn::SortedSet(_) => {
            let (column, mut out) = (segment.sorted_set(name)?, Vec::new());
            let mut cursor = column.cursor();
            each(docs, |doc| cursor.ords(doc, &mut out).map(|()| out.as_slice().into()))
        }
    }
}

/// The answer of documents that are asked one by one.
fn each(docs: &[DocId], value: impl FnMut(DocId) -> Result<Value>) -> Result<Answer> {
    let values: Result<Vec<Value>> = docs.iter().copied().map(value).collect();
    Ok(Answer::of_docs(docs, values?))
}

fn number(ord: TermOrd) -> i64 {
    ord.get().into()
}

/// The bits of `docs` that a filter adds to a pattern.
fn filtered(
    docs: &Range<u32>,
    pattern: u64,
    filter: impl FnOnce(&mut [u64]) -> Result<()>,
) -> Result<Answer> {
    let mut found = vec![pattern; bits::words(docs.clone())];
    filter(&mut found)?;
    Ok(Answer::of_bits(&found))
}

/// Rows of batches, until there are as many as are wanted.
struct Scanned {
    wanted: usize,
    rows: Vec<(u64, Value)>,
}

impl Scanned {
    fn new(wanted: usize) -> Scanned {
        Scanned { wanted, rows: Vec::new() }
    }

    fn take<V: Into<Value>>(
        &mut self,
        docs: &docvalues::BatchDocs<'_>,
        values: impl ExactSizeIterator<Item = V>,
    ) -> ControlFlow<()> {
        assert!(self.rows.len() < self.wanted.max(1), "a scan went on behind its end");
        assert_eq!(docs.len(), values.len(), "documents and values of a batch");
        self.rows.extend(docs.iter().map(|doc| doc.get().into()).zip(values.map(Into::into)));
        if self.rows.len() < self.wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn finish(mut self) -> Answer {
        self.rows.truncate(self.wanted);
        Answer(self.rows)
    }
}

/// Values together with the bits that say which there are.
fn with_present<T: Copy>(values: &[T], present: &[u64]) -> impl Iterator<Item = Option<T>> {
    values.iter().enumerate().map(|(i, value)| bits::get(present, i).then_some(*value))
}

fn totals(
    column: &dyn Column,
    values: Option<u64>,
    terms: Option<u32>,
    bounds: Option<RangeInclusive<i64>>,
) -> Answer {
    let (low, high) = bounds.map_or((None, None), |bounds| (Some(*bounds.start()), Some(*bounds.end())));
    let counts = [
        Some(column.docs().into()),
        Some(column.docs_with_value().into()),
        values.and_then(|values| i64::try_from(values).ok()),
        terms.map(i64::from),
        low,
        high,
    ];
    Answer::of((0..).zip(counts))
}

fn numeric(column: &dyn NumericColumn, question: &Question) -> Result<Answer> {
    Ok(match question {
        Question::Totals => totals(column, None, None, column.bounds()),
        Question::Get(docs) | Question::Follow(docs) => each(docs, |doc| Ok(column.get(doc)?.into()))?,
        Question::Gather(docs) => {
            let (mut out, mut present) = (vec![7; docs.len()], vec![0xAA; docs.len().div_ceil(64)]);
            column.gather(docs, &mut out, &mut present)?;
            Answer::of_docs(docs, with_present(&out, &present))
        }
        Question::GatherOr(docs, fill) => {
            let mut out = vec![7; docs.len()];
            column.gather_or(docs, &mut out, *fill)?;
            Answer::of_docs(docs, out.into_iter().map(Some))
        }
        Question::Scan(docs, wanted) => {
            let mut rows = Scanned::new(*wanted);
            column.scan(docs.clone(), &mut |batch| {
                rows.take(&batch.docs, batch.values.iter().map(|&value| Some(value)))
            })?;
            rows.finish()
        }
        Question::Filter(docs, values, pattern) => {
            filtered(docs, *pattern, |bits| column.filter(docs.clone(), values.clone(), bits))?
        }
        _ => Answer::nothing(),
    })
}

fn binary(column: &dyn BinaryColumn, question: &Question) -> Result<Answer> {
    let mut lists = Lists::new();
    Ok(match question {
        Question::Totals => totals(column, None, None, None),
        Question::Get(docs) | Question::Follow(docs) => {
            let mut buffer = Vec::new();
            each(docs, |doc| Ok(column.get(doc, &mut buffer)?.into()))?
        }
        Question::Gather(docs) => {
            let mut present = vec![0xAA; docs.len().div_ceil(64)];
            column.gather(docs, &mut lists, &mut present)?;
            let values: Vec<&[u8]> = lists.slices().iter().collect();
            Answer::of_docs(docs, with_present(&values, &present))
        }
        Question::GatherOr(docs, fill) => {
            column.gather_or(docs, &mut lists, &fill.to_le_bytes())?;
            Answer::of_docs(docs, lists.slices().iter().map(Some))
        }
        Question::Scan(docs, wanted) => {
            let mut rows = Scanned::new(*wanted);
            column.scan(docs.clone(), &mut |batch| rows.take(&batch.docs, batch.values.iter().map(Some)))?;
            rows.finish()
        }
        Question::FilterBytes(docs, low, high) => {
            filtered(docs, 0, |bits| column.filter(docs.clone(), as_slice(low), as_slice(high), bits))?
        }
        _ => Answer::nothing(),
    })
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

fn terms(terms: &dyn Terms, question: &Question) -> Result<Answer> {
    let count = terms.term_count();
    Ok(match question {
        Question::Seek(term) => {
            let exact = terms.seek_exact(term)?.map(number);
            Answer::of([(0, exact), (1, Some(number(terms.seek_ceil(term)?)))])
        }
        Question::Prefix(prefix) => Answer::of_ords(&terms.prefix(prefix)?),
        Question::TermRange(low, high) => Answer::of_ords(&terms.term_range(as_slice(low), as_slice(high))?),
        Question::Terms(ords) => {
            let (mut lists, mut term, mut rows) = (Lists::new(), Vec::new(), Vec::new());
            terms.gather_terms(ords, &mut lists)?;
            for (i, &ord) in ords.iter().enumerate() {
                terms.term(ord, &mut term)?;
                assert_eq!(term, lists.get(i), "term {} alone, and with others", ord.get());
                rows.push((ord.get().into(), Some(term.as_slice()).into()));
            }
            Answer(rows)
        }
        Question::EachTerm(ords, wanted) => {
            let mut rows = Vec::new();
            terms.each_term(ords.start.min(count)..ords.end.min(count), &mut |ord, term| {
                rows.push((ord.get().into(), Some(term).into()));
                if rows.len() < *wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            Answer(rows)
        }
        _ => Answer::nothing(),
    })
}

/// The ords that a filter of numbers asks for.
fn ords_of(numbers: &RangeInclusive<i64>) -> Range<u32> {
    let ord = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    ord(*numbers.start())..ord(numbers.end().saturating_add(1))
}

fn sorted(column: &dyn SortedColumn, question: &Question) -> Result<Answer> {
    Ok(match question {
        Question::Totals => totals(column, None, Some(column.term_count()), None),
        Question::Get(docs) | Question::Follow(docs) => {
            each(docs, |doc| Ok(column.ord(doc)?.map(number).into()))?
        }
        Question::Gather(docs) => {
            let mut out = vec![TermOrd::new(7); docs.len()];
            let mut present = vec![0xAA; docs.len().div_ceil(64)];
            column.gather(docs, &mut out, &mut present)?;
            Answer::of_docs(docs, with_present(&out, &present).map(|ord| ord.map(number)))
        }
        Question::GatherOr(docs, fill) => {
            let mut out = vec![TermOrd::new(7); docs.len()];
            let fill = TermOrd::new(u32::try_from(fill & 0xffff_ffff).unwrap_or(0));
            column.gather_or(docs, &mut out, fill)?;
            Answer::of_docs(docs, out)
        }
        Question::Scan(docs, wanted) => {
            let mut rows = Scanned::new(*wanted);
            column.scan(docs.clone(), &mut |batch| rows.take(&batch.docs, batch.values.iter().copied()))?;
            rows.finish()
        }
        Question::Filter(docs, ords, pattern) => {
            filtered(docs, *pattern, |bits| column.filter(docs.clone(), ords_of(ords), bits))?
        }
        question => terms(column, question)?,
    })
}

fn sorted_numeric(column: &dyn SortedNumericColumn, question: &Question) -> Result<Answer> {
    Ok(match question {
        Question::Totals => totals(column, Some(column.value_count()), None, column.bounds()),
        Question::Get(docs) | Question::Follow(docs) => {
            let mut out = vec![7];
            each(docs, |doc| column.get(doc, &mut out).map(|()| out.as_slice().into()))?
        }
        Question::Gather(docs) | Question::GatherOr(docs, _) => {
            let mut lists = Lists::new();
            column.gather(docs, &mut lists)?;
            Answer::of_docs(docs, lists.slices().iter())
        }
        Question::Scan(docs, wanted) => {
            let mut rows = Scanned::new(*wanted);
            column.scan(docs.clone(), &mut |batch| rows.take(&batch.docs, batch.values.iter()))?;
            rows.finish()
        }
        Question::Filter(docs, values, pattern) => {
            filtered(docs, *pattern, |bits| column.filter(docs.clone(), values.clone(), bits))?
        }
        _ => Answer::nothing(),
    })
}

fn sorted_set(column: &dyn SortedSetColumn, question: &Question) -> Result<Answer> {
    Ok(match question {
        Question::Totals => totals(column, Some(column.value_count()), Some(column.term_count()), None),
        Question::Get(docs) | Question::Follow(docs) => {
            let mut out = vec![TermOrd::new(7)];
            each(docs, |doc| column.ords(doc, &mut out).map(|()| out.as_slice().into()))?
        }
        Question::Gather(docs) | Question::GatherOr(docs, _) => {
            let mut lists = Lists::new();
            column.gather(docs, &mut lists)?;
            Answer::of_docs(docs, lists.slices().iter())
        }
        Question::Scan(docs, wanted) => {
            let mut rows = Scanned::new(*wanted);
            column.scan(docs.clone(), &mut |batch| rows.take(&batch.docs, batch.values.iter()))?;
            rows.finish()
        }
        Question::Filter(docs, ords, pattern) => {
            filtered(docs, *pattern, |bits| column.filter(docs.clone(), ords_of(ords), bits))?
        }
        question => terms(column, question)?,
    })
}
