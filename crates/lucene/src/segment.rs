//! A segment of an index: a source of columns.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::fmt;
use std::sync::Arc;

use docvalues_column::{Bitset, Column, ColumnSource, DocId, DocRange, Field, LiveDocs};

use crate::commit::SegmentCommit;
use crate::compound::Compound;
use crate::doc_values::{Entry, Layout};
use crate::engine::{Engine, is_internal};
use crate::error::{Error, ErrorKind, Result};
use crate::field_infos::{self, FieldInfo};
use crate::file_set::{FileSet, SegmentFiles};
use crate::files::{Files, segment_file, to_base_36};
use crate::live_docs;
use crate::lookup::Lookup;
use crate::options::Options;
use crate::readable::{Layer, Readable};
use crate::segment_info::{self, SegmentInfo};
use crate::types::{stored_as, usual};

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
///
/// Other types: see [`FieldType`](crate::FieldType).
///
/// # Examples
///
/// See [`Index`](crate::Index).
pub struct Segment {
    /// The path of its files, without their endings.
    path: String,
    name: String,
    codec: String,
    info: SegmentInfo,
    options: Options,
    fields: BTreeMap<String, State>,
    /// The field that marks soft deletes.
    marker: Option<String>,
    live: Option<Arc<LiveDocs>>,
    lookup: Lookup,
    /// All files of doc values, also those of fields that are not read.
    file_sets: Vec<Arc<FileSet>>,
}

/// A field with doc values.
enum State {
    Readable(Box<Readable>),
    /// What is read of it: nothing. The words name its format.
    Format(String),
    Overlays,
}

/// The doc values that were opened so far, by generation and suffix.
type FileSets = BTreeMap<(i64, String), (Arc<FileSet>, BTreeMap<i32, Entry>)>;

impl Segment {
    /// Opens a segment of a commit.
    pub(crate) fn open(
        files: &Files,
        commit: &SegmentCommit,
        settings: (Engine, &Options),
    ) -> Result<Segment> {
        let file = files.open(&segment_file(&commit.name, "", "si"))?;
        let info = segment_info::read(&file, commit.layout, &commit.id)?;
        let lucene = info.lucene;
        Segment::with_info(files, commit, info, settings).map_err(|error| error.of_release(lucene))
    }

    /// Opens the other files of a segment.
    fn with_info(
        files: &Files,
        commit: &SegmentCommit,
        info: SegmentInfo,
        (engine, options): (Engine, &Options),
    ) -> Result<Segment> {
        let name = commit.name.as_str();
        let path = files.path_of(name);
        let (order, id) = (commit.layout.order(), &commit.id);
        let open = |extension| files.open(&segment_file(name, "", extension));
        let mut compound = None;
        if info.is_compound {
            compound = Some(Arc::new(Compound::open(&open("cfe")?, &open("cfs")?, order, id)?));
        }
        let files = SegmentFiles { files: files.clone(), segment: name.to_owned(), id: *id, compound };
        let original = field_infos::read(&files.original("", "fnm")?, id, "")?;
        let mut later = None;
        if commit.fields_generation >= 0 {
            let suffix = to_base_36(commit.fields_generation);
            later = Some(field_infos::read(&files.later(&suffix, "fnm")?, id, &suffix)?);
        }
        let fields = later.as_ref().unwrap_or(&original);
        let lookup = Lookup::new(&files, (engine, options), &info, &original);
        let mut segment = Segment {
            path,
            name: name.to_owned(),
            codec: commit.codec.clone(),
            info,
            options: options.clone(),
            fields: BTreeMap::new(),
            marker: fields.iter().find(|field| field.marks_soft_deletes).map(|field| field.name.clone()),
            live: None,
            lookup,
            file_sets: Vec::new(),
        };
        let numbers = original.iter().map(|field| (field.number, field)).collect();
        let (files, original, sets) = (&files, &original[..], BTreeMap::new());
        let mut opening = Opening { files, original, numbers, fields, commit, sets };
        for field in fields {
            let state = opening.state(field, (engine, options))?;
            segment.fields.extend(state.map(|state| (field.name.clone(), state)));
        }
        segment.file_sets = opening.sets.into_values().map(|(files, _)| files).collect();
        let mut live = None;
        if commit.live_docs_generation >= 0 {
            let suffix = to_base_36(commit.live_docs_generation);
            let file = files.later(&suffix, "liv")?;
            live = Some(live_docs::read(&file, order, (id, &suffix), segment.info.docs, commit.deleted)?);
        }
        if !options.keeps_soft_deletes
            && let Some(name) = &segment.marker
        {
            segment.hide(name, &mut live)?;
        }
        segment.live = live.filter(|live| !live.is_all()).map(|live| Arc::new(LiveDocs::from(&live)));
        Ok(segment)
    }

