//! Terms and their documents: looking up a term that few documents have, such as an id.
//!
//! ```text
//! .tip   an index of prefixes: an FST, or from Lucene 10.3 on a trie; it leads to
//! .tim   blocks of terms, each with what is known of its documents; a single one is there itself, others are in
//! .doc   lists of documents
//! .tmd   where the index of each field is; up to Lucene 8.5, this is at the ends of .tim and .tip
//! ```
//!
//! Lists of as many documents as a block of postings has, 128 or 256, are not read.

mod block;
mod fields;
mod format;
mod fst;
mod tail;
mod trie;
pub(crate) mod uid;

use std::borrow::Cow;

use docvalues_column::DocId;

use crate::bytes::Bytes;
use crate::envelope::{self, Contents};
use crate::error::{Error, ErrorKind, Result};
use crate::field_infos::FieldInfo;
use crate::file::Body;
use crate::file_set::SegmentFiles;
use crate::order::Order;

use fields::{FieldTerms, Fields, Index};
use format::{DOC, Format, bloom_filter};

/// The terms of the fields of one format and suffix.
#[derive(Debug)]
pub(crate) struct TermFiles {
    /// Format and suffix, as names of the files have them.
    pub(crate) suffix: String,
    format: Format,
    fields: Fields,
    tim: Body,
    tip: Body,
    /// Lists of documents. Lucene writes the file even if there are none.
    doc: Body,
}

/// What the index knows of a term: its block, and how many bytes of the term lead to it.
#[derive(Debug, PartialEq)]
struct Place<'t> {
    prefix: usize,
    block: u64,
    has_terms: bool,
    /// The list of other blocks of the same prefix, if there are any, and what follows it.
    floor: Option<Cow<'t, [u8]>>,
}

impl TermFiles {
    /// The format and suffix of the files with a field's terms: those of its postings, or of those that a Bloom filter wraps.
    pub(crate) fn names(
        files: &SegmentFiles,
        field: &FieldInfo,
        (format, suffix): (&str, &str),
    ) -> Result<(String, String)> {
        let suffix = format!("{format}_{suffix}");
        files.check_suffix(&suffix)?;
        let Some(name) = bloom_filter(format) else { return Ok((format.to_owned(), suffix)) };
        let (format, suffix) = format::delegate(files, field.number, name, &suffix)?;
        files.check_suffix(&suffix)?;
        Ok((format, suffix))
    }

    /// Opens the files of these [`names`](Self::names), which have the terms of `field`; `fields` are those of the segment.
    pub(crate) fn open(
        files: &SegmentFiles,
        field: &FieldInfo,
        (format, suffix): (String, String),
        (fields, verifies_all): (&[FieldInfo], bool),
    ) -> Result<TermFiles> {
        let found = Format::of(&format);
        let field = field.name.clone();
        let format = found.ok_or_else(|| files.error("fnm", ErrorKind::Postings { field, format }))?;
        let open = |extension: &str, contents: &[Contents]| -> Result<Body> {
            envelope::open(&files.original(&suffix, extension)?, contents, Some(&files.id), &suffix)
        };
        let tim = open("tim", &[format.contents("BlockTreeTermsDict")])?;
        let tip = open("tip", &[format.contents("BlockTreeTermsIndex")])?;
        let doc = open("doc", &DOC.map(|name| Contents { name, oldest: 0, newest: 1, order: format.order }))?;
        for body in [&tim, &tip, &doc] {
            envelope::verify_small(body, verifies_all)?;
        }
        let fields = if format.order == Order::Little || tim.version >= format::WITH_META {
            let file = files.original(&suffix, "tmd")?;
            let contents = [format.contents("BlockTreeTermsMeta")];
            let meta = envelope::open(&file, &contents, Some(&files.id), &suffix)?;
            fields::of_meta(&envelope::verified(meta)?, (&tim, &tip), &format, fields)?
        } else {
            fields::of_ends(&tim, &tip, &format, fields)?
        };
        Ok(TermFiles { suffix, format, fields, tim, tip, doc })
    }

    /// Compares the checksums of all files. O(their length).
    pub(crate) fn verify(&self) -> Result<()> {
        [&self.tim, &self.tip, &self.doc].into_iter().try_for_each(envelope::verify)
    }

