//! Encodes a block of keys.

use super::{COLUMNS, HEAD, LENGTHS_1, LENGTHS_2, MAX_COLUMNS, MAX_PREFIX, ONE_LENGTH, head, head_width};
use docvalues_format::cursor::Put;
use docvalues_format::strings::shared_len;

/// Appends the block of `keys`, which ascend: between one and [`MAX_KEYS`](super::MAX_KEYS), of at most 65,535
/// bytes each.
pub(crate) fn encode(keys: &[&[u8]], out: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return };
    let prefix = shared_len(first, last).min(MAX_PREFIX);
    let len = first.len() - prefix;
    out.put_u8(u8::try_from(keys.len()).unwrap_or(u8::MAX));
    if keys.iter().any(|key| key.len() != first.len()) {
        return varied(keys, prefix, out);
    }
    let columns = Columns::of(keys, prefix, len);
    let pays = columns.count * (keys.len() - 1) > len.div_ceil(8);
    out.put_u8(if pays { COLUMNS } else { ONE_LENGTH });
    put_prefix(&first[..prefix], out);
    // A key has at most 65,535 bytes.
    out.put_u16(u16::try_from(len).unwrap_or(u16::MAX));
    if !pays {
        out.put(&first[..prefix]);
        keys.iter().for_each(|key| put_head(&key[prefix..], head_width(len), out));
        keys.iter().for_each(|key| out.put(key[prefix..].get(HEAD..).unwrap_or(&[])));
        return;
    }
    out.put(&columns.bits(len)[..len.div_ceil(8)]);
    out.put(&first[..prefix]);
    let constants = first[prefix..].iter().enumerate().filter(|&(column, _)| columns.is_constant(column));
    constants.for_each(|(_, &byte)| out.put_u8(byte));
    let own = len - columns.count;
    let tails: Vec<u8> = keys.iter().flat_map(|key| columns.own(&key[prefix..])).collect();
    let tail = |i: usize| &tails[i * own..(i + 1) * own];
    (0..keys.len()).for_each(|i| put_head(tail(i), head_width(own), out));
    (0..keys.len()).for_each(|i| out.put(tail(i).get(HEAD..).unwrap_or(&[])));
}

/// Appends all after `n`, for keys of different lengths.
fn varied(keys: &[&[u8]], prefix: usize, out: &mut Vec<u8>) {
    let longest = keys.iter().map(|key| key.len() - prefix).max().unwrap_or(0);
    let short = longest <= usize::from(u8::MAX);
    out.put_u8(if short { LENGTHS_1 } else { LENGTHS_2 });
    put_prefix(&keys[0][..prefix], out);
    out.put(&keys[0][..prefix]);
    keys.iter().for_each(|key| put_head(&key[prefix..], HEAD, out));
    for key in keys {
        let len = u16::try_from(key.len() - prefix).unwrap_or(u16::MAX);
        out.put(&len.to_le_bytes()[..if short { 1 } else { 2 }]);
    }
    keys.iter().for_each(|key| out.put(key[prefix..].get(HEAD..).unwrap_or(&[])));
}

fn put_prefix(prefix: &[u8], out: &mut Vec<u8>) {
    out.put_u8(u8::try_from(prefix.len()).unwrap_or(u8::MAX));
}

fn put_head(tail: &[u8], width: usize, out: &mut Vec<u8>) {
    out.put(&head(tail, width).to_le_bytes()[..width]);
}

/// The bytes after the prefix that differ between keys.
struct Columns {
    /// Not zero for columns that differ.
    differ: [u8; MAX_COLUMNS],
    /// The number of constant columns.
    count: usize,
}

impl Columns {
    /// For keys of one length; long ones are treated as having no constant column.
    fn of(keys: &[&[u8]], prefix: usize, len: usize) -> Columns {
        if len > MAX_COLUMNS {
            return Columns { differ: [1; MAX_COLUMNS], count: 0 };
        }
        let mut differ = [0; MAX_COLUMNS];
        for key in keys {
            for ((differ, byte), first) in differ.iter_mut().zip(&key[prefix..]).zip(&keys[0][prefix..]) {
                *differ |= byte ^ first;
            }
        }
        let count = differ[..len].iter().filter(|&&differ| differ == 0).count();
        Columns { differ, count }
    }

    fn is_constant(&self, column: usize) -> bool {
        self.differ[column] == 0
    }

    /// A bit for each of `len` columns that is constant.
    fn bits(&self, len: usize) -> [u8; MAX_COLUMNS.div_ceil(8)] {
        let mut bits = [0; MAX_COLUMNS.div_ceil(8)];
        for (column, differ) in self.differ[..len].iter().enumerate() {
            bits[column / 8] |= u8::from(*differ == 0) << (column % 8);
        }
        bits
    }

    fn own<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = u8> + 'a {
        bytes.iter().enumerate().filter(|&(column, _)| !self.is_constant(column)).map(|(_, &byte)| byte)
    }
}
