//! The fields of a [`Numeric`] in a directory entry, and the rules by which they agree.

use super::{
    BLOCK_SHIFTS, Decimal, MAX_TABLE, Numeric, ONE_BLOCK, Role, Stride, Transform, ZONE, fine_zone, zone,
};
use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result};
use crate::granule::SectionRef;

/// Bytes of the longest table.
const TABLE_LEN: usize = MAX_TABLE * size_of::<i64>();

const TAG_CONSTANT: u8 = 0;
const TAG_AFFINE: u8 = 1;
const TAG_TABLE: u8 = 2;
const TAG_DECIMAL: u8 = 3;
const HAS_JUMP: u8 = 1;
const HAS_ZONES: u8 = 2;

impl<S> Numeric<S> {
    /// Checks that all fields agree with each other and with the length of each section.
    pub(super) fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let above = |what, found, max| Err(ErrorKind::OutOfRange { what, found, max });
        if !BLOCK_SHIFTS.contains(&self.block_shift) && self.block_shift != ONE_BLOCK {
            return above("block shift", self.block_shift.into(), (*BLOCK_SHIFTS.end()).into());
        }
        if self.block_shift == ONE_BLOCK && self.block_count() > 1 {
            return above("values in one block", self.count, 1 << ONE_BLOCK);
        }
        let has_blocks = self.blocks.is_some();
        ErrorKind::rule(self.min <= self.max, "the smallest value is above the largest")?;
        ErrorKind::rule(self.fine_zones.is_none() || self.zones.is_some(), "fine zones without a zone map")?;
        let has_lookups = self.jump.is_some() || self.zones.is_some();
        ErrorKind::rule(has_blocks || !has_lookups, "a jump table or a zone map without blocks")?;
        match &self.transform {
            Transform::Constant(value) => {
                let is_it = (self.min, self.max) == (*value, *value);
                ErrorKind::rule(is_it, "the constant differs from the smallest or largest value")?;
                return ErrorKind::rule(!has_blocks, "a constant column has blocks");
            }
            Transform::Affine { base, gcd } => {
                let is_good = *gcd != 0 && *base == self.min;
                ErrorKind::rule(is_good, "the base is not the smallest value or the divisor is zero")?;
            }
            Transform::Decimal(decimal) => {
                ErrorKind::rule(self.role.is_values(), "only the role of values may have decimals")?;
                let first = Decimal::new(self.min, decimal.gcd, decimal.digits);
                let are = first == Some(*decimal) && decimal.integer(self.max).is_some();
                ErrorKind::rule(are, "the smallest or largest value is not a decimal of these digits")?;
            }
            Transform::Table(table) => {
                ErrorKind::rule(self.role.is_values(), "only the role of values may have a table")?;
                let (found, max) = (len(table), TABLE_LEN as u64);
                if found % 8 != 0 || !(2 * 8..=max).contains(&found) {
                    return above("length of the values table", found, max);
                }
            }
        }
        let none = ErrorKind::Broken("a column with different values has no blocks");
        let (blocks, stride) = (len(self.blocks.as_ref().ok_or(none)?), self.stride.bytes() as u64);
        let headers = self.block_count().saturating_mul(stride);
        if self.count < 2 || headers > blocks {
            return above("number of blocks", self.block_count(), blocks / stride);
        }
        if let Some(jump) = &self.jump {
            ErrorKind::equal("length of the jump table", len(jump), headers)?;
            ErrorKind::rule(self.block_count() > 1, "a jump table for a single block")?;
        }
        if let Some(zones) = &self.zones {
            ErrorKind::rule(self.role.is_values(), "only the role of values may have a zone map")?;
            ErrorKind::rule(self.count > ZONE, "a zone map for a single zone")?;
            ErrorKind::equal("length of the zone map", len(zones), zone::encoded_len(self.count))?;
        }
        let fine_zones = self.fine_zones.as_ref();
        let expected = fine_zone::encoded_len(self.count);
        fine_zones.map_or(Ok(()), |all| ErrorKind::equal("length of the fine zones", len(all), expected))
    }
}

