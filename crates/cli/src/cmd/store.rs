//! Commands on a store as a whole: `dv store`, `rm`, `commits`, `log`, `changes` and `recover`.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::answer::commit_info::{commit_line, info_json, made, print_json};
use crate::answer::table::{Align, Table};
use crate::api::Field;
use crate::api::search::Query;
use crate::api::store::{
    Change, Changed, CommitInfo, FieldChange, FrameInfo, KeepCommits, LostCommit, Store, StoreChange,
    StoreOptions, StoreReader,
};
use crate::api::writer::WriterOptions;
use crate::args::store::{
    AlterArgs, ChangesArgs, CommitsArgs, CreateArgs, LogArgs, RecoverArgs, RmArgs, StoreArgs, StoreCommand,
};
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::import::ids::find_ids;
use crate::import::schema::requested;
use crate::import::store_schema;
use crate::open::Opener;
use crate::open::files::refuse_lucene;
use crate::open::store::{commit, waiting, with_times};
use crate::text::{Json, Printer, StoredRef, counted, printable, thousands};

/// The printers of columns, by name.
type Printers = HashMap<String, Printer>;

/// `dv store`: creates stores, and makes their columns wider.
pub(crate) fn run(args: &StoreArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    match &args.command {
        StoreCommand::Create(args) => create(args, console),
        StoreCommand::Alter(args) => alter(args, opener, console),
    }
}

fn create(args: &CreateArgs, console: &mut Console<'_>) -> Result<Exit> {
    refuse_lucene(&args.folder)?;
    let requests = requested(args.schema.as_deref(), &args.types)?;
    let (id_field, version_field) = (args.id_field.as_deref(), args.version_field.as_deref());
    let schema = store_schema::of_requests(&requests, id_field, version_field, &args.sort_by)?;
    let keep_commits = Some(args.commit.keep_commits.unwrap_or(KeepCommits::Newest(2)));
    let options = StoreOptions::new().keep_commits(keep_commits);
    let store = Store::create(&args.folder, schema, options)?;
    let (snapshot, folder) = (store.snapshot(), args.folder.display());
    console.note(&format!("{folder}: commit {}, a store without documents", snapshot.commit()));
    Ok(Exit::Ok)
}

fn alter(args: &AlterArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let requests = requested(None, &args.types)?;
    let how = (args.commit.keep_commits, args.wait.time);
    let store = opener.store_to_change(&args.folder, how, WriterOptions::default())?;
    store.alter(store_schema::altered(store.snapshot().schema(), &requests)?)?;
    commit(&store, console)?;
    console.line(format_args!("{}: {}", args.folder.display(), commit_line(&store)))?;
    Ok(Exit::Ok)
}

