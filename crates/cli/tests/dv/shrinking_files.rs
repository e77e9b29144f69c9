//! A file that another program shortens while `dv` reads it.

use std::io::Read as _;
use std::process::Stdio;

use crate::sandbox::{Run, Sandbox};

/// Numbers that no encoding packs well, so that the file is mapped, and its export is longer than a pipe.
fn rows() -> String {
    let numbers = (0..60_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1);
    std::iter::once("id,n\n".to_owned()).chain(numbers.map(|n| format!("{n:x},{n}\n"))).collect()
}

/// With a mapping, the operating system would end it by a signal.
#[test]
fn a_shortened_file_is_an_error_without_mappings() {
    let sandbox = Sandbox::with("a.csv", rows());
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "a.csv", "-q"]);
    for (name, file) in [("a.dv", "a.dv"), ("st", "st/seg-000000.dv")] {
        let mut command = sandbox.command(&["--no-mmap", "export", name, "--format", "csv"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It has begun, and waits for the reader of the pipe.
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 10]).unwrap();
        let path = sandbox.path(file);
        assert!(path.metadata().unwrap().len() > 256 << 10);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(8192).unwrap();
        let run = Run::new(child.wait_with_output().unwrap());
        assert!([1, 3].contains(&run.code), "{}", run.err);
        assert!(run.err.starts_with("dv: ") && run.err.contains(file), "{}", run.err);
    }
}
