//! Which of several terms is the lowest, again and again, and hardly ever a look at their bytes.

use std::cmp::Ordering;

/// How a term differs from another one, its base, that is not above it.
///
/// Terms are seen as words of eight bytes, the first one on top, with zeros behind the end. A code has the place
/// of the first word that is not the base's, and that word. Of two terms with one base, the one that goes on
/// longer as the base does is the lower one; if both go on as long, the one with the lower word: so codes ascend
/// as terms do. And the lower one's code is none of the higher one's business: whoever loses by its code has the
/// same code with the winner as its base. Only where codes tie, the words behind are compared.
///
/// Source: "offset-value codes" of Conner, *IBM Technical Disclosure Bulletin* 20 (1977); Graefe and Do,
/// *Offset-value coding in database query processing* (EDBT 2023).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OffsetValueCode(u128);

impl OffsetValueCode {
    /// All words are the base's. Either may still end in zeros that the other one does not have.
    pub(super) const SAME: OffsetValueCode = OffsetValueCode(0);

    /// There is no term: this is above all.
    pub(super) const NONE: OffsetValueCode = OffsetValueCode(u128::MAX);

    /// Differs first in word `place`, which is `word`.
    fn new(place: usize, word: u64) -> OffsetValueCode {
        // No slice has so many words that this would be 0.
        OffsetValueCode(u128::from(u64::MAX - 1 - place as u64) << 64 | u128::from(word))
    }

    /// The place behind the word that differs; behind all words if none does.
    fn next(self) -> usize {
        let place = u64::MAX - 1 - u64::try_from(self.0 >> 64).unwrap_or(0);
        usize::try_from(place).map_or(usize::MAX, |place| place.saturating_add(1))
    }

    /// The code of a term with nothing as its base.
    pub(super) fn first(term: &[u8]) -> OffsetValueCode {
        OffsetValueCode::new(0, word(term, 0))
    }

    /// How two terms compare of which the words before `from` are equal; and the code of the higher one with
    /// the lower one as its base.
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
    let rest = term.get(place * 8..).unwrap_or_default();
    let mut bytes = [0; 8];
    match rest.first_chunk() {
        Some(first) => bytes = *first,
        None => bytes[..rest.len()].copy_from_slice(rest),
    }
    u64::from_be_bytes(bytes)
}

/// A tournament tree of losers: when the lowest term has made place for the next one of its player, that is
/// played against those that lost against it, one on each level, and against no others. The base of their codes
/// is the term that was the lowest, and of the next one's, too.
///
/// The terms themselves belong to who calls: `term(i)` is that of player `i`, which has one.
///
/// Source: Knuth, *The Art of Computer Programming*, volume 3, 5.4.1.
#[derive(Debug)]
pub(super) struct LoserTree {
    /// The winner; then the loser of each match. Those of match `i` are the winners of `2 i` and `2 i + 1`;
    /// of those numbers, the ones from `nodes.len()` on are the players.
    nodes: Vec<Entry>,
}

/// A player and its term's code, whose base is the term against which it lost; that of the winner's is the
/// winner before.
#[derive(Clone, Copy, Debug)]
struct Entry {
    code: OffsetValueCode,
    number: usize,
}

impl LoserTree {
    /// The tournament of players with these codes, with nothing as their base.
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

    /// The player with the lowest term, and its code; `None` if no player has one.
    pub(super) fn winner(&self) -> Option<(usize, OffsetValueCode)> {
        let Entry { code, number } = *self.nodes.first()?;
        (code != OffsetValueCode::NONE).then_some((number, code))
    }

    /// Goes on once the winner has its next term, whose base is the one before; `code` is that one's.
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

/// The winner and the loser. If their codes do not tell, the loser has another one.
fn play<'t>(a: Entry, b: Entry, term: &impl Fn(usize) -> &'t [u8]) -> (Entry, Entry) {
    if a.code != b.code || a.code == OffsetValueCode::NONE {
        // Nobody can foresee who wins.
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
