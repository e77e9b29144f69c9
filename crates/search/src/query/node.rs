//! The tree of a bound query.

use std::sync::Arc;

use docvalues_column::{Bitset, DocRange};

use super::Query;
use super::column_comparison::ColumnComparison;
use super::condition_filter::ConditionFilter;

/// A node of a bound query.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// The clause of the query that it evaluates.
    pub(super) clause: Clause,
    /// The reason for its form, found while binding.
    pub(super) note: Option<String>,
    /// The expected share of documents that match.
    pub(super) share: f64,
    /// The expected cost in nanoseconds per document: rough, to order clauses by.
    pub(super) cost: f64,
    /// Child nodes, in order of evaluation.
    pub(super) parts: Vec<Node>,
    /// Its index among all nodes.
    pub(super) id: usize,
}

/// The clause of a node. Inner nodes derive it from their children: a copy at each level would take memory of length
/// times depth.
#[derive(Debug)]
pub(super) enum Clause {
    Own(Query),
    And,
    Or,
    Not,
}

impl Node {
    /// The clause as a query, with children in order of evaluation.
    pub(super) fn query(&self) -> Query {
        let parts = self.parts.iter().map(Node::query);
        match &self.clause {
            Clause::Own(query) => query.clone(),
            Clause::And => Query::all_of(parts),
            Clause::Or => Query::any_of(parts),
            Clause::Not => !Query::all_of(parts),
        }
    }
}

/// The evaluation of a node.
#[derive(Debug)]
pub(super) enum NodeKind {
    All,
    None,
    Filter(ConditionFilter),
    /// The documents of a set, with a bit for each document of the source.
    Docs(Arc<Bitset>),
    /// The documents with these numbers, inside the source.
    DocRanges(Vec<DocRange>),
    /// Documents for which a comparison of two columns holds.
    Compare(ColumnComparison),
    /// Documents that match all children.
    And,
    /// Documents that match any child.
    Or,
    /// Documents that do not match the only child.
    Not,
}
