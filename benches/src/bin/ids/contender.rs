//! A structure in a process of its own.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use docvalues_benches::id_structures::{Shape, Structure};
use docvalues_benches::lucene::{self, Lucene};

use super::serve::{Answer, Request};
use crate::Outcome;

/// A structure to compare.
pub(crate) enum Contender {
    Ours(Structure),
    Lucene {
        lucene: Rc<Lucene>,
        name: &'static str,
        /// The major version of the JDK.
        jdk: u32,
        variant: &'static str,
    },
}

/// Each version of Lucene, its structure, and its variant, as `IdsUnderIngest.java` calls it.
const LUCENES: [(&str, &str, &str); 7] = [
    ("9.12.3", "lucene-9.12-fst", PLAIN),
    ("9.12.3", "lucene-9.12-fst-27", "27"),
    ("10.3.1", "lucene-10.3-trie", PLAIN),
    ("10.5.0", "lucene-10.5-trie", PLAIN),
    ("10.5.0", "lucene-10.5-trie-27", "27"),
    ("10.5.0", "lucene-10.5-trie-bloom", "bloom"),
    ("10.5.0", "lucene-10.5-trie-bloom-13", "bloom-13"),
];

const PLAIN: &str = "plain";

impl Contender {
    /// The structures of these names, or all. Lucene's are left out without a JDK or Maven.
    pub(crate) fn find(names: &[String], jdks: &[u32]) -> Outcome<Vec<Contender>> {
        let wants = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
        let is_known = |name: &&String| {
            name.parse::<Structure>().is_ok() || LUCENES.iter().any(|lucene| lucene.1 == **name)
        };
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            return Err(format!("{unknown}: no structure; see benches/src/id_structures.rs").into());
        }
        let ours = Structure::ALL.into_iter().filter(|structure| wants(structure.name()));
        let mut found: Vec<Contender> = ours.map(Contender::Ours).collect();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let is_wanted = |version: &str| LUCENES.iter().any(|one| one.0 == version && wants(one.1));
        for &jdk in jdks {
            let target = here.join("../target/lucene");
            let lucenes = lucene::find_on(Some(jdk), &here.join("peers/lucene"), &target, is_wanted);
            for lucene in lucenes.into_iter().rev().map(Rc::new) {
                let of_version = LUCENES.iter().filter(|one| one.0 == lucene.version && wants(one.1));
                found.extend(of_version.map(|&(_, name, variant)| Contender::Lucene {
                    lucene: Rc::clone(&lucene),
                    name,
                    jdk,
                    variant,
                }));
            }
        }
        Ok(found)
    }

    /// The structure's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Contender::Ours(structure) => structure.name(),
            Contender::Lucene { name, .. } => name,
        }
    }

    /// The major version of the JDK, if it runs on one.
    pub(crate) fn jdk(&self) -> Option<u32> {
        match self {
            Contender::Ours(_) => None,
            Contender::Lucene { jdk, .. } => Some(*jdk),
        }
    }

    /// The folder of its segments.
    pub(crate) fn files(&self, folder: &Path, shape: Shape) -> std::path::PathBuf {
        match self {
            Contender::Ours(structure) => structure.folder(folder, shape),
            Contender::Lucene { lucene, variant, .. } => {
                let end = if *variant == PLAIN { String::new() } else { format!("-{variant}") };
                folder.join(format!("{shape}.lucene-{}{end}", lucene.version))
            }
        }
    }

    /// Writes its segments, unless they exist.
    pub(crate) fn build(&self, folder: &Path, shapes: &[Shape]) -> Outcome {
        let mut process = None;
        for &shape in shapes.iter().filter(|shape| !self.files(folder, **shape).exists()) {
            eprintln!("building {self}, {shape}");
            if let Contender::Ours(structure) = self {
                structure.build(folder, shape)?;
                continue;
            }
            let process = match &mut process {
                Some(process) => process,
                none => none.insert(self.start(folder)?),
            };
            let Shape { kind, segments, each } = shape;
            process.tell(&format!("build {kind} {segments} {each}"))?;
        }
        Ok(())
    }

    /// Its process.
    pub(crate) fn start(&self, folder: &Path) -> Outcome<Process> {
        let mut command = match self {
            Contender::Ours(structure) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["serve", structure.name()]).arg(folder);
                command
            }
            Contender::Lucene { lucene, variant, .. } => {
                let mut command = lucene.command_of("IdsUnderIngest");
                command.arg(folder).arg(variant);
                command
            }
        };
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        Ok(Process { name: self.to_string(), input, output, child })
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.jdk() {
            Some(jdk) => write!(f, "{}, JDK {jdk}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

/// A process that answers requests, until this is dropped.
pub(crate) struct Process {
    name: String,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    child: Child,
}

impl Process {
    pub(crate) fn ask(&mut self, request: Request) -> Outcome<Answer> {
        let line = self.tell(&request.to_string())?;
        Ok(serde_json::from_str(&line)
            .map_err(|error| format!("{}: {request}: {error}: {line}", self.name))?)
    }

    /// Sends a line, and returns that of the answer.
    fn tell(&mut self, request: &str) -> Outcome<String> {
        let failed = || format!("{}: {request}: no answer; see its messages above", self.name);
        let mut answer = String::new();
        writeln!(self.input.as_mut().ok_or_else(failed)?, "{request}").map_err(|_| failed())?;
        self.output.as_mut().ok_or_else(failed)?.read_line(&mut answer)?;
        if answer.is_empty() { Err(failed().into()) } else { Ok(answer) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of the input ends it.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
