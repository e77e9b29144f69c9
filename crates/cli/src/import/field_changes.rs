//! `FIELD=VALUE`, `FIELD+=VALUE`, `FIELD-=VALUE`, `FIELD*=FACTOR` and `--unset FIELD`: the changes of an update.

use std::path::Path;

use super::column::Column;
use super::column_type::ColumnType;
use super::parse_cell::CellParser;
use super::row::Form;
use super::schema::{Schema, TimeRequest};
use super::{alter_command, store_schema, wider_type};
use crate::api::search::Value;
use crate::api::search::calendar::TimeZone;
use crate::api::store::{StoreSchema, Update, WriteBatch};
use crate::api::{Field, LogicalType, from_f64, to_f64};
use crate::error::{CliError, Result};
use crate::text::query_time::in_utc;
use crate::text::text_format::TextFormat;
use crate::text::time::is_timestamp;
use crate::text::words::{excerpt, meant, with_text};
use crate::text::{Printer, StoredRef};

/// The changes of some fields of a store.
pub(crate) struct FieldChanges {
    changes: Vec<FieldChange>,
}

/// The change of a field.
struct FieldChange {
    /// The field, with a text format that fits the new values as well.
    field: Field,
    action: Action,
    values: Vec<Value>,
    has_new_format: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Set,
    Add,
    Remove,
    Multiply,
    Unset,
}

impl FieldChanges {
    /// Parses the arguments of a command. Values are read by the types of `schema`, and times without an offset in `zone`, or
    /// in UTC.
    pub(crate) fn parse(
        folder: &Path,
        arguments: &[String],
        unset: &[String],
        schema: &StoreSchema,
        zone: Option<&TimeZone>,
    ) -> Result<FieldChanges> {
        let mut requests = Schema::default();
        store_schema::require(folder, schema, &mut requests)?;
        let mut changes = FieldChanges { changes: Vec::new() };
        for argument in arguments {
            let (name, action, text) = split(argument, schema)?;
            let change = changes.of(name, action, schema)?;
            change.push(text, (folder, &requests, zone))?;
        }
        for name in unset {
            changes.of(name, Action::Unset, schema)?;
        }
        if changes.changes.is_empty() {
            return Err(CliError::usage(
                "expected a change such as FIELD=VALUE or --unset FIELD, found none",
            )
            .hint("write the id before the changes, or --where QUERY"));
        }
        Ok(changes)
    }

    /// The change of this field, which is begun if there is none.
    fn of(&mut self, name: &str, action: Action, schema: &StoreSchema) -> Result<&mut FieldChange> {
        if let Some(at) = self.changes.iter().position(|change| change.field.name == name) {
            let change = &mut self.changes[at];
            return match change.action == action {
                true => Ok(change),
                false => Err(CliError::usage(format!(
                    "column {name:?}: expected one kind of change, found {} and {}",
                    change.action.name(),
                    action.name()
                ))),
            };
        }
        let Some(field) = schema.field(name) else { return Err(unknown(name, schema)) };
        store_schema::require_updatable(schema, name)?;
        let (is_many, is_number) = (field.kind.is_multi_valued(), is_number(field));
        let expected = match action {
            Action::Add | Action::Remove if !is_many && !is_number => {
                Some("a number, or a column with several values a document,")
            }
            Action::Multiply if !is_number => Some("a number"),
            _ => None,
        };
        if let Some(expected) = expected {
            let (action, found) = (action.name(), column_type(field));
            let message =
                format!("column {name:?}: expected {expected} for {action}, found one of type {found}");
            return Err(CliError::failed(message).hint("FIELD=VALUE sets the value"));
        }
        if action == Action::Unset && schema.version_field() == Some(name) {
            let message =
                format!("column {name:?}: expected a column that documents may lack, found that of versions");
            return Err(CliError::failed(message));
        }
        let (field, values) = (field.clone(), Vec::new());
        self.changes.push(FieldChange { field, action, values, has_new_format: false });
        let last = self.changes.len() - 1;
        Ok(&mut self.changes[last])
    }