impl Numeric<SectionRef> {
    /// Appends the column's fields to a directory entry.
    ///
    /// | offset | bytes | field | meaning |
    /// | ---: | ---: | --- | --- |
    /// | 0 | 8 | `count` | u64: values |
    /// | 8 | 8 | `min` | i64: smallest value |
    /// | 16 | 8 | `max` | i64: largest value |
    /// | 24 | 8 | `gcd` | u64: the divisor; 0 unless affine or decimal |
    /// | 32 | 1 | `transform` | 0 constant, 1 affine, 2 table, 3 decimal |
    /// | 33 | 1 | `block_shift` | 9 to 14, or 40: one block |
    /// | 34 | 1 | `stride` | bytes of a header: 16 or 32 |
    /// | 35 | 1 | `sections` | bit 0: jump table, bit 1: zone map |
    /// | 36 | 1 | `digits` | u8: digits after the point; only if decimal |
    /// | … | | `refs` | a section reference for each that is there: blocks, jump table, values table, zone map |
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        let (tag, gcd, digits, table) = match self.transform {
            Transform::Constant(_) => (TAG_CONSTANT, 0, None, None),
            Transform::Affine { gcd, .. } => (TAG_AFFINE, gcd, None, None),
            Transform::Table(table) => (TAG_TABLE, 0, None, Some(table)),
            Transform::Decimal(Decimal { gcd, digits, .. }) => (TAG_DECIMAL, gcd, Some(digits), None),
        };
        out.put_u64(self.count);
        out.put_i64(self.min);
        out.put_i64(self.max);
        out.put_u64(gcd);
        out.put_u8(tag);
        out.put_u8(self.block_shift);
        out.put_u8(self.stride as u8);
        let bit = |there: bool, bit: u8| if there { bit } else { 0 };
        out.put_u8(bit(self.jump.is_some(), HAS_JUMP) | bit(self.zones.is_some(), HAS_ZONES));
        digits.into_iter().for_each(|digits| out.put_u8(digits));
        for section in [self.blocks, self.jump, table, self.zones].into_iter().flatten() {
            section.encode(out);
        }
    }

    /// Reads the fields that [`encode_meta`](Self::encode_meta) wrote for a column of this `role`.
    ///
    /// # Errors
    ///
    /// When a field is illegal, or two fields disagree.
    pub fn decode_meta(cursor: &mut Cursor<'_>, role: Role) -> Result<Numeric<SectionRef>> {
        let (count, min, max, gcd) = (cursor.u64()?, cursor.i64()?, cursor.i64()?, cursor.u64()?);
        let tag = cursor.u8()?;
        let unknown = cursor.refuse(ErrorKind::UnknownTag { what: "transform", tag });
        let block_shift = cursor.u8()?;
        let stride = cursor.u8()?;
        let stride = Stride::ALL.into_iter().find(|s| *s as u8 == stride);
        let stride = stride.ok_or_else(|| {
            cursor.refuse(ErrorKind::Broken("the length of a block header is neither 16 nor 32"))
        })?;
        let sections = cursor.u8()?;
        cursor.at_most("sections", sections.into(), (HAS_JUMP | HAS_ZONES).into())?;

        let decimal = match tag {
            TAG_DECIMAL => {
                let decimal = Decimal::new(min, gcd, cursor.u8()?);
                let none = ErrorKind::Broken("the smallest value is not a decimal of these digits");
                Some(decimal.ok_or_else(|| cursor.refuse(none))?)
            }
            _ => None,
        };

        let mut section = |there: bool| there.then(|| SectionRef::decode(cursor)).transpose();
        let blocks = section(tag != TAG_CONSTANT)?;
        let jump = section(sections & HAS_JUMP != 0)?;
        let table = section(tag == TAG_TABLE)?;
        let zones = section(sections & HAS_ZONES != 0)?;
        let transform = match (tag, table, decimal) {
            (TAG_CONSTANT, ..) => Transform::Constant(min),
            (TAG_AFFINE, ..) => Transform::Affine { base: min, gcd },
            (TAG_TABLE, Some(table), _) => Transform::Table(table),
            (TAG_DECIMAL, _, Some(decimal)) => Transform::Decimal(decimal),
            _ => return Err(unknown),
        };
        let may_divide = gcd == 0 || matches!(tag, TAG_AFFINE | TAG_DECIMAL);
        cursor.rule(may_divide, "a divisor without an affine or a decimal transform")?;
        let fine_zones = None;
        let meta = Numeric {
            role,
            count,
            min,
            max,
            transform,
            block_shift,
            stride,
            blocks,
            jump,
            zones,
            fine_zones,
        };
        cursor.check(meta.check(|section| section.len))?;
        Ok(meta)
    }
}
