//! The documents that a cycle changes, and their new times. `Reindex.java` changes the same.

use docvalues_benches::ids::random;
use docvalues_benches::updated_docs::text;

/// Greater than all times that documents have at first.
const NEW: i64 = 1 << 40;

/// A document that is changed.
pub struct Change {
    pub number: u32,
    /// Greater than all times before.
    pub time: i64,
    /// Its text, as it was.
    pub text: String,
}

/// The changes of a cycle: no document changes twice.
///
/// # Panics
///
/// If so many cycles change more documents than there are.
pub fn changes(docs: u32, words: u32, cycle: u32, changed: u32) -> Vec<Change> {
    let first = cycle as usize * changed as usize;
    assert!(first + changed as usize <= docs as usize, "fewer documents than changes");
    let numbers = random(docs, first + changed as usize).skip(first);
    let times = NEW + first as i64..;
    let change = |(number, time)| {
        let mut of = String::new();
        text(number, words, &mut of);
        Change { number, time, text: of }
    };
    numbers.zip(times).map(change).collect()
}