    /// The fields of the store whose text format changes, because it does not fit the new values.
    pub(crate) fn new_formats(&self) -> impl Iterator<Item = Field> {
        self.changes.iter().filter(|change| change.has_new_format).map(|change| change.field.clone())
    }

    /// Adds an update to a batch: of the document with an id, or of those that a query finds.
    pub(crate) fn add_to(&self, batch: &mut WriteBatch, id: Option<(&str, &[u8])>) -> Result<()> {
        let mut update = Update::new();
        for change in &self.changes {
            let field = batch.field(&change.field.name)?;
            update = match (change.action, change.computes()) {
                (Action::Multiply, Some(factor)) => update.multiply(field, to_f64(factor)),
                (_, Some(amount)) if change.field.logical == LogicalType::F64 => {
                    update.add_f64(field, to_f64(amount))
                }
                (_, Some(amount)) => update.add(field, amount),
                (Action::Set | Action::Multiply, None) => update,
                (Action::Add, None) => update.add_to(field),
                (Action::Remove, None) => update.remove_from(field),
                (Action::Unset, None) => update.unset(field),
            };
        }
        let id = id.map(|(name, id)| Ok::<_, CliError>((batch.field(name)?, id))).transpose()?;
        let fields = self.changes.iter().map(|change| batch.field(&change.field.name));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let mut doc = batch.update_with(&update);
        if let Some((field, id)) = id {
            doc.stored_bytes(field, id)?;
        }
        let values = self.changes.iter().zip(fields).filter(|(change, _)| change.computes().is_none());
        for (change, field) in values {
            for value in &change.values {
                match StoredRef::from(value) {
                    StoredRef::Number(number) => doc.stored(field, number)?,
                    StoredRef::Bytes(bytes) => doc.stored_bytes(field, bytes)?,
                };
            }
        }
        doc.finish()?;
        Ok(())
    }
}

impl FieldChange {
    /// The number with which the present one is computed, as stored, if it is. That of `-=` is negative.
    fn computes(&self) -> Option<i64> {
        let by = self.values.first()?.stored();
        by.filter(|_| self.is_operation())
    }

    /// Whether the present number is replaced by one that is computed with it.
    fn is_operation(&self) -> bool {
        matches!(self.action, Action::Add | Action::Remove | Action::Multiply) && is_number(&self.field)
    }

    /// Takes the number with which the present one is computed.
    fn push_operand(&mut self, text: &str) -> Result<()> {
        let is_double = self.action == Action::Multiply || self.field.logical == LogicalType::F64;
        let is_negative = self.action == Action::Remove;
        let double = || {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
            Some(from_f64(if is_negative { -number } else { number }))
        };
        let integer = || {
            let number = text.parse::<i64>().ok()?;
            if is_negative { number.checked_neg() } else { Some(number) }
        };
        let Some(number) = (if is_double { double() } else { integer() }) else {
            let (name, action) = (&self.field.name, self.action.name());
            let expected = if is_double { "a number" } else { "an integer" };
            let found = if text.is_empty() { "nothing".to_owned() } else { excerpt(text.as_bytes()) };
            return Err(CliError::usage(format!(
                "column {name:?}: expected {expected} after {action}, found {found}"
            )));
        };
        // A result may have more decimals than the format of the column.
        let format = TextFormat::parse(self.field.format.as_deref().unwrap_or_default());
        if format.float.is_some() {
            self.field.format = TextFormat { float: None, ..format }.to_format();
            self.has_new_format = true;
        }
        self.values.push(Value::I64(number));
        Ok(())
    }

