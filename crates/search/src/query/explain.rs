//! Explanation of queries: plan and profile.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use docvalues_column::Pruning;

use super::node::{Node, NodeKind};
use crate::describe::{describe_pruning, with_separators};
use crate::engine::value;

/// The plan of a clause and, after a run, its profile.
///
/// [`Display`](fmt::Display) prints an indented tree.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let term = |text: &str| Some(text.as_bytes().to_vec());
/// # let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// # let hosts = ModelColumn::Sorted(vec![term("b.example"), term("a.example"), term("b.example"), None]);
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), Some(1_500)]);
/// # let source = MemSource::new(4, [(host, hosts), (size, sizes)]);
/// use docvalues_search::{Docs, Query, Search};
///
/// let query = Query::parse("size < 100 and host exists")?;
/// let bound = Search::new(&source).bind(&query)?;
/// assert_eq!(bound.explain().parts.len(), 2); // in the order of evaluation; no profile yet
///
/// let (found, explain) = bound.collect_explained(Docs::All)?;
/// let profile = explain.profile.expect("it ran");
/// assert_eq!((found.count(), profile.candidates, profile.matched), (2, 4, 2));
/// println!("{explain}");
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explain {
    /// The clause as text. Several conditions on one column may be merged.
    pub clause: String,
    /// The evaluation method.
    pub how: String,
    /// The expected number of matching documents, if values are evenly distributed.
    pub expected: u64,
    /// The expected cost in nanoseconds per document: rough, to order clauses by.
    pub cost: f64,
    /// The profile, after a run.
    pub profile: Option<Profile>,
    /// The child clauses, in order of evaluation.
    pub parts: Vec<Explain>,
}

/// The profile of a clause: [`Explain::profile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The number of documents that the clause was evaluated for.
    pub candidates: u64,
    /// The number of these that matched.
    pub matched: u64,
    /// The number of windows of 65,536 documents in which the clause was evaluated.
    pub windows: u64,
    /// The number of windows without candidates, in which it was skipped.
    pub skipped: u64,
    /// The number of windows in which only the values of candidates were read.
    pub gathered: u64,
    /// Pruning statistics of a condition: see [`Pruning`]. All zeros if the source reports none.
    pub filter: Pruning,
    /// The time it took, including its children, summed over all threads.
    pub time: Duration,
}

impl AddAssign for Profile {
    fn add_assign(&mut self, other: Profile) {
        let Profile { candidates, matched, windows, skipped, gathered, filter, time } = other;
        self.candidates += candidates;
        self.matched += matched;
        self.windows += windows;
        self.skipped += skipped;
        self.gathered += gathered;
        self.filter += filter;
        self.time += time;
    }
}

/// Explains `node` for a source of `docs` documents; `profiles` cover `windows` windows.
pub(super) fn explain(node: &Node, docs: u32, windows: u64, profiles: Option<&[Profile]>) -> Explain {
    let because = |what: &str| match &node.note {
        Some(note) => format!("{what}: {note}"),
        None => what.to_owned(),
    };
    let how = match &node.kind {
        NodeKind::All => because("every document matches"),
        NodeKind::None => because("no document can match"),
        NodeKind::Filter(leaf) => leaf.how(),
        NodeKind::Docs(set) => format!("a set of {} documents", with_separators(set.count().into())),
        NodeKind::DocRanges(ranges) => match ranges.len() {
            1 => "a range of documents".into(),
            count => format!("{count} ranges of documents"),
        },
        NodeKind::Compare(_) => "two columns, compared document by document".into(),
        NodeKind::And => "all of these".into(),
        NodeKind::Or => "any of these".into(),
        NodeKind::Not => "not this".into(),
    };
    let profile = profiles.and_then(|profile| profile.get(node.id));
    let profile =
        profile.map(|&profile| Profile { skipped: windows.saturating_sub(profile.windows), ..profile });
    Explain {
        clause: node.query().to_string(),
        how,
        expected: value::whole((node.share.clamp(0.0, 1.0) * f64::from(docs)).round()),
        cost: node.cost,
        profile,
        parts: node.parts.iter().map(|part| explain(part, docs, windows, profiles)).collect(),
    }
}

impl Explain {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = 2 * depth;
        writeln!(f, "{:indent$}{}", "", self.clause)?;
        write!(f, "{:indent$}  = {}; ", "", self.how)?;
        match &self.profile {
            None => writeln!(f, "{} documents expected", with_separators(self.expected))?,
            Some(profile) => {
                let [matched, candidates] = [profile.matched, profile.candidates].map(with_separators);
                write!(f, "{matched} of {candidates} documents, {:.1?}", profile.time)?;
                write!(f, ", {} windows", profile.windows)?;
                if profile.gathered > 0 {
                    write!(f, " ({} by candidates)", profile.gathered)?;
                }
                if profile.skipped > 0 {
                    write!(f, ", {} skipped", profile.skipped)?;
                }
                writeln!(f)?;
                if !profile.filter.is_empty() {
                    writeln!(f, "{:indent$}    {}", "", describe_pruning(&profile.filter))?;
                }
            }
        }
        self.parts.iter().try_for_each(|part| part.write(f, depth + 1))
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
