//! Values in, sections out.

use super::block::{Block, Encoding, Stride};
use super::{BLOCK_SHIFTS, Numeric, Role, Transform};
use crate::bits;

/// What to make of a column besides its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumericOptions {
    /// Which sections the column fills.
    pub role: Role,
    /// Whether to bake a jump table.
    pub jump_tables: bool,
    /// Whether to add a zone map; only with [`Role::Values`], and only where there is more than one
    /// zone.
    pub zones: bool,
}

/// Encodes `values`, in the fewest bytes.
pub fn encode(values: &[i64], options: &NumericOptions) -> Numeric<Vec<u8>> {
    let role = options.role;
    let (min, max) = (values.iter().min().copied(), values.iter().max().copied());
    let (min, max) = (min.unwrap_or(0), max.unwrap_or(0));
    let mut column = Numeric {
        role,
        count: values.len() as u64,
        min,
        max,
        transform: Transform::Constant(min),
        block_shift: *BLOCK_SHIFTS.start(),
        stride: Stride::Short,
        blocks: None,
        jump: None,
        zones: None,
    };
    if min == max {
        return column;
    }
    let gcd = 1;
    column.transform = Transform::Affine { base: min, gcd };
    let (mut blocks, mut jump) = (Vec::new(), Vec::new());
    let q = |v: i64| v.wrapping_sub(min).cast_unsigned() / gcd;
    for block in values.chunks(1 << column.block_shift) {
        let base = block.iter().map(|&v| q(v)).min().unwrap_or(0);
        let top = block.iter().map(|&v| q(v)).max().unwrap_or(0);
        let width = bits::width_of(top - base);
        let encoding = if width == 0 { Encoding::Constant } else { Encoding::Packed };
        let payload = (blocks.len() + column.stride.bytes()) as u64;
        let header = Block { base, slope: 0, payload, encoding, width };
        header.encode(column.stride, &mut blocks);
        header.encode(column.stride, &mut jump);
        bits::pack(block.iter().map(|&v| q(v) - base), width, &mut blocks);
    }
    column.blocks = Some(blocks);
    column.jump = options.jump_tables.then_some(jump);
    column
}
