//! The peers that are measured in this program. Each goes through its fastest public API; where it is
//! not plain which one that is, through several.

pub mod docvalues;
pub mod parquet;
pub mod tantivy;
pub mod three;

/// Documents that are asked for at a time, where an API takes many.
pub const BATCH: usize = 1_024;

/// The version of a crate that was built in.
pub fn locked(name: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let found = lock.split("[[package]]").find(|part| part.contains(&format!("name = \"{name}\"\n")));
    let version = found.and_then(|part| part.split("version = \"").nth(1)?.split('"').next());
    version.expect("a crate of the lock file").to_owned()
}
