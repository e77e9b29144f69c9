//! Types of fields: those that are asked for, and those that engines are known to write.
//!
//! Lucene stores numbers and byte strings, and not what they mean. The schema of Solr and the mappings of Elasticsearch are
//! elsewhere, so only names and points tell some types.

use docvalues_column::{Kind, LogicalType};

use crate::engine::Engine;
use crate::field_infos::FieldInfo;

/// The type of a field, as [`Options::field`](crate::Options::field) takes it.
///
/// | type | of `NUMERIC` | of `SORTED_NUMERIC` | of `SORTED`, `SORTED_SET` | of `BINARY` |
/// | --- | --- | --- | --- | --- |
/// | `f64` | the bits of a double | a sortable double | | |
/// | [`Float`](Self::Float) | the bits of a float | a sortable float | | |
/// | `bool` | 0 or 1 | 0 or 1 | the terms `F` and `T`, as Solr has them | |
/// | `u64` | less 2^63 | less 2^63, as Elasticsearch has them, and not OpenSearch | | |
/// | other numbers | as they are | as they are | | |
/// | byte strings | | | as they are | as they are |
///
/// ```
/// use docvalues_column::LogicalType;
/// use docvalues_lucene::{FieldType, Options};
///
/// let options = Options::new().field("price", LogicalType::F64).field("weight", FieldType::Float);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// A type of docvalues.
    Logical(LogicalType),
    /// A float of 32 bits, which is read as `f64`.
    Float,
}

impl From<LogicalType> for FieldType {
    fn from(logical: LogicalType) -> FieldType {
        FieldType::Logical(logical)
    }
}

impl FieldType {
    /// Its name, such as `f64`.
    pub const fn name(self) -> &'static str {
        match self {
            FieldType::Logical(logical) => logical.name(),
            FieldType::Float => "f32",
        }
    }
}

/// How the values of a field are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As docvalues stores them.
    Same,
    /// The bits of doubles.
    Doubles,
    /// The bits of floats.
    Floats,
    /// The bits of floats, of which those below the sign are inverted if it is set.
    SortableFloats,
    /// The terms `F` and `T`.
    Flags,
}

/// The type of a field with these doc values, and how they are stored; `None` if they have no values of the type.
pub(crate) fn stored_as(wanted: FieldType, found: Kind) -> Option<(LogicalType, Form)> {
    use Kind::{Numeric, Sorted, SortedNumeric, SortedSet};
    Some(match (wanted, found) {
        (FieldType::Float, Numeric) => (LogicalType::F64, Form::Floats),
        (FieldType::Float, SortedNumeric) => (LogicalType::F64, Form::SortableFloats),
        (FieldType::Logical(LogicalType::F64), Numeric) => (LogicalType::F64, Form::Doubles),
        (FieldType::Logical(LogicalType::Bool), Sorted | SortedSet) => (LogicalType::Bool, Form::Flags),
        (FieldType::Logical(logical), _) if logical.is_bytes() == found.is_bytes() => (logical, Form::Same),
        _ => return None,
    })
}

/// The type of a field that nobody asked for: what the engine is known to write, or what doc values have in general.
pub(crate) fn usual(engine: Engine, field: &FieldInfo, found: Kind) -> (LogicalType, Form) {
    let known = match engine {
        Engine::Solr => of_solr(field),
        Engine::Elastic => of_elastic(field, found),
        Engine::Lucene => None,
    };
    known.and_then(|known| stored_as(known, found)).unwrap_or(match found {
        Kind::Numeric | Kind::SortedNumeric => (LogicalType::I64, Form::Same),
        Kind::Sorted | Kind::SortedSet => (LogicalType::Utf8, Form::Same),
        Kind::Binary => (LogicalType::Bytes, Form::Same),
    })
}

/// The types of dynamic fields in the schema that Solr begins with, by the ends of their names. In another schema, the points of
/// a field of such a name may have another length.
fn of_solr(field: &FieldInfo) -> Option<FieldType> {
    let (_, end) = field.name.rsplit_once('_')?;
    let (known, point_bytes): (FieldType, i32) = match end {
        "b" | "bs" => (LogicalType::Bool.into(), 0),
        "d" | "ds" => (LogicalType::F64.into(), 8),
        "dt" | "dts" => (LogicalType::TimestampMillis.into(), 8),
        "f" | "fs" => (FieldType::Float, 4),
        _ => return None,
    };
    // A field that is not indexed has no points.
    (field.point_bytes == 0 || field.point_bytes == point_bytes).then_some(known)
}

