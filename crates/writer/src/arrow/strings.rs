//! Conversion of arrays of strings and bytes to concatenated bytes with offsets.

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_schema::DataType;

use docvalues_format::file::kind::LogicalType;

/// Concatenated byte strings: string *i* is `data[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Strings {
    /// The start of each string, and the end of the last one.
    pub offsets: Vec<u64>,
    /// The bytes of all strings.
    pub data: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings { offsets: vec![0], data: Vec::new() }
    }
}

impl Strings {
    /// The string at place `at`; empty if there is none.
    pub fn get(&self, at: usize) -> &[u8] {
        let offset = |at: usize| self.offsets.get(at).and_then(|offset| usize::try_from(*offset).ok());
        let range = offset(at).zip(offset(at + 1)).and_then(|(start, end)| self.data.get(start..end));
        range.unwrap_or_default()
    }

    /// Ends a string after its bytes were appended to `data`.
    pub fn end(&mut self) {
        self.offsets.push(self.data.len() as u64);
    }
}

/// Converts `array`; a null becomes an empty string. Also returns the indexes of the values that the type `to` cannot
/// hold. `None` if arrays of this type do not convert to `to`.
pub(super) fn strings(array: &dyn Array, to: LogicalType) -> Option<(Strings, Vec<usize>)> {
    use DataType as D;
    use LogicalType as L;
    let any: fn(&[u8]) -> bool = |_| true;
    let fits = match (array.data_type(), to) {
        (D::Utf8 | D::LargeUtf8 | D::Utf8View, L::Utf8) => any,
        (D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_), L::Bytes) => any,
        (D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_), L::Uuid | L::Ip) => {
            |bytes: &[u8]| bytes.len() == 16
        }
        (D::Binary | D::LargeBinary | D::BinaryView, L::Utf8) => |bytes: &[u8]| str::from_utf8(bytes).is_ok(),
        _ => return None,
    };
    let mut gathered = (Strings::default(), Vec::new());
    for_each(array, |bytes| {
        let (strings, refused) = &mut gathered;
        match bytes {
            Some(bytes) if fits(bytes) => strings.data.extend_from_slice(bytes),
            Some(_) => refused.push(strings.offsets.len() - 1),
            None => {}
        }
        strings.end();
    });
    Some(gathered)
}

/// Calls `f` with the bytes of each row; never for arrays of other types.
pub fn for_each(array: &dyn Array, f: impl FnMut(Option<&[u8]>)) {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes)).for_each(f),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes)).for_each(f),
        DataType::Utf8View => array.as_string_view().iter().map(|v| v.map(str::as_bytes)).for_each(f),
        DataType::Binary => array.as_binary::<i32>().iter().for_each(f),
        DataType::LargeBinary => array.as_binary::<i64>().iter().for_each(f),
        DataType::BinaryView => array.as_binary_view().iter().for_each(f),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().iter().for_each(f),
        _ => {}
    }
}
