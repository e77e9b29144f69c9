//! The fields of terms: where the index of each is, and its least and greatest term.

use std::collections::BTreeMap;
use std::ops::Range;

use super::format::Format;
use super::fst::Fst;
use super::trie::Trie;
use crate::cursor::Cursor;
use crate::envelope::MAGIC;
use crate::error::{ErrorKind, Result};
use crate::field_infos::FieldInfo;
use crate::file::Body;

/// The oldest version of an FST that is read, and the only one in which nodes have gaps.
const WITH_GAPS: i32 = 6;

/// The fields of the terms of a segment.
#[derive(Debug)]
pub(super) struct Fields {
    /// By number.
    pub(super) of: BTreeMap<i32, FieldTerms>,
    /// The version of postings.
    pub(super) postings_version: i32,
    /// Documents of a block of postings.
    pub(super) block: u32,
}

/// The terms of a field.
#[derive(Debug)]
pub(super) struct FieldTerms {
    /// What is indexed: 1 only documents, 3 and 4 positions.
    pub(super) options: u8,
    pub(super) has_payloads: bool,
    pub(super) min: Vec<u8>,
    pub(super) max: Vec<u8>,
    /// The place of the nodes of the index in `.tip`.
    pub(super) place: Range<usize>,
    pub(super) index: Index,
}

#[derive(Debug)]
pub(super) enum Index {
    Fst(Fst),
    Trie(Trie),
}

impl FieldTerms {
    /// Whether lists of documents have frequencies.
    pub(super) fn has_freqs(&self) -> bool {
        self.options != 1
    }
}

/// Reads the fields of a `.tmd`, which ends with the lengths of `.tip` and `.tim`.
pub(super) fn of_meta(
    meta: &Body,
    (tim, tip): (&Body, &Body),
    format: &Format,
    fields: &[FieldInfo],
) -> Result<Fields> {
    let mut cursor = Cursor::new(meta);
    let header = postings_header(&mut cursor)?;
    let fields = Fields::read(&mut cursor, header, format, fields, |cursor, root| {
        let start = cursor.vlong()?;
        if format.has_trie {
            let (root, end) = (cursor.vlong()?.unsigned_abs(), cursor.vlong()?);
            return Ok((place(cursor, start, end)?, Index::Trie(Trie { root })));
        }
        let (has_gaps, node, len) = fst_header(cursor)?;
        let place = place(cursor, start, start.saturating_add(len))?;
        Ok((place, Index::Fst(Fst { start: node, has_gaps, root })))
    })?;
    for (what, body) in [("length of the index of terms", tip), ("length of the blocks of terms", tim)] {
        let (found, len) = (cursor.i64()?, i64::try_from(body.bytes().len()).unwrap_or(i64::MAX));
        cursor.within(what, found, len, len)?;
    }
    cursor.end()?;
    Ok(fields)
}

/// Reads the fields at the ends of `.tim` and `.tip`, of Lucene 7.0 to 8.5.
pub(super) fn of_ends(tim: &Body, tip: &Body, format: &Format, fields: &[FieldInfo]) -> Result<Fields> {
    let (mut cursor, mut starts) = (Cursor::new(tim), Cursor::new(tip));
    let header = postings_header(&mut cursor)?;
    for cursor in [&mut cursor, &mut starts] {
        let end = cursor.body().place.end;
        cursor.seek(end.saturating_sub(8).max(cursor.body().place.start));
        let directory = cursor.i64()?;
        let place = cursor.body().region(directory, 0)?;
        cursor.seek(place.start);
    }
    Fields::read(&mut cursor, header, format, fields, |_, root| {
        let mut header = Cursor::new(tip);
        header.seek(tip.region(starts.vlong()?, 0)?.start);
        let (has_gaps, node, len) = fst_header(&mut header)?;
        let start = i64::try_from(header.position()).unwrap_or(i64::MAX);
        let place = place(&header, start, start.saturating_add(len))?;
        Ok((place, Index::Fst(Fst { start: node, has_gaps, root })))
    })
}

