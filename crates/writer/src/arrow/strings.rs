//! Conversion of arrays of strings and bytes to concatenated bytes with offsets.

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_schema::DataType;

use docvalues_column::Lists;
use docvalues_format::file::kind::LogicalType;

/// Converts `array`; a null becomes an empty string. Also returns the indexes of the values that the type `to` cannot
/// hold. `None` if arrays of this type do not convert to `to`.
pub(super) fn strings(array: &dyn Array, to: LogicalType) -> Option<(Lists<u8>, Vec<usize>)> {
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
    let mut gathered = (Lists::new(), Vec::new());
    for_each(array, |bytes| {
        let (strings, refused) = &mut gathered;
        let fitting = bytes.filter(|bytes| fits(bytes));
        if bytes.is_some() && fitting.is_none() {
            refused.push(strings.len());
        }
        strings.push(fitting.unwrap_or_default());
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
