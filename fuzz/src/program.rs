//! A program: operations of a writer, several ways to open its segment, and questions, whose answers are compared with
//! those of the naive models of `docvalues_testkit`.
//!
//! ```text
//! options | columns | operations of the writer ... | { how to open | questions ... } ...
//! ```
//!
//! The input is read as [`Choices`], so that any bytes are a valid program.

mod answer;
mod columns;
mod handles;
mod write;

use std::ops::Bound;

use docvalues::column::{Count, Values};
use docvalues::reader::{Access, JumpTables, Verify};
use docvalues::{
    ColumnSource, DocId, DocRange, OpenOptions, Segment, SegmentWriter, TermOrd, Terms, WriterOptions,
};
use docvalues_testkit::conformance::check_source;
use docvalues_testkit::model::MemSource;

use crate::choices::Choices;
use answer::Answer;
pub(crate) use answer::{Question, ask};
pub(crate) use columns::{COMPRESSIONS, Column};
use handles::ask_handle;
pub(crate) use write::{Documents, options, schema_of};

/// Limit of questions to an opened segment.
const QUESTIONS: usize = 60;
/// Limit of documents for the conformance suite.
const FEW: u32 = 150;

/// Runs `input` as a program.
pub fn program(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (options, in_file) = (options(&mut choices), choices.byte() % 8 == 7);
    let mut documents = Documents::choose(&mut choices, false);
    let file = if in_file {
        in_a_file(&mut choices, options, &mut documents)
    } else {
        in_memory(&mut choices, options, &mut documents)
    };
    let at_once = documents.at_once(options);
    assert!(
        file == at_once,
        "the same documents at once are other bytes: {}, and at once {}",
        described(&file),
        described(&at_once)
    );
    for _ in 0..4 {
        let segment = Segment::from_bytes(file.clone(), ways_to_open(&mut choices));
        let segment = segment.unwrap_or_else(|error| panic!("a written segment does not open: {error}"));
        question(&mut choices, &segment, &documents);
        if choices.is_done() {
            break;
        }
    }
}

/// The layout of a file, for a message.
fn described(file: &[u8]) -> String {
    let stats = Segment::from_bytes(file.to_vec(), OpenOptions::new()).and_then(|segment| segment.usage());
    match stats {
        Ok(stats) => format!("{stats:?}"),
        Err(error) => format!("{} bytes: {error}", file.len()),
    }
}

fn in_memory(choices: &mut Choices<'_>, options: WriterOptions, documents: &mut Documents) -> Vec<u8> {
    let (schema, _) = schema_of(documents.columns.iter().map(|column| &column.spec));
    let mut writer = SegmentWriter::in_memory(schema, options);
    write::operate(choices, &mut writer, documents, &options);
    let (file, summary) =
        writer.finish().unwrap_or_else(|error| panic!("values that were accepted: {error}"));
    assert_eq!((summary.docs, summary.bytes), (documents.docs, file.len() as u64), "summary");
    file
}

/// The segment of the same operations, with a spill file for values beyond the budget.
fn in_a_file(choices: &mut Choices<'_>, options: WriterOptions, documents: &mut Documents) -> Vec<u8> {
    let folder = crate::folder();
    let path = folder.path().join("program.dv");
    let (schema, _) = schema_of(documents.columns.iter().map(|column| &column.spec));
    let mut writer = SegmentWriter::create(&path, schema, options).expect("a file in a folder of its own");
    write::operate(choices, &mut writer, documents, &options);
    let summary = writer.finish().unwrap_or_else(|error| panic!("values that were accepted: {error}"));
    let file = std::fs::read(&path).expect("the file that was published");
    assert_eq!((summary.docs, summary.bytes), (documents.docs, file.len() as u64), "summary");
    let left = std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(left, 1, "files in the folder");
    // Through another storage, too.
    let by_reads = Segment::open_with(&path, ways_to_open(choices).access(Access::Read));
    question(choices, &by_reads.expect("a published segment opens"), documents);
    file
}

