//! Damage to files, for sweeps.
//!
//! A sweep enumerates the [`Damage`]s of a file, [applies](Damage::apply) each to a copy, and opens and reads the copy.
//! There are tens of thousands, so `cargo test` takes a fixed sample of a few hundred, spread over the file. With
//! `DOCVALUES_SWEEP=full` it takes all.
//!
//! ```
//! use docvalues_testkit::damage::{Sweep, bit_flips, truncations};
//!
//! let file = vec![0x55; 10_000];
//! let sweep = Sweep::Sample(500);
//! let mut copy = Vec::new();
//! for damage in bit_flips(file.len(), sweep).chain(truncations(file.len(), sweep)) {
//!     damage.apply(&file, &mut copy);
//!     assert_ne!(copy, file, "{damage}");
//! }
//! ```

pub mod alloc;

use std::fmt;
use std::ops::Range;

use crate::rng::SplitMix64;

/// The environment variable for the full sweep: `DOCVALUES_SWEEP=full`.
pub const SWEEP_VAR: &str = "DOCVALUES_SWEEP";

/// The extent of a sweep: all damages, or a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// All damages.
    Full,
    /// About this many damages of each kind, and always those at both ends of the file.
    Sample(usize),
}

impl Sweep {
    /// The extent that the environment variable sets. The default is a sample of about `sample` damages of each kind.
    ///
    /// # Panics
    ///
    /// If the variable has a value other than `full`, `sample` or the empty string: a misspelt value must not give a
    /// sample.
    pub fn from_env(sample: usize) -> Sweep {
        match std::env::var(SWEEP_VAR).as_deref() {
            Ok("full") => Sweep::Full,
            Ok("sample" | "") | Err(std::env::VarError::NotPresent) => Sweep::Sample(sample),
            other => panic!("{SWEEP_VAR}: expected `full` or `sample`, found {other:?}"),
        }
    }

    /// The places below `all` that the sweep visits, ascending.
    pub fn places(self, all: usize) -> Box<dyn Iterator<Item = usize>> {
        match self {
            Sweep::Sample(wanted) if wanted < all => {
                let step = all / wanted.max(1);
                let mut rng = SplitMix64::new(all as u64);
                // A random place in each step, so that the sample does not fall in with a period of the layout; and all
                // places at both ends, for header and footer.
                let ends = (wanted / 8).min(64);
                let spread = (0..all).step_by(step).map(move |at| at + rng.place(step));
                let middle = spread.filter(move |&at| at >= ends && at < all - ends);
                Box::new((0..ends).chain(middle).chain(all - ends..all))
            }
            _ => Box::new(0..all),
        }
    }
}

/// Returns a size for a test, such as a number of cases: `sample`, or `full` in the full sweep.
///
/// # Panics
///
/// As [`Sweep::from_env`].
pub fn cases<T>(sample: T, full: T) -> T {
    match Sweep::from_env(0) {
        Sweep::Full => full,
        Sweep::Sample(_) => sample,
    }
}

/// A single damage to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A flipped bit.
    Flip {
        /// The byte.
        at: usize,
        /// The bit of the byte, 0 to 7.
        bit: u8,
    },
    /// A truncated file.
    Cut {
        /// The bytes that are left.
        len: usize,
    },
    /// Zeroed bytes, as of a sector that was never written.
    Zero(Range<usize>),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Flip { at, bit } => write!(f, "bit {bit} of byte {at} flipped"),
            Damage::Cut { len } => write!(f, "cut to {len} bytes"),
            Damage::Zero(range) => write!(f, "bytes {} to {} zeroed", range.start, range.end),
        }
    }
}

impl Damage {
    /// Replaces the contents of `copy` by the damaged `file`.
    ///
    /// # Panics
    ///
    /// If the damage is past the end of the file.
    pub fn apply(&self, file: &[u8], copy: &mut Vec<u8>) {
        copy.clear();
        match self {
            Damage::Cut { len } => copy.extend_from_slice(&file[..*len]),
            _ => copy.extend_from_slice(file),
        }
        match self {
            Damage::Flip { at, bit } => copy[*at] ^= 1 << bit,
            Damage::Zero(range) => copy[range.clone()].fill(0),
            Damage::Cut { .. } => {}
        }
    }

