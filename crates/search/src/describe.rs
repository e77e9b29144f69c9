//! Numbers and pruning statistics as text, in plans and profiles. Knows no search.

use docvalues_column::{PruneCounts, Pruning};

/// Formats pruning statistics.
pub(crate) fn describe_pruning(counts: &Pruning) -> String {
    let Pruning { directory, order, missing, zones, fine_zones, blocks, read } = counts;
    let documents =
        |count: u64, how: &str| (count > 0).then(|| format!("{how}: {} documents", with_separators(count)));
    let parts = |parts: &PruneCounts, what: &str| {
        let [none, all, total] = [parts.none, parts.all, parts.total()].map(with_separators);
        (parts.total() > 0).then(|| format!("{what}: {none} of {total} skipped, {all} taken whole"))
    };
    let lines = [
        documents(*directory, "decided by the directory"),
        documents(*order, "decided by the index sort"),
        documents(*missing, "without a value"),
        parts(zones, "zones"),
        parts(fine_zones, "fine zones"),
        parts(blocks, "blocks"),
        Some(format!("values read: {}", with_separators(*read))),
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Formats a number with thousands separators.
pub(crate) fn with_separators(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", with_separators(number / 1_000), number % 1_000),
    }
}