pub(crate) fn ways_to_open(choices: &mut Choices<'_>) -> OpenOptions {
    OpenOptions::new()
        .verify(choices.pick(&[Verify::OnFirstTouch, Verify::AtOpen, Verify::Never]))
        .jump_tables(choices.pick(&JumpTables::ALL))
        .access(Access::Map)
}

/// Compares a segment with the naive model.
fn question(choices: &mut Choices<'_>, segment: &Segment, documents: &Documents) {
    let fields = segment.fields().expect("the directory of a written segment");
    let model = documents.source(&fields);
    assert_eq!(segment.docs(), documents.docs, "documents of the segment");
    assert_eq!(fields, model.fields().expect("a model"), "fields of the columns");
    if choices.flag() && documents.docs <= FEW {
        check_source(segment, &model);
    }
    statistics(segment, &model);
    for _ in 0..QUESTIONS {
        if choices.is_done() || fields.is_empty() {
            break;
        }
        let name = &fields[choices.below(u32::try_from(fields.len()).expect("few columns")) as usize].name;
        let source = segment.column(name).unwrap_or_else(|error| panic!("column {name:?}: {error}"));
        let naive = model.column(name).expect("a column of the model");
        compare(choices, segment, &*source, &*naive);
    }
    segment.verify().unwrap_or_else(|error| panic!("a written segment is not clean: {error}"));
}

/// Compares the answers of a column, its handle and its model to one question.
fn compare(
    choices: &mut Choices<'_>,
    segment: &Segment,
    source: &dyn docvalues::Column,
    naive: &dyn docvalues::Column,
) {
    let question = choose(choices, naive);
    let (expected, field) = (ask(naive, &question), &naive.info().field);
    let handle = ask_handle(segment, field, &question).transpose();
    for found in handle.into_iter().chain([ask(source, &question)]) {
        same(&field.name, &question, &found, &expected);
    }
}

fn same(
    name: &str,
    question: &Question,
    found: &docvalues::column::Result<Answer>,
    expected: &docvalues::column::Result<Answer>,
) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => assert!(
            found == expected,
            "column {name:?}: {question:?}: {}\nfound {found:?}\nexpected {expected:?}",
            found.difference(expected)
        ),
        (Err(_), Err(_)) => {}
        _ => panic!("column {name:?}: {question:?}: {found:?} instead of {expected:?}"),
    }
}

/// A question for a column whose model is `naive`.
fn choose(choices: &mut Choices<'_>, naive: &dyn docvalues::Column) -> Question {
    let docs = naive.info().docs;
    match choices.byte() % 14 {
        0 => Question::Totals,
        1 | 2 => Question::Get(choices.some_docs(docs)),
        3 => Question::Gather(choices.some_docs(docs)),
        4 => Question::GatherOr(choices.some_docs(docs), choices.number()),
        5 => Question::Scan(choices.range(docs).into(), usize::from(choices.word())),
        6 => Question::Exists(choices.range(docs).into(), choices.byte().into()),
        7 | 8 => {
            let range = choices.range(docs).into();
            let values = number(choices, naive)..=number(choices, naive);
            Question::Filter(range, values, choices.byte().into())
        }
        9 => {
            Question::FilterBytes(choices.range(docs).into(), (bound(choices, naive), bound(choices, naive)))
        }
        10 => Question::Seek(term(choices, naive)),
        11 => {
            let mut prefix = term(choices, naive);
            prefix.truncate(choices.byte().into());
            Question::Prefix(prefix)
        }
        12 => Question::TermRange(bound(choices, naive), bound(choices, naive)),
        _ => {
            let terms = naive.values().terms().map_or(0, Terms::term_count);
            if choices.flag() {
                let ords = choices.some_docs(terms).into_iter();
                Question::Terms(ords.map(|ord| TermOrd::new(ord.get())).collect())
            } else {
                Question::EachTerm(choices.range(terms).into(), 1 + usize::from(choices.word()))
            }
        }
    }
}

