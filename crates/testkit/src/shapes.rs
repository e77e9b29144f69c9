//! Generators of columns: shapes that occur in practice, and edge cases.
//!
//! A [`Shape`] has a number of documents, a pattern of documents with a value ([`Presence`]), a pattern of values
//! ([`Values`]), and a seed. They determine the column. So one line of `Debug` reproduces a failing case, and proptest
//! shrinks it to fewer documents.
//!
//! | to get | use |
//! | --- | --- |
//! | every shape, small | [`small`] |
//! | several blocks of 65,536 documents | [`large`] |
//! | random ones, for proptest | [`any_shape`], [`any_dataset`] |
//! | a whole segment | [`Dataset`] |
//! | a segment of at most 100 KB with every kind and encoding | [`small_of_every_kind`] |

mod dataset;
mod every_kind;
mod lists;
mod numbers;
mod presence;
mod strings;

use docvalues_column::{Field, Kind, LogicalType};
use proptest::prelude::*;
use proptest::sample::select;

use crate::model::ModelColumn;
use crate::rng::SplitMix64;

pub use dataset::Dataset;
pub use every_kind::small_of_every_kind;
pub use lists::Counts;
pub use numbers::Numbers;
pub use presence::Presence;
pub use strings::Strings;

/// Numbers of documents at edges: 0, ends of words, and ends of blocks of 512 values.
pub const FEW_DOCS: [u32; 9] = [0, 1, 2, 63, 64, 65, 511, 512, 513];

/// Numbers of documents around ends of blocks of 65,536, and of several blocks.
pub const MANY_DOCS: [u32; 5] = [65_535, 65_536, 65_537, 131_073, 200_000];

/// The kind of a column, and the pattern of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A numeric column.
    Numeric(Numbers),
    /// A binary column.
    Binary(Strings),
    /// A sorted column.
    Sorted(Strings),
    /// A sorted-numeric column.
    SortedNumeric(Counts, Numbers),
    /// A sorted-set column.
    SortedSet(Counts, Strings),
}

impl Values {
    /// Every pattern of values in every kind that can have it. Counts take turns.
    pub fn all() -> Vec<Values> {
        let counts = || Counts::ALL.into_iter().cycle();
        let mut all: Vec<Values> = Numbers::ALL.into_iter().map(Values::Numeric).collect();
        all.extend(Strings::ALL.into_iter().map(Values::Binary));
        all.extend(Strings::ALL.into_iter().map(Values::Sorted));
        all.extend(Numbers::ALL.into_iter().zip(counts()).map(|(n, c)| Values::SortedNumeric(c, n)));
        all.extend(Strings::ALL.into_iter().zip(counts()).map(|(s, c)| Values::SortedSet(c, s)));
        all
    }

    /// The kind of such a column.
    pub fn kind(self) -> Kind {
        match self {
            Values::Numeric(_) => Kind::Numeric,
            Values::Binary(_) => Kind::Binary,
            Values::Sorted(_) => Kind::Sorted,
            Values::SortedNumeric(..) => Kind::SortedNumeric,
            Values::SortedSet(..) => Kind::SortedSet,
        }
    }

    /// The type that such values have.
    pub fn logical(self) -> LogicalType {
        match self {
            Values::Numeric(numbers) | Values::SortedNumeric(_, numbers) => numbers.logical(),
            Values::Binary(strings) | Values::Sorted(strings) | Values::SortedSet(_, strings) => {
                strings.logical()
            }
        }
    }
}

/// A description of a column, from which its values are generated.
///
/// # Examples
///
/// ```
/// use docvalues_testkit::shapes::{Numbers, Presence, Shape, Values};
///
/// let shape =
///     Shape { docs: 200, presence: Presence::Every(3), values: Values::Numeric(Numbers::Gcd), seed: 7 };
/// assert_eq!(shape.column().len(), 200);
/// assert_eq!(shape.column(), shape.column());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of documents.
    pub docs: u32,
    /// The pattern of documents with a value.
    pub presence: Presence,
    /// The kind and the pattern of the values.
    pub values: Values,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Shape {
    /// A field of this shape's kind and type.
    pub fn field(&self, name: impl Into<String>) -> Field {
        Field::new(name, self.values.kind(), self.values.logical())
    }

    /// The values, a slot for each document.
    pub fn column(&self) -> ModelColumn {
        let present = self.presence.bits(self.docs, self.seed);
        let n = present.iter().filter(|present| **present).count();
        let rng = &mut SplitMix64::new(self.seed);
        match self.values {
            Values::Numeric(numbers) => ModelColumn::Numeric(spread(&present, numbers.make(n, rng))),
            Values::Binary(strings) => ModelColumn::Binary(spread(&present, strings.make(n, rng))),
            Values::Sorted(strings) => ModelColumn::Sorted(spread(&present, strings.make(n, rng))),
            Values::SortedNumeric(counts, numbers) => {
                let counts = counts.make(n, rng);
                let values = numbers.make(counts.iter().sum(), rng);
                let lists = spread(&present, lists::cut(&counts, values));
                ModelColumn::SortedNumeric(lists.into_iter().map(Option::unwrap_or_default).collect())
            }
            Values::SortedSet(counts, strings) => {
                let counts = counts.make(n, rng);
                let values = strings.make(counts.iter().sum(), rng);
                let sets = lists::cut(&counts, values).into_iter().map(|list| list.into_iter().collect());
                let sets = spread(&present, sets.collect());
                ModelColumn::SortedSet(sets.into_iter().map(Option::unwrap_or_default).collect())
            }
        }
    }
}

