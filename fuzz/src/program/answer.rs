//! Questions to a column, and answers in a form that all readers share.

use std::fmt;
use std::ops::{Bound, ControlFlow, RangeInclusive};

use docvalues::column::{
    BatchDocs, ByteRange, ColumnInfo, Element, Gathered, Lists, Pruning, Result, Values, View, bits,
};
use docvalues::{Column, DocId, DocRange, OrdRange, Rows, TermOrd, Terms};

/// A question to a column. If it does not fit the kind, the answer is empty.
#[derive(Debug)]
pub(crate) enum Question {
    /// The counts of documents, values and terms, and the bounds, from the directory.
    Totals,
    /// Documents one by one.
    Get(Vec<DocId>),
    /// Documents in a batch.
    Gather(Vec<DocId>),
    /// Documents in a batch, with a number for missing values.
    GatherOr(Vec<DocId>, i64),
    /// A scan of a range of documents that stops after this many with a value.
    Scan(DocRange, usize),
    /// Documents of a range with a value, added to a bitset.
    Exists(DocRange, u64),
    /// Documents of a range with a number, or an ord, in another range, added to a bitset.
    Filter(DocRange, RangeInclusive<i64>, u64),
    /// Documents of a range with a byte string between two bounds.
    FilterBytes(DocRange, ByteRange),
    /// The ord of a term, or its insertion point.
    Seek(Vec<u8>),
    /// The terms with a prefix.
    Prefix(Vec<u8>),
    /// The terms between two bounds.
    TermRange(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// Terms one by one and in a batch; no terms if one of the ords does not exist.
    Terms(Vec<TermOrd>),
    /// The first terms of a range.
    EachTerm(OrdRange, usize),
}

/// Rows of a key (a document, an ord, a bit) and its values.
#[derive(PartialEq)]
pub(crate) struct Answer(Vec<(u64, Value)>);

#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Nothing,
    Number(i64),
    Numbers(Vec<i64>),
    Bytes(Vec<u8>),
}

impl Value {
    /// Adds the row of a document, if it has a value.
    pub(super) fn of<T: Item>(row: Option<&[T]>) -> Value {
        row.map_or(Value::Nothing, T::value)
    }

    /// Adds a list, unless it is empty.
    pub(super) fn of_list<T: Item>(list: &[T]) -> Value {
        Value::of(Some(list).filter(|list| !list.is_empty()))
    }
}

impl From<Option<i64>> for Value {
    fn from(number: Option<i64>) -> Value {
        number.map_or(Value::Nothing, Value::Number)
    }
}

/// An element of rows in the form of answers.
pub(super) trait Item: Element {
    /// A row with a value. A list of one number equals the number.
    fn value(row: &[Self]) -> Value;

    /// The value that stands for a missing one.
    fn fill(number: i64) -> Self;
}

impl Item for i64 {
    fn value(row: &[i64]) -> Value {
        if let [number] = *row { Value::Number(number) } else { Value::Numbers(row.to_vec()) }
    }

    fn fill(number: i64) -> i64 {
        number
    }
}

impl Item for TermOrd {
    fn value(row: &[TermOrd]) -> Value {
        let numbers = row.iter().map(|ord| ord.get().into()).collect::<Vec<_>>();
        if let [number] = numbers[..] { Value::Number(number) } else { Value::Numbers(numbers) }
    }

    fn fill(number: i64) -> TermOrd {
        TermOrd::new(u32::try_from(number & 0xffff_ffff).unwrap_or(0))
    }
}

impl Item for u8 {
    fn value(row: &[u8]) -> Value {
        Value::Bytes(row.to_vec())
    }

