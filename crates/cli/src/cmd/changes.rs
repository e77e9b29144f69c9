//! `dv changes`: lists the upserts, updates and deletes of a store after a batch.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::api::Field;
use crate::api::store::{Change, Changed, FieldChange, StoreChange, StoreReader};
use crate::args::store::ChangesArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::Opener;
use crate::text::{Json, Printer, StoredRef};

/// The printers of columns, by name.
type Printers = HashMap<String, Printer>;

pub(crate) fn run(args: &ChangesArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let snapshot = opener.store(&args.folder)?;
    let schema = snapshot.schema();
    let id = schema.id_field().and_then(|name| schema.field(name));
    let mut printers = Printers::new();
    for change in StoreReader::changes(&args.folder, args.from)? {
        let line = json(&change?, id, &mut printers);
        writeln!(console.out, "{}", serde_json::to_string(&line).unwrap_or_default())?;
    }
    Ok(Exit::Ok)
}

fn json(change: &StoreChange, id: Option<&Field>, printers: &mut Printers) -> Json {
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