    /// The fields of lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &str> {
        let fields = self.readable().map(|readable| &readable.field);
        fields.filter(|field| field.kind.is_multi_valued()).map(|field| field.name.as_str())
    }

    /// Reads these fields as lists, also if they have single values here.
    pub(crate) fn read_as_lists(&mut self, names: &BTreeSet<String>) {
        for (name, state) in &mut self.fields {
            if let State::Readable(readable) = state
                && names.contains(name)
            {
                readable.read_as_lists();
            }
        }
    }

    /// Removes the documents that have a value of this field from `live`.
    fn hide(&self, name: &str, live: &mut Option<Bitset>) -> Result<()> {
        let Some(state) = self.fields.get(name) else { return Ok(()) };
        let State::Readable(readable) = state else {
            return Err(self.refuse(name, state));
        };
        let docs = self.info.docs;
        let all = DocRange::new(0, docs);
        for layer in readable.layers() {
            let presence = layer.presence(docs, &self.options)?;
            if presence.values() > 0 {
                let mut words = vec![0; all.words()];
                presence.exists(all, &mut words)?;
                live.get_or_insert_with(|| Bitset::all(docs)).subtract(&Bitset::from_words(words, docs));
            }
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

    /// The fields that an engine keeps for itself, such as `_version_`: columns as others, but not among those of
    /// [`fields`](ColumnSource::fields).
    pub fn internal_fields(&self) -> impl Iterator<Item = &Field> {
        self.readable().map(|readable| &readable.field).filter(|field| self.is_internal(&field.name))
    }

    /// The bytes that the doc values of a field take, if they are read.
    pub fn bytes_of(&self, name: &str) -> Option<u64> {
        let State::Readable(readable) = self.fields.get(name)? else { return None };
        Some(readable.layers().fold(0, |bytes, layer| bytes.saturating_add(layer.entry.bytes())))
    }

    /// Whether terms of a field can be looked up, as far as its format is read.
    pub fn is_indexed(&self, field: &str) -> bool {
        self.lookup.field(field).is_some()
    }

    /// The documents with a term of an indexed field, ascending, whether they are live or not: for terms of few documents, such
    /// as ids. O(length of the term, and terms of a block); at the first call, also O(fields, and bytes of files up to 64 MiB, as
    /// their checksums are compared).
    ///
    /// # Errors
    ///
    /// If the format of the field or a version of its files is not read, the term has as many documents as a block of postings
    /// (128, or 256 from Lucene 10.4 on), or bytes are damaged or missing.
    pub fn find_term(&self, field: &str, term: &[u8]) -> Result<Vec<DocId>> {
        self.lookup.find(field, term)
    }

    /// As [`find_term`](Self::find_term), of an id as users know it. Elasticsearch and OpenSearch encode those of `_id`, and give
    /// the one of a document to those that are nested in it: these are left out.
    ///
    /// # Errors
    ///
    /// As [`find_term`](Self::find_term).
    pub fn find_id(&self, field: &str, id: &str) -> Result<Vec<DocId>> {
        let docs = self.find_term(field, &self.lookup.term(field, id))?;
        if docs.len() > 1 && self.lookup.is_elastic(field) { self.roots(docs) } else { Ok(docs) }
    }

    /// The documents that are not nested: Elasticsearch and OpenSearch give only these a primary term.
    fn roots(&self, docs: Vec<DocId>) -> Result<Vec<DocId>> {
        let Some(State::Readable(primary_term)) = self.fields.get("_primary_term") else { return Ok(docs) };
        let mut roots = BTreeSet::new();
        for layer in primary_term.layers() {
            let presence = layer.presence(self.info.docs, &self.options)?;
            for doc in &docs {
                if presence.rank(*doc)?.is_some() {
                    roots.insert(*doc);
                }
            }
        }
        Ok(roots.into_iter().collect())
    }

    fn is_internal(&self, name: &str) -> bool {
        is_internal(name) || self.marker.as_deref() == Some(name)
    }

    /// The fields whose doc values are read.
    fn readable(&self) -> impl Iterator<Item = &Readable> {
        self.fields.values().filter_map(|state| match state {
            State::Readable(readable) => Some(&**readable),
            _ => None,
        })
    }

    /// The bytes of all files of doc values.
    pub fn bytes(&self) -> u64 {
        self.file_sets.iter().map(|files| files.bytes()).sum()
    }

    /// Compares the checksums of all files of doc values and terms whose format is read, but not of skip indexes if no field has
    /// one. O(their length).
    ///
    /// # Errors
    ///
    /// If a checksum differs, or a file of terms is missing.
    pub fn verify(&self) -> Result<()> {
        self.file_sets.iter().try_for_each(|files| files.verify())?;
        self.lookup.verify()
    }
}

/// What the fields of a segment are opened from.
struct Opening<'a> {
    files: &'a SegmentFiles,
    /// The fields that the segment was written with, and those that it has now.
    original: &'a [FieldInfo],
    /// Those that it was written with, by their numbers.
    numbers: BTreeMap<i32, &'a FieldInfo>,
    fields: &'a [FieldInfo],
    commit: &'a SegmentCommit,
    sets: FileSets,
}

