//! Commits: the file `segments_N`, which lists the segments of an index.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::{self, InfoLayout, NEWEST_RELEASE};
use crate::cursor::Cursor;
use crate::envelope::{Contents, open, verified};
use crate::error::{ErrorKind, Result};
use crate::file::File;
use crate::files::is_segment_name;
use crate::order::Order;

/// Integers in it are big-endian in all versions. Those after [`NEWEST`] are opened for the release, which comes first in all.
const CONTENTS: [Contents; 1] =
    [Contents { name: "segments", oldest: 7, newest: i32::MAX, order: Order::Big }];

/// The newest version that is read.
const NEWEST: i32 = 11;

/// A commit.
#[derive(Debug)]
pub(crate) struct Commit {
    /// The release of Lucene that wrote it.
    pub(crate) lucene: [i32; 3],
    pub(crate) segments: Vec<SegmentCommit>,
    pub(crate) user_data: Vec<(String, String)>,
}

/// A segment, as a commit has it. A generation of −1 is none.
#[derive(Debug)]
pub(crate) struct SegmentCommit {
    pub(crate) name: String,
    /// All files of the segment have it.
    pub(crate) id: [u8; 16],
    pub(crate) codec: String,
    pub(crate) layout: InfoLayout,
    pub(crate) live_docs_generation: i64,
    pub(crate) deleted: u32,
    pub(crate) fields_generation: i64,
    /// The overlays of doc values, by the numbers of their fields.
    pub(crate) overlays: BTreeMap<i32, Overlays>,
}

/// The doc values of a field of which some documents have later values, in generations of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overlays {
    /// The generation of the values below them; −1 for those that the segment was written with.
    pub(crate) base: i64,
    /// The generations of later values, the newest first.
    pub(crate) later: Vec<i64>,
}

/// Reads the commit of `generation`.
pub(crate) fn read(file: &File, generation: &str) -> Result<Commit> {
    let body = verified(open(file, &CONTENTS, None, generation)?)?;
    let mut cursor = Cursor::new(&body);
    let cursor = &mut cursor;
    let lucene = [cursor.vint()?, cursor.vint()?, cursor.vint()?];
    if lucene[0] > NEWEST_RELEASE[0] {
        return Err(cursor.refuse(ErrorKind::Release { found: lucene, cause: None }));
    }
    if body.version > NEWEST {
        let (name, found, oldest) = (body.name, body.version, CONTENTS[0].oldest);
        let error = body.error(5 + name.len(), ErrorKind::Version { name, found, oldest, newest: NEWEST });
        return Err(error.of_release(lucene));
    }
    let (_created_by, _changes) = (cursor.vint()?, cursor.i64()?);
    let _next_name = if body.version == 7 { cursor.i32()?.into() } else { cursor.vlong()? };
    let count = cursor.natural("segments")?;
    if count > 0 {
        let _oldest_segment = [cursor.vint()?, cursor.vint()?, cursor.vint()?];
    }
    let (mut segments, mut names) = (Vec::new(), BTreeSet::new());
    for _ in 0..count {
        let segment = segment(cursor, body.version).map_err(|error| error.of_release(lucene))?;
        cursor.rule(names.insert(segment.name.clone()), "two segments of one name")?;
        segments.push(segment);
    }
    let user_data = cursor.map()?;
    cursor.end()?;
    Ok(Commit { lucene, segments, user_data })
}

