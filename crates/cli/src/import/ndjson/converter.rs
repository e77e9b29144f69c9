//! Converts the lines of a chunk of NDJSON, column by column.
//!
//! It accepts only rows that [`NdjsonRows`](super::NdjsonRows) accepts, with the same values, and of these only usual ones:
//! all fields are known and have types. It finds no place of a mistake, reads each byte once, and copies only values.

use std::borrow::Cow;

use memchr::memchr;
use serde::de::IgnoredAny;

use super::key_tree::{KeyTree, NodeId, is_usual};
use super::tokens::{number_end, string_end};
use crate::import::chunk_reader::CHUNK;
use crate::import::column::{Column, Missing};
use crate::import::row::{Fields, Form};
use crate::import::row_batch::RowBatch;

/// The most rows without a value to add to columns for each of the first [`CHUNK`] bytes of a chunk, so that columns with
/// few values take little memory.
const MAX_GAPS: usize = 2;

/// The most empty objects of a row whose keys are not in the tree.
const MAX_EMPTY: usize = 16;

/// The conversion of the chunks of a file.
pub(crate) struct NdjsonConverter {
    keys: KeyTree,
}

impl NdjsonConverter {
    /// The conversion of rows that have these fields.
    pub(crate) fn new(fields: &Fields) -> NdjsonConverter {
        NdjsonConverter { keys: KeyTree::new(fields) }
    }

    /// Converts all rows, and returns the number of line ends; `None` if a row is unusual or has a mistake.
    pub(crate) fn rows(&self, text: &str, columns: &mut [Column], batch: &mut RowBatch) -> Option<u64> {
        let mut chunk = ChunkRows {
            keys: &self.keys,
            text,
            at: 0,
            columns,
            batch,
            seen: vec![Seen::default(); self.keys.len()],
            empty: Vec::new(),
            gaps: MAX_GAPS * text.len().min(CHUNK),
        };
        let mut line_ends = 0;
        while chunk.at < text.len() {
            line_ends += u64::from(chunk.line()?);
        }
        chunk.fill()?;
        Some(line_ends)
    }
}

/// The row and the neighbours of a key when it was last read. They predict the next key: most objects have the keys of the object
/// before, in the same order.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of the last row that has the key, from 1.
    row: u32,
    /// The first key of its object. The root is no key.
    first: NodeId,
    /// The next key of the same object.
    next: NodeId,
}

/// A scalar. Its parts stay in registers, unlike those of a `Cow`.
#[derive(Clone, Copy)]
struct Scalar<'c> {
    form: Form,
    /// The text; of a string, what is between its quotes.
    text: &'c str,
    has_escapes: bool,
}

/// The rows of a chunk while they are converted.
struct ChunkRows<'c> {
    keys: &'c KeyTree,
    text: &'c str,
    /// The place of the next byte.
    at: usize,
    columns: &'c mut [Column],
    batch: &'c mut RowBatch,
    /// For each node of `keys`.
    seen: Vec<Seen>,
    /// The keys of the row that are not in the tree, each with its object.
    empty: Vec<(NodeId, Cow<'c, str>)>,
    /// The number of rows without a value that may still be added to columns.
    gaps: usize,
}

impl<'c> ChunkRows<'c> {
    /// Reads a line, which may be blank. Returns whether it ends before the chunk does.
    fn line(&mut self) -> Option<bool> {
        self.skip_blanks();
        if self.take(b'{').is_some() {
            self.empty.clear();
            self.object(KeyTree::ROOT)?;
            self.batch.docs += 1;
            self.skip_blanks();
        }
        if self.at == self.text.len() {
            return Some(false);
        }
        self.take(b'\n')?;
        Some(true)
    }

    /// Reads the rest of an object, after its bracket.
    fn object(&mut self, object: NodeId) -> Option<()> {
        self.skip_blanks();
        if self.take(b'}').is_some() {
            return Some(());
        }
        let mut before: Option<NodeId> = None;
        loop {
            let predicted = match before {
                None => self.seen.get(object)?.first,
                Some(before) => self.seen.get(before)?.next,
            };
            match self.keys.starts(self.rest(), predicted) {
                Some(len) => {
                    self.at += len;
                    self.known(predicted)?;
                    before = Some(predicted);
                }
                None => {
                    let key = self.string()?;
                    match self.keys.child(object, &key) {
                        Some(node) => {
                            match before {
                                None => self.seen.get_mut(object)?.first = node,
                                Some(before) => self.seen.get_mut(before)?.next = node,
                            }
                            self.known(node)?;
                            before = Some(node);
                        }
                        None => self.unknown(object, key)?,
                    }
                }
            }
            self.skip_blanks();
            if self.take(b'}').is_some() {
                return Some(());
            }
            self.take(b',')?;
            self.skip_blanks();
        }
    }

    /// Reads the value of a key of the tree, which the row must not have already.
    #[inline]
    fn known(&mut self, node: NodeId) -> Option<()> {
        let row = self.batch.docs + 1;
        if std::mem::replace(&mut self.seen.get_mut(node)?.row, row) == row {
            return None;
        }
        self.colon()?;
        match self.rest().first()? {
            b'{' => {
                self.at += 1;
                self.object(node)
            }
            b'[' => self.array(self.keys.field(node)?),
            _ => {
                let Scalar { form, text, has_escapes } = self.scalar()?;
                let field = self.keys.field(node)?;
                if has_escapes {
                    let text = self.unescaped(text)?;
                    return self.add(field, form, &text);
                }
                self.add(field, form, text)
            }
        }
    }