    /// The bytes of a file of `len` bytes that the damage can change or remove.
    pub fn touches(&self, len: usize) -> Range<usize> {
        match self {
            Damage::Flip { at, .. } => *at..*at + 1,
            Damage::Cut { len: left } => *left..len,
            Damage::Zero(range) => range.clone(),
        }
    }
}

/// One flipped bit in every byte. The byte's offset determines which of the eight.
pub fn bit_flips(len: usize, sweep: Sweep) -> impl Iterator<Item = Damage> {
    sweep.places(len).map(|at| Damage::Flip { at, bit: SplitMix64::new(at as u64).below(8) as u8 })
}

/// Truncation to every length below the file's own.
pub fn truncations(len: usize, sweep: Sweep) -> impl Iterator<Item = Damage> {
    sweep.places(len).map(|len| Damage::Cut { len })
}

/// Zeroed sectors of 512 bytes: every aligned one, and every one that straddles two.
///
/// A sector that is zero already does not change: the caller skips a copy that equals the file.
pub fn zeroed_runs(len: usize, sweep: Sweep) -> impl Iterator<Item = Damage> {
    const SECTOR: usize = 512;
    let places = sweep.places(len.div_ceil(SECTOR / 2));
    places.map(move |i| i * SECTOR / 2).map(move |at| Damage::Zero(at..len.min(at + SECTOR)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_sweep_covers_every_byte() {
        let flipped: Vec<usize> = bit_flips(1000, Sweep::Full).map(|d| d.touches(1000).start).collect();
        assert_eq!(flipped, (0..1000).collect::<Vec<_>>());
        let cut: Vec<Range<usize>> = truncations(1000, Sweep::Full).map(|d| d.touches(1000)).collect();
        assert_eq!((cut.len(), cut[0].clone(), cut[999].clone()), (1000, 0..1000, 999..1000));
        let mut zeroed = [false; 1000];
        for damage in zeroed_runs(1000, Sweep::Full) {
            zeroed[damage.touches(1000)].fill(true);
        }
        assert!(zeroed.iter().all(|&zeroed| zeroed));
        let bits = |n| bit_flips(n, Sweep::Full).filter(|d| matches!(d, Damage::Flip { bit: 7, .. })).count();
        assert!((60..190).contains(&bits(1000)), "{}", bits(1000));
    }

    #[test]
    fn a_sample_is_spread_and_covers_both_ends() {
        let places: Vec<usize> =
            bit_flips(100_000, Sweep::Sample(400)).map(|d| d.touches(100_000).start).collect();
        assert!((400..600).contains(&places.len()), "{}", places.len());
        assert!(places.is_sorted_by(|a, b| a < b));
        assert_eq!((places[0], places[49], places[places.len() - 1]), (0, 49, 99_999));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] < 1000));
        for few in 0..20 {
            assert_eq!(truncations(few, Sweep::Sample(100)).count(), few);
            assert!(truncations(20, Sweep::Sample(few)).all(|d| d.touches(20).end == 20));
        }
    }

    #[test]
    fn damage_changes_only_the_bytes_it_touches() {
        let file: Vec<u8> = (0..=255).cycle().take(3000).map(|byte: u8| byte | 1).collect();
        let mut copy = Vec::new();
        let sweep = Sweep::Sample(100);
        let all = bit_flips(3000, sweep).chain(zeroed_runs(3000, sweep)).chain(truncations(3000, sweep));
        for damage in all {
            damage.apply(&file, &mut copy);
            let touched = damage.touches(3000);
            assert!(!touched.is_empty());
            assert_eq!(copy[..touched.start], file[..touched.start], "{damage}");
            match damage {
                Damage::Cut { len } => assert_eq!(copy.len(), len),
                _ => {
                    assert_eq!(copy[touched.end..], file[touched.end..], "{damage}");
                    let changed = |(new, old)| new != old;
                    assert!(copy[touched.clone()].iter().zip(&file[touched]).all(changed), "{damage}");
                }
            }
        }
    }
}
