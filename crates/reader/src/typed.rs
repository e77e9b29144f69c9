//! What the typed columns of all five kinds offer alike.

use std::ops::Range;

use docvalues_column::{Column, Field, Result};

use crate::core::Core;
use crate::cursor::Cursor;
use crate::{Binary, Numeric, Sorted, SortedNumeric, SortedSet};

/// A typed column.
pub(crate) trait HasCore {
    /// The part that all kinds have.
    fn core(&self) -> &Core;
}

// A macro, because a trait of another crate cannot be implemented for all `HasCore` at once.
macro_rules! typed {
    ($($column:ty),*) => {$(
        impl $column {
            /// Reads documents one after the other and remembers where it was: what makes
            /// [`JumpTables::Ignore`](crate::JumpTables::Ignore) bearable. The other modes do not
            /// need it.
            pub fn cursor(&self) -> Cursor<'_, $column> {
                Cursor::new(self)
            }
        }

        impl Column for $column {
            fn field(&self) -> &Field {
                &self.core().field
            }

            fn docs(&self) -> u32 {
                self.core().docs
            }

            fn docs_with_value(&self) -> u32 {
                self.core().presence.values()
            }

            fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()> {
                self.core().exists(docs, bits)
            }
        }
    )*};
}

typed!(Numeric, Binary, Sorted, SortedNumeric, SortedSet);
