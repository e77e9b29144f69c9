//! A file from before 0.1.0 that this release does not read: its strings lie in DEFLATE blocks. Its columns are refused
//! by name.

use docvalues::{OpenOptions, Segment};

use super::{python, stored};

const PROMISE: &str = include_str!("../../../../../docs/format-promise.md");

/// The file; all its columns are refused.
const FILE: &str = "retired/binary-deflate.dv";

#[test]
fn columns_in_deflate_blocks_are_refused_by_name() {
    let segment = Segment::from_bytes(stored(FILE), OpenOptions::new()).unwrap();
    for column in ["fixed", "mixed", "text"] {
        let error = segment.binary(column).unwrap_err().to_string();
        let named = error.contains(&format!("column \"{column}\": directory page"));
        assert!(named && error.contains("the strings are DEFLATE blocks"), "{error}");
        let (_, message) = error.split_once("the strings are").unwrap();
        assert!(PROMISE.contains(&format!("``the strings are{message}``")), "{message}");
    }
    let error = segment.verify().unwrap_err().to_string();
    assert!(error.contains("the strings are DEFLATE blocks"), "{error}");
}

#[test]
fn the_reader_in_python_refuses_deflate_blocks() {
    if python::have_python() {
        assert!(python::refuses(&stored(FILE), "blocks of DEFLATE"));
    }
}
