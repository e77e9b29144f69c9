//! JSON values whose objects keep the order of their keys.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The greatest integer up to which doubles, and so many JSON readers, have every integer.
const MAX_EXACT: u128 = 1 << 53;

/// A JSON value.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Json {
    Value(Value),
    /// Serialized JSON, whose numbers keep their digits.
    Raw(Box<RawValue>),
    List(Vec<Json>),
    #[serde(serialize_with = "in_order")]
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    /// `null`; objects leave out keys with this value.
    pub(crate) const NONE: Json = Json::Value(Value::Null);

    /// An object; keys with [`Json::NONE`] are left out.
    pub(crate) fn object(entries: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
        let has_value = |(_, value): &(_, Json)| !matches!(value, Json::Value(Value::Null));
        let entries = entries.into_iter().filter(has_value);
        Json::Object(entries.map(|(key, value)| (key.into(), value)).collect())
    }

    /// A list, or [`Json::NONE`] if it is empty.
    pub(crate) fn any(items: impl IntoIterator<Item = Json>) -> Json {
        let items: Vec<Json> = items.into_iter().collect();
        if items.is_empty() { Json::NONE } else { Json::List(items) }
    }
}

impl<T: Into<Value>> From<T> for Json {
    fn from(value: T) -> Json {
        Json::Value(value.into())
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Json {
        Json::List(items.into_iter().collect())
    }
}

/// An integer as a JSON number, or as text if its magnitude is above 2^53: many JSON readers would round it.
pub(crate) fn integer(number: i128) -> Json {
    let exact = (!is_rounded(number)).then(|| i64::try_from(number).ok()).flatten();
    exact.map_or_else(|| number.to_string().into(), Json::from)
}

/// Whether many JSON readers round this integer.
pub(crate) fn is_rounded(number: i128) -> bool {
    number.unsigned_abs() > MAX_EXACT
}

fn in_order<S: Serializer>(pairs: &[(Cow<'static, str>, Json)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}
