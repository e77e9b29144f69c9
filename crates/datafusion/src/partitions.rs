//! Partitions of a table, and the windows in which each is read.

use std::collections::VecDeque;

use docvalues::DocRange;

/// Documents that are filtered at once.
const WINDOW: usize = 1 << 19;

/// Documents at whose multiples partitions begin: filters run in windows of as many.
const CUT: usize = 1 << 16;

/// The documents of a partition in windows. Dynamic filters narrow while rows are read: then windows are short, and come in
/// an order in which each halves the distance between earlier ones. So those for which the filters narrow much come early,
/// also if values ascend or descend by document.
///
/// Those of objects are short as well: memory is freed between them.
pub(crate) fn windows(
    ranges: &[(usize, DocRange)],
    is_dynamic: bool,
    are_objects: bool,
) -> VecDeque<(usize, DocRange)> {
    let len = if is_dynamic || are_objects { CUT } else { WINDOW };
    let windows = ranges.iter().flat_map(|(part, docs)| docs.chunks(len).map(|docs| (*part, docs)));
    let mut windows: Vec<_> = windows.enumerate().collect();
    if is_dynamic {
        windows.sort_by_key(|(at, _)| at.reverse_bits());
    }
    windows.into_iter().map(|(_, window)| window).collect()
}

/// Cuts all documents into as many partitions, as equal as possible; at least one.
pub(crate) fn cut(docs: &[u32], partitions: usize) -> Vec<Vec<(usize, DocRange)>> {
    let total: u64 = docs.iter().map(|docs| u64::from(*docs)).sum();
    let share = total.div_ceil(partitions.max(1) as u64).next_multiple_of(CUT as u64).max(CUT as u64);
    let (mut cut, mut left) = (vec![Vec::new()], share);
    for (part, docs) in docs.iter().enumerate() {
        let mut start = 0;
        while start < *docs {
            if left == 0 {
                cut.push(Vec::new());
                left = share;
            }
            // At most a `u32`.
            let len = u32::try_from(left.min(u64::from(docs - start))).unwrap_or(u32::MAX);
            if let Some(last) = cut.last_mut() {
                last.push((part, DocRange::new(start, start + len)));
            }
            start += len;
            left -= u64::from(len);
        }
    }
    cut
}

/// One partition for each part, at least one.
pub(crate) fn each(docs: &[u32]) -> Vec<Vec<(usize, DocRange)>> {
    let one = |(part, docs): (usize, &u32)| match docs {
        0 => Vec::new(),
        docs => vec![(part, DocRange::new(0, *docs))],
    };
    let mut each: Vec<_> = docs.iter().enumerate().map(one).collect();
    if each.is_empty() {
        each.push(Vec::new());
    }
    each
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_dynamic_filters_halve_the_distance() {
        let ranges = [(0, DocRange::new(65_536, 200_000)), (2, DocRange::new(0, 300_000))];
        let (in_order, halving) = (windows(&ranges, false, false), windows(&ranges, true, false));
        assert_eq!(in_order, ranges);
        let starts: Vec<_> = halving.iter().map(|(part, docs)| (*part, docs.start / 65_536)).collect();
        assert_eq!(starts, [(0, 1), (2, 1), (0, 3), (2, 3), (0, 2), (2, 2), (2, 0), (2, 4)]);
        let mut sorted: Vec<_> = halving.into_iter().collect();
        sorted.sort_by_key(|(part, docs)| (*part, docs.start));
        let docs =
            |part| sorted.iter().filter(move |window| window.0 == part).flat_map(|(_, docs)| docs.iter());
        assert!(docs(0).eq(ranges[0].1.iter()) && docs(2).eq(ranges[1].1.iter()));
    }

    #[test]
    fn parts_are_partitions() {
        let part = |part, docs| vec![(part, DocRange::new(0, docs))];
        assert_eq!(each(&[70_000, 0, 3]), [part(0, 70_000), vec![], part(2, 3)]);
        assert_eq!(each(&[]), [vec![]]);
    }

    #[test]
    fn partitions_have_each_document_once_and_in_order() {
        let sizes: [&[u32]; 5] =
            [&[], &[0, 3], &[65_535, 1, 65_536, 0, 7], &[65_537; 6], &[1_000_000, 70_000]];
        for docs in sizes {
            for partitions in 0..9 {
                let cut = cut(docs, partitions);
                assert!(
                    !cut.is_empty() && cut.len() <= partitions.max(1),
                    "{docs:?} in {partitions}: {cut:?}"
                );
                let mut covered = vec![0; docs.len()];
                let mut last = 0;
                for (part, range) in cut.iter().flatten() {
                    assert!(last <= *part && range.start == covered[*part] && !range.is_empty());
                    (covered[*part], last) = (range.end, *part);
                }
                assert_eq!(covered, docs);
            }
        }
        assert_eq!(cut(&[1_000_000, 70_000], 4).len(), 4);
    }
}
