//! An estimate of the memory of converted values, by which `dv build` slices batches.

use arrow_array::cast::AsArray as _;
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
        _ => {
            // `for_each` visits byte strings only.
            let mut bytes = 0_usize;
            for_each(array, |value| bytes = bytes.saturating_add(value.map_or(0, <[u8]>::len)));
            with(bytes)
        }
    }
}

/// An estimate of the bytes of all items of list views. Views may share items, and sharing ends with the conversion, so
/// each item counts with the average size.
fn of_views<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> usize {
    let sizes = array.value_sizes().iter().map(|size| size.as_usize());
    let one = weight(array.values()).checked_div(array.values().len()).unwrap_or(0);
    sizes.fold(0, usize::saturating_add).saturating_mul(one.saturating_add(8))
}
