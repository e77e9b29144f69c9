//! A temporary folder for a test, and runs of the program in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A temporary folder with files.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    /// A sandbox with a file.
    pub(crate) fn with(name: &str, text: impl AsRef<[u8]>) -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.write(name, text);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// What stands in the sandbox, hidden files, too, by name.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program, to be run in the sandbox.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dv"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs `dv` with these arguments.
    #[track_caller]
    pub(crate) fn dv(&self, args: &[&str]) -> Run {
        let output = self.command(args).output().unwrap();
        Run::new(output)
    }

    /// The same, which must go well; returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let run = self.dv(args);
        assert_eq!(run.code, 0, "dv {args:?}: {run:?}");
        run.out
    }

    /// The same with bytes on its standard input.
    #[track_caller]
    pub(crate) fn dv_with(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Side by side: what it prints may come before it has read all.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that does not read its input to the end is no failure of this.
                let _ = stdin.write_all(input);
            });
            Run::new(child.wait_with_output().unwrap())
        })
    }
}

impl Run {
    pub(crate) fn new(output: std::process::Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap_or(-1) }
    }
}

/// The words of a command line, which blanks separate.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The value of a text in JSON.
#[track_caller]
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The id of a row in JSON.
pub(crate) fn id(row: &str) -> String {
    json(row)["id"].as_str().unwrap().to_owned()
}

pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// The packages that the repository ships.
pub(crate) fn packages() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/packages.ndjson.gz");
    std::fs::read(path).unwrap()
}

/// Lines without the bars at their ends.
pub(crate) fn without_bars(text: &str) -> String {
    text.lines()
        .map(|line| format!("{}\n", line.trim_end_matches(['█', '▉', '▊', '▋', '▌', '▍', '▎', '▏', ' '])))
        .collect()
}
