//! What may share a pass: each column is read once for all of them.

use crate::error::Result;
use crate::facet::FacetCounter;
use crate::histogram::RangeCounter;
use crate::pass::Collector;
use crate::stats::{DistinctValues, NumberStats, TermStats};
use crate::window::Window;

/// One of the works that see every document.
pub(crate) enum Task {
    Facet(FacetCounter),
    Ranges(RangeCounter),
    Numbers(NumberStats),
    Terms(TermStats),
    Distinct(DistinctValues),
}

impl Collector for Task {
    fn fork(&self) -> Task {
        match self {
            Task::Facet(task) => Task::Facet(task.fork()),
            Task::Ranges(task) => Task::Ranges(task.fork()),
            Task::Numbers(task) => Task::Numbers(task.fork()),
            Task::Terms(task) => Task::Terms(task.fork()),
            Task::Distinct(task) => Task::Distinct(task.fork()),
        }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        match self {
            Task::Facet(task) => task.collect(window),
            Task::Ranges(task) => task.collect(window),
            Task::Numbers(task) => task.collect(window),
            Task::Terms(task) => task.collect(window),
            Task::Distinct(task) => task.collect(window),
        }
    }

    fn part_ends(&mut self, part: u32) {
        match self {
            Task::Facet(task) => task.part_ends(part),
            Task::Ranges(task) => task.part_ends(part),
            Task::Numbers(task) => task.part_ends(part),
            Task::Terms(task) => task.part_ends(part),
            Task::Distinct(task) => task.part_ends(part),
        }
    }

    fn merge(&mut self, other: Task) {
        match (self, other) {
            (Task::Facet(task), Task::Facet(other)) => task.merge(other),
            (Task::Ranges(task), Task::Ranges(other)) => task.merge(other),
            (Task::Numbers(task), Task::Numbers(other)) => task.merge(other),
            (Task::Terms(task), Task::Terms(other)) => task.merge(other),
            (Task::Distinct(task), Task::Distinct(other)) => task.merge(other),
            // A fork does what its origin does.
            _ => {}
        }
    }
}
