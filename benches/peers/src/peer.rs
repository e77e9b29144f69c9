//! The peers of this program. Each uses its fastest public API, or several if it is not obvious which one is fastest.

pub mod docvalues;
pub mod in_place;
pub mod parquet;
pub mod tantivy;
pub mod three_columns;

/// Documents of a request, for APIs that take many.
pub const BATCH: usize = 1_024;

/// The version of a crate in the lock file.
pub fn locked(name: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let found = lock.split("[[package]]").find(|part| part.contains(&format!("name = \"{name}\"\n")));
    let version = found.and_then(|part| part.split("version = \"").nth(1)?.split('"').next());
    version.expect("a crate of the lock file").to_owned()
}
