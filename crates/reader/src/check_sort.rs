//! Proof that the documents are in the order of the index sort.

use std::cmp::Ordering;
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, ColumnSource as _, DocRange, Error, Gathered, Result, SortKey, TermOrd, Values,
};
use docvalues_format::error::{self, ErrorKind, Place, Section as Role};
use docvalues_format::file::sort::SORT_TAG;

use crate::column::{BATCH, corrupt};
use crate::segment::Segment;

impl Segment {
    /// Checks that the documents are in the order of the index sort, if there is one.
    ///
    /// O(documents × keys). Keys that are equal for all documents are skipped.
    pub(crate) fn check_sort(&self) -> Result<()> {
        let mut keys = Vec::new();
        for key in self.sort() {
            keys.extend(self.sort_key(key)?);
        }
        if keys.is_empty() {
            return Ok(());
        }
        for docs in DocRange::new(0, self.docs()).chunks(BATCH - 1) {
            // The last document of a chunk is compared with the first of the next one.
            let docs = DocRange::new(docs.start, docs.end.saturating_add(1).min(self.docs()));
            if let Some((doc, key)) = first_out_of_order(&mut keys, docs)? {
                return Err(self.sort_error(key, ErrorKind::Unsorted { doc }));
            }
        }
        Ok(())
    }

    /// The column of a key; `None` if the key is equal for all documents.
    fn sort_key<'a>(&self, key: &'a SortKey) -> Result<Option<Key<'a>>> {
        let refuse = |what| Err(self.sort_error(key, ErrorKind::Broken(what)));
        let column = match self.column(&key.column) {
            Ok(column) => column,
            Err(error) if matches!(error.kind(), docvalues_column::ErrorKind::NoSuchColumn { .. }) => {
                return refuse("the index sort has a key whose column does not exist");
            }
            Err(error) => return Err(error),
        };
        let info = column.info();
        if info.is_multi_valued() {
            return refuse("the index sort has a key whose column is multi-valued");
        }
        let (one_value, values) = match column.values() {
            Values::Numbers(_) => {
                let bounds = info.bounds.range();
                (bounds.start() == bounds.end(), Read::Numbers(Gathered::new()))
            }
            Values::Ords(_, terms) => (terms.term_count() <= 1, Read::Ords(Gathered::new())),
            Values::Bytes(_) => (false, Read::Bytes(Gathered::new())),
        };
        let equal = info.with_value.most() == 0 || one_value && info.all_present();
        Ok((!equal).then_some(Key { key, column, values }))
    }

    /// The error for an index sort that is broken, or that the documents do not follow.
    #[cold]
    fn sort_error(&self, key: &SortKey, kind: ErrorKind) -> Error {
        let nowhere = Place { section: Role::DirectoryRoot, offset: self.footer().root_offset };
        let place = self.root().extension(SORT_TAG, self.footer()).map_or(nowhere, |(place, _)| place);
        corrupt(self.file(), Some(&key.column), error::Error::at(place, 0, kind))
    }
}

/// A sort key, its column, and the values of the documents that were read last.
struct Key<'a> {
    key: &'a SortKey,
    column: Arc<dyn Column>,
    values: Read,
}

/// The values of a run of documents.
enum Read {
    Numbers(Gathered<i64>),
    Ords(Gathered<TermOrd>),
    Bytes(Gathered<u8>),
}

/// The first of `docs` that sorts before its predecessor, and the key by which it does.
fn first_out_of_order<'a>(keys: &mut [Key<'a>], docs: DocRange) -> Result<Option<(u32, &'a SortKey)>> {
    // The documents that are equal to their predecessors by all keys so far.
    let mut equal: Vec<usize> = (1..docs.len()).collect();
    let mut first = None;
    for key in keys {
        if equal.is_empty() {
            break;
        }
        key.read(docs)?;
        equal.retain(|&at| match key.compare(at - 1, at) {
            Ordering::Less => false,
            Ordering::Equal => true,
            Ordering::Greater => {
                if first.is_none_or(|(before, _)| at < before) {
                    first = Some((at, key.key));
                }
                false
            }
        });
    }
    Ok(first.and_then(|(at, key)| Some((docs.iter().nth(at)?.get(), key))))
}

impl Key<'_> {
    fn read(&mut self, docs: DocRange) -> Result<()> {
        let docs = BatchDocs::Run(docs);
        match (self.column.values(), &mut self.values) {
            (Values::Numbers(rows), Read::Numbers(read)) => rows.gather(docs, read),
            (Values::Ords(rows, _), Read::Ords(read)) => rows.gather(docs, read),
            (Values::Bytes(rows), Read::Bytes(read)) => rows.gather(docs, read),
            // The kind of a column's values never changes.
            _ => Ok(()),
        }
    }

    /// Compares two of the documents that were read.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        match &self.values {
            Read::Numbers(read) => self.key.compare(read.row(a), read.row(b)),
            Read::Ords(read) => self.key.compare(read.row(a), read.row(b)),
            Read::Bytes(read) => self.key.compare(read.row(a), read.row(b)),
        }
    }
}
