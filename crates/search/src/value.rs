//! Values during a search.

use docvalues_column::TermOrd;

use crate::window::NO_ORD;

/// A stored value, or an ord as a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stored {
    Number(i64),
    Bytes(Vec<u8>),
    /// A term and its id.
    Term(Vec<u8>, TermOrd),
}

impl Stored {
    /// The ord that a number stands for.
    pub(crate) fn ord(&self) -> TermOrd {
        match self {
            Stored::Number(ord) => u32::try_from(*ord).map_or(NO_ORD, TermOrd::new),
            Stored::Term(_, id) => *id,
            Stored::Bytes(_) => NO_ORD,
        }
    }
}
