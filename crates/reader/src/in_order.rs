//! Are the documents in the order that the file says?

use std::cmp::Ordering;
use std::ops::Range;

use docvalues_column::{AnyColumn, ColumnSource as _, DocId, Error, Lists, Result, SortKey, TermOrd, bits};
use docvalues_format::error::{self, ErrorKind, Place, Section as Role};
use docvalues_format::file::sort::SORT_TAG;

use crate::core::{BATCH, corrupt};
use crate::segment::Segment;

impl Segment {
    /// Proves that the documents are in the order that the file says, if it says one.
    ///
    /// O(documents × keys), but for keys by which all documents are equal.
    pub(crate) fn check_sort(&self) -> Result<()> {
        let mut keys = Vec::new();
        for key in self.sort() {
            keys.extend(self.sort_key(key)?);
        }
        if keys.is_empty() {
            return Ok(());
        }
        // The last document of a stretch is the first of the next one.
        let step = u32::try_from(BATCH - 1).unwrap_or(u32::MAX);
        for start in (0..self.docs()).step_by(BATCH - 1) {
            let docs = start..self.docs().min(start.saturating_add(step).saturating_add(1));
            if let Some((doc, key)) = first_out_of_order(&mut keys, docs)? {
                return Err(self.no_sort(key, ErrorKind::Unsorted { doc }));
            }
        }
        Ok(())
    }

    /// The column of a key; `None` if no two documents differ by it.
    fn sort_key<'a>(&self, key: &'a SortKey) -> Result<Option<Key<'a>>> {
        let refuse = |what| Err(self.no_sort(key, ErrorKind::Broken(what)));
        let column = match self.column(&key.column) {
            Ok(column) => column,
            Err(error) if matches!(error.kind(), docvalues_column::ErrorKind::NoSuchColumn { .. }) => {
                return refuse("the segment is sorted by a column that it does not have");
            }
            Err(error) => return Err(error),
        };
        let one_value = match &column {
            AnyColumn::Numeric(column) => column.bounds().is_none_or(|ends| ends.start() == ends.end()),
            AnyColumn::Sorted(column) => column.term_count() <= 1,
            AnyColumn::Binary(_) => false,
            AnyColumn::SortedNumeric(_) | AnyColumn::SortedSet(_) => {
                return refuse("the segment is sorted by a column with several values a document");
            }
        };
        let with_value = column.as_column().docs_with_value();
        let equal = with_value == 0 || one_value && with_value == self.docs();
        Ok((!equal).then(|| Key { key, column, values: Values::default() }))
    }

    /// What is wrong with the sort, or with the documents by one of its keys.
    #[cold]
    fn no_sort(&self, key: &SortKey, kind: ErrorKind) -> Error {
        let nowhere = Place { section: Role::DirectoryRoot, offset: self.footer().root_offset };
        let place = self.root().extra(SORT_TAG, self.footer()).map_or(nowhere, |(place, _)| place);
        corrupt(self.file(), Some(&key.column), error::Error::at(place, 0, kind))
    }
}

/// A column that documents are sorted by.
struct Key<'a> {
    key: &'a SortKey,
    column: AnyColumn,
    values: Values,
}

/// The values of some documents, by kind.
#[derive(Default)]
struct Values {
    present: Vec<u64>,
    numbers: Vec<i64>,
    ords: Vec<TermOrd>,
    strings: Lists<u8>,
}

/// The first of `docs` that belongs before the one in front of it, and the key that says so.
fn first_out_of_order<'a>(keys: &mut [Key<'a>], docs: Range<u32>) -> Result<Option<(u32, &'a SortKey)>> {
    let ids: Vec<DocId> = docs.clone().map(DocId::new).collect();
    // Those that are equal to the one before by all keys so far.
    let mut equal: Vec<usize> = (1..ids.len()).collect();
    let mut first = None;
    for key in keys {
        if equal.is_empty() {
            break;
        }
        key.read(&ids)?;
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
    Ok(first.map(|(at, key)| (ids[at].get(), key)))
}

impl Key<'_> {
    fn read(&mut self, docs: &[DocId]) -> Result<()> {
        let Values { present, numbers, ords, strings } = &mut self.values;
        present.resize(docs.len().div_ceil(64), 0);
        match &self.column {
            AnyColumn::Numeric(column) => {
                numbers.resize(docs.len(), 0);
                column.gather(docs, numbers, present)
            }
            AnyColumn::Sorted(column) => {
                ords.resize(docs.len(), TermOrd::new(0));
                column.gather(docs, ords, present)
            }
            AnyColumn::Binary(column) => column.gather(docs, strings, present),
            AnyColumn::SortedNumeric(_) | AnyColumn::SortedSet(_) => Ok(()),
        }
    }

    /// How two of the documents that were read compare.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let Values { present, numbers, ords, strings } = &self.values;
        let missing = match (bits::get(present, a), bits::get(present, b)) {
            (true, true) => {
                let order = match &self.column {
                    AnyColumn::Numeric(_) => numbers[a].cmp(&numbers[b]),
                    AnyColumn::Sorted(_) => ords[a].cmp(&ords[b]),
                    _ => strings.get(a).cmp(strings.get(b)),
                };
                return if self.key.descending { order.reverse() } else { order };
            }
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => Ordering::Equal,
        };
        if self.key.missing_first { missing.reverse() } else { missing }
    }
}
