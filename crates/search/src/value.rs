//! Values during a search.

use docvalues_column::TermOrd;

use crate::window::NO_ORD;

/// A stored value, or an ord as a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stored {
    Number(i64),
    Bytes(Vec<u8>),
}

impl Stored {
    /// The ord that a number stands for.
    pub(crate) fn ord(&self) -> TermOrd {
        match self {
            Stored::Number(ord) => u32::try_from(*ord).map_or(NO_ORD, TermOrd::new),
            Stored::Bytes(_) => NO_ORD,
        }
    }
}
