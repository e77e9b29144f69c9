//! Reading documents out of a segment: some of its columns, many documents at a time.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::failure::{Exit, Failure};
use crate::input::error::closest;
use crate::input::import::StoredRef;
use crate::output::value::Printer;
use crate::spelling::Spelling;
use crate::store::{
    AnyColumn, ColumnSource as _, DocId, Error, ErrorKind, Field, Lists, Segment, TermOrd, get_bit,
};

/// Documents that are read together.
pub(crate) const CHUNK: usize = 4096;

/// Bytes of terms that a column keeps from one chunk to the next.
const TERMS_KEPT: usize = 16 << 20;

/// Opens a segment; `-` is no file that could be mapped.
pub(crate) fn open(path: &Path) -> Result<Segment, Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::new(Exit::Usage, "a segment cannot be read from standard input")
            .advice("any value of it may be asked for first: give the name of a file"));
    }
    Ok(Segment::open(path)?)
}

/// The fields of a segment in the order that the input had, those of other writers behind, by name.
pub(crate) fn fields_in_order(segment: &Segment) -> Result<Vec<Field>, Failure> {
    let mut fields = segment.fields()?;
    fields.sort_by_key(order_of);
    Ok(fields)
}

/// The place of a field among those of the input.
pub(crate) fn order_of(field: &Field) -> u32 {
    field.format.as_deref().and_then(|format| Spelling::parse(format).order).unwrap_or(u32::MAX)
}

/// The fields that the user named, in that order; all of them if none was named. Those of several segments
/// are united by name, and the first that has one describes it.
///
/// Named ones are looked up one by one, without reading the rest of the directory.
pub(crate) fn select(segments: &[Segment], columns: &[String]) -> Result<Vec<Field>, Failure> {
    if columns.is_empty() {
        return unite(segments);
    }
    let mut selected: Vec<Field> = Vec::new();
    for argument in columns {
        // A name may hold a comma.
        let whole = find(segments, argument)?;
        let names = if whole.is_some() { vec![argument.as_str()] } else { argument.split(',').collect() };
        for name in names {
            let Some(field) = find(segments, name)? else { return Err(unknown_column(segments, name)?) };
            if selected.iter().any(|known| known.name == name) {
                return Err(Failure::new(Exit::Usage, format!("the column {name:?} is named twice")));
            }
            selected.push(field);
        }
    }
    Ok(selected)
}

fn unite(segments: &[Segment]) -> Result<Vec<Field>, Failure> {
    let mut fields: Vec<Field> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for segment in segments {
        fields.extend(fields_in_order(segment)?.into_iter().filter(|field| names.insert(field.name.clone())));
    }
    Ok(fields)
}

/// The field of this name of the first segment that has one.
pub(crate) fn find(segments: &[Segment], name: &str) -> Result<Option<Field>, Failure> {
    let mut fields =
        segments.iter().map(|segment| Ok(column(segment, name)?.map(|c| c.as_column().field().clone())));
    fields.find_map(Result::transpose).transpose()
}

