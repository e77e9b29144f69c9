//! The entries of an object of JSON, as they are written.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The entries of an object, in order, duplicates included.
pub(crate) struct Entries<'a>(pub(crate) Vec<(Key<'a>, &'a RawValue)>);

impl<'a> Entries<'a> {
    /// The value of the first key that is there again, if some value is an object. Of other values, fields are compared.
    pub(crate) fn repeated_beside_object(&self) -> Option<&'a RawValue> {
        if !self.0.iter().any(|(_, raw)| raw.get().starts_with('{')) {
            return None;
        }
        let mut keys = HashSet::new();
        self.0.iter().find(|(Key(key), _)| !keys.insert(&**key)).map(|(_, raw)| *raw)
    }
}

/// A key, borrowed from the line unless it has escapes.
#[derive(Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}
