//! The fields of terms: where the index of each is, and its least and greatest term.

use std::collections::BTreeMap;
use std::ops::Range;

use super::bytes::Bytes;
use super::format::Format;
use super::fst::Fst;
use super::trie::Trie;
use crate::cursor::Cursor;
use crate::envelope::MAGIC;
use crate::error::Result;
use crate::field_infos::FieldInfo;
use crate::file::Body;

/// The oldest version of an FST that is read, and the only one in which nodes have gaps.
const WITH_GAPS: i32 = 6;

const TWICE: &str = "terms of one field twice";

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
    pub(super) index: Index,
}

#[derive(Debug)]
pub(super) enum Index {
    Fst(Fst),
    Trie(Trie),
}

impl Index {
    /// The first byte of its nodes in `.tip`.
    pub(super) fn start(&self) -> usize {
        match self {
            Index::Fst(fst) => fst.body.start,
            Index::Trie(trie) => trie.place.start,
        }
    }
}

impl FieldTerms {
    /// Whether lists of documents have frequencies.
    pub(super) fn has_freqs(&self) -> bool {
        self.options != 1
    }
}

/// Reads the fields of a `.tmd`.
pub(super) fn of_meta(meta: &Body, format: &Format, fields: &[FieldInfo]) -> Result<Fields> {
    let mut cursor = Cursor::new(meta);
    let (postings_version, block) = postings_header(&mut cursor)?;
    let (fields, mut of) = (by_number(fields), BTreeMap::new());
    for _ in 0..cursor.count("fields with terms")? {
        let mut read = record(&mut cursor, format, meta.version, &fields)?;
        let index = if format.has_trie {
            let [start, root, end] = [cursor.vlong()?, cursor.vlong()?, cursor.vlong()?];
            let place = place(start, end);
            cursor.rule(place.is_some(), "an index of terms that ends before it begins")?;
            Index::Trie(Trie { place: place.unwrap_or_default(), root: root.unsigned_abs() })
        } else {
            let start = cursor.vlong()?;
            let (version, node, len) = fst_header(&mut cursor)?;
            let place = place(start, start.saturating_add(len));
            cursor.rule(place.is_some(), "an index of terms that ends before it begins")?;
            let root = std::mem::take(&mut read.root);
            let (body, has_gaps) = (place.unwrap_or_default(), version <= WITH_GAPS);
            Index::Fst(Fst { body, start: node.unsigned_abs(), has_gaps, root })
        };
        let is_new = of.insert(read.number, read.with(index)).is_none();
        cursor.rule(is_new, TWICE)?;
    }
    Ok(Fields { of, postings_version, block })
}

/// Reads the fields at the ends of `.tim` and `.tip`, of Lucene 7.0 to 8.5.
pub(super) fn of_ends(tim: &Body, tip: &Body, format: &Format, fields: &[FieldInfo]) -> Result<Fields> {
    let mut cursor = Cursor::new(tim);
    let (postings_version, block) = postings_header(&mut cursor)?;
    let mut starts = Cursor::new(tip);
    for cursor in [&mut cursor, &mut starts] {
        let end = cursor.body().place.end;
        cursor.seek(end.saturating_sub(8).max(cursor.body().place.start));
        let directory = cursor.i64()?;
        let place = cursor.body().region(directory, 0)?;
        cursor.seek(place.start);
    }
    let (fields, mut of) = (by_number(fields), BTreeMap::new());
    for _ in 0..cursor.count("fields with terms")? {
        let mut read = record(&mut cursor, format, tim.version, &fields)?;
        let start = starts.vlong()?;
        let mut header = Cursor::new(tip);
        header.seek(tip.region(start, 0)?.start);
        let (version, node, len) = fst_header(&mut header)?;
        let body = header.position();
        let end = usize::try_from(len).ok().and_then(|len| body.checked_add(len));
        header.rule(end.is_some(), "an index of terms that ends past the end")?;
        let root = std::mem::take(&mut read.root);
        let (body, has_gaps) = (body..end.unwrap_or(body), version <= WITH_GAPS);
        let fst = Fst { body, start: node.unsigned_abs(), has_gaps, root };
        let is_new = of.insert(read.number, read.with(Index::Fst(fst))).is_none();
        cursor.rule(is_new, TWICE)?;
    }
    Ok(Fields { of, postings_version, block })
}

/// A field without its index.
struct Record {
    number: i32,
    options: u8,
    has_payloads: bool,
    root: Vec<u8>,
    min: Vec<u8>,
    max: Vec<u8>,
}

impl Record {
    fn with(self, index: Index) -> FieldTerms {
        let Record { options, has_payloads, min, max, .. } = self;
        FieldTerms { options, has_payloads, min, max, index }
    }
}

fn by_number(fields: &[FieldInfo]) -> BTreeMap<i32, &FieldInfo> {
    fields.iter().map(|field| (field.number, field)).collect()
}

fn record(
    cursor: &mut Cursor<'_>,
    format: &Format,
    version: i32,
    fields: &BTreeMap<i32, &FieldInfo>,
) -> Result<Record> {
    let number = cursor.vint()?;
    let field = fields.get(&number);
    let (options, has_payloads) = field.map_or((0, false), |field| (field.index_options, field.has_payloads));
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
    Ok(Record { number, options, has_payloads, root, min: string(cursor)?, max: string(cursor)? })
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

/// Takes the header of an FST, and returns its version, its first node and the length of its body.
fn fst_header(cursor: &mut Cursor<'_>) -> Result<(i32, i64, i64)> {
    let version = inner_header(cursor)?;
    cursor.within("version of an FST", version.into(), WITH_GAPS.into(), 9)?;
    if cursor.flag()? {
        // The output of the root, which the field has, too.
        string(cursor)?;
    }
    let input = cursor.u8()?;
    cursor.within("input type of an FST", input.into(), 0, 0)?;
    Ok((version, cursor.vlong()?, cursor.vlong()?))
}

fn place(start: i64, end: i64) -> Option<Range<usize>> {
    let place = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    (place.start <= place.end).then_some(place)
}

/// The code of a block in an output of the index: its place, and whether it has terms and other blocks follow it.
pub(super) fn decode(output: &[u8], has_msb: bool) -> Option<(u64, bool, Option<Vec<u8>>)> {
    let mut bytes = Bytes(output);
    let code = if has_msb { bytes.msb_vlong()? } else { bytes.vlong()? };
    Some((code >> 2, code & 2 == 2, (code & 1 == 1).then(|| bytes.0.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_infos::tests::field_infos;
    use crate::order::Order;
    use crate::testing::{Encoder, ID, body, file};

    #[test]
    fn terms_of_one_field_twice_are_refused() {
        let attributes = [("PerFieldPostingsFormat.format", "Lucene103")];
        let fields = field_infos(2, 2, "", &[("id", 0, false, -1, &attributes)]);
        let fields = crate::field_infos::read(&file(fields), &ID, "").unwrap();
        let format = Format::of("Lucene103").unwrap();
        for (count, is_read) in [(1, true), (2, false)] {
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
            let read = of_meta(&body(meta), &format, &fields);
            assert_eq!(read.map(|fields| fields.of.len()).ok(), is_read.then_some(1));
        }
    }
}
