//! Checks of what was deserialised, and the serialised form of sketches.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{PartialFacet, PartialGroups, PartialHistogram, PartialStats, PartialTop};

/// Implements serialisation by the derived functions, with a check.
macro_rules! checked {
    ($($type:ty),+) => { $(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                <$type>::serialize(self, to)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                let found = <$type>::deserialize(from)?;
                found.check().map_err(D::Error::custom)?;
                Ok(found)
            }
        }
    )+ };
}

checked!(PartialFacet, PartialGroups, PartialHistogram, PartialStats, PartialTop);

/// Sketches, as the library writes them.
pub(crate) mod sketch {
    use super::*;
    use crate::stats::Sketch;

    pub(crate) fn serialize<S: Serializer>(sketch: &Sketch, to: S) -> Result<S::Ok, S::Error> {
        sketch.to_bytes().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Sketch, D::Error> {
        let bytes: Vec<u8> = Vec::deserialize(from)?;
        Sketch::from_bytes(&bytes).ok_or_else(|| D::Error::custom("expected a sketch of distinct values"))
    }
}