/// The column of this name, if the segment has one.
pub(crate) fn column(segment: &Segment, name: &str) -> Result<Option<AnyColumn>, Error> {
    match segment.column(name) {
        Ok(column) => Ok(Some(column)),
        Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An error that says which column is meant, maybe.
pub(crate) fn unknown_column(segments: &[Segment], name: &str) -> Result<Failure, Failure> {
    let fields = unite(segments)?;
    let files = segments.iter().map(Segment::file).collect::<Vec<_>>().join(", ");
    let failure = Failure::new(Exit::Failed, format!("{files}: no column {name:?}"));
    Ok(match closest(name, fields.iter().map(|field| field.name.as_str())) {
        Some(close) => failure.advice(format!("did you mean {close:?}?")),
        None => failure
            .advice(format!("`dv info {}` shows all columns", segments.first().map_or("", Segment::file))),
    })
}

/// Some columns of a segment, and the values of some documents.
pub(crate) struct Records {
    columns: Vec<RecordColumn>,
}

/// A column and the values of the documents that were read last.
pub(crate) struct RecordColumn {
    pub(crate) printer: Printer,
    /// Absent: the segment has no such column, and no document a value.
    column: Option<AnyColumn>,
    chunk: Chunk,
    terms: Terms,
}

/// The values of a chunk of documents, by kind.
#[derive(Default)]
struct Chunk {
    present: Vec<u64>,
    numbers: Vec<i64>,
    bytes: Lists<u8>,
    ords: Vec<TermOrd>,
    number_lists: Lists<i64>,
    ord_lists: Lists<TermOrd>,
}

/// The terms that were needed so far.
#[derive(Default)]
struct Terms {
    places: HashMap<u32, (usize, usize)>,
    bytes: Vec<u8>,
}

impl Records {
    /// The columns of a segment that have the names of these fields; they may be of other types.
    pub(crate) fn open(segment: &Segment, fields: &[Field]) -> Result<Records, Failure> {
        let open = |field: &Field| {
            let column = column(segment, &field.name)?;
            let own = column.as_ref().map_or(field, |column| column.as_column().field());
            let printer = Printer::new(own.logical, own.kind.is_multi_valued(), own.format.as_deref());
            let (chunk, terms) = (Chunk::default(), Terms::default());
            Ok(RecordColumn { printer, column, chunk, terms })
        };
        Ok(Records { columns: fields.iter().map(open).collect::<Result<_, Error>>()? })
    }

    /// Reads the values of these documents, in any order.
    pub(crate) fn load(&mut self, docs: &[DocId]) -> Result<(), Failure> {
        self.columns.iter_mut().try_for_each(|column| column.load(docs)).map_err(Failure::from)
    }

    pub(crate) fn columns(&self) -> &[RecordColumn] {
        &self.columns
    }
}

impl RecordColumn {
    fn load(&mut self, docs: &[DocId]) -> Result<(), Error> {
        let chunk = &mut self.chunk;
        chunk.present.clear();
        chunk.present.resize(docs.len().div_ceil(64), 0);
        let Some(column) = &self.column else { return Ok(()) };
        match column {
            AnyColumn::Numeric(column) => {
                chunk.numbers.resize(docs.len(), 0);
                column.gather(docs, &mut chunk.numbers, &mut chunk.present)
            }
            AnyColumn::Binary(column) => column.gather(docs, &mut chunk.bytes, &mut chunk.present),
            AnyColumn::Sorted(column) => {
                chunk.ords.resize(docs.len(), TermOrd::new(0));
                column.gather(docs, &mut chunk.ords, &mut chunk.present)?;
                let present = &chunk.present;
                let ords = chunk.ords.iter().enumerate().filter(|(at, _)| get_bit(present, *at));
                self.terms.read(ords.map(|(_, ord)| *ord), |ord, out| column.term(ord, out))
            }
            AnyColumn::SortedNumeric(column) => column.gather(docs, &mut chunk.number_lists),
            AnyColumn::SortedSet(column) => {
                column.gather(docs, &mut chunk.ord_lists)?;
                let ords = chunk.ord_lists.slices().items().iter().copied();
                self.terms.read(ords, |ord, out| column.term(ord, out))
            }
        }
    }

    /// Hands the values of document `at` of the chunk to `each`.
    pub(crate) fn values<R>(&self, at: usize, each: impl FnOnce(&[StoredRef<'_>]) -> R) -> R {
        let chunk = &self.chunk;
        let present = get_bit(&chunk.present, at);
        let Some(column) = &self.column else { return each(&[]) };
        match column {
            AnyColumn::SortedNumeric(_) => {
                let numbers = chunk.number_lists.get(at).iter();
                each(&numbers.map(|number| StoredRef::Number(*number)).collect::<Vec<_>>())
            }
            AnyColumn::SortedSet(_) => {
                let ords = chunk.ord_lists.get(at).iter();
                each(&ords.map(|ord| StoredRef::Bytes(self.terms.get(*ord))).collect::<Vec<_>>())
            }
            _ if !present => each(&[]),
            AnyColumn::Numeric(_) => each(&[StoredRef::Number(chunk.numbers[at])]),
            AnyColumn::Binary(_) => each(&[StoredRef::Bytes(chunk.bytes.get(at))]),
            AnyColumn::Sorted(_) => each(&[StoredRef::Bytes(self.terms.get(chunk.ords[at]))]),
        }
    }
}

impl Terms {
    /// Reads the terms of those ords that are not known yet.
    fn read(
        &mut self,
        ords: impl Iterator<Item = TermOrd>,
        mut term: impl FnMut(TermOrd, &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.bytes.len() > TERMS_KEPT {
            self.places.clear();
            self.bytes.clear();
        }
        let mut buffer = Vec::new();
        for ord in ords {
            if self.places.contains_key(&ord.get()) {
                continue;
            }
            term(ord, &mut buffer)?;
            self.places.insert(ord.get(), (self.bytes.len(), buffer.len()));
            self.bytes.extend_from_slice(&buffer);
        }
        Ok(())
    }

    fn get(&self, ord: TermOrd) -> &[u8] {
        let (start, len) = self.places.get(&ord.get()).copied().unwrap_or_default();
        self.bytes.get(start..start + len).unwrap_or_default()
    }
}
