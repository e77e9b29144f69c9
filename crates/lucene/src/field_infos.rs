//! Field infos: the file `.fnm`, with the fields of a segment and the formats of their doc values.

use std::collections::BTreeSet;

use docvalues_column::Kind;

use crate::cursor::Cursor;
use crate::envelope::{Contents, open, verified};
use crate::error::Result;
use crate::file::File;
use crate::order::Order;

/// Lucene 7 and 8, 9.0 to 9.3, and later.
const CONTENTS: [Contents; 3] = [
    Contents { name: "Lucene60FieldInfos", oldest: 0, newest: 2, order: Order::Big },
    Contents { name: "Lucene90FieldInfos", oldest: 0, newest: 0, order: Order::Little },
    Contents { name: "Lucene94FieldInfos", oldest: 0, newest: 2, order: Order::Little },
];

const LUCENE_60: usize = 0;
const LUCENE_94: usize = 2;

/// The kinds of doc values, in the order of their tags.
pub(crate) const KINDS: [Kind; 5] =
    [Kind::Numeric, Kind::Binary, Kind::Sorted, Kind::SortedSet, Kind::SortedNumeric];

/// Lucene's name of a kind of doc values.
pub(crate) fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Numeric => "NUMERIC",
        Kind::Binary => "BINARY",
        Kind::Sorted => "SORTED",
        Kind::SortedSet => "SORTED_SET",
        Kind::SortedNumeric => "SORTED_NUMERIC",
    }
}

/// A field of a segment.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo {
    pub(crate) name: String,
    /// Its number in this segment. Other segments may have others.
    pub(crate) number: i32,
    /// Whether documents with a value of it are deleted.
    pub(crate) marks_soft_deletes: bool,
    pub(crate) doc_values: Option<Kind>,
    pub(crate) has_skip_index: bool,
    /// The generation of its doc values; −1 if they are those that the segment was written with.
    pub(crate) generation: i64,
    /// Format and suffix of its doc values. A field without them has no values in the segment.
    pub(crate) format: Option<(String, String)>,
    /// Whether it was written in the mode `BEST_COMPRESSION` of Lucene 8.7; `None` if no mode is noted.
    pub(crate) is_compressed: Option<bool>,
    /// What is indexed of it: 0 nothing, 1 documents, 3 and 4 positions, 2 and others frequencies.
    pub(crate) index_options: u8,
    pub(crate) has_payloads: bool,
    /// Format and suffix of its postings.
    pub(crate) postings: Option<(String, String)>,
    /// Bytes of a dimension of its points; 0 if it has none, or of several dimensions.
    pub(crate) point_bytes: i32,
}

/// Reads the `.fnm` of a segment.
pub(crate) fn read(file: &File, id: &[u8; 16], suffix: &str) -> Result<Vec<FieldInfo>> {
    let body = verified(open(file, &CONTENTS, Some(id), suffix)?)?;
    let mut cursor = Cursor::new(&body);
    let (mut fields, mut names, mut numbers) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut is_marked = false;
    for _ in 0..cursor.count("fields")? {
        let field = field(&mut cursor)?;
        let is_new = numbers.insert(field.number) && names.insert(field.name.clone());
        cursor.rule(is_new, "two fields of one number or name")?;
        cursor.rule(!(is_marked && field.marks_soft_deletes), "two fields that mark soft deletes")?;
        is_marked |= field.marks_soft_deletes;
        fields.push(field);
    }
    cursor.end()?;
    Ok(fields)
}