/// Gives each present document the next value.
fn spread<T>(present: &[bool], values: Vec<T>) -> Vec<Option<T>> {
    let mut values = values.into_iter();
    present.iter().map(|&present| if present { values.next() } else { None }).collect()
}

/// Columns of up to 513 documents: each pattern of values with each of [`FEW_DOCS`], or with two of them if a document
/// has 70,000 values. Presences take turns.
pub fn small() -> Vec<Shape> {
    let mut presences = Presence::ALL.into_iter().cycle();
    let mut shapes = Vec::new();
    for (seed, values) in Values::all().into_iter().enumerate() {
        for docs in FEW_DOCS {
            let presence = presences.next().unwrap();
            // Every filter decodes 70,000 values.
            let is_huge = matches!(
                values,
                Values::SortedNumeric(Counts::OneHuge, _) | Values::SortedSet(Counts::OneHuge, _)
            );
            if !is_huge || [1, 513].contains(&docs) {
                shapes.push(Shape { docs, presence, values, seed: seed as u64 });
            }
        }
    }
    shapes
}

/// Columns over several blocks: each presence, and each pattern of values, with one of [`MANY_DOCS`].
///
/// Writing, opening and checking all of them takes seconds. A test with several settings lets the settings take turns.
pub fn large() -> Vec<Shape> {
    let mut docs = MANY_DOCS.into_iter().cycle();
    let mut numbers = Numbers::ALL.into_iter().cycle();
    let presences = Presence::ALL.into_iter().map(|presence| {
        let values = Values::Numeric(numbers.next().unwrap());
        Shape { docs: docs.next().unwrap(), presence, values, seed: 1 }
    });
    let mut shapes: Vec<Shape> = presences.collect();
    // The largest sizes are rare, because they take most of the time.
    let [a, b, c, d, e] = MANY_DOCS;
    let mut docs = [b, c, a, c, d, a, b, c, e].into_iter().cycle();
    let presences = [Presence::All, Presence::EachBlockItsOwn, Presence::Random(500), Presence::Runs];
    shapes.extend(Values::all().into_iter().zip(presences.into_iter().cycle()).map(|(values, presence)| {
        let docs = docs.next().unwrap();
        Shape { docs, presence, values, seed: 2 }
    }));
    shapes
}

/// Any number of documents: mostly few, sometimes at an edge, rarely more than a block.
pub fn any_docs() -> impl Strategy<Value = u32> {
    prop_oneof![
        12 => 0..=130_u32,
        6 => 0..=3000_u32,
        3 => select(&FEW_DOCS[..]),
        1 => select(&MANY_DOCS[..3]),
    ]
}

/// Any presence.
pub fn any_presence() -> impl Strategy<Value = Presence> {
    prop_oneof![
        select(&Presence::ALL[..]),
        (0..=1000_u32).prop_map(Presence::Random),
        (1..=200_u32).prop_map(Presence::Every),
    ]
}

/// Any values, each kind as likely as the others.
pub fn any_values() -> impl Strategy<Value = Values> {
    let (numbers, strings) = (|| select(&Numbers::ALL[..]), || select(&Strings::ALL[..]));
    // A document with 70,000 values is for `large`.
    let counts = || select(Counts::SMALL);
    prop_oneof![
        numbers().prop_map(Values::Numeric),
        strings().prop_map(Values::Binary),
        strings().prop_map(Values::Sorted),
        (counts(), numbers()).prop_map(|(counts, numbers)| Values::SortedNumeric(counts, numbers)),
        (counts(), strings()).prop_map(|(counts, strings)| Values::SortedSet(counts, strings)),
    ]
}

/// Any column. It shrinks to fewer documents.
pub fn any_shape() -> impl Strategy<Value = Shape> {
    let parts = (any_docs(), any_presence(), any_values(), any::<u64>());
    parts.prop_map(|(docs, presence, values, seed)| Shape { docs, presence, values, seed })
}

/// Any segment of up to `columns` columns.
pub fn any_dataset(columns: usize) -> impl Strategy<Value = Dataset> {
    let column = (any_presence(), any_values(), any::<u64>());
    (any_docs(), prop::collection::vec(column, 0..=columns)).prop_map(|(docs, columns)| {
        let shapes = columns.into_iter();
        let shape = |(presence, values, seed)| Shape { docs, presence, values, seed };
        Dataset::of_shapes(docs, shapes.map(shape))
    })
}

#[cfg(test)]
#[cfg(test)]
mod tests;
