//! `dv rm`: deletes documents of a store.

use crate::answer::commit_info::{commit_json, commit_line};
use crate::api::search::Query;
use crate::api::writer::WriterOptions;
use crate::args::RmArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::import::ids::find_ids;
use crate::open::opener::Opener;
use crate::open::store::commit;
use crate::text::json::Json;
use crate::text::quoting::{printable, thousands};

pub(crate) fn run(args: &RmArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let query = args.query.as_deref().map(Query::parse).transpose()?;
    let store = opener.store_to_change(&args.folder, args.commit.keep_commits, WriterOptions::default())?;
    let mut not_found = Vec::new();
    let deleted = match &query {
        Some(query) => store.delete_where(query)?,
        None => {
            let ids = find_ids(&store, &args.ids, "--where deletes by a query", &mut not_found)?;
            store.delete_ids(&ids)?
        }
    };
    commit(&store, console)?;
    if args.json {
        let more = [
            ("deleted", deleted.into()),
            ("not_found", not_found.iter().map(|id| id.as_str().into()).collect()),
        ];
        console.json(&Json::object(commit_json(&args.folder, &store).into_iter().chain(more)))?;
    } else if !args.quiet {
        let (folder, plural) = (args.folder.display(), if deleted == 1 { "" } else { "s" });
        let deleted = thousands(deleted);
        console
            .line(format_args!("{folder}: {deleted} document{plural} deleted; {}", commit_line(&store)))?;
        console.out.flush()?;
        for id in &not_found {
            console.note(&format!("dv: no document has the id \"{}\"", printable(id)));
        }
    }
    Ok(if not_found.is_empty() { Exit::Ok } else { Exit::Failed })
}
