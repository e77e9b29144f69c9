//! Conditions on the ids of documents, `_doc`.

use std::sync::Arc;

use docvalues_column::{Bitset, DocRange, LogicalType, bits};

use super::bind::{Binder, refused_at};
use super::column_condition::{Wanted, wanted_of_type};
use super::node::Node;
use super::range_set::{End, RangeSet};
use super::{Condition, Query, Test};
use crate::Result;

/// The pseudo-column of the ids of documents.
pub(super) const DOC: &str = "_doc";

impl Binder<'_> {
    /// The node of a condition on the ids of documents: the set of those that match.
    pub(super) fn bind_doc_ids(&mut self, query: &Query, condition: &Condition) -> Result<Node> {
        let refused = |what: &str| refused_at((0, format!("column \"{DOC}\" {what}")), condition);
        let values = match &condition.test {
            Test::Matches(_) => {
                return Err(refused("is a number: expected text or bytes for a pattern"));
            }
            Test::Column(..) => return Err(refused("cannot be compared with a column")),
            test => wanted_of_type(DOC, LogicalType::I64, test)
                .map_err(|refused| refused_at(refused, condition))?,
        };
        let wanted = match (values, &condition.test) {
            (_, Test::Missing) => RangeSet::none(),
            (Wanted::Numbers(numbers), Test::NotIn(_)) => numbers.complement(),
            (Wanted::Numbers(numbers), _) => numbers,
            _ => RangeSet::all(),
        };
        let there = RangeSet::one(0, End::Before(i64::from(self.docs())));
        let mut words = vec![0; DocRange::new(0, self.docs()).words()];
        let place = |doc: i64| usize::try_from(doc).unwrap_or(usize::MAX);
        for range in wanted.intersection(&there).ranges() {
            bits::set_range(&mut words, place(*range.start())..place(*range.end()) + 1);
        }
        Ok(self.set(query, &Arc::new(Bitset::from_words(words, self.docs()))))
    }
}
