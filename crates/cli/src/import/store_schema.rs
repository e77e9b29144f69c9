//! The schema of a store: from requests of the user, and as requests on the columns of an input.

use std::path::Path;

use super::alter_command;
use super::column_type::{ColumnType, Layout};
use super::schema::{ColumnRequest, Schema, TimeRequest};
use super::segment_input::spec;
use crate::api::store::StoreSchema;
use crate::api::writer::{BytesKind, FieldSpec};
use crate::api::{Compression, Field, Kind, LogicalType, promotion};
use crate::error::{CliError, Result};
use crate::text::number::FloatStyle;
use crate::text::quoting::option;
use crate::text::sort_keys::keys_to_write;
use crate::text::text_format::TextFormat;
use crate::text::time::{is_time, is_timestamp};

/// The schema of a new store.
pub(crate) fn of_requests(
    requests: &Schema,
    id_field: Option<&str>,
    version_field: Option<&str>,
    sort_by: &[String],
) -> Result<StoreSchema> {
    let versions = version_field.and_then(|name| Some((name, requests.get(name)?.ty)));
    if let Some((name, _)) = versions.filter(|(_, ty)| is_time(ty.logical)) {
        let message =
            format!("--version-field: column {name:?}: expected whole numbers (i64 or u64), found times");
        let sort = option("--sort", name);
        return Err(CliError::usage(message).hint(format!(
            "without it, the last document of an id stays: `dv export FILE.dv {sort} | dv put STORE -` puts the newest last"
        )));
    }
    let fields = requests.iter().map(|(name, request)| {
        field_of_request(name, request, id_field == Some(name))
            .map_err(|why| CliError::usage(format!("column {name:?}: {why}")))
    });
    let mut schema = StoreSchema::new().with_fields(fields.collect::<Result<Vec<_>, _>>()?)?;
    if let Some(id_field) = id_field {
        if schema.field(id_field).is_none() {
            schema = schema.with_field(Field::new(id_field, Kind::Binary, LogicalType::Utf8))?;
        }
        schema = schema.with_id_field(id_field)?;
    }
    if let Some(version_field) = version_field {
        if schema.field(version_field).is_none() {
            schema = schema.with_field(Field::new(version_field, Kind::Numeric, LogicalType::U64))?;
        }
        schema = schema.with_version_field(version_field)?;
    }
    let fields = schema.fields().iter();
    let columns: Vec<_> = fields.map(|field| (field.name.as_str(), field.kind.is_multi_valued())).collect();
    let keys = keys_to_write(sort_by, &columns)
        .map_err(|failure| failure.hint("a store is sorted by columns of --schema or --type"))?;
    Ok(schema.clone().with_sort(keys)?)
}

fn field_of_request(name: &str, request: &ColumnRequest, is_id: bool) -> Result<Field, String> {
    if request.any_unit {
        return Err("expected timestamp[ms], timestamp[us] or timestamp[ns], found timestamp".to_owned());
    }
    let layout = match request.ty.layout {
        None if is_id => Some(Layout::Binary(Compression::Auto)),
        Some(Layout::Binary(compression)) if compression != Compression::Auto => {
            let name = Layout::Binary(compression).name();
            return Err(format!("expected sorted or binary, found {name}: a store chooses the compression"));
        }
        layout => layout,
    };
    let field = field(&spec(name, ColumnType { layout, ..request.ty }, true));
    let text_format = TextFormat {
        time: match &request.time {
            Some(TimeRequest::Format(format)) => Some(format.clone()),
            _ => None,
        },
        epoch: request.time == Some(TimeRequest::Epoch),
        separator: request.separator.clone(),
        ..TextFormat::default()
    };
    Ok(Field { format: text_format.to_format(), ..field })
}

/// The field of a store that a segment's writer declares.
pub(crate) fn field(spec: &FieldSpec) -> Field {
    let kind = match (spec.logical().is_bytes(), spec.is_multi_valued(), spec.bytes_kind()) {
        (true, true, _) => Kind::SortedSet,
        (true, false, BytesKind::Binary) => Kind::Binary,
        (true, false, _) => Kind::Sorted,
        (false, true, _) => Kind::SortedNumeric,
        (false, false, _) => Kind::Numeric,
    };
    Field { format: spec.spelling().map(str::to_owned), ..Field::new(spec.name(), kind, spec.logical()) }
}

