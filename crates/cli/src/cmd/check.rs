//! `dv check`: verifies every byte of segments.

use std::ops::ControlFlow;
use std::path::Path;

use serde::Serialize;

use crate::api::{Error, ErrorKind, Segment};
use crate::args::CheckArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, exit_of};
use crate::output::text::thousands;
use crate::read;

/// The report on one file.
#[derive(Default, Serialize)]
struct Report {
    file: String,
    clean: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    problems: Vec<Problem>,
    #[serde(skip)]
    exit: Exit,
}

/// One damaged place.
#[derive(Default, Serialize)]
struct Problem {
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    message: String,
}

pub(crate) fn run(args: &CheckArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let mut exit = Exit::Ok;
    for file in &args.files {
        let report = check(file);
        exit = exit.max(report.exit);
        if args.json {
            let line = serde_json::to_string(&report).unwrap_or_default();
            writeln!(console.out, "{line}")?;
        } else {
            print(&report, args.quiet, console)?;
        }
    }
    Ok(exit)
}

fn check(file: &Path) -> Report {
    let name = file.to_string_lossy().into_owned();
    let mut report = Report { file: name.clone(), ..Report::default() };
    match read::open(file) {
        Ok(segment) => check_segment(&segment, &mut report),
        Err(failure) => {
            report.exit = failure.exit;
            let message = failure.message.strip_prefix(&format!("{name}: ")).unwrap_or(&failure.message);
            report.problems.push(Problem { message: message.to_owned(), ..Problem::default() });
        }
    }
    report.clean = report.problems.is_empty();
    report
}

fn check_segment(segment: &Segment, report: &mut Report) {
    report.documents = Some(segment.docs());
    report.columns = Some(segment.column_count());
    report.bytes = Some(segment.len());
    segment.check(&mut |error| {
        report.exit = report.exit.max(exit_of(&error));
        report.problems.push(problem(&error));
        ControlFlow::Continue(())
    });
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

fn print(report: &Report, quiet: bool, console: &mut Console<'_>) -> Result<(), CliError> {
    let file = &report.file;
    if report.clean && !quiet {
        let docs = thousands(report.documents.unwrap_or(0).into());
        let columns = thousands(report.columns.unwrap_or(0).into());
        let bytes = thousands(report.bytes.unwrap_or(0));
        writeln!(console.out, "{file}: clean: {docs} documents, {columns} columns, {bytes} bytes")?;
    }
    for problem in &report.problems {
        write!(console.out, "{file}: ")?;
        if let Some(column) = &problem.column {
            write!(console.out, "column {column:?}: ")?;
        }
        if let (Some(section), Some(offset)) = (problem.section, problem.offset) {
            write!(console.out, "{section} at byte {offset}: ")?;
        }
        writeln!(console.out, "{}", problem.message)?;
    }
    Ok(())
}
