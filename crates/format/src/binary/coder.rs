//! The choice of a coding, and the encoder of each.

use super::encode::{Compression, Values};
use super::{Coding, fsst, onpair};

/// The fewest bytes that a section occupies besides its payload.
const OVERHEAD: u64 = 128;

/// The fewest bytes of values that [`Compression::Auto`] compresses. Training for fewer takes longer than all other
/// work on them.
const MIN_FSST: u64 = 4 << 10;

/// The fewest bytes of values for which [`Compression::Auto`] tries OnPair, whose table is up to 45 KiB long.
const MIN_ONPAIR: u64 = 1 << 20;

/// A trained encoder.
#[derive(Debug)]
pub(super) enum Coder {
    Fsst(Box<fsst::Trained>),
    OnPair(Box<onpair::Trained>),
}

impl Coder {
    /// Trains an encoder on `strings`; `None` if they are better not compressed.
    ///
    /// # Errors
    ///
    /// When `strings` cannot be read.
    pub(super) fn train<S: Values>(strings: &S, compression: Compression) -> Result<Option<Coder>, S::Error> {
        let total_len = strings.total_len();
        let fsst = || Ok(Coder::Fsst(Box::new(fsst::train(strings)?)));
        let onpair = || Ok(Coder::OnPair(Box::new(onpair::train(strings)?)));
        Ok(Some(match compression {
            Compression::None => return Ok(None),
            Compression::Auto if total_len < MIN_FSST => return Ok(None),
            _ if total_len <= OVERHEAD => return Ok(None),
            Compression::OnPair => onpair()?,
            Compression::Auto if total_len >= MIN_ONPAIR => {
                let (fsst, onpair) = (fsst()?, onpair()?);
                match onpair.estimate(total_len) < fsst.estimate(total_len) {
                    true => onpair,
                    false => fsst,
                }
            }
            Compression::Auto | Compression::Fsst => fsst()?,
        }))
    }

    /// Bytes of the sample that it was trained on, and of its codes.
    pub(super) fn sample(&self) -> (usize, usize) {
        match self {
            Coder::Fsst(fsst) => (fsst.sampled, fsst.encoded),
            Coder::OnPair(onpair) => (onpair.sampled, onpair.encoded),
        }
    }

    /// An estimate of the compressed bytes of `total_len` bytes, with the table.
    fn estimate(&self, total_len: u64) -> u64 {
        let (sampled, encoded) = self.sample();
        let codes = u128::from(total_len) * encoded as u128 / (sampled as u128).max(1);
        u64::try_from(codes).unwrap_or(u64::MAX).saturating_add(self.overhead())
    }

    /// Bytes of its table in the file.
    pub(super) fn overhead(&self) -> u64 {
        let table = match self {
            Coder::Fsst(fsst) => fsst.matcher.section().len(),
            Coder::OnPair(onpair) => onpair.tokens.len(),
        };
        table as u64 + OVERHEAD
    }

    /// The coding of a column with these codes.
    pub(super) fn coding(self, total_len: u64) -> Coding<Vec<u8>> {
        match self {
            Coder::Fsst(fsst) => Coding::Fsst { total_len, symbols: fsst.matcher.section() },
            Coder::OnPair(onpair) => Coding::OnPair { total_len, tokens: onpair.tokens },
        }
    }
}
