//! `dv check`: verifies every byte of segments and stores.

#[cfg(feature = "lucene")]
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

#[cfg(feature = "lucene")]
use crate::api::ColumnSource as _;
#[cfg(feature = "lucene")]
use crate::api::lucene::Options;
use crate::api::store::{StoreCheck, StoreReader, UnnamedFile};
use crate::api::{Error, ErrorKind, Segment};
use crate::args::verify::CheckArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result, exit_of};
use crate::open::Opener;
#[cfg(feature = "lucene")]
use crate::open::files::is_lucene;
#[cfg(feature = "lucene")]
use crate::open::lucene::unreadable;
use crate::text::{Json, counted, printable, thousands};

/// The report on one file.
#[derive(Default)]
struct Report {
    file: String,
    documents: Option<u64>,
    columns: Option<u32>,
    bytes: Option<u64>,
    store: Option<StoreCheck>,
    /// The columns of an index of Lucene that are not read, and why.
    not_read: Vec<String>,
    problems: Vec<Problem>,
    exit: Exit,
}

/// One damaged place.
#[derive(Default)]
struct Problem {
    column: Option<String>,
    section: Option<&'static str>,
    offset: Option<u64>,
    message: String,
}

impl Report {
    fn json(&self) -> Json {
        Json::object([
            ("file", self.file.as_str().into()),
            ("clean", self.problems.is_empty().into()),
            ("documents", self.documents.into()),
            ("columns", self.columns.into()),
            ("bytes", self.bytes.into()),
            ("store", self.store.as_ref().map_or(Json::NONE, store_json)),
            ("not_read", Json::any(self.not_read.iter().map(|column| column.as_str().into()))),
            ("problems", self.problems.iter().map(Problem::json).collect()),
        ])
    }

    /// Adds an error, whose message says what is damaged.
    fn fail(&mut self, failure: CliError) {
        self.exit = self.exit.max(failure.exit);
        self.problems.push(Problem { message: failure.message, ..Problem::default() });
    }
}

/// The part of a report that only a store has.
fn store_json(store: &StoreCheck) -> Json {
    let unnamed = store.unnamed.iter().map(|UnnamedFile { name, bytes, is_of_store, .. }| {
        let name = name.as_str().into();
        Json::object([("name", name), ("bytes", (*bytes).into()), ("removable", (*is_of_store).into())])
    });
    Json::object([
        ("commits", store.commits.as_slice().into()),
        ("files", store.files.into()),
        ("unnamed", unnamed.collect()),
    ])
}

impl Problem {
    fn json(&self) -> Json {
        Json::object([
            ("column", self.column.as_deref().into()),
            ("section", self.section.into()),
            ("offset", self.offset.into()),
            ("message", self.message.as_str().into()),
        ])
    }
}

pub(crate) fn run(args: &CheckArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let mut exit = Exit::Ok;
    for file in &args.files {
        let report = check(opener, file);
        exit = exit.max(report.exit);
        if args.json {
            console.json_line(report.json())?;
        } else {
            print(&report, args.quiet, console)?;
        }
    }
    Ok(exit)
}

fn check(opener: &Opener, file: &Path) -> Report {
    let name = file.to_string_lossy().into_owned();
    let mut report = Report { file: name.clone(), ..Report::default() };
    let checked = match file.is_dir() {
        #[cfg(feature = "lucene")]
        true if is_lucene(file) => check_lucene(opener, file, &mut report),
        true => check_store(opener, file, &mut report),
        false => opener.segment(file).map(|segment| check_segment(&segment, &mut report)),
    };
    if let Err(failure) = checked {
        let message = failure.message.strip_prefix(&format!("{name}: ")).map(str::to_owned);
        report.fail(CliError { message: message.unwrap_or(failure.message), ..failure });
    }
    report
}

fn check_segment(segment: &Segment, report: &mut Report) {
    report.documents = Some(segment.docs().into());
    report.columns = Some(segment.column_count());
    report.bytes = Some(segment.len());
    segment.check(&mut |error| {
        report.exit = report.exit.max(exit_of(&error));
        report.problems.push(problem(&error));
        ControlFlow::Continue(())
    });
}

/// Compares the checksums of the files of doc values and terms that are read, opens the columns, and names the others.
#[cfg(feature = "lucene")]
fn check_lucene(opener: &Opener, folder: &Path, report: &mut Report) -> Result<()> {
    let index = opener.lucene(folder, Options::new())?;
    let mut names = BTreeSet::new();
    for segment in index.segments() {
        if let Err(error) = segment.verify() {
            report.fail(error.into());
        }
        for field in segment.fields()? {
            if let Err(error) = segment.column(&field.name) {
                report.fail(error.into());
            }
            names.insert(field.name);
        }
    }
    let not_read = unreadable(index.segments().iter().map(|segment| &**segment));
    report.not_read = not_read.iter().map(|error| error.kind().to_string()).collect();
    report.documents = Some(index.live_docs());
    report.columns = u32::try_from(names.len()).ok();
    report.bytes = Some(index.segments().iter().map(|segment| segment.bytes()).sum());
    Ok(())
}

fn check_store(opener: &Opener, folder: &Path, report: &mut Report) -> Result<()> {
    // The messages name the files.
    let found = StoreReader::check(folder, opener.options(), &mut |error| report.fail(error.into()))?;
    report.documents = Some(found.docs);
    report.bytes = Some(found.bytes);
    report.store = Some(found);
    Ok(())
}

fn problem(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::Corrupt { field, source, .. } => Problem {
            column: field.clone(),
            section: Some(source.section().name()),
            offset: Some(source.offset()),
            message: source.kind().to_string(),
        },
        _ => Problem { message: error.to_string(), ..Problem::default() },
    }
}

fn print(report: &Report, quiet: bool, console: &mut Console<'_>) -> Result<()> {
    let file = &report.file;
    if report.problems.is_empty() && !quiet {
        let docs = counted(report.documents.unwrap_or(0), "document", "documents");
        let bytes = thousands(report.bytes.unwrap_or(0));
        let parts = match &report.store {
            Some(store) => {
                let (commits, files) = (store.commits.len() as u64, store.files as u64);
                format!("{}, {}", counted(commits, "commit", "commits"), counted(files, "file", "files"))
            }
            None => counted(report.columns.unwrap_or(0).into(), "column", "columns"),
        };
        console.line(format_args!("{file}: clean: {docs}, {parts}, {bytes} bytes"))?;
    }
    for problem in &report.problems {
        let mut line = format!("{file}: ");
        if let Some(column) = &problem.column {
            line += &format!("column {column:?}: ");
        }
        if let (Some(section), Some(offset)) = (problem.section, problem.offset) {
            line += &format!("{section} at byte {offset}: ");
        }
        console.line(line + &problem.message)?;
    }
    for column in report.not_read.iter().filter(|_| !quiet) {
        console.line(format_args!("{file}: note: not read: {column}"))?;
    }
    let unnamed = report.store.iter().flat_map(|store| &store.unnamed).filter(|_| !quiet);
    for UnnamedFile { name, bytes, is_of_store, .. } in unnamed {
        let what = if *is_of_store {
            "a writer has yet to commit it, or the next one removes it"
        } else {
            "not of a store"
        };
        let (name, bytes) = (printable(name), thousands(*bytes));
        console.line(format_args!("{file}: note: no commit names {name}, {bytes} bytes: {what}"))?;
    }
    Ok(())
}
