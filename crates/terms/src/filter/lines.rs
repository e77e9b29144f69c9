//! A filter whose bytes are all known to be good, for those who ask many of them.

use docvalues_format::source::SectionBytes;

use super::{Filter, LINE, Probe};

/// The lines of a [`Filter`], in memory and checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lines<'a>(&'a [[u8; LINE]]);

impl<B: SectionBytes> Filter<B> {
    /// All lines, if every byte of them is known to be good by now: then to ask them cannot fail, and is faster.
    #[inline]
    pub fn verified(&self) -> Option<Lines<'_>> {
        let lines = self.section.verified()?.as_chunks().0;
        // Behind the payload comes the section's tail.
        Some(Lines(lines.get(..usize::try_from(self.lines).ok()?)?))
    }
}

impl Lines<'_> {
    /// What stands for no filter: every id may be there.
    pub const ALL: Lines<'static> = Lines(&[[u8::MAX; LINE]]);

    /// As [`Filter::may_hold`].
    #[inline]
    pub fn may_hold(&self, probe: &Probe) -> bool {
        self.0.get(probe.at(self.0.len() as u64) / LINE).is_some_and(|line| probe.is_in(line))
    }
}

/// Asks up to 64 filters: a bit for each that may hold the id.
///
/// One after the other, where no load waits for a branch: what it costs is how many lines the processor has under
/// way, and wider vectors made no difference (400 filters of 5 KB: 1,267 ns with SSE2, 1,258 with a line as one
/// vector).
#[inline]
pub(crate) fn ask(filters: &[Lines<'_>], probe: &Probe) -> u64 {
    filters
        .iter()
        .take(64)
        .enumerate()
        .fold(0, |bits, (i, lines)| bits | u64::from(lines.may_hold(probe)) << i)
}

#[cfg(test)]
mod tests {
    use docvalues_format::error::Section;
    use docvalues_format::source::Owned;

    use super::super::FilterBuilder;
    use super::*;

    /// Filters of all sizes, side by side, and one that has no line at all.
    #[test]
    fn many_at_once_say_what_each_says() {
        let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let filter = |i: u32| {
            let mut filter = FilterBuilder::new(i + 1, 8);
            (0..=i).for_each(|number| filter.insert(hash((number * (i + 7)).into())));
            Filter::open(Owned::new(Section::Header, filter.finish().unwrap()), i + 1, 8).unwrap()
        };
        let filters: Vec<_> = (0..63).map(|i| filter(i * i)).collect();
        let mut lines: Vec<_> = filters.iter().map(|filter| filter.verified().unwrap()).collect();
        lines.push(Lines::default());
        for probe in (0..5_000).map(|number| Probe::new(hash(number))) {
            let bits = |of: &[Filter<Owned>]| {
                of.iter()
                    .zip(0..)
                    .fold(0, |bits, (filter, i)| bits | u64::from(filter.may_hold(&probe).unwrap()) << i)
            };
            assert_eq!(ask(&lines, &probe), bits(&filters));
            assert_eq!(ask(&lines[..10], &probe), bits(&filters[..10]));
        }
    }
}
