//! The granules that are read together: those of a request, and those that the kernel reads ahead.

use std::ops::Range;

use docvalues_format::error::Result;
use docvalues_format::granule::GRANULE;

use super::{AHEAD, FAN_OUT, Section};
use crate::mmap::Advice;

/// The longest section, and level of checksums, that is requested as a whole.
const WHOLE: usize = 64 << 10;

impl Section {
    /// Admits `granules` of payload, and those that are requested with them.
    pub(super) fn request(&self, granules: Range<usize>) -> Result<()> {
        let together = self.requested_with(granules.clone());
        let checksums = (1..=self.tree.len()).map(|number| {
            let fan_out = FAN_OUT.saturating_pow(u32::try_from(number).unwrap_or(u32::MAX));
            (number, together.start / fan_out..together.end.div_ceil(fan_out))
        });
        self.want([(0, together.clone())].into_iter().chain(checksums))?;
        for index in together {
            let admitted = self.admit(0, index);
            // Errors of the other granules are reported when they are needed.
            if granules.contains(&index) {
                admitted?;
            }
        }
        Ok(())
    }

    /// The granules of payload to request with `granules`: all of a small section, otherwise some read-ahead, which
    /// grows with the number of granules just before them that were read.
    fn requested_with(&self, granules: Range<usize>) -> Range<usize> {
        let (pages, all) = (&self.data.pages, self.data.granules());
        if self.data.len() <= WHOLE {
            return 0..all;
        }
        let [few, most] = AHEAD;
        let before = (0..granules.start).rev().take(most).take_while(|&index| pages.contains(index)).count();
        granules.start..all.min(granules.end.max(granules.start + before.max(few)))
    }

    /// Requests the parts that are small and needed by any access: the section itself, or its levels of checksums.
    pub(super) fn request_small(&self) {
        if !self.source.is_requested() {
            return;
        }
        // Errors are reported when the bytes are needed.
        let _ = self.source.in_waves(|| {
            if self.data.len() <= WHOLE {
                return self.request(0..self.data.granules());
            }
            let small = |number: &usize| self.level(*number).len() <= WHOLE;
            let levels = (1..=self.tree.len()).filter(small);
            let levels = levels.map(|number| (number, 0..self.level(number).granules()));
            self.want(levels.clone())?;
            levels.rev().try_for_each(|(number, mut granules)| {
                granules.try_for_each(|index| self.admit(number, index))
            })
        });
    }

    /// In a wave, fails unless the granules of these levels were read, and records them for the next wave.
    pub(super) fn want(&self, granules: impl IntoIterator<Item = (usize, Range<usize>)>) -> Result<()> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (number, granules) in granules {
            let level = self.level(number);
            for index in granules.filter(|&index| !level.pages.contains(index)) {
                let range = level.file_range(index..index + 1);
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range),
                }
            }
        }
        self.source.want(self.place.section, ranges)
    }

    /// Asks the kernel for the run of granules around `index`, if none of them was touched before.
    pub(super) fn ask_around(&self, index: usize) {
        let (pages, first) = (&self.data.pages, index / self.together * self.together);
        let mut around = first..self.data.granules().min(first + self.together);
        if self.together > 1
            && let Some(view) = self.data.viewed()
            && !around.any(|index| pages.contains(index))
        {
            let start = view.start + first * GRANULE;
            let end = view.end.min(start + self.together * GRANULE);
            // Advice only: without it, the granule is read alone.
            let _ = self.source.advise_range(start..end, Advice::WillNeed);
        }
    }
}
