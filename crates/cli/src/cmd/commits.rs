//! `dv commits`: lists the commits of a store.

use crate::answer::commit_info::{info_json, made};
use crate::answer::table::Table;
use crate::api::store::{CommitInfo, StoreReader};
use crate::args::store::CommitsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::text::{Json, thousands};

pub(crate) fn run(args: &CommitsArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let commits = StoreReader::commits(&args.folder)?;
    let damaged: Vec<String> =
        commits.iter().filter_map(|(_, commit)| commit.as_ref().err()).map(ToString::to_string).collect();
    if args.json {
        let json = commits.iter().map(|(number, commit)| match commit {
            Ok(commit) => info_json(commit),
            Err(error) => Json::object([("commit", (*number).into()), ("damage", error.to_string().into())]),
        });
        console.json(json.collect::<Json>())?;
    } else {
        let mut infos = commits.iter().filter_map(|(_, commit)| commit.as_ref().ok());
        let has_user_data = infos.any(|info| !info.user_data.is_empty());
        let mut heading = vec!["commit", "documents", "segments", "bytes", "sequence", "made"];
        if has_user_data {
            heading.insert(5, "user data");
        }
        let mut table = Table::of(&[], &heading);
        for (number, commit) in &commits {
            let cells = cells(commit.as_ref().ok(), has_user_data);
            table.row(std::iter::once(number.to_string()).chain(cells).collect());
        }
        table.print(console)?;
        console.out.flush()?;
        damaged.iter().for_each(|damage| console.note(&format!("dv: {damage}")));
    }
    Ok(if damaged.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn cells(commit: Option<&CommitInfo>, has_user_data: bool) -> Vec<String> {
    let Some(info) = commit else { return vec!["damaged".to_owned()] };
    let mut cells = [info.docs, info.segments as u64, info.bytes, info.sequence].map(thousands).to_vec();
    cells.extend(has_user_data.then(|| thousands(info.user_data.len() as u64)));
    cells.push(info.made.map(made).unwrap_or_default());
    cells
}