    /// Adds a value.
    fn push(
        &mut self,
        text: &str,
        (folder, requests, zone): (&Path, &Schema, Option<&TimeZone>),
    ) -> Result<()> {
        let (name, ty) = (self.field.name.as_str(), column_type(&self.field));
        if !self.values.is_empty() && !ty.multi {
            let message = format!("column {name:?} ({ty}): expected one value a document, found several");
            return Err(CliError::usage(message));
        }
        if self.is_operation() {
            return self.push_operand(text);
        }
        let column = Column::new(name, requests.get(name));
        let alter = |wider: &str| {
            let command = alter_command(&folder.to_string_lossy(), name, wider);
            format!("`{command}` makes the column wider")
        };
        let parser = column.cell_parser(ty);
        let of_zone = |text: &str| {
            let zone = zone.filter(|_| is_timestamp(ty.logical))?;
            let text = match &column.time {
                Some(TimeRequest::Format(format)) => in_utc(zone, &format.read_local(text)?)?,
                _ => in_utc(zone, text)?,
            };
            Some(CellParser { time: None, ..column.cell_parser(ty) }.value(Form::Bare, &text))
        };
        let read =
            |text: &str| parser.value(Form::Bare, text).and_then(|value| of_zone(text).unwrap_or(Ok(value)));
        // A time without seconds, as in a query.
        let of_minute = || is_timestamp(ty.logical).then(|| read(&format!("{text}:00")).ok())?;
        let value = read(text).or_else(|mismatch| of_minute().ok_or(mismatch)).map_err(|mismatch| {
            let found = if text.is_empty() { "nothing".to_owned() } else { excerpt(text.as_bytes()) };
            let message = with_text(&format!("column {name:?} ({ty}): {}", mismatch.problem), &found);
            match (text, wider_type(ty, &mismatch)) {
                ("", _) => CliError::usage(message).hint(format!("--unset {name} removes the value")),
                (_, Some(wider)) => CliError::usage(message).hint(alter(&wider)),
                _ => CliError::usage(message),
            }
        })?;
        // Text that is printed must be read as the same value: 1.234 has no format of two decimals.
        let printed = Printer::of(&self.field).to_text(&value);
        if parser.value(Form::Bare, &printed).as_ref() != Ok(&value) {
            let format = TextFormat::parse(self.field.format.as_deref().unwrap_or_default());
            self.field.format = TextFormat { time: None, float: None, ..format }.to_format();
            self.has_new_format = true;
        }
        self.values.push(value);
        Ok(())
    }
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Action::Set => "=",
            Action::Add => "+=",
            Action::Remove => "-=",
            Action::Multiply => "*=",
            Action::Unset => "--unset",
        }
    }
}

/// Whether a field has one number a document, to compute with.
fn is_number(field: &Field) -> bool {
    let is_number = matches!(field.logical, LogicalType::I64 | LogicalType::U64 | LogicalType::F64);
    is_number && !field.kind.is_multi_valued()
}

/// The type of a field for messages.
fn column_type(field: &Field) -> ColumnType {
    ColumnType { logical: field.logical, multi: field.kind.is_multi_valued(), layout: None }
}

/// Splits a change into the name, the action and the text of the value. A name of the store may contain `=`, and end in
/// `+`, `-` or `*`.
fn split<'a>(argument: &'a str, schema: &StoreSchema) -> Result<(&'a str, Action, &'a str)> {
    let change = |(at, _): (usize, &str)| {
        let (name, text) = (&argument[..at], &argument[at + 1..]);
        let is_there = |name: &str| schema.field(name).is_some();
        let actions = [('+', Action::Add), ('-', Action::Remove), ('*', Action::Multiply)];
        let mut actions = actions.into_iter();
        match actions.find_map(|(sign, action)| Some((name.strip_suffix(sign)?, action))) {
            Some((name, action)) if !is_there(&argument[..at]) => (name, action, text),
            _ => (name, Action::Set, text),
        }
    };
    let mut changes = argument.match_indices('=').map(change);
    let Some(first) = changes.clone().next() else {
        return Err(CliError::usage(format!("expected FIELD=VALUE, found {}", excerpt(argument.as_bytes())))
            .hint("several ids are read from standard input: write `-` in place of the id"));
    };
    Ok(changes.find(|(name, ..)| schema.field(name).is_some()).unwrap_or(first))
}

/// The error for a column that the store does not have.
fn unknown(name: &str, schema: &StoreSchema) -> CliError {
    let names = schema.fields().iter().map(|field| field.name.as_str());
    let others = || "`dv info` lists all columns; `dv put --partial` adds new ones".to_owned();
    CliError::failed(format!("no column {name:?}")).hint(meant(name, names, others))
}
