//! A segment of an index: a source of columns.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::sync::{Arc, OnceLock};

use docvalues_column::{
    Bitset, Bounds, Column, ColumnInfo, ColumnSource, Count, DocRange, Field, Kind, LiveDocs, LogicalType,
};
use docvalues_format::id::MAX_VALUES_PER_DOC;

use crate::binary::{BinaryEntry, ByteStrings};
use crate::bytes_column::BytesColumn;
use crate::codec;
use crate::commit::SegmentCommit;
use crate::compound::Compound;
use crate::dictionary::Dictionary;
use crate::doc_values::{Entry, Layout, NumbersEntry, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::field_infos::{self, FieldInfo};
use crate::file_set::{FileSet, SegmentFiles};
use crate::files::{Files, is_suffix, segment_file, to_base_36};
use crate::live_docs;
use crate::numbers_column::{Addresses, NumbersColumn};
use crate::numeric::Numbers;
use crate::options::Options;
use crate::presence::Presence;
use crate::segment_info::{self, SegmentInfo};
use crate::skip_index::{SkipEntry, Zones};

/// A segment of an [`Index`](crate::Index): a source of columns.
///
/// Deleted documents have values as others do; [`Index::parts`](crate::Index::parts) leaves them out.
///
/// | doc values of Lucene | kind of the column | type |
/// | --- | --- | --- |
/// | `NUMERIC` | numeric | `i64` |
/// | `SORTED_NUMERIC` | sorted-numeric; numeric if no document has several | `i64` |
/// | `SORTED` | sorted | `string` |
/// | `SORTED_SET` | sorted-set; sorted if no document has several | `string` |
/// | `BINARY` | binary | `bytes` |
pub struct Segment {
    /// The path of its files, without their endings.
    path: String,
    name: String,
    codec: String,
    info: SegmentInfo,
    options: Options,
    fields: BTreeMap<String, State>,
    live: Option<Arc<LiveDocs>>,
}

/// A field with doc values.
enum State {
    Readable(Box<Readable>),
    /// What is read of it: nothing. The words name its format.
    Format(String),
    Overlays,
}

struct Readable {
    field: Field,
    files: Arc<FileSet>,
    entry: Entry,
    /// The open column, with the tables that were built for it.
    column: OnceLock<Arc<dyn Column>>,
}

/// The doc values that were opened so far, by generation and suffix.
type FileSets = BTreeMap<(i64, String), (Arc<FileSet>, BTreeMap<i32, Entry>)>;

impl Segment {
    /// Opens a segment of a commit.
    pub(crate) fn open(files: &Files, commit: &SegmentCommit, options: Options) -> Result<Segment> {
        let name = commit.name.as_str();
        let path = format!("{}/{name}", files.path());
        let layout = codec::layout(&commit.codec).ok_or_else(|| {
            let (segment, codec) = (name.to_owned(), commit.codec.clone());
            Error::new(files.path(), 0, ErrorKind::Codec { segment, codec })
        })?;
        let (order, id) = (layout.order(), &commit.id);
        let open = |extension| files.open(&segment_file(name, "", extension));
        let info = segment_info::read(&open("si")?, layout, id)?;
        let mut compound = None;
        if info.is_compound {
            compound = Some(Compound::open(&open("cfe")?, &open("cfs")?, order, id)?);
        }
        let files = SegmentFiles { files, segment: name, id, compound };
        let original = field_infos::read(&files.original("", "fnm")?, id, "")?;
        let mut later = None;
        if commit.fields_generation >= 0 {
            let suffix = to_base_36(commit.fields_generation);
            later = Some(field_infos::read(&files.later(&suffix, "fnm")?, id, &suffix)?);
        }
        let fields = later.as_ref().unwrap_or(&original);
        let mut segment = Segment {
            path,
            name: name.to_owned(),
            codec: commit.codec.clone(),
            info,
            options,
            fields: BTreeMap::new(),
            live: None,
        };
        let mut sets = FileSets::new();
        for field in fields {
            let state = state(&files, field, (&original, fields), commit, &mut sets)?;
            segment.fields.extend(state.map(|state| (field.name.clone(), state)));
        }
        let mut live = None;
        if commit.live_docs_generation >= 0 {
            let suffix = to_base_36(commit.live_docs_generation);
            let file = files.later(&suffix, "liv")?;
            live = Some(live_docs::read(&file, order, (id, &suffix), segment.info.docs, commit.deleted)?);
        }
        if options.hides_soft_deletes {
            for field in fields.iter().filter(|field| field.marks_soft_deletes) {
                segment.hide(&field.name, &mut live)?;
            }
        }
        segment.live = live.filter(|live| !live.is_all()).map(|live| Arc::new(LiveDocs::from(&live)));
        Ok(segment)
    }

    /// Removes the documents that have a value of this field from `live`.
    fn hide(&self, name: &str, live: &mut Option<Bitset>) -> Result<()> {
        let Some(state) = self.fields.get(name) else { return Ok(()) };
        let State::Readable(readable) = state else {
            return Err(self.refuse(name, state));
        };
        let Readable { files, entry, .. } = &**readable;
        let (entry, values) = match &entry.values {
            Values::Numbers(entry) => (entry.numbers.presence, entry.docs_with_value),
            Values::Bytes(entry) => (entry.presence, entry.docs_with_value.into()),
        };
        files.verify_once(self.options.verifies_all)?;
        let (docs, mode) = (self.info.docs, self.options.jump_tables);
        let presence = Presence::open(entry, docs, values, &files.presence, mode)?;
        if presence.values() > 0 {
            let all = DocRange::new(0, docs);
            let mut words = vec![0; all.words()];
            presence.exists(all, &mut words)?;
            live.get_or_insert_with(|| Bitset::all(docs)).subtract(&Bitset::from_words(words, docs));
        }
        Ok(())
    }

    /// The error of a field that is not read.
    fn refuse(&self, name: &str, state: &State) -> Error {
        let field = name.to_owned();
        let kind = match state {
            State::Format(format) => ErrorKind::Format { field, format: format.clone() },
            _ => ErrorKind::Overlays { field },
        };
        Error::new(self.path.clone(), 0, kind)
    }

    /// Its name, such as `_0`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The codec that wrote it, such as `Lucene104`.
    pub fn codec(&self) -> &str {
        &self.codec
    }

    /// The release of Lucene that wrote it: major, minor and bugfix.
    pub fn lucene(&self) -> [i32; 3] {
        self.info.lucene
    }

    /// The live documents; `None` if no document is deleted.
    pub fn live(&self) -> Option<&Arc<LiveDocs>> {
        self.live.as_ref()
    }

    /// The fields whose doc values are not read, and why.
    pub fn unreadable(&self) -> impl Iterator<Item = (&str, Error)> {
        let refused = self.fields.iter().filter(|(_, state)| !matches!(state, State::Readable(_)));
        refused.map(move |(name, state)| (name.as_str(), self.refuse(name, state)))
    }

    /// Compares the checksums of all files of doc values. O(their length).
    ///
    /// # Errors
    ///
    /// If a checksum differs.
    pub fn verify(&self) -> Result<()> {
        let mut verified: Vec<&Arc<FileSet>> = Vec::new();
        for state in self.fields.values() {
            let State::Readable(readable) = state else { continue };
            if !verified.iter().any(|others| Arc::ptr_eq(others, &readable.files)) {
                readable.files.verify()?;
                verified.push(&readable.files);
            }
        }
        Ok(())
    }

    /// Opens a column, once.
    fn open_column(&self, readable: &Readable) -> Result<Arc<dyn Column>> {
        let Readable { field, files, entry, column } = readable;
        if let Some(column) = column.get() {
            return Ok(Arc::clone(column));
        }
        files.verify_once(self.options.verifies_all)?;
        let opened = match &entry.values {
            Values::Numbers(values) => self.open_numbers(field, files, values, entry.skip.as_ref())?,
            Values::Bytes(values) => self.open_bytes(field, files, values)?,
        };
        Ok(Arc::clone(column.get_or_init(|| opened)))
    }

    fn open_numbers(
        &self,
        field: &Field,
        files: &FileSet,
        entry: &NumbersEntry,
        skip: Option<&SkipEntry>,
    ) -> Result<Arc<dyn Column>> {
        let (docs, mode, data) = (self.info.docs, self.options.jump_tables, &files.data);
        let presence =
            Presence::open(entry.numbers.presence, docs, entry.docs_with_value, &files.presence, mode)?;
        let mut addresses = None;
        if let Some(entry) = &entry.addresses {
            addresses = Some(Addresses { data: Arc::clone(data), numbers: entry.open(data)? });
        }
        let with_value = u64::from(presence.values());
        let count = match &addresses {
            Some(addresses) if entry.is_count_in_addresses => addresses.numbers.get(data, with_value)?,
            Some(_) => entry.numbers.count,
            None => i64::from(presence.values()),
        };
        let most = i64::from(presence.values()) * i64::from(MAX_VALUES_PER_DOC);
        if !(0..=most).contains(&count) {
            let (what, found) = ("numbers of a column", count);
            return Err(data.error(0, ErrorKind::OutOfRange { what, found, least: 0, most }));
        }
        let numbers = Numbers::open(&entry.numbers, count.unsigned_abs(), data, mode)?;
        let terms =
            entry.terms.as_ref().map(|terms| Dictionary::open(terms, &field.name, data)).transpose()?;
        let zones = match skip {
            Some(skip) => Some(Zones::of_intervals(skip, docs, &files.skip_indexes)?),
            None if terms.is_none() && addresses.is_none() && presence.is_all() => {
                Zones::of_blocks(&numbers, docs)
            }
            None => None,
        };
        let bounds = match skip {
            _ if terms.is_some() => Bounds::Unknown,
            Some(skip) => skip.bounds(),
            None => numbers.bounds(),
        };
        let info = info(field, docs, (with_value, count.unsigned_abs()), bounds);
        Ok(Arc::new(NumbersColumn { info, presence, numbers, addresses, terms, zones }))
    }

    fn open_bytes(&self, field: &Field, files: &FileSet, entry: &BinaryEntry) -> Result<Arc<dyn Column>> {
        let (docs, mode) = (self.info.docs, self.options.jump_tables);
        let values = entry.docs_with_value.into();
        let presence = Presence::open(entry.presence, docs, values, &files.presence, mode)?;
        let strings = ByteStrings::open(entry, &files.data)?;
        let with_value = presence.values().into();
        let info = info(field, docs, (with_value, with_value), Bounds::Unknown);
        Ok(Arc::new(BytesColumn { info, presence, strings }))
    }
}

fn info(field: &Field, docs: u32, (with_value, values): (u64, u64), bounds: Bounds) -> ColumnInfo {
    let (with_value, value_count) = (Count::Exact(with_value), Count::Exact(values));
    ColumnInfo { field: field.clone(), docs, with_value, value_count, bounds, sum: None }
}

/// What is known of the doc values of a field; `None` if it has none in this segment. `original` are the fields that the
/// segment was written with.
fn state(
    files: &SegmentFiles<'_>,
    field: &FieldInfo,
    (original, fields): (&[FieldInfo], &[FieldInfo]),
    commit: &SegmentCommit,
    sets: &mut FileSets,
) -> Result<Option<State>> {
    let Some((format, suffix)) = field.format.as_ref().filter(|_| field.doc_values.is_some()) else {
        return Ok(None);
    };
    if commit.overlaid.contains(&field.number) {
        return Ok(Some(State::Overlays));
    }
    let Some(layout) = Layout::of_format(format) else { return Ok(Some(State::Format(format.clone()))) };
    let suffix = format!("{format}_{suffix}");
    if !is_suffix(&suffix) {
        let path = format!("{}/{}", files.files.path(), files.segment);
        return Err(Error::new(path, 0, ErrorKind::FileName(suffix)));
    }
    let (files, entries) = match sets.entry((field.generation, suffix)) {
        btree_map::Entry::Occupied(opened) => opened.into_mut(),
        btree_map::Entry::Vacant(vacant) => {
            let (generation, suffix) = vacant.key();
            let (is_original, later) = (*generation < 0, format!("{}_{suffix}", to_base_36(*generation)));
            let (suffix, fields) = if is_original { (suffix, original) } else { (&later, fields) };
            let (set, entries) = FileSet::open(files, layout, (suffix.as_str(), is_original), fields)?;
            vacant.insert((Arc::new(set), entries))
        }
    };
    // A field may have no values of its type.
    let Some(entry) = entries.remove(&field.number) else { return Ok(None) };
    let (kind, logical) = match &entry.values {
        Values::Bytes(_) => (Kind::Binary, LogicalType::Bytes),
        Values::Numbers(NumbersEntry { addresses, terms, .. }) => {
            match (terms.is_some(), addresses.is_some()) {
                (false, false) => (Kind::Numeric, LogicalType::I64),
                (false, true) => (Kind::SortedNumeric, LogicalType::I64),
                (true, false) => (Kind::Sorted, LogicalType::Utf8),
                (true, true) => (Kind::SortedSet, LogicalType::Utf8),
            }
        }
    };
    let field = Field::new(field.name.as_str(), kind, logical);
    let (files, column) = (Arc::clone(files), OnceLock::new());
    Ok(Some(State::Readable(Box::new(Readable { field, files, entry, column }))))
}

impl ColumnSource for Segment {
    fn docs(&self) -> u32 {
        self.info.docs
    }

    fn fields(&self) -> docvalues_column::Result<Vec<Field>> {
        let readable = self.fields.values().filter_map(|state| match state {
            State::Readable(readable) => Some(readable.field.clone()),
            _ => None,
        });
        Ok(readable.collect())
    }

    fn column(&self, name: &str) -> docvalues_column::Result<Arc<dyn Column>> {
        match self.fields.get(name) {
            Some(State::Readable(readable)) => {
                self.open_column(readable).map_err(|error| error.of_column(Some(name)))
            }
            Some(state) => Err(self.refuse(name, state).into()),
            None => {
                let (file, field) = (self.path.clone(), name.to_owned());
                Err(docvalues_column::ErrorKind::NoSuchColumn { file, field }.into())
            }
        }
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (docs, fields) = (self.info.docs, self.fields.keys());
        let fields: Vec<&String> = fields.collect();
        let mut shown = f.debug_struct("Segment");
        shown.field("path", &self.path).field("docs", &docs).field("fields", &fields).finish_non_exhaustive()
    }
}