/// A number to search for: any number, or one of the column, or a neighbour of it.
fn number(choices: &mut Choices<'_>, naive: &dyn docvalues::Column) -> i64 {
    let (form, doc) = (choices.byte(), choices.place(naive.info().docs));
    let there = match naive.values() {
        Values::Numbers(numbers) => {
            let mut row = Vec::new();
            numbers.get(DocId::new(doc), &mut row).expect("a model");
            row.first().copied()
        }
        _ => Some(doc.into()),
    };
    match form % 4 {
        0 => choices.number(),
        1 => there.unwrap_or(0),
        2 => there.unwrap_or(0).saturating_add(1),
        _ => there.unwrap_or(0).saturating_sub(1),
    }
}

/// A byte string to search for: any, or one of the column, a prefix of it, or one after it.
fn term(choices: &mut Choices<'_>, naive: &dyn docvalues::Column) -> Vec<u8> {
    let (form, place) = (choices.byte(), u32::from(choices.word()));
    let mut term = Vec::new();
    match naive.values() {
        Values::Bytes(strings) if naive.info().docs > 0 => {
            let doc = DocId::new(place % naive.info().docs);
            strings.get(doc, &mut term).expect("a model");
        }
        Values::Ords(_, terms) if terms.term_count() > 0 => {
            terms.term(TermOrd::new(place % terms.term_count()), &mut term).expect("a term of the model");
        }
        _ => {}
    }
    match form % 5 {
        0 => return choices.bytes().to_vec(),
        1 => {}
        2 => term.push(choices.byte()),
        3 => term.truncate(choices.byte().into()),
        _ => {
            if let Some(last) = term.last_mut() {
                *last = last.wrapping_add(1);
            }
        }
    }
    term
}

fn bound(choices: &mut Choices<'_>, naive: &dyn docvalues::Column) -> Bound<Vec<u8>> {
    match choices.byte() % 3 {
        0 => Bound::Unbounded,
        1 => Bound::Included(term(choices, naive)),
        _ => Bound::Excluded(term(choices, naive)),
    }
}

/// Checks the metadata of the segment.
fn statistics(segment: &Segment, model: &MemSource) {
    let stats = segment.usage().unwrap_or_else(|error| panic!("statistics: {error}"));
    assert_eq!(stats.bytes, segment.len(), "bytes of the file");
    for column in &stats.columns {
        let name = &column.field.name;
        let naive = model.column(name).expect("a column of the model");
        let info = naive.info();
        assert_eq!(column.field, info.field, "field of {name:?}");
        let with_value = Count::Exact(column.docs_with_value.into());
        assert_eq!(with_value, info.with_value, "documents of {name:?}");
        let terms = naive.values().terms().map(Terms::term_count);
        assert_eq!(column.term_count, terms, "terms of {name:?}");
        let Values::Numbers(rows) = naive.values() else { continue };
        if info.is_multi_valued() {
            continue;
        }
        let mut numbers = Vec::new();
        let scan = rows.scan(DocRange::new(0, model.docs()), &mut |batch| {
            numbers.extend_from_slice(batch.values.one().unwrap_or_default());
            std::ops::ControlFlow::Continue(())
        });
        scan.expect("a model");
        let claimed = column.statistics;
        let sum: i128 = numbers.iter().map(|&number| i128::from(number)).sum();
        assert!(claimed.sum.is_none_or(|claimed| claimed == sum), "sum of {name:?}: {claimed:?}, not {sum}");
        assert!(!claimed.ascending || numbers.is_sorted(), "{name:?} does not ascend");
        assert!(!claimed.descending || numbers.is_sorted_by(|a, b| a >= b), "{name:?} does not descend");
        let distinct = numbers.iter().collect::<std::collections::HashSet<_>>().len() as u64;
        assert!(
            claimed.distinct.is_none_or(|claimed| claimed == distinct),
            "distinct values of {name:?}: {claimed:?}"
        );
        let bounds = numbers.iter().min().copied().zip(numbers.iter().max().copied());
        assert_eq!(column.bounds, bounds, "bounds of {name:?}");
    }
}
