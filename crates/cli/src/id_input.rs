//! Ids of the command line and of standard input.

use std::io::{self, BufRead as _};

/// A source of ids.
pub(crate) enum IdInput {
    Id(Vec<u8>),
    /// The lines of standard input.
    Lines,
}

impl IdInput {
    /// The ids. Empty lines are skipped.
    pub(crate) fn all(self) -> Box<dyn Iterator<Item = io::Result<Vec<u8>>>> {
        match self {
            IdInput::Id(id) => Box::new(std::iter::once(Ok(id))),
            IdInput::Lines => Box::new(io::stdin().lock().split(b'\n').filter_map(|line| match line {
                Ok(mut line) => {
                    line.pop_if(|last| *last == b'\r');
                    (!line.is_empty()).then_some(Ok(line))
                }
                Err(error) => Some(Err(error)),
            })),
        }
    }
}
