//! An estimate of the memory of converted values, by which batches are sliced.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, GenericListViewArray, OffsetSizeTrait};
use arrow_schema::DataType;

use super::flat::between;
use super::strings::for_each;

/// The approximate size in bytes of the converted values of an array.
pub fn weight(array: &dyn Array) -> usize {
    use DataType as D;
    let with = |bytes: usize| bytes.saturating_add(8 * array.len());
    match array.data_type() {
        D::Null => 0,
        D::List(_) => with(weight(&between::<i32>(array).0)),
        D::LargeList(_) => with(weight(&between::<i64>(array).0)),
        D::ListView(_) => with(of_views(array.as_list_view::<i32>())),
        D::LargeListView(_) => with(of_views(array.as_list_view::<i64>())),
        D::FixedSizeList(..) => with(weight(array.as_fixed_size_list().values())),
        D::Struct(_) => {
            array.as_struct().columns().iter().map(|column| weight(column)).fold(0, usize::saturating_add)
        }
        D::Dictionary(..) => with(of_dictionary(array)),
        D::RunEndEncoded(ends, _) => with(match ends.data_type() {
            D::Int16 => of_runs::<Int16Type>(array),
            D::Int32 => of_runs::<Int32Type>(array),
            _ => of_runs::<Int64Type>(array),
        }),
        _ => {
            // `for_each` visits byte strings only.
            let mut bytes = 0_usize;
            for_each(array, |value| bytes = bytes.saturating_add(value.map_or(0, <[u8]>::len)));
            with(bytes)
        }
    }
}

/// The bytes of the strings of a dictionary, each as often as it is there.
fn of_dictionary(array: &dyn Array) -> usize {
    let array = array.as_any_dictionary();
    let lens = lens(array.values());
    if lens.is_empty() {
        return 0;
    }
    let keys = array.normalized_keys().into_iter().enumerate();
    keys.filter(|(row, _)| array.keys().is_valid(*row))
        .map(|(_, key)| lens[key])
        .fold(0, usize::saturating_add)
}

/// The bytes of the strings of runs, each as often as it is there.
fn of_runs<E: RunEndIndexType>(array: &dyn Array) -> usize {
    let array = array.as_run::<E>();
    let lens = lens(array.values());
    if lens.is_empty() {
        return 0;
    }
    let len = |row: usize| lens.get(array.get_physical_index(row)).copied().unwrap_or(0);
    (0..array.len()).map(len).fold(0, usize::saturating_add)
}

/// The length of each byte string; none for arrays of other types.
fn lens(array: &dyn Array) -> Vec<usize> {
    let mut lens = Vec::new();
    for_each(array, |value| lens.push(value.map_or(0, <[u8]>::len)));
    lens
}

/// An estimate of the bytes of all items of list views. Views may share items, and sharing ends with the conversion, so
/// each item counts with the average size.
fn of_views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> usize {
    let sizes = array.value_sizes().iter().map(|size| size.as_usize());
    let one = weight(array.values()).checked_div(array.values().len()).unwrap_or(0);
    sizes.fold(0, usize::saturating_add).saturating_mul(one.saturating_add(8))
}
