//! Binding of a query to columns. Literals become stored values, terms become ords, conditions on one column are
//! merged where possible, and conditions that match nothing or everything are recognized before any value is read.

use std::collections::HashMap;
use std::sync::Arc;

use docvalues_column::{Bitset, Column, ErrorKind};

use super::column_comparison::ColumnComparison;
use super::column_condition::{Refused, Wanted, compiled, matching_terms, wanted};
use super::condition_filter::ConditionFilter;
use super::doc_ids::DOC;
use super::node::{Clause, Node, NodeKind};
use super::pattern::{CompiledPatterns, Matcher};
use super::{Condition, MAX_DEPTH, Query, QueryError, Test};
use crate::engine::{Docs, DocsByPart, Search};
use crate::metrics::Metric;
use crate::{Error, Result};

/// A node in progress: a condition may still be merged with others.
enum Draft {
    Done(Node),
    Condition(Query, Arc<dyn Column>, Wanted),
}

/// Whether the error is that a column does not exist.
fn is_no_such_column(error: &Error) -> bool {
    matches!(error, Error::Column(inner) if matches!(inner.kind(), ErrorKind::NoSuchColumn { .. }))
}

/// Attributes an unknown column to its place in the query's text: that of the condition, or of one of its literals.
fn pointed_at(error: Error, column: &str, condition: &Condition, literal: Option<usize>) -> Error {
    if !is_no_such_column(&error) {
        return error;
    }
    let place = condition.place.of(literal);
    if Metric::from_name(column).is_some() {
        let what = format!("expected a column, found `{column}`, which is for conditions on groups");
        return Error::Query(QueryError::new(what, place));
    }
    let hint = if literal.is_some() { "; text is written in quotes" } else { "" };
    Error::Query(QueryError::no_column(place, column, hint))
}

/// Attributes an error to a literal's place in the query's text.
pub(super) fn refused_at((at, what): Refused, condition: &Condition) -> Error {
    Error::Query(QueryError::new(what, condition.place.of(Some(at))))
}

/// The most levels of a query.
const MAX_LEVELS: usize = 2 * MAX_DEPTH + 4;

/// Binds queries to a part of a search.
pub(super) struct Binder<'s> {
    search: &'s Search<'s>,
    part: usize,
    patterns: &'s CompiledPatterns,
    columns: HashMap<String, Arc<dyn Column>>,
    nodes: usize,
}

