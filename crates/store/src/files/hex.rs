//! Numbers as hexadecimal digits, two for each byte, for `serde`.

use std::fmt::LowerHex;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::Serializer;

pub(super) fn serialize<N: LowerHex, S: Serializer>(number: &N, serializer: S) -> Result<S::Ok, S::Error> {
    let digits = 2 * size_of::<N>();
    serializer.collect_str(&format_args!("{number:0digits$x}"))
}

pub(super) fn deserialize<'de, N, D>(deserializer: D) -> Result<N, D::Error>
where
    N: LowerHex + TryFrom<u128>,
    D: Deserializer<'de>,
{
    let (text, digits) = (String::deserialize(deserializer)?, 2 * size_of::<N>());
    let number = u128::from_str_radix(&text, 16).ok().and_then(|number| N::try_from(number).ok());
    number
        .filter(|number| format!("{number:0digits$x}") == text)
        .ok_or_else(|| D::Error::custom(format!("expected {digits} hexadecimal digits")))
}