    /// Reads the value of a key that is not in the tree: an empty object, which is no field.
    fn unknown(&mut self, object: NodeId, key: Cow<'c, str>) -> Option<()> {
        self.colon()?;
        self.take(b'{')?;
        self.skip_blanks();
        self.take(b'}')?;
        let again = (object, key);
        if !is_usual(&again.1) || self.empty.len() == MAX_EMPTY || self.empty.contains(&again) {
            return None;
        }
        self.empty.push(again);
        Some(())
    }

    /// Reads an array, the value of a field.
    fn array(&mut self, field: usize) -> Option<()> {
        let Column { excluded, ty, .. } = *self.columns.get(field)?;
        if excluded {
            return self.skip_array();
        }
        self.at += 1;
        self.skip_blanks();
        if self.take(b']').is_some() {
            self.columns.get_mut(field)?.observe_missing(Missing::EmptyArray);
            return Some(());
        }
        let ty = ty.filter(|ty| ty.multi)?;
        self.gaps = self.gaps.checked_sub(self.batch.columns.get_mut(field)?.fill(self.batch.docs, ty))?;
        loop {
            let Scalar { form, text, has_escapes } = self.scalar()?;
            if form == Form::Null {
                return None;
            }
            let text = if has_escapes { Cow::Owned(self.unescaped(text)?) } else { Cow::Borrowed(text) };
            let (column, values) = (self.columns.get_mut(field)?, self.batch.columns.get_mut(field)?);
            let value = values.convert(column, ty, form, &text)?;
            column.reordered |= !values.push_element(value);
            self.skip_blanks();
            if self.take(b']').is_some() {
                break;
            }
            self.take(b',')?;
            self.skip_blanks();
        }
        self.columns.get_mut(field)?.documents += 1;
        self.batch.columns.get_mut(field)?.end_list();
        Some(())
    }

    /// Skips an array with any values, which ends on its line.
    fn skip_array(&mut self) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let array = rest.get(..values.byte_offset())?;
        self.at += array.len();
        memchr(b'\n', array.as_bytes()).is_none().then_some(())
    }

    /// Adds the value of a field, which is no array.
    #[inline]
    fn add(&mut self, field: usize, form: Form, text: &str) -> Option<()> {
        let column = self.columns.get_mut(field)?;
        if column.excluded {
            return Some(());
        }
        if form == Form::Null {
            column.observe_missing(Missing::Null);
            return Some(());
        }
        let (ty, row) = (column.ty?, self.batch.docs);
        let values = self.batch.columns.get_mut(field)?;
        self.gaps = self.gaps.checked_sub(values.fill(row, ty))?;
        let value = values.convert(column, ty, form, text)?;
        column.documents += 1;
        if ty.multi {
            values.push_element(value);
            values.end_list();
        } else {
            values.push(row, Some(value), ty.logical.is_bytes());
        }
        Some(())
    }

    /// Fills the columns with rows without a value, up to the last row.
    fn fill(&mut self) -> Option<()> {
        for (values, column) in self.batch.columns.iter_mut().zip(&*self.columns) {
            if let Some(ty) = column.ty.filter(|_| values.has_values()) {
                self.gaps = self.gaps.checked_sub(values.fill(self.batch.docs, ty))?;
            }
        }
        Some(())
    }

    /// Reads a scalar.
    #[inline(always)]
    fn scalar(&mut self) -> Option<Scalar<'c>> {
        let (form, len) = match self.rest() {
            [b'"', ..] => {
                let (text, has_escapes) = self.quoted()?;
                return Some(Scalar { form: Form::Str, text, has_escapes });
            }
            [b't', b'r', b'u', b'e', ..] => (Form::Bool, 4),
            [b'f', b'a', b'l', b's', b'e', ..] => (Form::Bool, 5),
            [b'n', b'u', b'l', b'l', ..] => (Form::Null, 4),
            rest => (Form::Number, number_end(rest, 0)?),
        };
        let text = self.text.get(self.at..self.at + len)?;
        self.at += len;
        Some(Scalar { form, text, has_escapes: false })
    }

    /// Reads a string and returns its text.
    fn string(&mut self) -> Option<Cow<'c, str>> {
        let (text, has_escapes) = self.quoted()?;
        Some(if has_escapes { Cow::Owned(self.unescaped(text)?) } else { Cow::Borrowed(text) })
    }

    /// Reads a string and returns what is between its quotes, and whether that has escapes.
    #[inline(always)]
    fn quoted(&mut self) -> Option<(&'c str, bool)> {
        self.take(b'"')?;
        let start = self.at;
        let (end, has_escapes) = string_end(self.text.as_bytes(), start)?;
        self.at = end + 1;
        Some((self.text.get(start..end)?, has_escapes))
    }

    /// The text of the string that was just read, and has this between its quotes.
    #[cold]
    fn unescaped(&self, quoted: &str) -> Option<String> {
        let start = self.at.checked_sub(quoted.len() + 2)?;
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }

    /// Reads the colon after a key.
    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.skip_blanks();
        self.take(b':')?;
        self.skip_blanks();
        Some(())
    }

    /// Reads the next byte if it is this one.
    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        let is_next = self.rest().first() == Some(&byte);
        self.at += usize::from(is_next);
        is_next.then_some(())
    }

    /// Skips blanks within a line.
    #[inline]
    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.rest().first() {
            self.at += 1;
        }
    }

    /// The bytes that are not read yet.
    #[inline]
    fn rest(&self) -> &'c [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "converter/tests.rs"]
mod tests;
