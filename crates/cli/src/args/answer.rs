//! The format of an answer, and the file that it goes to.

use std::path::PathBuf;

use clap::builder::{ArgPredicate, EnumValueParser};
use clap::{Arg, Command, value_parser};

use crate::answer::rows::RecordFormat;

/// Commands with an answer in JSON, which can be printed in other formats.
pub(super) const ANSWERS: &str = "schema info stats count facet histogram group diff check commits log";

/// Adds --format and --output, with which a command answers as with --json.
pub(super) fn with_formats(command: Command) -> Command {
    let format = Arg::new("format").long("format").value_name("FORMAT");
    let format = format.value_parser(EnumValueParser::<RecordFormat>::new());
    let output =
        Arg::new("output").short('o').long("output").value_name("FILE").value_parser(value_parser!(PathBuf));
    let is_given = |id| (id, ArgPredicate::IsPresent, "true");
    let args = [
        format.help("The format of the answer as rows"),
        output.help("The file to write, such as x.csv or x.csv.gz; without --format, its extension gives the format: JSON if it has none"),
    ];
    command.args(args).mut_arg("json", |json| json.default_value_ifs(["format", "output"].map(is_given)))
}