impl<'s> Binder<'s> {
    pub(super) fn new(search: &'s Search<'_>, part: usize, patterns: &'s CompiledPatterns) -> Binder<'s> {
        Binder { search, part, patterns, columns: HashMap::new(), nodes: 0 }
    }

    /// The number of documents of the part.
    pub(super) fn docs(&self) -> u32 {
        self.search.parts[self.part].source.docs()
    }

    /// Returns the tree and its number of nodes.
    pub(super) fn bind(mut self, query: &Query) -> Result<(Node, usize)> {
        let draft = self.draft(query, 0)?;
        let node = self.done(draft);
        Ok((node, self.nodes))
    }

    fn draft(&mut self, query: &Query, depth: usize) -> Result<Draft> {
        // Between two parentheses or `not`s there are at most an `or` and an `and`; and `!~` is an `and` of a `not`.
        if depth > MAX_LEVELS {
            let what = format!("expected a query of at most {MAX_LEVELS} nested levels, found more");
            return Err(Error::Query(QueryError::new(what, None)));
        }
        match query {
            Query::All => Ok(Draft::Done(self.constant(true, Clause::Own(Query::All), None))),
            Query::None => Ok(Draft::Done(self.constant(false, Clause::Own(Query::None), None))),
            Query::Docs(_) if self.search.parts.len() > 1 => {
                let why = "expected a query without sets of documents, as there are several parts: use `Query::hits`";
                Err(Error::Request(why.to_owned()))
            }
            Query::Docs(set) => Ok(Draft::Done(self.set(query, set))),
            Query::Hits(set) => {
                let docs = DocsByPart::Set(set).of_part(self.part, self.search.parts.len())?;
                Ok(Draft::Done(match set.bits_of(self.part) {
                    Some(bits) => self.set(query, bits),
                    None => self.whole_set(query, matches!(docs, Docs::All)),
                }))
            }
            Query::Condition(condition) => self.condition(query, condition),
            Query::And(parts) => self.several(parts, depth, true),
            Query::Or(parts) => self.several(parts, depth, false),
            Query::Not(part) => {
                let part = self.draft(part, depth + 1)?;
                let part = self.done(part);
                Ok(Draft::Done(self.not(Clause::Not, part)))
            }
        }
    }

    /// The node of a set of documents.
    fn set(&mut self, query: &Query, set: &Arc<Bitset>) -> Node {
        let docs = self.docs();
        let set = if set.docs() == docs { set.clone() } else { Arc::new(set.resized(docs)) };
        if set.is_empty() || set.is_all() {
            return self.whole_set(query, !set.is_empty());
        }
        let share = f64::from(set.count()) / f64::from(docs);
        // Copying a word of bits takes a fraction of a nanosecond.
        self.leaf(NodeKind::Docs(set), Clause::Own(query.clone()), (share, 0.005))
    }

    /// The node of a set that has all documents, or none.
    fn whole_set(&mut self, query: &Query, has_all: bool) -> Node {
        let why = if has_all { "the set has all documents" } else { "the set is empty" };
        self.constant(has_all, Clause::Own(query.clone()), Some(why.into()))
    }

    fn condition(&mut self, query: &Query, condition: &Condition) -> Result<Draft> {
        let column = match self.column(&condition.column) {
            Err(error) if is_no_such_column(&error) && condition.column == DOC => {
                return self.bind_doc_ids(query, condition).map(Draft::Done);
            }
            column => column.map_err(|error| pointed_at(error, &condition.column, condition, None))?,
        };
        let refused = |refused| refused_at(refused, condition);
        match &condition.test {
            Test::Matches(_) if column.is_absent() => {}
            Test::Matches(pattern) => {
                let field = &column.info().field;
                let pattern =
                    compiled(&field.name, field.logical, pattern, self.patterns).map_err(refused)?;
                return self.bind_pattern(query, column, pattern);
            }
            Test::Column(comparison, other) => {
                let other =
                    self.column(other).map_err(|error| pointed_at(error, other, condition, Some(0)))?;
                let pair = ColumnComparison::new(column, *comparison, other).map_err(refused)?;
                return Ok(Draft::Done(self.bind_comparison(query, pair)));
            }
            _ => {}
        }
        let wanted = wanted(&*column, &condition.test)?.map_err(refused)?;
        let inner = |test| Query::Condition(Condition { test, ..condition.clone() });
        Ok(match &condition.test {
            Test::Missing => {
                let exists = self.done(Draft::Condition(inner(Test::Exists), column, Wanted::Exists));
                Draft::Done(self.not(Clause::Own(query.clone()), exists))
            }
            Test::NotIn(values) => match wanted.complement() {
                Some(others) if !column.info().is_multi_valued() => {
                    Draft::Condition(query.clone(), column, others)
                }
                _ => {
                    let exists = Draft::Condition(inner(Test::Exists), column.clone(), Wanted::Exists);
                    let one = self.done(Draft::Condition(inner(Test::In(values.clone())), column, wanted));
                    let none = self.not(Clause::Not, one);
                    let parts = vec![self.done(exists), none];
                    Draft::Done(self.joined(Clause::Own(query.clone()), parts, true))
                }
            },
            _ => Draft::Condition(query.clone(), column, wanted),
        })
    }

    /// Binds a pattern: to the terms of a dictionary, or to values.
    fn bind_pattern(&mut self, query: &Query, column: Arc<dyn Column>, pattern: Matcher) -> Result<Draft> {
        if let Some(terms) = column.values().terms() {
            let wanted = Wanted::Numbers(matching_terms(terms, &pattern, &self.search.stop)?);
            return Ok(Draft::Condition(query.clone(), column, wanted));
        }
        let filter = ConditionFilter::matching(column, pattern);
        let expected = filter.expect();
        Ok(Draft::Done(self.leaf(NodeKind::Filter(filter), Clause::Own(query.clone()), expected)))
    }

    /// The node of a comparison of two columns.
    fn bind_comparison(&mut self, query: &Query, pair: ColumnComparison) -> Node {
        let clause = Clause::Own(query.clone());
        if let Some(empty) = pair.column_without_values() {
            let why = format!("column \"{empty}\" has no values");
            return self.constant(false, clause, Some(why));
        }
        let expected = pair.expect();
        self.leaf(NodeKind::Compare(pair), clause, expected)
    }

    /// Opens a column once.
    fn column(&mut self, name: &str) -> Result<Arc<dyn Column>> {
        if let Some(column) = self.columns.get(name) {
            return Ok(column.clone());
        }
        let column = self.search.column_set(name)?.parts[self.part].clone();
        self.columns.insert(name.to_owned(), column.clone());
        Ok(column)
    }

    /// Binds a conjunction or a disjunction.
    fn several(&mut self, parts: &[Query], depth: usize, is_and: bool) -> Result<Draft> {
        let mut drafts = Vec::new();
        for part in parts {
            match (part, is_and) {
                // Flattens one level: deeper ones are flat already.
                (Query::And(more), true) | (Query::Or(more), false) => {
                    for part in more {
                        drafts.push(self.draft(part, depth + 2)?);
                    }
                }
                _ => drafts.push(self.draft(part, depth + 1)?),
            }
        }
        let mut drafts = merged(drafts, is_and);
        if drafts.len() == 1 {
            return Ok(drafts.remove(0));
        }
        let parts = drafts.into_iter().map(|draft| self.done(draft)).collect();
        let clause = if is_and { Clause::And } else { Clause::Or };
        Ok(Draft::Done(self.joined(clause, parts, is_and)))
    }

    /// An `and` or `or` node with its children in the cheapest order.
    ///
    /// In a conjunction, children ascend by cost / (1 − share): Hellerstein and Stonebraker, *Predicate migration*
    /// (1993). In a disjunction, they ascend by cost / share.
    fn joined(&mut self, clause: Clause, mut parts: Vec<Node>, is_and: bool) -> Node {
        let is_constant = |node: &Node, all: bool| match node.kind {
            NodeKind::All => all,
            NodeKind::None => !all,
            _ => false,
        };
        let is_neutral = |node: &Node| is_constant(node, is_and);
        // One that decides the result.
        if let Some(part) = parts.iter().find(|part| is_constant(part, !is_and)) {
            let why = part.note.clone();
            return Node { parts, ..self.constant(!is_and, clause, why) };
        }
        if parts.iter().all(is_neutral) {
            return Node { parts, ..self.constant(is_and, clause, None) };
        }
        let rank = |node: &Node| {
            let decided = if is_and { 1.0 - node.share } else { node.share };
            if is_neutral(node) { f64::INFINITY } else { node.cost / decided.max(1e-9) }
        };
        parts.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let (mut left, mut cost) = (1.0, 0.0);
        for part in &parts {
            cost += left * part.cost;
            left *= if is_and { part.share } else { 1.0 - part.share };
        }
        let share = if is_and { left } else { 1.0 - left };
        let kind = if is_and { NodeKind::And } else { NodeKind::Or };
        Node { parts, ..self.leaf(kind, clause, (share, cost)) }
    }

    fn not(&mut self, clause: Clause, part: Node) -> Node {
        let note = part.note.clone();
        match part.kind {
            NodeKind::All => {
                let note = note.or(Some("every document matches what is negated".into()));
                Node { parts: vec![part], ..self.constant(false, clause, note) }
            }
            NodeKind::None => Node { parts: vec![part], ..self.constant(true, clause, note) },
            _ => {
                let expected = (1.0 - part.share, part.cost);
                Node { parts: vec![part], ..self.leaf(NodeKind::Not, clause, expected) }
            }
        }
    }

    /// The node of a draft on its own.
    fn done(&mut self, draft: Draft) -> Node {
        let (clause, column, wanted) = match draft {
            Draft::Done(node) => return node,
            Draft::Condition(clause, column, wanted) => (clause, column, wanted),
        };
        let clause = Clause::Own(clause);
        match wanted.simplify(&*column) {
            Err(why) => self.constant(false, clause, Some(why)),
            Ok(Wanted::Exists) if column.info().all_present() => {
                self.constant(true, clause, Some("every document has such a value".into()))
            }
            Ok(wanted) => {
                let name = &column.info().field.name;
                let sort = self.search.parts[self.part].source.sort();
                let leading = sort.first().is_some_and(|key| key.column == *name);
                let filter = ConditionFilter::new(column, &wanted, leading);
                let expected = filter.expect();
                self.leaf(NodeKind::Filter(filter), clause, expected)
            }
        }
    }

    /// A node without children, with the expected share of matching documents and cost.
    pub(super) fn leaf(&mut self, kind: NodeKind, clause: Clause, (share, cost): (f64, f64)) -> Node {
        self.nodes += 1;
        Node { kind, clause, note: None, share, cost, parts: Vec::new(), id: self.nodes - 1 }
    }

    /// The node that every document matches, or none.
    pub(super) fn constant(&mut self, all: bool, clause: Clause, note: Option<String>) -> Node {
        let (kind, share) = if all { (NodeKind::All, 1.0) } else { (NodeKind::None, 0.0) };
        Node { note, ..self.leaf(kind, clause, (share, 0.0)) }
    }
}

/// Merges the conditions on each column into one where that is equivalent: always in a disjunction; in a conjunction
/// if documents have one value each.
fn merged(drafts: Vec<Draft>, is_and: bool) -> Vec<Draft> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Vec<Draft>> = Vec::new();
    for draft in drafts {
        let Draft::Condition(_, column, _) = &draft else {
            groups.push(vec![draft]);
            continue;
        };
        let at = *places.entry(column.info().field.name.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(draft);
    }
    groups.into_iter().flat_map(|group| merged_group(group, is_and)).collect()
}

/// Merges the conditions on one column.
fn merged_group(mut group: Vec<Draft>, is_and: bool) -> Vec<Draft> {
    let several =
        |draft: &Draft| matches!(draft, Draft::Condition(_, column, _) if column.info().is_multi_valued());
    if is_and && group.iter().any(several) {
        // Every other condition implies that there is a value.
        let exists = |draft: &Draft| matches!(draft, Draft::Condition(_, _, Wanted::Exists));
        if group.iter().all(exists) {
            group.truncate(1);
        } else {
            group.retain(|draft| !exists(draft));
        }
        return group;
    }
    // In pairs, so that each list is merged O(log n) times.
    while group.len() > 1 {
        let mut pairs = group.into_iter();
        let mut next = Vec::new();
        while let Some(first) = pairs.next() {
            next.push(match (first, pairs.next()) {
                (Draft::Condition(a, column, wanted), Some(Draft::Condition(b, _, other))) => {
                    let (clause, wanted) = match is_and {
                        true => (a.and(b), wanted.intersection(other)),
                        false => (a.or(b), wanted.union(other)),
                    };
                    Draft::Condition(clause, column, wanted)
                }
                // An odd one out, or the only member of its group.
                (first, _) => first,
            });
        }
        group = next;
    }
    group
}
