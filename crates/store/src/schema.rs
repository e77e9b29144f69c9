//! The fields of a store.

use std::collections::{HashMap, HashSet};

use docvalues_column::{Field, Kind, LogicalType, SortKey, promotion};
use docvalues_format::file::root::MAX_COLUMNS;
use docvalues_writer::{BytesKind, Duplicates, FieldSpec, IdOptions, MAX_SORT_KEYS, Schema};
use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The most fields of a store: deltas have some columns of their own.
const MAX_FIELDS: usize = MAX_COLUMNS as usize - 16;

/// The fields of a store: their names, kinds and types. Fields are added at any time; they never change, except to a wider kind or
/// type by [`Store::alter`](crate::Store::alter).
///
/// # Examples
///
/// ```
/// use docvalues_store::StoreSchema;
/// use docvalues_column::{Field, Kind, LogicalType, SortKey};
///
/// let schema = StoreSchema::new()
///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
///     .with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?
///     .with_id_field("id")?
///     .with_sort([SortKey::of("size").descending()])?;
/// assert_eq!(schema.fields().len(), 2);
///
/// let again = Field::new("size", Kind::Numeric, LogicalType::F64);
/// let error = schema.with_field(again).unwrap_err();
/// assert_eq!(error.to_string(), "field \"size\": expected numeric of type i64, found numeric of type f64");
/// # Ok::<(), docvalues_store::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreSchema {
    fields: Vec<Field>,
    id_field: Option<String>,
    version_field: Option<String>,
    sort: Vec<SortKey>,
}

impl StoreSchema {
    /// A schema without fields.
    pub fn new() -> StoreSchema {
        StoreSchema::default()
    }

    /// Adds a field. A field that is there already stays as it is.
    ///
    /// # Errors
    ///
    /// If there is a field of this name of another kind or type, the name begins with `_`, as those of the store, or
    /// there are 64,984 fields already.
    pub fn with_field(self, field: Field) -> Result<StoreSchema> {
        self.with_fields(vec![field])
    }

    /// As [`with_field`](Self::with_field), for many. O(fields).
    ///
    /// # Errors
    ///
    /// As [`with_field`](Self::with_field).
    pub fn with_fields(mut self, fields: impl IntoIterator<Item = Field>) -> Result<StoreSchema> {
        let names = self.fields.iter().map(|field| field.name.clone());
        let mut known: HashMap<String, usize> = names.zip(0..).collect();
        for field in fields {
            let refused = |why: String| Error::Schema { field: field.name.clone(), why };
            if field.name.starts_with('_') {
                return Err(refused("expected a name that does not begin with \"_\"".to_owned()));
            }
            match known.get(&field.name) {
                Some(&at) => same(&self.fields[at], &field)?,
                None if self.fields.len() >= MAX_FIELDS => {
                    return Err(refused(format!("expected at most {MAX_FIELDS} fields")));
                }
                None => {
                    known.insert(field.name.clone(), self.fields.len());
                    self.fields.push(field);
                }
            }
        }
        Ok(self)
    }

    /// As [`with_fields`](Self::with_fields), but fields that are there already get the formats of these.
    pub(crate) fn with_formats(self, fields: Vec<Field>) -> Result<StoreSchema> {
        let mut schema = self.with_fields(fields.clone())?;
        let places: HashMap<&str, usize> = fields.iter().map(|field| &*field.name).zip(0..).collect();
        for field in &mut schema.fields {
            if let Some(at) = places.get(&*field.name) {
                field.format = fields[*at].format.clone();
            }
        }
        Ok(schema)
    }

    /// The schema in which fields have the kinds, types and formats of these, which are wider.
    pub(crate) fn altered(&self, fields: &[Field]) -> Result<StoreSchema> {
        let mut schema = self.clone();
        for field in fields {
            let refused = |why: &str| Error::Schema { field: field.name.clone(), why: why.to_owned() };
            let known = schema.fields.iter_mut().find(|known| known.name == field.name);
            let known = known.ok_or_else(|| refused("expected a field of the store"))?;
            let is_wider = promotion::common(known.logical, field.logical) == Some(field.logical);
            let is_many = matches!(
                (known.kind, field.kind),
                (Kind::Numeric, Kind::SortedNumeric) | (Kind::Sorted, Kind::SortedSet)
            );
            if !is_wider || !(is_many || known.kind == field.kind) {
                let [found, asked] = [&*known, field].map(described);
                return Err(refused(&format!("expected a wider kind or type than {found}, found {asked}")));
            }
            let is_other = (known.kind, known.logical) != (field.kind, field.logical);
            if is_other && [&self.id_field, &self.version_field].contains(&&Some(field.name.clone())) {
                return Err(refused("expected another field than that of ids or versions"));
            }
            *known = field.clone();
        }
        let sort = schema.sort.clone();
        schema.sorted_by(sort)
    }