/// The fields of a store with the types that the user asks for, in the text formats that they have.
pub(crate) fn altered(store: &StoreSchema, requests: &Schema) -> Result<Vec<Field>> {
    let field = |(name, request): (&str, &ColumnRequest)| {
        let asked = field_of_request(name, request, false)
            .map_err(|why| CliError::usage(format!("column {name:?}: {why}")))?;
        // The library refuses one that is not there.
        let Some(known) = store.field(name) else { return Ok(asked) };
        let mut format = known.format.as_deref().map(TextFormat::parse).unwrap_or_default();
        if known.logical != asked.logical && asked.logical == LogicalType::F64 {
            // In CSV, whole numbers below 10^16 are printed as before.
            format.float = Some(FloatStyle::Cell);
        }
        Ok(Field { format: format.to_format(), ..asked })
    };
    requests.iter().map(field).collect()
}

/// Adds the fields of a store to the requests of the user, who must not ask for other types.
pub(crate) fn require(folder: &Path, store: &StoreSchema, requests: &mut Schema) -> Result<()> {
    for field in store.fields() {
        let layout = match field.kind {
            Kind::Binary => Some(Layout::Binary(Compression::Auto)),
            Kind::Sorted => Some(Layout::Sorted),
            _ => None,
        };
        let ty = ColumnType { logical: field.logical, multi: field.kind.is_multi_valued(), layout };
        let asked = requests.get(&field.name).cloned();
        if let Some(other) = asked.as_ref().filter(|other| !is_same((other.ty, other.any_unit), ty)) {
            let found = if other.any_unit { "timestamp".to_owned() } else { other.ty.to_string() };
            let message = format!("column {:?}: the store has type {ty}, asked for is {found}", field.name);
            let hint = if !other.any_unit && is_wider(ty, other.ty) {
                let command = alter_command(&folder.to_string_lossy(), &field.name, &found);
                format!("`{command}` makes the column wider")
            } else {
                "a store's column keeps its type, unless `dv store alter` makes it wider".to_owned()
            };
            return Err(CliError::failed(message).hint(hint));
        }
        let known = field.format.as_deref().map(TextFormat::parse).unwrap_or_default();
        let (time, separator, must_exist) =
            asked.map_or((None, None, false), |asked| (asked.time, asked.separator, asked.must_exist));
        let (time, separator) = (time.or_else(|| time_of(&known)), separator.or(known.separator));
        let request = ColumnRequest { ty, any_unit: false, time, separator, must_exist };
        requests.set(&field.name, request);
    }
    Ok(())
}

/// Fails if an update cannot change a field.
pub(crate) fn require_updatable(store: &StoreSchema, name: &str) -> Result<()> {
    let found = if store.id_field() == Some(name) {
        "the column of ids"
    } else if store.sort().iter().any(|key| key.column == name) {
        "one by which documents are sorted"
    } else {
        return Ok(());
    };
    let message = format!("column {name:?}: expected a column that can be changed, found {found}");
    Err(CliError::failed(message).hint("`dv put` replaces the whole document"))
}

/// Whether a requested type, perhaps a timestamp of any unit, is the type of the store, which may say more.
fn is_same((asked, any_unit): (ColumnType, bool), ty: ColumnType) -> bool {
    let logical = asked.logical == ty.logical || any_unit && is_timestamp(ty.logical);
    let layout = asked.layout.is_none() || asked.layout == ty.layout;
    logical && layout && asked.multi == ty.multi
}

/// Whether `dv store alter` may make one type the other.
fn is_wider(known: ColumnType, asked: ColumnType) -> bool {
    let logical = promotion::common(known.logical, asked.logical) == Some(asked.logical);
    let has_no_sets = matches!(known.layout, Some(Layout::Binary(_)));
    logical && if asked.multi { known.multi || !has_no_sets } else { !known.multi }
}

/// The format in which dates must be, if it is none that is read without being named.
fn time_of(format: &TextFormat) -> Option<TimeRequest> {
    if format.epoch {
        return Some(TimeRequest::Epoch);
    }
    let time = format.time.as_ref().filter(|time| !time.pattern.starts_with("%Y-%m-%d"))?;
    Some(TimeRequest::Format(time.clone()))
}
