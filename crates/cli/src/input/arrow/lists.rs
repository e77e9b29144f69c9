//! Arrays as the rest takes them: no dictionaries, no runs, and lists that lie one behind the other.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef, BinaryViewArray, OffsetSizeTrait, StringViewArray, UInt64Array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;

/// `array` with each value in its place.
pub(super) fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Dictionary(..) => {
            let array = array.as_any_dictionary();
            take(&plain(&views(array.values()))?, array.keys(), None)
        }
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(array),
            DataType::Int32 => runs::<Int32Type>(array),
            _ => runs::<Int64Type>(array),
        },
        _ => Ok(Arc::clone(array)),
    }
}

fn runs<E: RunEndIndexType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let array = array.as_run::<E>();
    let places = (0..array.len()).map(|row| array.get_physical_index(row) as u64);
    take(&plain(&views(array.values()))?, &UInt64Array::from_iter_values(places), None)
}

/// Byte strings of which many may be had without copying them.
fn views(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8 => Arc::new(StringViewArray::from(array.as_string::<i32>())),
        DataType::LargeUtf8 => Arc::new(StringViewArray::from(array.as_string::<i64>())),
        DataType::Binary => Arc::new(BinaryViewArray::from(array.as_binary::<i32>())),
        DataType::LargeBinary => Arc::new(BinaryViewArray::from(array.as_binary::<i64>())),
        DataType::FixedSizeBinary(_) => {
            Arc::new(array.as_fixed_size_binary().iter().collect::<BinaryViewArray>())
        }
        _ => Arc::clone(array),
    }
}

/// What lists hold: those of row *i* from `offsets[i]` to `offsets[i + 1]` of `items`.
pub(super) struct Listed {
    pub(super) items: ArrayRef,
    pub(super) offsets: Vec<u64>,
}

/// The lists of `array`, if there are any in it.
pub(super) fn lists(array: &ArrayRef) -> Result<Option<Listed>, ArrowError> {
    let listed = match array.data_type() {
        DataType::List(_) => between::<i32>(array),
        DataType::LargeList(_) => between::<i64>(array),
        DataType::ListView(_) => anywhere::<i32>(array)?,
        DataType::LargeListView(_) => anywhere::<i64>(array)?,
        DataType::FixedSizeList(_, len) => {
            let items = Arc::clone(array.as_fixed_size_list().values());
            let len = u64::try_from(*len).unwrap_or(0);
            Listed { items, offsets: (0..=array.len() as u64).map(|row| row * len).collect() }
        }
        _ => return Ok(None),
    };
    Ok(Some(Listed { items: plain(&listed.items)?, ..listed }))
}

pub(super) fn between<O: OffsetSizeTrait>(array: &dyn Array) -> Listed {
    let array = array.as_list::<O>();
    let offsets = array.value_offsets();
    let (first, last) = match offsets {
        [first, .., last] => (first.as_usize(), last.as_usize()),
        _ => (0, 0),
    };
    Listed {
        items: array.values().slice(first, last - first),
        offsets: offsets.iter().map(|offset| (offset.as_usize() - first) as u64).collect(),
    }
}

/// Lists that lie in any order, and may share values.
fn anywhere<O: OffsetSizeTrait>(array: &dyn Array) -> Result<Listed, ArrowError> {
    let array = array.as_list_view::<O>();
    let (mut places, mut ends) = (Vec::new(), vec![0]);
    for row in 0..array.len() {
        if array.is_valid(row) {
            let (start, len) = (array.value_offset(row).as_usize(), array.value_size(row).as_usize());
            places.extend((start as u64..).take(len));
        }
        ends.push(places.len() as u64);
    }
    Ok(Listed { items: take(array.values(), &UInt64Array::from(places), None)?, offsets: ends })
}
