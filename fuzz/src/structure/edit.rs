//! Changes of bytes that keep the length.

use docvalues_testkit::rng::SplitMix64;

use super::Mutator;

/// End of the header of most sections: half of all changes are made before it.
const HEAD: usize = 32;

/// Changes some of `bytes`, which must not be empty, in a segment of `docs` documents.
pub(super) fn edit(bytes: &mut [u8], docs: u32, rng: &mut SplitMix64, mutator: &mut Mutator<'_>) {
    let reach = if rng.chance(1, 2) { bytes.len().min(HEAD) } else { bytes.len() };
    let at = rng.place(reach);
    match rng.below(8) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1..4 => integer(bytes, at, docs, rng),
        4 => {
            let (from, len) = (rng.place(bytes.len()), 1 + rng.place(24));
            let len = len.min(bytes.len() - at.max(from));
            bytes.copy_within(from..from + len, at);
        }
        5 => {
            let len = (1 + rng.place(16)).min(bytes.len() - at);
            bytes[at..at + len].fill(*rng.pick(&[0, 0xff, 0x80]));
        }
        6 => bytes[at] = bytes[at].wrapping_add(*rng.pick(&[1, 2, 8, 0xff, 0xfe, 0xf8])),
        _ => {
            // libFuzzer knows the operands of comparisons.
            let mut copy = bytes.to_vec();
            mutator(&mut copy, bytes.len());
            let len = copy.len().min(bytes.len());
            bytes[..len].copy_from_slice(&copy[..len]);
        }
    }
}

/// Changes the integer at `at` to a neighbour, its half or double, a limit of its type, or a number of documents. The
/// start and the width of the field are guesses.
fn integer(bytes: &mut [u8], at: usize, docs: u32, rng: &mut SplitMix64) {
    let width = (*rng.pick(&[1, 2, 4, 4, 8, 8])).min(bytes.len() - at);
    let field = &mut bytes[at..at + width];
    let mut raw = [0; 8];
    raw[..width].copy_from_slice(field);
    let value = u64::from_le_bytes(raw);
    let changed = match rng.below(9) {
        0 => value.wrapping_add(1 + rng.below(8)),
        1 => value.wrapping_sub(1 + rng.below(8)),
        2 => value / 2,
        3 => value.wrapping_mul(2),
        4 => rng.below(70),
        5 => u64::MAX >> rng.below(64),
        6 => 1 << rng.below(64),
        7 => u64::from(docs).wrapping_add(rng.below(3)).wrapping_sub(1),
        _ => value ^ 1 << rng.below(64),
    };
    field.copy_from_slice(&changed.to_le_bytes()[..width]);
}