/// `dv rm`: deletes documents of a store.
pub(crate) fn rm(args: &RmArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let query = args.query.as_deref().map(Query::parse).transpose()?;
    let how = (args.commit.keep_commits, args.wait.time);
    let store = opener.store_to_change(&args.folder, how, WriterOptions::default())?;
    let mut not_found = Vec::new();
    let deleted = match query {
        Some(query) => store.delete_where(&with_times(&store, query, args.tz.as_ref()))?,
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

/// `dv commits`: lists the commits of a store.
pub(crate) fn commits(args: &CommitsArgs, console: &mut Console<'_>) -> Result<Exit> {
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
            let cells = commit_cells(commit.as_ref().ok(), has_user_data);
            table.row(std::iter::once(number.to_string()).chain(cells).collect());
        }
        table.print(console)?;
        console.out.flush()?;
        damaged.iter().for_each(|damage| console.note(&format!("dv: {damage}")));
    }
    Ok(if damaged.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn commit_cells(commit: Option<&CommitInfo>, has_user_data: bool) -> Vec<String> {
    let Some(info) = commit else { return vec!["damaged".to_owned()] };
    let mut cells = [info.docs, info.segments as u64, info.bytes, info.sequence].map(thousands).to_vec();
    cells.extend(has_user_data.then(|| thousands(info.user_data.len() as u64)));
    cells.push(info.made.map(made).unwrap_or_default());
    cells
}

/// `dv log`: lists the batches in the log of a store.
pub(crate) fn log(args: &LogArgs, console: &mut Console<'_>) -> Result<Exit> {
    let (mut frames, mut damage) = (Vec::new(), None);
    for frame in StoreReader::log_frames(&args.folder)? {
        match frame {
            Ok(frame) => frames.push(frame),
            Err(error) => damage = Some(error.to_string()),
        }
    }
    if args.json {
        console.json(frames.iter().map(frame_json).collect::<Json>())?;
    } else {
        let numbers = ["batch", "log", "offset", "bytes"].map(|name| (name, Align::Right));
        let mut table = Table::new(&[&numbers[..], &[("durable", Align::Left)]].concat());
        for frame in &frames {
            let durable = if frame.is_synced { "yes" } else { "unknown" };
            let numbers = [frame.sequence, frame.log, frame.offset, frame.bytes].map(thousands);
            table.row(numbers.into_iter().chain([durable.to_owned()]).collect());
        }
        table.print(console)?;
    }
    console.out.flush()?;
    if frames.is_empty() && damage.is_none() && !args.json {
        console.note(
            "note: no log: `dv put --durability batch` writes one, and --keep-frames keeps it after a commit",
        );
    }
    damage.iter().for_each(|damage| console.note(&format!("dv: {damage}")));
    Ok(if damage.is_none() { Exit::Ok } else { Exit::Failed })
}

fn frame_json(frame: &FrameInfo) -> Json {
    Json::object([
        ("batch", frame.sequence.into()),
        ("log", frame.log.into()),
        ("epoch", frame.epoch.into()),
        ("offset", frame.offset.into()),
        ("bytes", frame.bytes.into()),
        ("known_durable", frame.is_synced.into()),
    ])
}

/// `dv changes`: lists the upserts, updates and deletes of a store after a batch.
pub(crate) fn changes(args: &ChangesArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let snapshot = opener.store(&args.folder)?;
    let schema = snapshot.schema();
    let id = schema.id_field().and_then(|name| schema.field(name));
    let mut printers = Printers::new();
    for change in StoreReader::changes(&args.folder, args.from)? {
        let line = change_json(&change?, id, &mut printers);
        writeln!(console.out, "{}", serde_json::to_string(&line).unwrap_or_default())?;
    }
    Ok(Exit::Ok)
}

fn change_json(change: &StoreChange, id: Option<&Field>, printers: &mut Printers) -> Json {
    let name = match change.changed {
        Changed::Upsert => "upsert",
        Changed::Delete => "delete",
        _ => "update",
    };
    let of_id = change.id.as_deref().zip(id);
    let of_id = of_id.map(|(value, field)| Printer::of(field).json_value(StoredRef::Bytes(value)));
    let mut entries = vec![
        ("batch", change.sequence.into()),
        ("change", name.into()),
        ("id", of_id.unwrap_or(Json::NONE)),
        ("version", change.version.into()),
    ];
    let is_upsert = change.changed == Changed::Upsert;
    let is_id = |field: &Field| id.is_some_and(|id| id.name == field.name);
    for group in ["document", "set", "add", "remove", "compute"] {
        let fields = change.fields.iter().filter(|of| match is_upsert {
            true => group == "document",
            false => group == group_of(of.change) && !is_id(&of.field),
        });
        let value = |of: &FieldChange| (Cow::from(of.field.name.clone()), value(of, printers));
        let fields: Vec<_> = fields.map(value).collect();
        if !fields.is_empty() || is_upsert && group == "document" {
            entries.push((group, Json::Object(fields)));
        }
    }
    Json::object(entries)
}

fn group_of(change: Change) -> &'static str {
    match change {
        Change::Add => "add",
        Change::Remove => "remove",
        Change::Compute(_) => "compute",
        _ => "set",
    }
}

/// The values of a column, as documents have them; `null` if they are removed.
fn value(FieldChange { field, change, values, .. }: &FieldChange, printers: &mut Printers) -> Json {
    if let Change::Compute(how) = change {
        return how.to_string().into();
    }
    let printer = || Printer::new(field.logical, field.kind.is_multi_valued(), field.format.as_deref());
    let values: Vec<_> = values.iter().map(StoredRef::from).collect();
    let mut text = String::new();
    printers.entry(field.name.clone()).or_insert_with(printer).json(&values, &mut text);
    RawValue::from_string(text).map_or(Json::NONE, Json::Raw)
}

/// `dv recover`: goes back to an older commit of a store.
pub(crate) fn recover(args: &RecoverArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
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