fn field(cursor: &mut Cursor<'_>) -> Result<FieldInfo> {
    let (contents, version) = (cursor.body().name, cursor.body().version);
    let (is_60, is_94) = (contents == CONTENTS[LUCENE_60].name, contents == CONTENTS[LUCENE_94].name);
    let (name, number) = (cursor.string()?.to_owned(), cursor.count("number of a field")?);
    let (flags, index_options) = (cursor.u8()?, cursor.u8()?);
    cursor.within("what is indexed of a field", index_options.into(), 0, 5)?;
    let tag = cursor.u8()?;
    cursor.within("type of doc values", tag.into(), 0, 5)?;
    // 0 is none.
    let doc_values = usize::from(tag).checked_sub(1).and_then(|tag| KINDS.get(tag)).copied();
    let has_skip_index = is_94 && version >= 2 && cursor.flag()?;
    let generation = cursor.generation()?;
    let attributes = cursor.map()?;
    let dimensions = cursor.count("dimensions of points")?;
    let mut point_bytes = 0;
    if dimensions != 0 {
        if !is_60 || version >= 2 {
            let _index_dimensions = cursor.vint()?;
        }
        let bytes = cursor.vint()?;
        point_bytes = if dimensions == 1 { bytes } else { 0 };
    }
    if !is_60 {
        let _dimensions_of_vectors = cursor.vint()?;
        if is_94 {
            let _encoding = cursor.u8()?;
        }
        let _similarity = cursor.u8()?;
    }
    let attribute =
        |key: &str| attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let format = attribute("PerFieldDocValuesFormat.format").zip(attribute("PerFieldDocValuesFormat.suffix"));
    let postings = attribute("PerFieldPostingsFormat.format").zip(attribute("PerFieldPostingsFormat.suffix"));
    let is_compressed = attribute("Lucene80DocValuesFormat.mode").map(|mode| mode == "BEST_COMPRESSION");
    Ok(FieldInfo {
        name,
        number: number.cast_signed(),
        marks_soft_deletes: flags & 0x08 != 0,
        doc_values,
        has_skip_index,
        generation,
        format,
        is_compressed,
        index_options,
        has_payloads: flags & 0x04 != 0,
        postings,
        point_bytes,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::testing::{Encoder, ID, encode, file, reseal};

    /// Name, type of doc values (0 is none), whether there is a skip index, generation, and attributes.
    pub(crate) type TestField<'t> = (&'t str, u8, bool, i64, &'t [(&'t str, &'t str)]);

    /// The `.fnm` of fields, as layout `which` has them.
    pub(crate) fn field_infos(which: usize, version: i32, suffix: &str, fields: &[TestField<'_>]) -> Vec<u8> {
        let Contents { name: contents, order, .. } = CONTENTS[which];
        let mut out = Encoder::new(order);
        out.vint(i32::try_from(fields.len()).unwrap());
        for (number, (name, doc_values, has_skip_index, generation, attributes)) in (3..).zip(fields) {
            let flags = if *name == "__soft_deletes" { 0x08 } else { 0x02 };
            let is_indexed = attributes.iter().any(|(key, _)| key.starts_with("PerFieldPostingsFormat"));
            out.string(name).vint(number).u8(flags).u8(u8::from(is_indexed)).u8(*doc_values);
            if which == LUCENE_94 && version >= 2 {
                out.u8(u8::from(*has_skip_index));
            }
            out.i64(*generation).map(attributes).vint(1);
            if which != LUCENE_60 || version >= 2 {
                out.vint(1);
            }
            out.vint(8);
            if which != LUCENE_60 {
                out.vint(0);
            }
            if which == LUCENE_94 {
                out.u8(1);
            }
            if which != LUCENE_60 {
                out.u8(0);
            }
        }
        encode(contents, version, suffix, &out.out)
    }

    #[test]
    fn every_layout_is_read() {
        let format =
            [("PerFieldDocValuesFormat.format", "Lucene90"), ("PerFieldDocValuesFormat.suffix", "0")];
        let compressed = [format[0], format[1], ("Lucene80DocValuesFormat.mode", "BEST_COMPRESSION")];
        let fields: [TestField<'_>; 3] = [
            ("a", 1, true, -1, &format),
            ("__soft_deletes", 5, false, 36, &compressed),
            ("text", 0, false, -1, &[]),
        ];
        for (which, versions) in [(0, 0..=2), (1, 0..=0), (2, 0..=2)] {
            for version in versions {
                let bytes = field_infos(which, version, "2", &fields);
                let read = read(&file(bytes), &ID, "2").unwrap();
                let [a, soft, text] = &read[..] else { panic!() };
                assert_eq!((a.name.as_str(), a.number, a.doc_values), ("a", 3, Some(Kind::Numeric)));
                assert_eq!(a.format, Some(("Lucene90".to_owned(), "0".to_owned())));
                assert_eq!((a.has_skip_index, a.is_compressed), ((which, version) == (2, 2), None));
                assert_eq!(a.point_bytes, 8);
                assert_eq!((soft.generation, soft.is_compressed), (36, Some(true)));
                assert_eq!((a.marks_soft_deletes, soft.marks_soft_deletes), (false, true));
                assert_eq!((text.doc_values, &text.format), (None, &None));
            }
        }
    }

    #[test]
    fn fields_differ_in_name_and_number() {
        let refused = |bytes| read(&file(bytes), &ID, "").unwrap_err().to_string();
        let bytes = field_infos(2, 2, "", &[("a", 1, false, -1, &[]), ("a", 1, false, -1, &[])]);
        assert!(refused(bytes).contains("two fields of one number or name"));
        let mut bytes = field_infos(2, 2, "", &[("a", 1, false, -1, &[]), ("b", 1, false, -1, &[])]);
        // The number follows the name and its length.
        let at = bytes.windows(3).position(|bytes| bytes == [1, b'b', 4]).unwrap();
        bytes[at + 2] = 3;
        reseal(&mut bytes);
        assert!(refused(bytes).contains("two fields of one number or name"));
        let bytes = field_infos(2, 2, "", &[("a", 6, false, -1, &[])]);
        assert!(refused(bytes).contains("type of doc values"));
    }

    #[test]
    fn what_is_indexed_is_known() {
        let good = field_infos(2, 2, "", &[("a", 1, false, -1, &[])]);
        // It follows the name, the number and the flags.
        let at = good.windows(4).position(|bytes| bytes == [1, b'a', 3, 0x02]).unwrap() + 4;
        for (options, is_read) in [(0, true), (5, true), (6, false), (0xFF, false)] {
            let mut bytes = good.clone();
            bytes[at] = options;
            reseal(&mut bytes);
            assert_eq!(read(&file(bytes), &ID, "").is_ok(), is_read, "{options}");
        }
    }

    #[test]
    fn at_most_one_field_marks_soft_deletes() {
        let fields: [TestField<'_>; 2] = [("__soft_deletes", 1, false, -1, &[]), ("b", 1, false, -1, &[])];
        let mut bytes = field_infos(2, 2, "", &fields);
        assert_eq!(read(&file(bytes.clone()), &ID, "").unwrap().len(), 2);
        // The flags of the other field.
        let at = bytes.windows(4).position(|bytes| bytes == [1, b'b', 4, 0x02]).unwrap();
        bytes[at + 3] = 0x08;
        reseal(&mut bytes);
        let error = read(&file(bytes), &ID, "").unwrap_err().to_string();
        assert!(error.contains("two fields that mark soft deletes"), "{error}");
    }
}