    /// The fields that have another kind or type than in `other`, and their places.
    pub(crate) fn changed_fields(&self, other: &StoreSchema) -> impl Iterator<Item = (usize, &Field)> {
        let is_other =
            |(a, b): (&Field, &Field)| a.name == b.name && (a.kind, a.logical) != (b.kind, b.logical);
        let fields = self.fields.iter().zip(&other.fields).enumerate();
        fields.filter(move |(_, pair)| is_other(*pair)).map(|(place, (field, _))| (place, field))
    }

    /// Sets the field whose values identify documents.
    ///
    /// # Errors
    ///
    /// If there is no such field, or it is not binary.
    pub fn with_id_field(self, name: &str) -> Result<StoreSchema> {
        self.require(name, |field| match field.kind {
            Kind::Binary => Ok(()),
            kind => Err(format!("expected a binary field of ids, found a {} one", kind.name())),
        })?;
        Ok(StoreSchema { id_field: Some(name.to_owned()), ..self })
    }

    /// Sets the field with the version of each document: of an id, the highest version wins. See
    /// [`Store::apply`](crate::Store::apply).
    ///
    /// # Errors
    ///
    /// If there is no such field, it does not hold one integer a document, or the schema has no id field.
    pub fn with_version_field(self, name: &str) -> Result<StoreSchema> {
        self.require(name, |field| match (field.kind, field.logical) {
            _ if self.id_field.is_none() => {
                Err("expected a schema with an id field, found one without".to_owned())
            }
            (Kind::Numeric, LogicalType::I64 | LogicalType::U64) => Ok(()),
            (kind, logical) => {
                let (kind, logical) = (kind.name(), logical.name());
                Err(format!(
                    "expected a numeric field of type i64 or u64, found a {kind} one of type {logical}"
                ))
            }
        })?;
        Ok(StoreSchema { version_field: Some(name.to_owned()), ..self })
    }

    /// Sets the index sort of all segments.
    ///
    /// # Errors
    ///
    /// If there is no such field, its kind cannot be sorted by, or there are more than [`MAX_SORT_KEYS`] keys.
    pub fn with_sort(self, keys: impl IntoIterator<Item = SortKey>) -> Result<StoreSchema> {
        self.sorted_by(keys.into_iter().collect())
    }

    fn sorted_by(self, sort: Vec<SortKey>) -> Result<StoreSchema> {
        if sort.len() > MAX_SORT_KEYS {
            let found = sort.len();
            return Err(Error::Request(format!("expected at most {MAX_SORT_KEYS} sort keys, found {found}")));
        }
        for key in &sort {
            self.require(&key.column, |field| match field.kind {
                Kind::Numeric | Kind::Sorted => Ok(()),
                kind => {
                    Err(format!("expected a numeric or sorted field to sort by, found a {} one", kind.name()))
                }
            })?;
        }
        Ok(StoreSchema { sort, ..self })
    }

    /// The fields, in the order in which they were added.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The field whose values identify documents.
    pub fn id_field(&self) -> Option<&str> {
        self.id_field.as_deref()
    }

    /// Whether this is `other`, perhaps with fields added, and other formats.
    pub(crate) fn extends(&self, other: &StoreSchema) -> bool {
        let StoreSchema { fields, id_field, version_field, sort } = other;
        let same = |(a, b): (&Field, &Field)| (&a.name, a.kind, a.logical) == (&b.name, b.kind, b.logical);
        self.fields.len() >= fields.len()
            && self.fields.iter().zip(fields).all(same)
            && (&self.id_field, &self.version_field, &self.sort) == (id_field, version_field, sort)
    }

    /// Refuses a batch that was begun with fields that the store never had.
    pub(crate) fn require_fields_of(&self, batch: &StoreSchema) -> Result<()> {
        match std::ptr::eq(self, batch) || self.extends(batch) {
            true => Ok(()),
            false => {
                Err(Error::Request("expected a batch of this store, found one with other fields".to_owned()))
            }
        }
    }

    /// The place of the field of ids.
    pub(crate) fn id_place(&self) -> Option<usize> {
        self.fields.iter().position(|field| Some(&field.name) == self.id_field.as_ref())
    }

    /// The field with the version of each document.
    pub fn version_field(&self) -> Option<&str> {
        self.version_field.as_deref()
    }

    /// The index sort of all segments.
    pub fn sort(&self) -> &[SortKey] {
        &self.sort
    }

    /// Whether documents may get new values of the field at a place: it neither identifies documents, nor orders them.
    pub(crate) fn can_be_updated(&self, place: usize) -> bool {
        let name = &self.fields[place].name;
        self.id_field() != Some(name) && self.sort.iter().all(|key| key.column != *name)
    }

