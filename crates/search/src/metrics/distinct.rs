//! The number of different values.

/// The number of different values.
///
/// ```
/// use docvalues_search::stats::Distinct;
///
/// let show = |count: Distinct| match count {
///     Distinct::Exact(count) => count.to_string(),
///     Distinct::About(count) => format!("about {count}"),
/// };
/// assert_eq!(show(Distinct::About(1_000_000)), "about 1000000");
/// assert_eq!(Distinct::Exact(7).get(), 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    /// The exact number.
    Exact(u64),
    /// An estimate. 99 % of estimates are within 2.1 % of the exact number.
    About(u64),
}

impl Distinct {
    /// The number, exact or estimated.
    pub fn get(self) -> u64 {
        match self {
            Distinct::Exact(count) | Distinct::About(count) => count,
        }
    }
}