/// The time of a document of a data stream; addresses, whose points have 16 bytes; and booleans: the only numbers that are indexed
/// as terms.
fn of_elastic(field: &FieldInfo, found: Kind) -> Option<FieldType> {
    match found {
        Kind::SortedSet if field.point_bytes == 16 => Some(LogicalType::Ip.into()),
        Kind::SortedNumeric if field.index_options > 0 => Some(LogicalType::Bool.into()),
        _ if field.name == "@timestamp" => Some(LogicalType::TimestampMillis.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, doc_values: Kind, point_bytes: i32) -> FieldInfo {
        FieldInfo {
            name: name.to_owned(),
            number: 0,
            marks_soft_deletes: false,
            doc_values: Some(doc_values),
            has_skip_index: false,
            generation: -1,
            format: None,
            is_compressed: None,
            index_options: 0,
            has_payloads: false,
            postings: None,
            point_bytes,
        }
    }

    #[test]
    fn types_fit_the_doc_values() {
        use Kind::{Binary, Numeric, Sorted, SortedNumeric, SortedSet};
        let logical = FieldType::Logical;
        for (wanted, found, expected) in [
            (logical(LogicalType::F64), Numeric, Some((LogicalType::F64, Form::Doubles))),
            (logical(LogicalType::F64), SortedNumeric, Some((LogicalType::F64, Form::Same))),
            (FieldType::Float, Numeric, Some((LogicalType::F64, Form::Floats))),
            (FieldType::Float, SortedNumeric, Some((LogicalType::F64, Form::SortableFloats))),
            (FieldType::Float, Sorted, None),
            (logical(LogicalType::Bool), SortedSet, Some((LogicalType::Bool, Form::Flags))),
            (logical(LogicalType::Bool), SortedNumeric, Some((LogicalType::Bool, Form::Same))),
            (logical(LogicalType::Bool), Binary, None),
            (logical(LogicalType::Ip), Binary, Some((LogicalType::Ip, Form::Same))),
            (logical(LogicalType::Ip), Numeric, None),
            (logical(LogicalType::Date), Sorted, None),
        ] {
            assert_eq!(stored_as(wanted, found), expected, "{wanted:?} of {found:?}");
        }
    }

    #[test]
    fn engines_have_habits() {
        let of = |engine, name, found, points| usual(engine, &field(name, found, points), found).0;
        let (numeric, set) = (Kind::Numeric, Kind::SortedSet);
        assert_eq!(of(Engine::Solr, "sold_dt", numeric, 8), LogicalType::TimestampMillis);
        assert_eq!(of(Engine::Solr, "price_d", numeric, 8), LogicalType::F64);
        assert_eq!(of(Engine::Solr, "is_new_b", Kind::Sorted, 0), LogicalType::Bool);
        assert_eq!(of(Engine::Solr, "sold_dt", set, 0), LogicalType::Utf8, "no doc values of a date");
        assert_eq!(of(Engine::Solr, "max_f", numeric, 4), LogicalType::F64);
        assert_eq!(of(Engine::Solr, "max_f", numeric, 0), LogicalType::F64, "not indexed");
        for (name, points) in [("max_f", 8), ("price_d", 4), ("sold_dt", 4), ("is_new_b", 4)] {
            assert_eq!(of(Engine::Solr, name, numeric, points), LogicalType::I64, "another schema");
        }
        assert_eq!(of(Engine::Lucene, "sold_dt", numeric, 8), LogicalType::I64);
        assert_eq!(of(Engine::Elastic, "client", set, 16), LogicalType::Ip);
        assert_eq!(of(Engine::Elastic, "client", set, 0), LogicalType::Utf8);
        assert_eq!(of(Engine::Lucene, "client", set, 16), LogicalType::Utf8);
        let sorted_numeric = Kind::SortedNumeric;
        assert_eq!(of(Engine::Elastic, "@timestamp", sorted_numeric, 8), LogicalType::TimestampMillis);
        assert_eq!(of(Engine::Elastic, "size", sorted_numeric, 8), LogicalType::I64);
        let indexed = FieldInfo { index_options: 1, ..field("new", sorted_numeric, 0) };
        assert_eq!(usual(Engine::Elastic, &indexed, sorted_numeric).0, LogicalType::Bool);
        assert_eq!(usual(Engine::Lucene, &indexed, sorted_numeric).0, LogicalType::I64);
        assert_eq!(of(Engine::Elastic, "new", sorted_numeric, 0), LogicalType::I64, "not indexed");
    }
}
