//! Flattening: dictionaries and runs are decoded, and the items of lists concatenated.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef, BinaryViewArray, OffsetSizeTrait, StringViewArray, UInt64Array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use docvalues_column::bits;

/// Decodes dictionaries and runs, also nested ones.
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

/// Byte strings as views, so that `take` repeats a value of a dictionary without copying its bytes.
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

/// The values of an array, and the rows that they belong to.
#[derive(Debug)]
pub struct FlatArray {
    /// The values of all rows, without dictionaries and runs.
    pub items: ArrayRef,
    /// For lists: row *i* has the items from `lists[i]` to `lists[i + 1]`.
    pub lists: Option<Vec<u64>>,
    /// The validity bitmap, if a row is null: row *i* is valid if bit *i* % 64 of word *i* / 64 is set.
    pub validity: Option<Vec<u64>>,
}

impl FlatArray {
    /// Flattens `array`.
    ///
    /// # Errors
    ///
    /// An invalid array, such as an index out of bounds.
    pub fn of(array: &ArrayRef) -> Result<FlatArray, ArrowError> {
        let (items, lists) = match array.data_type() {
            DataType::List(_) => between::<i32>(array),
            DataType::LargeList(_) => between::<i64>(array),
            DataType::ListView(_) => anywhere::<i32>(array)?,
            DataType::LargeListView(_) => anywhere::<i64>(array)?,
            DataType::FixedSizeList(_, len) => {
                let items = Arc::clone(array.as_fixed_size_list().values());
                let len = u64::try_from(*len).unwrap_or(0);
                (items, (0..=array.len() as u64).map(|row| row * len).collect())
            }
            _ => {
                let items = plain(array)?;
                let validity = validity(items.as_ref());
                return Ok(FlatArray { items, lists: None, validity });
            }
        };
        Ok(FlatArray { items: plain(&items)?, lists: Some(lists), validity: validity(array.as_ref()) })
    }

    /// The row that the item at `at` belongs to; `None` if that row is null.
    pub fn row(&self, at: usize) -> Option<usize> {
        let row = match &self.lists {
            None => at,
            Some(lists) => lists.partition_point(|offset| *offset <= at as u64).checked_sub(1)?,
        };
        self.is_valid(row).then_some(row)
    }

    /// The rows with a null in their list, once for each null.
    pub fn rows_with_null_items(&self) -> impl Iterator<Item = usize> {
        let nulls = self.items.nulls().filter(|nulls| self.lists.is_some() && nulls.null_count() > 0);
        let places = nulls.into_iter().flat_map(|nulls| (0..nulls.len()).filter(|at| nulls.is_null(*at)));
        places.filter_map(|at| self.row(at))
    }

    /// Whether a row is not null.
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|words| bits::get(words, row))
    }
}

fn validity(array: &dyn Array) -> Option<Vec<u64>> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    Some(nulls.inner().bit_chunks().iter_padded().collect())
}

/// The items of lists, and the offset of each list in them, with the end of the last one.
type Items = (ArrayRef, Vec<u64>);

/// Lists by offsets: their items are one slice.
pub(super) fn between<O: OffsetSizeTrait>(array: &dyn Array) -> Items {
    let array = array.as_list::<O>();
    let offsets = array.value_offsets();
    let (first, last) = match offsets {
        [first, .., last] => (first.as_usize(), last.as_usize()),
        _ => (0, 0),
    };
    let lists = offsets.iter().map(|offset| (offset.as_usize() - first) as u64).collect();
    (array.values().slice(first, last - first), lists)
}

/// List views, which may be in any order and share items: the items are copied in the order of the rows.
fn anywhere<O: OffsetSizeTrait>(array: &dyn Array) -> Result<Items, ArrowError> {
    let array = array.as_list_view::<O>();
    let (mut places, mut ends) = (Vec::new(), vec![0]);
    for row in 0..array.len() {
        if array.is_valid(row) {
            let (start, len) = (array.value_offset(row).as_usize(), array.value_size(row).as_usize());
            places.extend((start as u64..).take(len));
        }
        ends.push(places.len() as u64);
    }
    Ok((take(array.values(), &UInt64Array::from(places), None)?, ends))
}
