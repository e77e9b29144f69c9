//! Collects the heads and the ranks of buckets of ascending keys.

use super::InColumn;
use super::buckets::{self, GROUP, GROUP_BUCKETS};
use super::scale::Scale;
use crate::output::Output;

/// The most keys of one bucket with the same head: a look-up reads the values of as many. Of evenly distributed keys, hardly
/// any 100 million have more than six.
pub const MAX_TIES: u32 = 8;

/// Builds the index of ascending keys of one length, which are values of a column.
///
/// Holds the heads that are not flushed, and a sixth of a byte a key.
///
/// # Examples
///
/// ```
/// use docvalues_format::error::{Error, Section};
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::numeric::{self, NumericOptions, NumericReader, Role};
/// use docvalues_format::source::Owned;
/// use docvalues_terms::Dictionary;
/// use docvalues_terms::in_column::{InColumnBuilder, InColumnReader, Pushed};
///
/// // The keys of documents 2, 0 and 1.
/// let mut builder = InColumnBuilder::new(b"ant", b"cow", 3).expect("keys of one length");
/// assert_eq!(builder.push(b"ant"), Pushed::Yes);
/// assert_eq!(builder.push(b"bee"), Pushed::Yes);
/// assert_eq!(builder.push(b"cow"), Pushed::Yes);
/// let sections = builder.finish().try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let values = Owned::new(Section::Bytes, b"beecowant".to_vec());
/// let reader = InColumnReader::open(sections, values, 3, (&b"ant"[..], &b"cow"[..]))?;
///
/// let options = NumericOptions { role: Role::IdDocs, doubles: false, jump_tables: true, zones: false };
/// let docs = numeric::encode(&[2_u32, 0, 1], &options);
/// let docs = docs.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let docs = NumericReader::open(docs, JumpTables::Baked)?;
/// assert_eq!(reader.find(b"bee", &docs)?, Some(1));
/// assert_eq!(reader.dictionary(&docs).lower_bound(b"bird")?, 2); // "ant" and "bee" are less
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct InColumnBuilder {
    scale: Scale,
    pub(crate) heads: Output,
    groups: Vec<u8>,
    /// All keys, and those of finished groups.
    count: u32,
    rank: u32,
    /// The ends of the buckets of the group that is not finished.
    ends: [u8; GROUP_BUCKETS],
    /// The number of groups when finished.
    expected: usize,
    last: Vec<u8>,
    /// The bucket and the head of the last key, and how many keys have them.
    place: (u32, u8),
    ties: u32,
}

/// Whether a key was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It was.
    Yes,
    /// It is not greater than the one before.
    NotAscending,
    /// This form has no place for it: keys differ in length, are not between the least and the greatest one, or too
    /// many lie close to each other.
    Uneven,
}

impl InColumnBuilder {
    /// A builder of `count` keys from `least` to `greatest`; `None` if these are not of one length, of 1 to
    /// [`MAX_LEN`](super::MAX_LEN) bytes.
    pub fn new(least: &[u8], greatest: &[u8], count: u32) -> Option<InColumnBuilder> {
        Some(InColumnBuilder {
            scale: Scale::new(least, greatest, count)?,
            heads: Output::default(),
            groups: Vec::new(),
            count: 0,
            rank: 0,
            ends: [0; GROUP_BUCKETS],
            expected: buckets::groups(count),
            last: Vec::new(),
            place: (0, 0),
            ties: 0,
        })
    }

    /// Appends `key`, if there is a place for it.
    pub fn push(&mut self, key: &[u8]) -> Pushed {
        if self.count > 0 && key <= &self.last[..] {
            return Pushed::NotAscending;
        }
        let place = self.scale.place(key).ok().filter(|_| key.len() == self.scale.len());
        let Some(place @ (bucket, head)) = place else { return Pushed::Uneven };
        let ties = if place == self.place { self.ties + 1 } else { 1 };
        if ties > MAX_TIES {
            return Pushed::Uneven;
        }
        while bucket as usize / GROUP_BUCKETS > self.groups.len() / GROUP {
            self.finish_group();
        }
        let Ok(end) = u8::try_from(self.count - self.rank + 1) else { return Pushed::Uneven };
        self.ends[bucket as usize % GROUP_BUCKETS..].fill(end);
        (self.place, self.ties) = (place, ties);
        self.heads.bytes.push(head);
        self.count += 1;
        self.last.clear();
        self.last.extend_from_slice(key);
        Pushed::Yes
    }

    fn finish_group(&mut self) {
        buckets::encode(self.rank, &self.ends, &mut self.groups);
        (self.rank, self.ends) = (self.count, [0; GROUP_BUCKETS]);
    }

    /// The sections: the heads that are not flushed, and the ranks of buckets.
    pub fn finish(mut self) -> InColumn<Vec<u8>> {
        while self.groups.len() / GROUP < self.expected {
            self.finish_group();
        }
        InColumn { heads: self.heads.bytes, starts: self.groups }
    }
}