fn segment(cursor: &mut Cursor<'_>, version: i32) -> Result<SegmentCommit> {
    let name = cursor.string()?.to_owned();
    if !is_segment_name(&name) {
        return Err(cursor.refuse(ErrorKind::FileName(name)));
    }
    let (id, codec) = (cursor.id()?, cursor.string()?.to_owned());
    let Some(layout) = codec::layout(&codec) else {
        return Err(cursor.refuse(ErrorKind::Codec { segment: name, codec }));
    };
    let live_docs_generation = cursor.generation()?;
    let deleted = cursor.natural("deleted documents")?;
    cursor
        .rule(deleted == 0 || live_docs_generation >= 0, "deleted documents without a file of live ones")?;
    let fields_generation = cursor.generation()?;
    let _doc_values_generation = cursor.generation()?;
    if version >= 9 {
        let _soft_deleted = cursor.i32()?;
    }
    if version >= 10 && cursor.flag()? {
        let _commit_id = cursor.id()?;
    }
    // The files of field infos.
    cursor.skip_set()?;
    for _ in 0..cursor.natural("fields with updates")? {
        let _field = cursor.i32()?;
        cursor.skip_set()?;
    }
    let mut overlays = BTreeMap::new();
    if version >= 11 {
        for _ in 0..cursor.natural("fields with overlays")? {
            let (field, base) = (cursor.i32()?, cursor.generation()?);
            let (mut later, least, mut most) = (Vec::new(), base.max(0).saturating_add(1), i64::MAX);
            for _ in 0..cursor.natural("overlays")? {
                let generation = cursor.i64()?;
                cursor.within("generation of an overlay", generation, least, most)?;
                most = generation - 1;
                later.push(generation);
            }
            // A field that was written whole again has none.
            if !later.is_empty() {
                let is_new = overlays.insert(field, Overlays { base, later }).is_none();
                cursor.rule(is_new, "overlays of one field twice")?;
            }
        }
    }
    Ok(SegmentCommit { name, id, codec, layout, live_docs_generation, deleted, fields_generation, overlays })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Encoder, ID, encode, file, reseal};

    /// A commit of two segments, one of which has deletes, updates and overlays.
    fn commit(version: i32) -> Vec<u8> {
        let mut out = Encoder::new(Order::Big);
        out.vint(10).vint(6).vint(0).vint(9).i64(77);
        if version == 7 {
            out.i32(5)
        } else {
            out.vlong(5)
        };
        out.i32(2).vint(9).vint(12).vint(3);
        for (name, generations, deleted) in [("_0", [-1; 3], 0), ("_1z", [2, 3, 4], 17)] {
            out.string(name).bytes(&ID).string("Lucene104").i64(generations[0]).i32(deleted);
            out.i64(generations[1]).i64(generations[2]);
            if version >= 9 {
                out.i32(0);
            }
            if version >= 10 {
                out.u8(u8::from(deleted > 0));
            }
            if version >= 10 && deleted > 0 {
                out.bytes(&[9; 16]);
            }
            let is_updated = deleted > 0;
            out.set(if is_updated { &["_1z_3.fnm"] } else { &[] }).i32(i32::from(is_updated));
            if is_updated {
                out.i32(4).set(&["_1z_4_Lucene90_0.dvm", "_1z_4_Lucene90_0.dvd"]);
            }
            if version >= 11 {
                out.i32(i32::from(is_updated));
            }
            if version >= 11 && is_updated {
                out.i32(4).i64(-1).i32(2).i64(6).i64(5);
            }
        }
        out.map(&[("by", "a test")]);
        encode("segments", version, "a", &out.out)
    }

    #[test]
    fn every_version_is_read() {
        for version in 7..=11 {
            let commit = read(&file(commit(version)), "a").unwrap();
            assert_eq!((commit.lucene, commit.segments.len()), ([10, 6, 0], 2));
            assert_eq!(commit.user_data, [("by".to_owned(), "a test".to_owned())]);
            let [first, second] = &commit.segments[..] else { panic!() };
            assert_eq!((first.name.as_str(), first.id, first.codec.as_str()), ("_0", ID, "Lucene104"));
            assert_eq!((first.live_docs_generation, first.fields_generation, first.deleted), (-1, -1, 0));
            assert_eq!((second.name.as_str(), second.deleted), ("_1z", 17));
            assert_eq!((second.live_docs_generation, second.fields_generation), (2, 3));
            let overlays = Overlays { base: -1, later: vec![6, 5] };
            assert_eq!(second.overlays.get(&4), (version == 11).then_some(&overlays));
            assert!(first.overlays.is_empty());
        }
        let error = read(&file(commit(12)), "a").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Version { found: 12, newest: 11, .. }));
    }

    #[test]
    fn overlays_are_listed_from_the_newest_to_the_oldest() {
        let good = commit(11);
        // The generation below them and how many there are, after the number of the field.
        let at = good.windows(8).position(|bytes| bytes == [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 2]).unwrap() - 4;
        for (base, later, is_read) in [
            (-1, [6, 5], true),
            (4, [6, 5], true),
            (-1, [5, 6], false),
            (-1, [6, 6], false),
            (5, [6, 5], false),
        ] {
            let mut bytes = good.clone();
            bytes[at..at + 8].copy_from_slice(&i64::to_be_bytes(base));
            bytes[at + 12..at + 20].copy_from_slice(&i64::to_be_bytes(later[0]));
            bytes[at + 20..at + 28].copy_from_slice(&i64::to_be_bytes(later[1]));
            reseal(&mut bytes);
            assert_eq!(read(&file(bytes), "a").is_ok(), is_read, "{later:?} over {base}");
        }
    }

    #[test]
    fn a_commit_without_segments_has_no_oldest_one() {
        let mut out = Encoder::new(Order::Big);
        out.vint(8).vint(0).vint(0).vint(8).i64(1).vlong(0).i32(0).map(&[]);
        let commit = read(&file(encode("segments", 9, "1", &out.out)), "1").unwrap();
        assert!(commit.segments.is_empty());
    }

    #[test]
    fn a_name_that_leads_outside_is_refused() {
        let good = commit(9);
        let at = good.windows(3).position(|bytes| bytes == b"_1z").unwrap();
        let mut bytes = good;
        bytes[at..at + 3].copy_from_slice(b"../");
        reseal(&mut bytes);
        let error = read(&file(bytes), "a").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::FileName(name) if name == "../"));
    }

    #[test]
    fn deletes_have_a_file_of_live_documents() {
        let mut bytes = commit(9);
        let generation_and_deleted = [0_u8, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 17];
        let at = bytes.windows(12).position(|bytes| bytes == generation_and_deleted).unwrap();
        bytes[at..at + 8].fill(0xFF);
        reseal(&mut bytes);
        let error = read(&file(bytes), "a").unwrap_err().to_string();
        assert!(error.contains("without a file of live ones"), "{error}");
    }

    #[test]
    fn damage_behind_the_checksum_never_panics() {
        let good = commit(11);
        for at in 40..good.len() - 16 {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut bytes = good.clone();
                bytes[at] = byte;
                reseal(&mut bytes);
                let _ = read(&file(bytes), "a");
            }
        }
    }
}