    /// The documents with a term of the field with this number, ascending, whether they are live or not: of a segment of
    /// `docs` documents.
    pub(crate) fn find(&self, number: i32, term: &[u8], docs: u32) -> Result<Vec<DocId>> {
        let Some(field) = self.fields.of.get(&number) else { return Ok(Vec::new()) };
        if term < &field.min[..] || &field.max[..] < term {
            return Ok(Vec::new());
        }
        let place = self.place(field, term).ok_or_else(|| damaged(&self.tip, field.place.start))?;
        let block = usize::try_from(place.block).unwrap_or(0);
        let found = self.in_block(field, place, term).ok_or_else(|| damaged(&self.tim, block))?;
        let Some(found) = found else { return Ok(Vec::new()) };
        let (body, at, found) = match found.singleton {
            Some(doc) => (&self.tim, block, vec![doc]),
            None => {
                (&self.doc, usize::try_from(found.pointer).unwrap_or(0), self.listed(field, found, block)?)
            }
        };
        if found.iter().any(|doc| *doc >= docs) {
            return Err(body.broken(at, "a document of a term that is past the last one"));
        }
        Ok(found.into_iter().map(DocId::new).collect())
    }

    /// The documents of the list of a term that is in a block of `.tim`.
    fn listed(&self, field: &FieldTerms, found: block::Found, block: usize) -> Result<Vec<u32>> {
        if found.docs >= self.fields.block {
            return Err(self.tim.error(block, ErrorKind::ManyDocs { docs: found.docs }));
        }
        let start = usize::try_from(found.pointer).unwrap_or(usize::MAX);
        let bytes = self.doc.bytes().get(start..self.doc.place.end);
        let (tail, has_freqs) = (self.format.tail, field.has_freqs());
        let docs = bytes.and_then(|bytes| tail::read(Bytes(bytes), tail, found.docs, has_freqs));
        docs.ok_or_else(|| damaged(&self.doc, start))
    }

    /// Where the index leads; `None` if it is damaged.
    fn place(&self, field: &FieldTerms, term: &[u8]) -> Option<Place<'_>> {
        let nodes = self.tip.bytes().get(field.place.clone())?;
        match &field.index {
            Index::Fst(fst) => fst.find(nodes, term, self.format.has_msb(self.tim.version)),
            Index::Trie(trie) => trie.find(nodes, term),
        }
    }

    /// Looks for a term in its block; `None` if that is damaged.
    fn in_block(&self, field: &FieldTerms, place: Place<'_>, term: &[u8]) -> Option<Option<block::Found>> {
        let (mut start, mut has_terms) = (place.block, place.has_terms);
        let suffix = term.get(place.prefix..)?;
        if let Some(floor) = &place.floor
            && let Some(next) = suffix.first()
        {
            (start, has_terms) = floor_block(Bytes(floor), (start, has_terms), *next)?;
        }
        if !has_terms {
            return Some(None);
        }
        let bytes = self.tim.bytes().get(usize::try_from(start).ok()?..self.tim.place.end)?;
        let style = block::Style {
            has_suffix_areas: self.format.has_suffix_areas(self.tim.version),
            has_runs: self.format.has_runs(self.tim.version, self.fields.postings_version),
            has_skips: self.format.has_skips,
            block: self.fields.block,
            options: field.options,
            has_payloads: field.has_payloads,
        };
        block::find(Bytes(bytes), suffix, &style)
    }
}

#[cold]
fn damaged(body: &Body, at: usize) -> Error {
    body.broken(at, "damaged terms, or an index of them")
}

/// The block in which a term is whose first byte after the prefix is `next`: the last one that begins at or before it.
fn floor_block(mut floor: Bytes<'_>, first: (u64, bool), next: u8) -> Option<(u64, bool)> {
    let (mut found, count) = (first, floor.vint()?);
    // Each begins with another byte.
    if count > 256 {
        return None;
    }
    for _ in 0..count {
        let (label, code) = (floor.u8()?, floor.vlong()?);
        if next < label {
            break;
        }
        found = (first.0.checked_add(code >> 1)?, code & 1 == 1);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_blocks_begin_with_labels() {
        // Blocks at 100, 103 from "d" on, and 109 without terms from "m" on.
        let floor = [2, b'd', 3 << 1 | 1, b'm', 9 << 1];
        let of = |next| floor_block(Bytes(&floor), (100, true), next).unwrap();
        assert_eq!(
            [b'a', b'd', b'l', b'm', b'z'].map(of),
            [(100, true), (103, true), (103, true), (109, false), (109, false)]
        );
        assert_eq!(floor_block(Bytes(&floor[..3]), (100, true), b'z'), None);
        // 257 blocks, all with the same byte.
        let many = [&[0x81_u8, 2][..], &[b'd', 1].repeat(257)].concat();
        assert_eq!(floor_block(Bytes(&many), (100, true), b'z'), None);
    }
}
