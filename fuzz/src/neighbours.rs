//! Inputs that differ from a genuine one in a byte, or end early.

/// The bytes that take the place of another one, besides those beside it.
const BYTES: [u8; 4] = [0, 1, 0x7f, 0xff];

/// `input` with each of its first `most` bytes changed in six ways, and cut before each of them.
pub fn neighbours(input: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (at, &byte) in input.iter().enumerate().take(most) {
        for other in BYTES.into_iter().chain([byte.wrapping_add(1), byte.wrapping_sub(1)]) {
            let mut changed = input.to_vec();
            changed[at] = other;
            all.push(changed);
        }
        all.push(input[..at].to_vec());
    }
    all
}