impl Fields {
    /// Reads the fields from `cursor` on, after the header of postings. `index` takes what leads to the index of each, and its
    /// output of the empty prefix.
    fn read(
        cursor: &mut Cursor<'_>,
        (postings_version, block): (i32, u32),
        format: &Format,
        fields: &[FieldInfo],
        mut index: impl FnMut(&mut Cursor<'_>, Vec<u8>) -> Result<(Range<usize>, Index)>,
    ) -> Result<Fields> {
        let known: BTreeMap<i32, &FieldInfo> = fields.iter().map(|field| (field.number, field)).collect();
        let (version, mut of) = (cursor.body().version, BTreeMap::new());
        for _ in 0..cursor.count("fields with terms")? {
            let number = cursor.vint()?;
            let indexed = known.get(&number).map(|field| (field.index_options, field.has_payloads));
            let (options, has_payloads) = indexed.unwrap_or((0, false));
            cursor.rule(options > 0, "terms of a field that is not indexed")?;
            let _terms = cursor.vlong()?;
            let root = if format.has_trie { Vec::new() } else { string(cursor)? };
            if options != 1 {
                let _occurrences = cursor.vlong()?;
            }
            let (_postings, _docs) = (cursor.vlong()?, cursor.vint()?);
            if format.has_longs(version) {
                let _longs = cursor.vint()?;
            }
            let (min, max) = (string(cursor)?, string(cursor)?);
            let (place, index) = index(cursor, root)?;
            let terms = FieldTerms { options, has_payloads, min, max, place, index };
            cursor.rule(of.insert(number, terms).is_none(), "terms of one field twice")?;
        }
        Ok(Fields { of, postings_version, block })
    }
}

fn string(cursor: &mut Cursor<'_>) -> Result<Vec<u8>> {
    let len = cursor.count("length of a term")?;
    Ok(cursor.take(usize::try_from(len).unwrap_or(usize::MAX))?.to_vec())
}

/// Takes the header of postings inside of another file, and the documents of a block.
fn postings_header(cursor: &mut Cursor<'_>) -> Result<(i32, u32)> {
    let version = inner_header(cursor)?;
    // The id of the segment, and a suffix.
    cursor.id()?;
    let len = cursor.u8()?;
    cursor.take(len.into())?;
    let block = cursor.count("documents of a block")?;
    cursor.within("documents of a block", block.into(), 1, 1 << 16)?;
    Ok((version, block))
}

/// Takes a header without an id, and returns its version.
fn inner_header(cursor: &mut Cursor<'_>) -> Result<i32> {
    let magic = cursor.take(4)?;
    cursor.rule(magic == MAGIC.to_be_bytes(), "expected a header inside of the file")?;
    cursor.string()?;
    let version = cursor.take(4)?.first_chunk().copied().unwrap_or_default();
    Ok(i32::from_be_bytes(version))
}

/// Takes the header of an FST, and returns whether nodes have gaps, the first node and the length of the body.
fn fst_header(cursor: &mut Cursor<'_>) -> Result<(bool, u64, i64)> {
    let version = inner_header(cursor)?;
    cursor.within("version of an FST", version.into(), WITH_GAPS.into(), 9)?;
    if cursor.flag()? {
        // The output of the root, which the field has, too.
        string(cursor)?;
    }
    let input = cursor.u8()?;
    cursor.within("input type of an FST", input.into(), 0, 0)?;
    Ok((version <= WITH_GAPS, cursor.vlong()?.unsigned_abs(), cursor.vlong()?))
}

/// The bytes from `start` to `end`.
fn place(cursor: &Cursor<'_>, start: i64, end: i64) -> Result<Range<usize>> {
    let place = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let (start, end) = place
        .filter(|(start, end)| start <= end)
        .ok_or_else(|| cursor.refuse(ErrorKind::Broken("an index of terms that ends before it begins")))?;
    Ok(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_infos::tests::field_infos;
    use crate::order::Order;
    use crate::testing::{Encoder, ID, body, file};

    #[test]
    fn terms_of_one_field_twice_and_other_lengths_are_refused() {
        let attributes = [("PerFieldPostingsFormat.format", "Lucene103")];
        let fields = field_infos(2, 2, "", &[("id", 0, false, -1, &attributes)]);
        let fields = crate::field_infos::read(&file(fields), &ID, "").unwrap();
        let format = Format::of("Lucene103").unwrap();
        let terms = body(Encoder::new(Order::Little));
        let len = i64::try_from(terms.bytes().len()).unwrap();
        for (count, lens, is_read) in [
            (1, [len; 2], true),
            (2, [len; 2], false),
            (1, [len + 1, len], false),
            (1, [len, len - 1], false),
        ] {
            let mut meta = Encoder::new(Order::Little);
            meta.bytes(&MAGIC.to_be_bytes())
                .string("Terms")
                .bytes(&[0; 4])
                .bytes(&ID)
                .u8(0)
                .vint(128)
                .vint(count);
            for _ in 0..count {
                // Numbers of terms, postings and documents, the least and the greatest term, and a trie without bytes.
                meta.vint(3).vlong(1).vlong(1).vint(1).string("k1").string("k1").vlong(0).vlong(0).vlong(0);
            }
            meta.i64(lens[0]).i64(lens[1]);
            let read = of_meta(&body(meta), (&terms, &terms), &format, &fields);
            assert_eq!(read.map(|fields| fields.of.len()).ok(), is_read.then_some(1));
        }
    }
}
