//! `dv rm`: deletes documents of a store.

use crate::answer::commit_info::{commit_line, print_json};
use crate::api::search::Query;
use crate::api::writer::WriterOptions;
use crate::args::store::RmArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::import::ids::find_ids;
use crate::open::Opener;
use crate::open::store::commit;
use crate::text::{counted, printable};

pub(crate) fn run(args: &RmArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let query = args.query.as_deref().map(Query::parse).transpose()?;
    let how = (args.commit.keep_commits, args.wait.time);
    let store = opener.store_to_change(&args.folder, how, WriterOptions::default())?;
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
        print_json(&args.folder, &store, more, console)?;
    } else if !args.quiet {
        let (folder, deleted) = (args.folder.display(), counted(deleted, "document", "documents"));
        console.line(format_args!("{folder}: {deleted} deleted; {}", commit_line(&store)))?;
        console.out.flush()?;
        for id in &not_found {
            console.note(&format!("dv: no document has the id \"{}\"", printable(id)));
        }
    }
    Ok(if not_found.is_empty() { Exit::Ok } else { Exit::Failed })
}
