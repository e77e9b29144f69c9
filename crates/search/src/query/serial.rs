//! The serialised form of a query: its text.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Query;

pub(crate) fn serialize<S: Serializer>(query: &Option<Query>, to: S) -> Result<S::Ok, S::Error> {
    query.as_ref().map(ToString::to_string).serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Query>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(from)?;
    text.map(|text| Query::parse(&text)).transpose().map_err(D::Error::custom)
}
