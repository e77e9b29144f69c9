//! K-way merge of terms by a loser tree with offset-value codes, which rarely compares the bytes of terms.

use std::cmp::Ordering;

use docvalues_format::strings::leading;

/// An offset-value code: the first difference of a term from its *base*, another term that is not above it.
///
/// Terms are compared as words of eight bytes, big-endian and padded with zeros. A code holds the index of the first
/// word that differs from the base, and that word. Of two terms with the same base, the one that shares more words with
/// it is lower; of terms that share equally many, the one with the lower word. So codes compare as terms do. After a
/// comparison by different codes, the loser's code is also its code relative to the winner. Only if the codes are
/// equal, the words after that index are compared.
///
/// Source: "offset-value codes" of Conner, *IBM Technical Disclosure Bulletin* 20 (1977); Graefe and Do,
/// *Offset-value coding in database query processing* (EDBT 2023).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OffsetValueCode(u128);

impl OffsetValueCode {
    /// No word differs. One of the terms may still end in zeros that the other does not have.
    pub(super) const SAME: OffsetValueCode = OffsetValueCode(0);

    /// The code of an exhausted stream, above all others.
    pub(super) const NONE: OffsetValueCode = OffsetValueCode(u128::MAX);

    /// The code of a term that first differs in word `place`, which is `word`.
    fn new(place: usize, word: u64) -> OffsetValueCode {
        // No slice has enough words to make this 0.
        OffsetValueCode(u128::from(u64::MAX - 1 - place as u64) << 64 | u128::from(word))
    }

    /// The index after the word that differs; past all words if none does.
    fn next(self) -> usize {
        let place = u64::MAX - 1 - u64::try_from(self.0 >> 64).unwrap_or(0);
        usize::try_from(place).map_or(usize::MAX, |place| place.saturating_add(1))
    }

    /// The code of a term relative to no base.
    pub(super) fn first(term: &[u8]) -> OffsetValueCode {
        OffsetValueCode::new(0, word(term, 0))
    }

    /// Compares two terms whose words before `from` are equal. Also returns the code of the higher one relative to the
    /// lower one.
    pub(super) fn compare(a: &[u8], b: &[u8], from: usize) -> (Ordering, OffsetValueCode) {
        for place in from..a.len().max(b.len()).div_ceil(8) {
            let (a, b) = (word(a, place), word(b, place));
            if a != b {
                return (a.cmp(&b), OffsetValueCode::new(place, a.max(b)));
            }
        }
        (a.len().cmp(&b.len()), OffsetValueCode::SAME)
    }
}

/// Word `place` of a term.
fn word(term: &[u8], place: usize) -> u64 {
    leading(term.get(place * 8..).unwrap_or_default())
}

/// A loser tree: each inner node holds the loser of its match. When the winner's stream moves on to its next term, that
/// term is compared only with the losers on its path to the root, one a level. All of their codes, and the next term's,
/// are relative to the previous winner.
///
/// The caller owns the terms: `term(i)` is the current term of stream `i`.
///
/// Source: Knuth, *The Art of Computer Programming*, volume 3, 5.4.1.
#[derive(Debug)]
pub(super) struct LoserTree {
    /// The winner at index 0, then the loser of each match. Match `i` is between the winners of matches `2 i` and
    /// `2 i + 1`; numbers from `nodes.len()` on are the streams.
    nodes: Vec<Entry>,
}

/// A stream and the code of its term: relative to the term that it lost against, or, for the winner, to the previous
/// winner.
#[derive(Clone, Copy, Debug)]
struct Entry {
    code: OffsetValueCode,
    number: usize,
}

impl LoserTree {
    /// A tree of streams with these codes, relative to no base.
    pub(super) fn new<'t>(codes: &[OffsetValueCode], term: impl Fn(usize) -> &'t [u8]) -> LoserTree {
        let players = codes.iter().enumerate().map(|(number, &code)| Entry { code, number });
        let mut nodes: Vec<_> = players.collect();
        let mut winners = [nodes.as_slice(), &nodes].concat();
        for i in (1..nodes.len()).rev() {
            (winners[i], nodes[i]) = play(winners[2 * i], winners[2 * i + 1], &term);
        }
        if let Some(first) = nodes.first_mut() {
            *first = winners[1];
        }
        LoserTree { nodes }
    }

    /// The stream with the lowest term, and its code; `None` if all are exhausted.
    pub(super) fn winner(&self) -> Option<(usize, OffsetValueCode)> {
        let Entry { code, number } = *self.nodes.first()?;
        (code != OffsetValueCode::NONE).then_some((number, code))
    }

    /// Replays the winner's path after its stream moved on. `code` is that of the next term, relative to the previous
    /// one.
    pub(super) fn replay<'t>(&mut self, code: OffsetValueCode, term: impl Fn(usize) -> &'t [u8]) {
        let Some(&Entry { number, .. }) = self.nodes.first() else { return };
        let mut winner = Entry { code, number };
        let mut i = self.nodes.len().midpoint(number);
        while i > 0 {
            (winner, self.nodes[i]) = play(winner, self.nodes[i], &term);
            i /= 2;
        }
        self.nodes[0] = winner;
    }
}

/// Compares two entries: returns the winner, and the loser with its code relative to the winner.
fn play<'t>(a: Entry, b: Entry, term: &impl Fn(usize) -> &'t [u8]) -> (Entry, Entry) {
    if a.code != b.code || a.code == OffsetValueCode::NONE {
        // The outcome is unpredictable, so a branch would be mispredicted half of the time.
        let select = |won, lost| std::hint::select_unpredictable(a.code < b.code, won, lost);
        return (select(a, b), select(b, a));
    }
    let (order, code) = OffsetValueCode::compare(term(a.number), term(b.number), a.code.next());
    let (winner, loser) = if order.is_le() { (a, b) } else { (b, a) };
    (winner, Entry { code, ..loser })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Terms of few different bytes, zeros among them, so that codes tie.
        #[test]
        fn merges_lists(
            mut lists in proptest::collection::vec(
                proptest::collection::btree_set(proptest::collection::vec(0..2_u8, 0..20), 0..20), 0..20),
        ) {
            let mut expected: Vec<Vec<u8>> = lists.iter().flatten().cloned().collect();
            expected.sort_unstable();
            let first = |list: &std::collections::BTreeSet<Vec<u8>>| list.first().map_or(OffsetValueCode::NONE, |term| OffsetValueCode::first(term));
            let codes: Vec<_> = lists.iter().map(first).collect();
            let mut tree = LoserTree::new(&codes, |i| lists[i].first().unwrap());
            let (mut merged, mut last) = (Vec::<Vec<u8>>::new(), None);
            while let Some((winner, code)) = tree.winner() {
                let term = lists[winner].pop_first().unwrap();
                let again = code == OffsetValueCode::SAME && last == Some(term.len());
                prop_assert_eq!(again, merged.last() == Some(&term));
                last = Some(term.len());
                let next = lists[winner].first().map_or(OffsetValueCode::NONE, |next| OffsetValueCode::compare(&term, next, 0).1);
                merged.push(term);
                tree.replay(next, |i| lists[i].first().unwrap());
            }
            prop_assert_eq!(merged, expected);
        }
    }
}
