//! [`NewRows`]: the rows of the changed documents of a block, by rank.

use std::ops::Range;

use crate::Lists;
use crate::batch::View;
use crate::rows::Element;

/// New rows: one value each, arbitrary for a document without a value; or a list each.
#[derive(Clone, Debug)]
pub(super) enum NewRows<T> {
    One(Vec<T>),
    Many(Lists<T>),
}

impl<T: Element> NewRows<T> {
    #[inline]
    pub(super) fn get(&self, rank: usize) -> &[T] {
        match self {
            NewRows::One(values) => std::slice::from_ref(&values[rank]),
            NewRows::Many(lists) => lists.get(rank),
        }
    }

    /// Some rows.
    #[inline]
    pub(super) fn part(&self, ranks: Range<usize>) -> View<'_, T> {
        match self {
            NewRows::One(values) => View::One(&values[ranks]),
            NewRows::Many(lists) => View::Many(lists.slices().part(ranks)),
        }
    }

    /// No rows, with room for as many as these and some more.
    pub(super) fn with_capacity(&self, more: usize) -> NewRows<T> {
        match self {
            NewRows::One(values) => NewRows::One(Vec::with_capacity(values.len() + more)),
            NewRows::Many(lists) => NewRows::Many(Lists::with_capacity(lists.len() + more)),
        }
    }

    pub(super) fn extend_from(&mut self, other: &NewRows<T>, ranks: Range<usize>) {
        match (self, other) {
            (NewRows::One(values), NewRows::One(more)) => values.extend_from_slice(&more[ranks]),
            (NewRows::Many(lists), NewRows::Many(more)) => lists.extend_from(more.slices().part(ranks)),
            _ => debug_assert!(false, "single values and lists in one column"),
        }
    }

    pub(super) fn push(&mut self, row: Option<&[T]>) {
        match self {
            NewRows::One(values) => values.push(row.map_or_else(T::default, |row| row[0])),
            NewRows::Many(lists) => {
                lists.push(row.unwrap_or_default());
                if !T::EMPTY_IS_VALUE {
                    lists.sort_from(lists.len() - 1);
                }
            }
        }
    }

    pub(super) fn heap(&self) -> usize {
        match self {
            NewRows::One(values) => size_of_val(&values[..]),
            NewRows::Many(lists) => size_of_val(lists.offsets()) + size_of_val(lists.slices().items()),
        }
    }
}
