//! Encodes numbers in memory or on disk; sections of numbers on disk are on disk, too.

use docvalues_format::numeric::{self, Numeric, NumericOptions};
use docvalues_storage::prefer_huge_pages;

use crate::buffer::{CHUNK_LEN, FixedWidth, Payload, Scratch, SpillVec, payloads};
use crate::error::ErrorKind;

/// Encodes numbers; on disk, if the numbers are.
pub(crate) fn encode_numbers<T: FixedWidth>(
    numbers: &SpillVec<T>,
    options: &NumericOptions,
) -> Result<Numeric<Payload>, ErrorKind> {
    encode_values(numbers, numbers.sibling_scratch(), options)
}

/// As [`encode_numbers`], for numbers from any source. The blocks go to `on_disk`, if it is given.
pub(super) fn encode_values(
    values: &impl numeric::Values<Error = ErrorKind>,
    mut on_disk: Option<Scratch>,
    options: &NumericOptions,
) -> Result<Numeric<Payload>, ErrorKind> {
    let mut is_advised = false;
    let encoded = numeric::encode_from(values, options, |blocks| {
        // The encoder reserves memory for all blocks after the first ones.
        is_advised = is_advised || prefer_huge_pages(blocks);
        drain(&mut on_disk, blocks)
    })?;
    Ok(with_on_disk(encoded, on_disk))
}

/// Moves `blocks` to disk, if they go there and fill a chunk.
pub(crate) fn drain(on_disk: &mut Option<Scratch>, blocks: &mut Vec<u8>) -> Result<(), ErrorKind> {
    if let Some(on_disk) = on_disk
        && blocks.len() >= CHUNK_LEN
    {
        on_disk.append(blocks)?;
        blocks.clear();
    }
    Ok(())
}

/// Converts `encoded`, whose first blocks are on disk, to payloads.
pub(super) fn with_on_disk(encoded: Numeric<Vec<u8>>, on_disk: Option<Scratch>) -> Numeric<Payload> {
    let on_disk = on_disk.map(|on_disk| (encoded.role.sections().0, on_disk));
    let Ok(encoded) = encoded.try_map(&mut payloads(on_disk));
    encoded
}