    fn fill(_: i64) -> u8 {
        0
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

    fn of(rows: impl IntoIterator<Item = (u64, Option<i64>)>) -> Answer {
        Answer(rows.into_iter().map(|(key, number)| (key, number.into())).collect())
    }

    /// One row for each requested document.
    pub(super) fn of_docs(docs: &[DocId], values: impl IntoIterator<Item = Value>) -> Answer {
        Answer(docs.iter().map(|doc| doc.get().into()).zip(values).collect())
    }

    /// The answer of single lookups.
    pub(super) fn of_each(docs: &[DocId], value: impl FnMut(DocId) -> Result<Value>) -> Result<Answer> {
        let values: Result<Vec<Value>> = docs.iter().copied().map(value).collect();
        Ok(Answer::of_docs(docs, values?))
    }

    fn of_bits(words: &[u64]) -> Answer {
        Answer::of((0..).zip(words.iter().map(|word| Some(word.cast_signed()))))
    }

    /// A range of ords. All empty ranges are equal.
    fn of_ords(ords: OrdRange) -> Answer {
        Answer::of((!ords.is_empty()).then_some((ords.start.into(), Some(i64::from(ords.end)))))
    }

    /// The first row in which two answers differ.
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

/// The answer of a column of any kind to a question.
///
/// # Errors
///
/// The errors of the column; an undamaged one only fails for terms that it does not have.
pub(crate) fn ask(column: &dyn Column, question: &Question) -> Result<Answer> {
    match (question, column.values()) {
        (Question::Totals, values) => Ok(totals(column.info(), values.terms())),
        (Question::Exists(docs, pattern), _) => filtered(*docs, *pattern, |bits| column.exists(*docs, bits)),
        (Question::Filter(docs, wanted, pattern), Values::Numbers(numbers)) => {
            check_zones(column, numbers, *docs, wanted)?;
            filter(numbers, *docs, wanted, *pattern)
        }
        (Question::Filter(docs, wanted, pattern), Values::Ords(ords, _)) => {
            filter(ords, *docs, &ords_of(wanted), *pattern)
        }
        (Question::FilterBytes(docs, wanted), Values::Bytes(strings)) => filter(strings, *docs, wanted, 0),
        (question, Values::Numbers(numbers)) => ask_rows(numbers, question),
        (question, Values::Bytes(strings)) => ask_rows(strings, question),
        (question, Values::Ords(ords, terms)) => match ask_terms(terms, question)? {
            Some(answer) => Ok(answer),
            None => ask_rows(ords, question),
        },
    }
}

fn totals(info: &ColumnInfo, terms: Option<&dyn Terms>) -> Answer {
    let bounds = info.bounds.exact().filter(|bounds| !bounds.is_empty());
    let count = |count: u64| i64::try_from(count).ok();
    let counts = [
        Some(info.docs.into()),
        info.with_value.exact().and_then(count),
        info.value_count.exact().and_then(count),
        terms.map(|terms| terms.term_count().into()),
        bounds.map(|bounds| *bounds.start()),
        bounds.map(|bounds| *bounds.end()),
    ];
    Answer::of((0..).zip(counts))
}

/// The bits of `docs`, added to a pattern.
pub(super) fn filtered(
    docs: DocRange,
    pattern: u64,
    add: impl FnOnce(&mut [u64]) -> Result<()>,
) -> Result<Answer> {
    let mut found = vec![pattern; docs.words()];
    add(&mut found)?;
    Ok(Answer::of_bits(&found))
}

fn filter<T: Element>(rows: &dyn Rows<T>, docs: DocRange, wanted: &T::Range, pattern: u64) -> Result<Answer> {
    filtered(docs, pattern, |bits| rows.filter(docs, wanted, bits, &mut Pruning::default()))
}

/// The ords that a filter of numbers asks for.
pub(super) fn ords_of(numbers: &RangeInclusive<i64>) -> OrdRange {
    let ord = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    OrdRange::new(ord(*numbers.start()), ord(numbers.end().saturating_add(1)))
}

/// Checks a skip index against a filter: it must not exclude the zones of matching documents.
fn check_zones(
    column: &dyn Column,
    numbers: &dyn Rows<i64>,
    docs: DocRange,
    wanted: &RangeInclusive<i64>,
) -> Result<()> {
    let Some(index) = column.skip_index() else { return Ok(()) };
    let (docs, levels, mut zones) = (docs.clip(column.info().docs), index.levels(), Vec::new());
    for (level, &len) in levels.iter().enumerate() {
        let docs = DocRange::new(docs.start - docs.start % levels[0], docs.end);
        let mut found = vec![0; docs.words()];
        numbers.filter(docs, wanted, &mut found, &mut Pruning::default())?;
        let mut open = vec![0; docs.len().div_ceil(len as usize).div_ceil(64)];
        index.may_hold(level, docs, wanted, &mut open, &mut Pruning::default())?;
        index.zones(level, docs, &mut zones)?;
        for at in bits::ones(&found) {
            let zone = at / len as usize;
            let is_open = bits::get(&open, zone) && zones[zone].may_hold(wanted);
            assert!(is_open, "zone {zone} of {docs:?}, {len} each, has a number in {wanted:?}");
        }
    }
    Ok(())
}

fn ask_rows<T: Item>(rows: &dyn Rows<T>, question: &Question) -> Result<Answer> {
    match question {
        Question::Get(docs) => {
            // Not cleared: `get` replaces the contents.
            let mut row = vec![T::fill(7)];
            Answer::of_each(docs, |doc| Ok(Value::of(rows.get(doc, &mut row)?.then_some(&row))))
        }
        Question::Gather(docs) => {
            let mut out = Gathered::new();
            rows.gather(BatchDocs::List(docs), &mut out)?;
            Ok(Answer::of_docs(docs, (0..docs.len()).map(|at| Value::of(out.row(at)))))
        }
        Question::GatherOr(docs, fill) => {
            let mut out = Gathered::filled(T::fill(*fill));
            rows.gather(BatchDocs::List(docs), &mut out)?;
            let value = |at| match out.view() {
                View::One(values) => T::value(&values[at..=at]),
                View::Many(_) => Value::of(out.row(at)),
            };
            Ok(Answer::of_docs(docs, (0..docs.len()).map(value)))
        }
        Question::Scan(docs, wanted) => {
            let mut scanned = Scanned::new(*wanted);
            rows.scan(*docs, &mut |batch| {
                scanned.take(batch.docs, (0..batch.values.len()).map(|at| T::value(batch.values.row(at))))
            })?;
            let scanned = scanned.finish();
            let mut out = Gathered::new();
            rows.gather(BatchDocs::Run(*docs), &mut out)?;
            let gathered = docs
                .iter()
                .enumerate()
                .filter_map(|(at, doc)| out.row(at).map(|row| (doc.get().into(), T::value(row))));
            let gathered = Answer(gathered.take(*wanted).collect());
            let difference = scanned.difference(&gathered);
            assert!(scanned == gathered, "scanned, and gathered as a run: {difference}");
            Ok(scanned)
        }
        _ => Ok(Answer::nothing()),
    }
}

/// Rows of batches, up to a limit.
pub(super) struct Scanned {
    wanted: usize,
    rows: Vec<(u64, Value)>,
}

impl Scanned {
    pub(super) fn new(wanted: usize) -> Scanned {
        Scanned { wanted, rows: Vec::new() }
    }

    pub(super) fn take(
        &mut self,
        docs: BatchDocs<'_>,
        values: impl ExactSizeIterator<Item = Value>,
    ) -> ControlFlow<()> {
        assert!(self.rows.len() < self.wanted.max(1), "a scan went on after its end");
        assert_eq!(docs.len(), values.len(), "documents and values of a batch");
        self.rows.extend(docs.iter().map(|doc| doc.get().into()).zip(values));
        if self.rows.len() < self.wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    pub(super) fn finish(mut self) -> Answer {
        self.rows.truncate(self.wanted);
        Answer(self.rows)
    }
}

/// The answer of a dictionary, if the question is about terms.
fn ask_terms(terms: &dyn Terms, question: &Question) -> Result<Option<Answer>> {
    let number = |ord: TermOrd| i64::from(ord.get());
    Ok(Some(match question {
        Question::Seek(term) => {
            let exact = terms.seek_exact(term)?.map(number);
            Answer::of([(0, exact), (1, Some(number(terms.seek_ceil(term)?)))])
        }
        Question::Prefix(prefix) => Answer::of_ords(terms.prefix(prefix)?),
        Question::TermRange(low, high) => {
            let [low, high] = [low, high].map(|bound| bound.as_ref().map(Vec::as_slice));
            Answer::of_ords(terms.term_range(low, high)?)
        }
        Question::Terms(ords) => {
            let (mut lists, mut term, mut rows) = (Lists::new(), Vec::new(), Vec::new());
            terms.gather_terms(ords, &mut lists)?;
            for (i, &ord) in ords.iter().enumerate() {
                terms.term(ord, &mut term)?;
                assert_eq!(term, lists.get(i), "term {} alone, and with others", ord.get());
                rows.push((ord.get().into(), Value::Bytes(term.clone())));
            }
            Answer(rows)
        }
        Question::EachTerm(ords, wanted) => {
            let mut rows = Vec::new();
            terms.each_term(*ords, &mut |ord, term| {
                rows.push((ord.get().into(), Value::Bytes(term.to_vec())));
                if rows.len() < *wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            Answer(rows)
        }
        _ => return Ok(None),
    }))
}
