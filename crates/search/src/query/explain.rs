//! What a bound query does, for people and for programs that show it to people.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use docvalues_column::{PruneCounts, Pruning};

use super::bind::{Node, NodeKind};
use super::condition_filter::grouped;

/// How a part of a query is evaluated, and, after a run, what it did.
///
/// Its [`Display`](fmt::Display) is an indented tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// The part as text; of conditions on one column, several may have become one.
    pub clause: String,
    /// How it is evaluated.
    pub how: String,
    /// How many documents are expected to match, if values lie evenly.
    pub expected: u32,
    /// What it is expected to cost for each document it is asked about, in nanoseconds: rough, to order parts by.
    pub cost: f64,
    /// What it did, after a run.
    pub profile: Option<Profile>,
    /// Its parts, in the order in which they are run.
    pub parts: Vec<Explain>,
}

/// What a part of a query did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Documents that it was asked about.
    pub asked: u64,
    /// Of these, those that matched.
    pub matched: u64,
    /// Windows of 65,536 documents in which it was asked.
    pub windows: u64,
    /// Windows in which it was not, as no document was left.
    pub skipped: u64,
    /// Of the windows, those in which the values of some documents were read, and not those of the window.
    pub gathered: u64,
    /// What the column's indexes decided, of a condition: see [`Pruning`]. All zeros if the source does not tell.
    pub filter: Pruning,
    /// How long it took, its parts included; what several threads took, together.
    pub time: Duration,
}

impl AddAssign for Profile {
    fn add_assign(&mut self, other: Profile) {
        let Profile { asked, matched, windows, skipped, gathered, filter, time } = other;
        self.asked += asked;
        self.matched += matched;
        self.windows += windows;
        self.skipped += skipped;
        self.gathered += gathered;
        self.filter += filter;
        self.time += time;
    }
}

/// What `node` does in a source of `docs` documents; `profiles` is what each part did in so many windows.
pub(super) fn explain(node: &Node, docs: u32, windows: u64, profiles: Option<&[Profile]>) -> Explain {
    let because = |what: &str| match &node.note {
        Some(note) => format!("{what}: {note}"),
        None => what.to_owned(),
    };
    let how = match &node.what {
        NodeKind::All => because("every document matches"),
        NodeKind::None => because("no document can match"),
        NodeKind::Filter(leaf) => leaf.how(),
        NodeKind::Docs(set) => format!("a set of {} documents", grouped(set.count().into())),
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
        expected: rounded(node.share, docs),
        cost: node.cost,
        profile,
        parts: node.parts.iter().map(|part| explain(part, docs, windows, profiles)).collect(),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 0 to 1 of a u32")]
fn rounded(share: f64, docs: u32) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(docs)).round() as u32
}

/// What indexes decided, for people.
pub(crate) fn describe_pruning(counts: &Pruning) -> String {
    let Pruning { directory, order, missing, zones, fine_zones, blocks, read } = counts;
    let documents =
        |count: u64, how: &str| (count > 0).then(|| format!("{how}: {} documents", grouped(count)));
    let parts = |parts: &PruneCounts, what: &str| {
        let [none, all, total] = [parts.none, parts.all, parts.total()].map(grouped);
        (parts.total() > 0).then(|| format!("{what}: {none} of {total} skipped, {all} taken whole"))
    };
    let describe_pruning = [
        documents(*directory, "describe_pruning by the directory"),
        documents(*order, "describe_pruning by the order"),
        documents(*missing, "without a value"),
        parts(zones, "zones"),
        parts(fine_zones, "fine zones"),
        parts(blocks, "blocks"),
        Some(format!("values read: {}", grouped(*read))),
    ];
    describe_pruning.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

impl Explain {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = 2 * depth;
        writeln!(f, "{:indent$}{}", "", self.clause)?;
        write!(f, "{:indent$}  = {}; ", "", self.how)?;
        match &self.profile {
            None => writeln!(f, "{} documents expected", grouped(self.expected.into()))?,
            Some(profile) => {
                let [matched, asked] = [profile.matched, profile.asked].map(grouped);
                write!(f, "{matched} of {asked} documents, {:.1?}", profile.time)?;
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
