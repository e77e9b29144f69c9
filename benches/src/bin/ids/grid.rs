//! The cells of the comparison under ingest.

use std::fmt;

use clap::ValueEnum;
use docvalues_benches::id_structures::Shape;
use docvalues_benches::ids::IdKind;
use serde::{Deserialize, Serialize};

/// The pace of bulks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pace {
    /// 32 bulks a second of new ids, and as many of existing ids, in turn
    Paced,
    /// As fast as they go
    Unpaced,
}

/// The work beside look-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Beside {
    /// None
    Nothing,
    /// A thread of the same process adds documents at the same pace
    Ingest,
    /// Another process reads 64 MiB of vectors again and again
    Searches,
    /// Both
    Both,
}

impl Beside {
    pub(crate) const ALL: [Beside; 4] = [Beside::Nothing, Beside::Ingest, Beside::Searches, Beside::Both];

    pub(crate) fn has_ingest(self) -> bool {
        matches!(self, Beside::Ingest | Beside::Both)
    }

    pub(crate) fn has_searches(self) -> bool {
        matches!(self, Beside::Searches | Beside::Both)
    }
}

/// The pages of the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pages {
    /// Mapped and read before
    Warm,
    /// Not in the page cache; a new process
    Cold,
}

/// A case that every contender measures in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) pages: Pages,
    pub(crate) shape: Shape,
    pub(crate) pace: Pace,
    pub(crate) beside: Beside,
}

impl Cell {
    /// Whether it is measured when no axis is chosen: UUIDs at the pace of the issue, beside everything; other kinds of
    /// ids beside both; look-ups as fast as they go, alone, and of UUIDs beside both; cold pages beside nothing.
    fn is_default(&self) -> bool {
        let (ends, is_uuid) =
            (matches!(self.beside, Beside::Nothing | Beside::Both), self.shape.kind == IdKind::Uuid);
        match (self.pages, self.pace) {
            (Pages::Warm, Pace::Paced) => is_uuid || self.beside == Beside::Both,
            (Pages::Warm, Pace::Unpaced) => is_uuid && ends || self.beside == Beside::Nothing,
            (Pages::Cold, Pace::Paced) => is_uuid && self.beside == Beside::Nothing,
            (Pages::Cold, Pace::Unpaced) => false,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { pages, shape, pace, beside } = self;
        write!(f, "{shape}, {pages:?}, {pace:?}, beside {beside:?}")
    }
}

/// Chosen axes; none chosen is the default grid.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Axes {
    /// Segments and ids of each
    #[arg(long, value_name = "SEGMENTSxIDS,…", value_delimiter = ',', default_values = ["400x2500", "13x77000"])]
    shapes: Vec<String>,
    /// Kinds of ids: uuid, seq, tenant, auto
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_values = ["uuid", "seq", "tenant"])]
    kinds: Vec<IdKind>,
    /// Only these cells: with this work beside look-ups; every combination of what is chosen
    #[arg(long, value_name = "WORK,…", value_delimiter = ',', value_enum)]
    beside: Vec<Beside>,
    /// Only cells of this pace
    #[arg(long, value_name = "PACE,…", value_delimiter = ',', value_enum)]
    pace: Vec<Pace>,
    /// Only cells with these pages
    #[arg(long, value_name = "PAGES,…", value_delimiter = ',', value_enum)]
    pages: Vec<Pages>,
}

impl Axes {
    /// The shapes of every kind, in the order of the tables.
    fn shapes(&self) -> Result<Vec<Shape>, String> {
        let mut shapes = Vec::new();
        for &kind in &self.kinds {
            for text in &self.shapes {
                let parts = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                let (segments, each) = parts
                    .filter(|(segments, each)| *segments > 0_u32 && *each > 0_u32)
                    .ok_or_else(|| format!("expected a shape such as 400x2500, found {text}"))?;
                shapes.push(Shape { kind, segments, each });
            }
        }
        Ok(shapes)
    }

    /// The cells, cold ones last. With `quick`, the first shape of UUIDs alone and beside both, and no cold ones.
    pub(crate) fn cells(&self, quick: bool) -> Result<Vec<Cell>, String> {
        let shapes = self.shapes()?;
        let wants = |cell: &Cell| {
            fn has<T: PartialEq>(chosen: &[T], value: &T) -> bool {
                chosen.is_empty() || chosen.contains(value)
            }
            let is_chosen = has(&self.beside, &cell.beside)
                && has(&self.pace, &cell.pace)
                && has(&self.pages, &cell.pages);
            let has_choice = !(self.beside.is_empty() && self.pace.is_empty() && self.pages.is_empty());
            let is_quick = cell.shape == shapes[0]
                && cell.pages == Pages::Warm
                && cell.pace == Pace::Paced
                && matches!(cell.beside, Beside::Nothing | Beside::Both);
            is_chosen && (has_choice || cell.is_default()) && (has_choice || !quick || is_quick)
        };
        let pages = [Pages::Warm, Pages::Cold].into_iter();
        let cells = pages.flat_map(|pages| shapes.iter().map(move |&shape| (pages, shape)));
        let cells = cells.flat_map(|(pages, shape)| {
            [Pace::Paced, Pace::Unpaced]
                .into_iter()
                .flat_map(move |pace| Beside::ALL.map(move |beside| Cell { pages, shape, pace, beside }))
        });
        Ok(cells.filter(wants).collect())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        axes: Axes,
    }

    fn cells(arguments: &[&str], quick: bool) -> Result<Vec<Cell>, String> {
        Only::parse_from(std::iter::once(&"ids").chain(arguments)).axes.cells(quick)
    }

    #[test]
    fn the_default_grid_is_pruned_and_chosen_axes_are_crossed() {
        let all = cells(&[], false).unwrap();
        // UUIDs paced, others paced, unpaced UUIDs and others, cold: each in two shapes.
        assert_eq!(all.len(), 2 * (4 + 2 + 2 + 2 + 1));
        assert!(all.is_sorted_by_key(|cell| cell.pages));
        assert_eq!(cells(&[], true).unwrap().len(), 2);
        let crossed =
            cells(&["--beside", "ingest,both", "--pages", "cold", "--kinds", "auto"], false).unwrap();
        assert_eq!(crossed.len(), 2 * 2 * 2);
        assert_eq!(
            cells(&["--shapes", "400"], false).unwrap_err(),
            "expected a shape such as 400x2500, found 400"
        );
    }
}
