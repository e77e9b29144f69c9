//! `dv commits`: lists the commits of a store.

use crate::answer::commit_info::{info_json, made};
use crate::answer::table::{Align, Table};
use crate::api::store::{CommitInfo, StoreReader};
use crate::args::store::CommitsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::text::json::Json;
use crate::text::quoting::thousands;

pub(crate) fn run(args: &CommitsArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let commits = StoreReader::commits(&args.folder)?;
    let damaged: Vec<String> =
        commits.iter().filter_map(|(_, commit)| commit.as_ref().err()).map(ToString::to_string).collect();
    if args.json {
        let json = commits.iter().map(|(number, commit)| match commit {
            Ok(commit) => info_json(commit),
            Err(error) => Json::object([("commit", (*number).into()), ("damage", error.to_string().into())]),
        });
        console.json(&json.collect::<Json>())?;
    } else {
        let heading =
            ["commit", "documents", "segments", "bytes", "sequence", "made"].map(|name| (name, Align::Right));
        let mut table = Table::new(&heading);
        for (number, commit) in &commits {
            table.row(std::iter::once(number.to_string()).chain(cells(commit.as_ref().ok())).collect());
        }
        table.print(console)?;
        console.out.flush()?;
        damaged.iter().for_each(|damage| console.note(&format!("dv: {damage}")));
    }
    Ok(if damaged.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn cells(commit: Option<&CommitInfo>) -> Vec<String> {
    let Some(info) = commit else { return vec!["damaged".to_owned()] };
    let mut cells = [info.docs, info.segments as u64, info.bytes, info.sequence].map(thousands).to_vec();
    cells.push(info.made.map(made).unwrap_or_default());
    cells
}
