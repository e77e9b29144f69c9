//! The bytes of a small trie, written by hand. The other tests are in `nodes/tests.rs`.

use super::TrieBuilder;

#[test]
fn the_bytes_are_as_drawn() {
    let mut builder = TrieBuilder::new();
    ["car", "care", "cat", "dog"].iter().for_each(|key| builder.push(key.as_bytes()).unwrap());
    let expected: &[&[u8]] = &[
        &[0b1110_0000, 0, b'e', 0], // 0: a key, and a run of one: `e`, which ends
        &[0b0100_0001, b'a'],       // 4: after an `a`,
        &[0b1000_0001, 0b0010_0001, b'r', b't', 0, 4, 2, 0], // a list: `r`, 0 before, 4 back; `t`, 2 before, ends
        &[1, b'g'],                                          // 14: a leaf
        &[0b1010_1001, 0b0010_0000, b'c', 1, 0, 24, 0, 3, 5, b'o'], // 16: a run of two: `c` to 4; `d` and `o` to 14
        &[10, 0, 0, 0],                                             // bytes of the root
    ];
    assert_eq!(builder.finish(), expected.concat());
}
