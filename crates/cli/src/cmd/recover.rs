//! `dv recover`: goes back to an older commit of a store.

use crate::answer::commit_info::info_json;
use crate::api::store::{LostCommit, Store, StoreOptions};
use crate::args::store::RecoverArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::Opener;
use crate::open::files::refuse_lucene;
use crate::open::store::waiting;
use crate::text::{Json, counted, thousands};

pub(crate) fn run(args: &RecoverArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    refuse_lucene(&args.folder)?;
    let options = StoreOptions::new().open(opener.options());
    let recover = || Store::recover(&args.folder, args.to, args.discard_log, options);
    let recovered = waiting(args.wait.time, || false, recover)?;
    let (folder, number) = (args.folder.display(), recovered.commit.number);
    console.done = Some(format!("{folder} went back, in commit {number}"));
    if args.json {
        let lost = |lost: &LostCommit| match &lost.info {
            Some(info) => info_json(info),
            None => Json::object([("commit", lost.number.into()), ("damaged", true.into())]),
        };
        let discarded = recovered.discarded.as_ref().map_or(Json::NONE, |batches| {
            Json::object([("first", (*batches.start()).into()), ("last", (*batches.end()).into())])
        });
        console.json(Json::object([
            ("store", args.folder.to_string_lossy().into_owned().into()),
            ("to", args.to.into()),
            ("now", info_json(&recovered.commit)),
            ("lost", recovered.lost.iter().map(lost).collect()),
            ("replayed", recovered.replayed.into()),
            ("discarded", discarded),
        ]))?;
        return Ok(Exit::Ok);
    }
    let now = &recovered.commit;
    let (docs, to) = (thousands(now.docs), args.to);
    let what = match recovered.replayed {
        0 => format!("the {docs} documents of commit {to}"),
        batches => {
            let batches = thousands(batches);
            format!("{docs} documents: those of commit {to}, after {batches} batches of the log")
        }
    };
    console.line(format_args!("{folder}: commit {number} has {what}"))?;
    if let Some(batches) = &recovered.discarded {
        let (first, last) = (batches.start(), batches.end());
        let count = thousands(last - first + 1);
        console.line(format_args!("lost: {count} batches of the log, {first} to {last}"))?;
    }
    for lost in &recovered.lost {
        let what = match &lost.info {
            None => "damaged; what it contained is not known".to_owned(),
            Some(info) => {
                let changes = info.sequence.saturating_sub(now.sequence);
                format!(
                    "{} documents after {} of changes",
                    thousands(info.docs),
                    counted(changes, "more batch", "more batches")
                )
            }
        };
        console.line(format_args!("lost: commit {}: {what}", lost.number))?;
    }
    Ok(Exit::Ok)
}