impl Opening<'_> {
    /// What is known of the doc values of a field; `None` if it has none in this segment.
    fn state(&mut self, field: &FieldInfo, (engine, options): (Engine, &Options)) -> Result<Option<State>> {
        let Some(((format, suffix), doc_values)) = field.format.as_ref().zip(field.doc_values) else {
            return Ok(None);
        };
        let Some(layout) = Layout::of_format(format) else {
            return Ok(Some(State::Format(format.clone())));
        };
        let suffix = format!("{format}_{suffix}");
        self.files.check_suffix(&suffix)?;
        let of_type = match options.types.get(&field.name) {
            None => usual(engine, field, doc_values),
            Some(wanted) => stored_as(*wanted, doc_values).ok_or_else(|| {
                let (field, asked, found) =
                    (field.name.clone(), wanted.name(), field_infos::name_of(doc_values));
                self.files.error("fnm", ErrorKind::Type { field, asked, found })
            })?,
        };
        let mut overlays = Vec::new();
        let base = match self.commit.overlays.get(&field.number) {
            None => self.layer(layout, (field.generation, &suffix), field.number)?,
            Some(generations) => {
                for generation in generations.later.iter().rev() {
                    overlays.extend(self.layer(layout, (*generation, &suffix), field.number)?);
                }
                // An overlay may have added the field.
                let written = self.numbers.get(&field.number);
                let was_there =
                    written.is_some_and(|other| other.doc_values.is_some() && other.format == field.format);
                match generations.base >= 0 || was_there {
                    true => self.layer(layout, (generations.base, &suffix), field.number)?,
                    false => None,
                }
            }
        };
        // A field may have no values of its type.
        if base.is_none() && overlays.is_empty() {
            return Ok(None);
        }
        let readable = Readable::new(&field.name, of_type, base, overlays);
        Ok(Some(readable.map_or(State::Overlays, |readable| State::Readable(Box::new(readable)))))
    }

    /// The doc values of a field in the files of a generation, if they have some.
    fn layer(
        &mut self,
        layout: Layout,
        (generation, suffix): (i64, &str),
        number: i32,
    ) -> Result<Option<Layer>> {
        let (files, entries) = match self.sets.entry((generation, suffix.to_owned())) {
            btree_map::Entry::Occupied(opened) => opened.into_mut(),
            btree_map::Entry::Vacant(vacant) => {
                let (is_original, later) = (generation < 0, format!("{}_{suffix}", to_base_36(generation)));
                let (suffix, fields) =
                    if is_original { (suffix, self.original) } else { (&*later, self.fields) };
                let (set, entries) = FileSet::open(self.files, layout, (suffix, is_original), fields)?;
                vacant.insert((Arc::new(set), entries))
            }
        };
        let entry = entries.remove(&number);
        Ok(entry.map(|entry| Layer { files: Arc::clone(files), entry }))
    }
}

impl ColumnSource for Segment {
    fn docs(&self) -> u32 {
        self.info.docs
    }

    fn fields(&self) -> docvalues_column::Result<Vec<Field>> {
        let fields = self.readable().map(|readable| &readable.field);
        Ok(fields.filter(|field| !self.is_internal(&field.name)).cloned().collect())
    }

    fn column(&self, name: &str) -> docvalues_column::Result<Arc<dyn Column>> {
        match self.fields.get(name) {
            Some(State::Readable(readable)) => readable.open(self.info.docs, &self.options),
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
