//! Segment info: the file `.si`, with the number of documents of a segment.
//!
//! Its index sort is not read: its missing values are numbers, which sort among the others.

use crate::codec::{InfoLayout, NEWEST_RELEASE};
use crate::cursor::Cursor;
use crate::envelope::{Contents, open, verified};
use crate::error::{ErrorKind, Result};
use crate::file::File;

/// The most documents of an index of Lucene.
pub(crate) const MAX_DOCS: i64 = (i32::MAX - 128) as i64;

/// The description of a segment.
#[derive(Debug)]
pub(crate) struct SegmentInfo {
    /// The release of Lucene that wrote the segment.
    pub(crate) lucene: [i32; 3],
    pub(crate) docs: u32,
    pub(crate) is_compound: bool,
}

/// Reads the `.si` of a segment.
pub(crate) fn read(file: &File, layout: InfoLayout, id: &[u8; 16]) -> Result<SegmentInfo> {
    let name = match layout {
        InfoLayout::V70 => "Lucene70SegmentInfo",
        InfoLayout::V86 => "Lucene86SegmentInfo",
        InfoLayout::V90 | InfoLayout::V99 => "Lucene90SegmentInfo",
    };
    let contents = Contents { name, oldest: 0, newest: 0, order: layout.order() };
    let body = verified(open(file, &[contents], Some(id), "")?)?;
    let mut cursor = Cursor::new(&body);
    let cursor = &mut cursor;
    let lucene = [cursor.i32()?, cursor.i32()?, cursor.i32()?];
    if lucene[0] > NEWEST_RELEASE[0] {
        return Err(cursor.refuse(ErrorKind::Release { found: lucene, cause: None }));
    }
    if cursor.flag()? {
        let _oldest = [cursor.i32()?, cursor.i32()?, cursor.i32()?];
    }
    let docs = cursor.i32()?;
    cursor.within("documents", docs.into(), 0, MAX_DOCS)?;
    let is_compound = yes_or_no(cursor)?;
    if layout == InfoLayout::V99 {
        let _has_blocks = yes_or_no(cursor)?;
    }
    // A wrong layout would be a byte off, and so end up with other lengths.
    let (_diagnostics, _files, _attributes) = (cursor.map()?, cursor.skip_set()?, cursor.map()?);
    Ok(SegmentInfo { lucene, docs: docs.cast_unsigned(), is_compound })
}

/// Takes a byte that is 1 or −1.
fn yes_or_no(cursor: &mut Cursor<'_>) -> Result<bool> {
    let byte = cursor.u8()?;
    cursor.rule(matches!(byte, 1 | 0xFF), "expected a byte 1 or -1")?;
    Ok(byte == 1)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{Encoder, ID, encode, file};

    /// The `.si` of a segment without an index sort.
    pub(crate) fn segment_info(layout: InfoLayout, docs: i32, is_compound: bool) -> Vec<u8> {
        let mut out = Encoder::new(layout.order());
        out.i32(9).i32(12).i32(3).u8(1).i32(9).i32(0).i32(0).i32(docs);
        out.u8(if is_compound { 1 } else { 0xFF });
        if layout == InfoLayout::V99 {
            out.u8(0xFF);
        }
        out.map(&[("os", "Linux")]).set(&["_0.si"]).map(&[]).vint(0);
        let name = match layout {
            InfoLayout::V70 => "Lucene70SegmentInfo",
            InfoLayout::V86 => "Lucene86SegmentInfo",
            InfoLayout::V90 | InfoLayout::V99 => "Lucene90SegmentInfo",
        };
        encode(name, 0, "", &out.out)
    }

    #[test]
    fn every_layout_is_read() {
        for layout in [InfoLayout::V70, InfoLayout::V86, InfoLayout::V90, InfoLayout::V99] {
            for is_compound in [false, true] {
                let bytes = segment_info(layout, 1_234, is_compound);
                let info = read(&file(bytes), layout, &ID).unwrap();
                assert_eq!((info.lucene, info.docs, info.is_compound), ([9, 12, 3], 1_234, is_compound));
            }
        }
    }

    #[test]
    fn wrong_layouts_and_numbers_are_refused() {
        let older = file(segment_info(InfoLayout::V90, 9, false));
        assert!(read(&older, InfoLayout::V99, &ID).is_err());
        let newer = file(segment_info(InfoLayout::V99, 9, false));
        assert!(read(&newer, InfoLayout::V90, &ID).is_err());
        assert!(read(&newer, InfoLayout::V86, &ID).is_err());
        let negative = file(segment_info(InfoLayout::V99, -9, false));
        assert!(read(&negative, InfoLayout::V99, &ID).unwrap_err().to_string().contains("documents"));
    }
}
