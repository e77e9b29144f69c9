//! `dv recover`: goes back to an older commit of a store.

use super::store::info_json;
use crate::api::store::{LostCommit, Store, StoreOptions};
use crate::args::RecoverArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::output::json::Json;
use crate::output::text::thousands;
use crate::read;

pub(crate) fn run(args: &RecoverArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let options = StoreOptions { open: read::open_options(), ..StoreOptions::default() };
    let recovered = Store::recover(&args.folder, args.to, options)?;
    if args.json {
        let lost = |lost: &LostCommit| match &lost.info {
            Some(info) => info_json(info),
            None => Json::object([("commit", lost.number.into()), ("damaged", true.into())]),
        };
        console.json(&Json::object([
            ("store", args.folder.to_string_lossy().into_owned().into()),
            ("to", args.to.into()),
            ("now", info_json(&recovered.commit)),
            ("lost", recovered.lost.iter().map(lost).collect()),
        ]))?;
        return Ok(Exit::Ok);
    }
    let now = &recovered.commit;
    writeln!(
        console.out,
        "{}: commit {} has the {} documents of commit {}",
        args.folder.display(),
        now.number,
        thousands(now.docs),
        args.to
    )?;
    for lost in &recovered.lost {
        let what = match &lost.info {
            None => "damaged; what it contained is not known".to_owned(),
            Some(info) => {
                let changes = info.sequence.saturating_sub(now.sequence);
                format!(
                    "{} documents after {} more batches of changes",
                    thousands(info.docs),
                    thousands(changes)
                )
            }
        };
        console.line(format_args!("lost: commit {}: {what}", lost.number))?;
    }
    Ok(Exit::Ok)
}
