//! Conditions on the ids of documents, `_doc`.

use docvalues_column::{DocRange, LogicalType};

use super::bind::{Binder, refused_at};
use super::column_condition::{Wanted, wanted_of_type};
use super::node::{Clause, Node, NodeKind};
use super::range_set::{End, RangeSet};
use super::{Condition, Query, Test};
use crate::Result;

/// The pseudo-column of the ids of documents.
pub(super) const DOC: &str = "_doc";

impl Binder<'_> {
    /// The node of a condition on the ids of documents.
    pub(super) fn bind_doc_ids(&mut self, query: &Query, condition: &Condition) -> Result<Node> {
        let (clause, docs) = (Clause::Own(query.clone()), self.docs());
        let there = RangeSet::one(0, End::Before(i64::from(docs)));
        let refused = |what: &str| refused_at((0, format!("column \"{DOC}\" {what}")), condition);
        let values = match &condition.test {
            Test::Missing => {
                return Ok(self.constant(false, clause, Some("every document has a number".into())));
            }
            Test::Matches(_) => {
                return Err(refused("is a number: expected text or bytes for a pattern"));
            }
            Test::Column(..) => return Err(refused("cannot be compared with a column")),
            test => wanted_of_type(DOC, LogicalType::I64, test)
                .map_err(|refused| refused_at(refused, condition))?,
        };
        let wanted = match (values, &condition.test) {
            (Wanted::Numbers(numbers), Test::NotIn(_)) => numbers.complement().intersection(&there),
            (Wanted::Numbers(numbers), _) => numbers.intersection(&there),
            _ => there.clone(),
        };
        if wanted == there {
            return Ok(self.constant(true, clause, Some("every document has such a number".into())));
        }
        if wanted.is_empty() {
            return Ok(self.constant(false, clause, Some(format!("there are {docs} documents"))));
        }
        let doc = |number: i64| u32::try_from(number).unwrap_or(docs);
        let ranges: Vec<DocRange> =
            wanted.ranges().map(|range| DocRange::new(doc(*range.start()), doc(*range.end() + 1))).collect();
        let share = ranges.iter().map(|range| range.len() as f64).sum::<f64>() / f64::from(docs);
        Ok(self.leaf(NodeKind::DocRanges(ranges), clause, (share, 0.002)))
    }
}