    /// The places of the keys of the index sort, ascending, but for the field of ids.
    pub(crate) fn key_places(&self) -> Vec<usize> {
        let is_key = |field: &Field| {
            self.sort.iter().any(|key| key.column == field.name) && self.id_field() != Some(&field.name)
        };
        (0..).zip(&self.fields).filter(|(_, field)| is_key(field)).map(|(place, _)| place).collect()
    }

    fn require(&self, name: &str, check: impl FnOnce(&Field) -> Result<(), String>) -> Result<()> {
        let checked =
            self.field(name).map_or_else(|| Err("expected a field of the schema".to_owned()), check);
        checked.map_err(|why| Error::Schema { field: name.to_owned(), why })
    }

    /// The same fields for a writer of segments.
    pub(crate) fn for_writer(&self) -> Result<Schema> {
        let mut schema = Schema::new();
        for field in &self.fields {
            schema.add(field)?;
        }
        Ok(schema)
    }

    /// The same fields for a batch: all byte strings stay as they are, without a dictionary.
    pub(crate) fn for_batches(&self) -> Result<Schema> {
        let mut plain = Schema::new();
        for field in &self.fields {
            let spec = FieldSpec::new(&field.name, field.logical);
            plain.add(match field.kind {
                Kind::Binary | Kind::Sorted => spec.kind(BytesKind::Binary),
                Kind::SortedNumeric | Kind::SortedSet => spec.multi_valued(),
                Kind::Numeric => spec,
            })?;
        }
        Ok(plain)
    }
}

/// The index of ids of a store's segments.
pub(crate) fn id_options() -> IdOptions {
    IdOptions::new().duplicates(Duplicates::KeepLast)
}

fn same(known: &Field, other: &Field) -> Result<()> {
    if (known.kind, known.logical) == (other.kind, other.logical) {
        return Ok(());
    }
    let why = format!("expected {}, found {}", described(known), described(other));
    Err(Error::Schema { field: known.name.clone(), why })
}

fn described(field: &Field) -> String {
    format!("{} of type {}", field.kind.name(), field.logical.name())
}

/// A schema in a commit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemaEntry {
    fields: Vec<FieldEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id_field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version_field: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sort: Vec<SortEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldEntry {
    name: String,
    kind: String,
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SortEntry {
    field: String,
    #[serde(default)]
    descending: bool,
    #[serde(default)]
    missing_first: bool,
}

impl SchemaEntry {
    /// Serializes a schema as its entry.
    pub(crate) fn write<S: Serializer>(schema: &StoreSchema, serializer: S) -> Result<S::Ok, S::Error> {
        SchemaEntry::from(schema).serialize(serializer)
    }

    /// Deserializes an entry to its schema.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StoreSchema, D::Error> {
        StoreSchema::try_from(SchemaEntry::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl From<&StoreSchema> for SchemaEntry {
    fn from(schema: &StoreSchema) -> SchemaEntry {
        let field = |field: &Field| FieldEntry {
            name: field.name.clone(),
            kind: field.kind.name().to_owned(),
            r#type: field.logical.name().to_owned(),
            format: field.format.clone(),
        };
        let key = |key: &SortKey| SortEntry {
            field: key.column.clone(),
            descending: key.descending,
            missing_first: key.missing_first,
        };
        SchemaEntry {
            fields: schema.fields.iter().map(field).collect(),
            id_field: schema.id_field.clone(),
            version_field: schema.version_field.clone(),
            sort: schema.sort.iter().map(key).collect(),
        }
    }
}

impl TryFrom<SchemaEntry> for StoreSchema {
    type Error = String;

    fn try_from(entry: SchemaEntry) -> Result<StoreSchema, String> {
        let (mut fields, mut names) = (Vec::with_capacity(entry.fields.len()), HashSet::new());
        for FieldEntry { name, kind, r#type, format } in entry.fields {
            let kind = Kind::ALL.into_iter().find(|known| known.name() == kind);
            let logical = LogicalType::ALL.into_iter().find(|known| known.name() == r#type);
            let Some((kind, logical)) = kind.zip(logical) else {
                return Err(format!("field \"{name}\": expected a kind and a type"));
            };
            if !names.insert(name.clone()) {
                return Err(format!("field \"{name}\" occurs twice"));
            }
            fields.push(Field { format, ..Field::new(name, kind, logical) });
        }
        let mut schema = StoreSchema::new().with_fields(fields).map_err(|error| error.to_string())?;
        if let Some(id) = entry.id_field {
            schema = schema.with_id_field(&id).map_err(|error| error.to_string())?;
        }
        if let Some(version) = entry.version_field {
            schema = schema.with_version_field(&version).map_err(|error| error.to_string())?;
        }
        let key = |entry: SortEntry| SortKey {
            column: entry.field,
            descending: entry.descending,
            missing_first: entry.missing_first,
        };
        schema.sorted_by(entry.sort.into_iter().map(key).collect()).map_err(|error| error.to_string())
    }
}
