//! Columns, workloads, and the documents that they read.

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use docvalues::DocId;
use serde::{Deserialize, Serialize};

use crate::data::{self, Numbers, Strings};
use crate::peer::BATCH;

/// The first document of `size` in `size-shifted`: no multiple of a block size.
const SHIFT: u32 = 5_000;

/// Declares an enum whose variants have the names used in arguments and results.
macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant),* }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant),*];

            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                let named = $name::ALL.iter().copied().find(|one| one.name() == text);
                named.ok_or_else(|| format!("expected one of {}, found `{text}`", [$($text),*].join(", ")))
            }
        }
    };
}

pub(crate) use names;

names! {
    /// A column. Each peer stores it in a file of its own.
    Column {
        Ts = "ts",
        Size = "size",
        SizeShifted = "size-shifted",
        Status = "status",
        Uni24 = "uni24",
        Price60 = "price60",
        Rare1 = "rare1",
        Host = "host",
        Url = "url",
        Tags = "tags",
        /// `ts`, `size` and `host`, from the files of these columns.
        Three = "three",
        /// `ts`, `price60` and `host`; 60 % of the documents have a `price60`.
        ThreePrice60 = "three-price60",
    }
}

names! {
    /// A workload.
    Workload {
        /// The sum of the data that the peer's program generates.
        Data = "data",
        /// From values in memory to a closed and synced file.
        Build = "build",
        /// The size of the file.
        Bytes = "bytes",
        /// From the closed file to the first value, page cache warm.
        Open = "open",
        /// All values in document order.
        Scan = "scan",
        /// Ascending documents, 1 % of all, in batches.
        Gather1 = "gather-1",
        /// The documents of `gather-1`, one at a time.
        Get1 = "get-1",
        /// Ascending documents, 0.01 % of all, in batches.
        Gather001 = "gather-0.01",
        /// A million random documents, in batches.
        Random = "random",
        /// The documents of `random`, one at a time.
        RandomSingle = "random-single",
        /// The documents of `random`, 20 a call.
        Take = "take",
        /// Ascending documents, 1 % of all: the values of three columns, one document at a time.
        ThreeColumns = "three-columns",
        /// The documents of `three-columns`, 64 of each column at a time.
        ThreeColumns64 = "three-columns-64",
        /// The terms of a million random ords, one at a time.
        Terms = "terms",
        /// The terms of a million random ords, in batches of any size.
        TermsBatch = "terms-batch",
        /// The ords of a million random terms.
        Seek = "seek",
        /// A range filter that matches 1 % of the documents.
        Range = "range",
        /// Resident memory, heap and file, after opening and scanning a column.
        Memory = "memory",
    }
}

impl Workload {
    /// The workload that reads the same documents one at a time, if there is one.
    pub fn singly(self) -> Workload {
        match self {
            Workload::Random => Workload::RandomSingle,
            Workload::Gather1 => Workload::Get1,
            other => other,
        }
    }

    /// The batch workload that counts the APIs of this one, too: a batch may be read one at a time if that is faster.
    pub fn also(self) -> Option<Workload> {
        match self {
            Workload::RandomSingle => Some(Workload::Random),
            Workload::Get1 => Some(Workload::Gather1),
            Workload::Terms => Some(Workload::TermsBatch),
            Workload::ThreeColumns => Some(Workload::ThreeColumns64),
            _ => None,
        }
    }

    /// Whether it reads the values of an existing file.
    pub fn is_read(self) -> bool {
        !matches!(self, Workload::Data | Workload::Build | Workload::Bytes | Workload::Memory)
    }
}

/// Random lookups.
pub const LOOKUPS: usize = 1_000_000;

/// Documents of a call in `take`.
pub const TAKEN: usize = 20;

/// The values of a column.
pub enum Values {
    Numbers(Numbers),
    Strings(Strings),
    Tags(Tags),
}

/// The values of the column `tags`.
pub struct Tags {
    /// The tag numbers of each document.
    ids: Vec<Vec<u32>>,
    /// The tag names of all documents, concatenated.
    pub names: Strings,
    /// The index of each document's first name, and the number of names.
    pub lists: Vec<u64>,
}

impl Tags {
    fn new(docs: u32) -> Tags {
        let ids = data::tag_ids(docs);
        let names = ids.iter().flatten().map(|&id| data::tag_name(id)).collect();
        let mut lists = vec![0];
        lists.extend(ids.iter().scan(0, |end, ids| {
            *end += ids.len() as u64;
            Some(*end)
        }));
        Tags { ids, names, lists }
    }
}

impl Strings {
    /// The number of strings.
    pub fn count(&self) -> usize {
        self.offsets.len() - 1
    }
}

impl Column {
    /// The values of the first `docs` documents.
    pub fn values(self, docs: u32) -> Values {
        match self {
            Column::Host => Values::Strings(data::hosts(docs)),
            Column::Url => Values::Strings(data::urls(docs)),
            Column::Tags => Values::Tags(Tags::new(docs)),
            Column::Three | Column::ThreePrice60 => unreachable!("columns with values of their own"),
            Column::SizeShifted => {
                let mut numbers = data::numbers("size", docs + SHIFT);
                numbers.values.drain(..SHIFT as usize);
                Values::Numbers(numbers)
            }
            _ => Values::Numbers(data::numbers(self.name(), docs)),
        }
    }

    /// A range that 1 % of the documents match, for columns with a filter.
    pub fn range(self, docs: u32) -> Option<RangeInclusive<i64>> {
        match self {
            // Steps are 1,000 on average: 1 % from the middle on.
            Column::Ts => {
                let low = 1_500_000_000_000 + i64::from(docs) * 500;
                Some(low..=low + i64::from(docs) * 10)
            }
            // A quarter of the largest power of two.
            Column::Size | Column::SizeShifted => Some(1 << 19..=(1 << 19) + (1 << 17) - 1),
            Column::Uni24 => Some(0..=167_771),
            _ => None,
        }
    }

    /// The columns that are read together, for a column that stands for several.
    pub fn parts(self) -> Option<[Column; 3]> {
        match self {
            Column::Three => Some([Column::Ts, Column::Size, Column::Host]),
            Column::ThreePrice60 => Some([Column::Ts, Column::Price60, Column::Host]),
            _ => None,
        }
    }

    /// Whether every document has a value.
    pub fn is_dense(self) -> bool {
        !matches!(self, Column::Price60 | Column::Rare1 | Column::Tags)
    }

    /// The number of values, which a scan divides its time by.
    pub fn value_count(self, values: &Values) -> u64 {
        match values {
            Values::Numbers(numbers) => match &numbers.present {
                Some(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
                None => numbers.values.len() as u64,
            },
            Values::Strings(strings) => strings.count() as u64,
            Values::Tags(tags) => tags.names.count() as u64,
        }
    }
}

impl Values {
    /// The sum that programs compare their data by.
    pub fn sum(&self) -> i64 {
        let hash = |sum: i64, next: i64| sum.wrapping_mul(31).wrapping_add(next);
        match self {
            Values::Numbers(numbers) => numbers.values.iter().fold(0, |sum, &value| sum.wrapping_add(value)),
            Values::Strings(strings) => strings.bytes.iter().fold(0, |sum, &byte| hash(sum, byte.into())),
            Values::Tags(tags) => tags.ids.iter().flatten().fold(0, |sum, &id| hash(sum, id.into())),
        }
    }

    /// The first document with a value, from the middle on.
    pub fn middle(&self) -> DocId {
        let there: Box<dyn Fn(usize) -> bool> = match self {
            Values::Numbers(Numbers { present: Some(words), .. }) => {
                Box::new(|doc| words[doc / 64] >> (doc % 64) & 1 == 1)
            }
            Values::Tags(tags) => Box::new(|doc| !tags.ids[doc].is_empty()),
            Values::Numbers(_) | Values::Strings(_) => Box::new(|_| true),
        };
        let docs = match self {
            Values::Numbers(numbers) => numbers.values.len(),
            Values::Strings(strings) => strings.count(),
            Values::Tags(tags) => tags.ids.len(),
        };
        let doc = (docs / 2..docs).find(|&doc| there(doc)).expect("a document with a value");
        DocId::new(doc as u32)
    }
}

/// The sum of a string: its length and two of its bytes, so that they are really read.
#[inline]
pub fn touch(bytes: &[u8]) -> i64 {
    let at = |i: usize| i64::from(bytes[i]);
    bytes.len() as i64 + 3 * at(bytes.len() / 3) + 7 * at(bytes.len() - 1)
}

/// A request for documents.
pub struct Lookups<'a> {
    pub work: Workload,
    pub docs: &'a [DocId],
    /// The maximum number of documents of a call.
    pub batch: usize,
    /// The number that the time is divided by.
    pub units: u64,
}

/// The documents of all requests.
pub struct Requests {
    pub hits1: Vec<DocId>,
    pub hits001: Vec<DocId>,
    pub random: Vec<DocId>,
}

impl Requests {
    pub fn new(docs: u32) -> Requests {
        Requests {
            hits1: data::hits(docs, 100),
            hits001: data::hits(docs, 1),
            random: data::random_docs(docs, LOOKUPS),
        }
    }

    /// The workloads that read documents in batches.
    pub fn gathers(&self) -> [Lookups<'_>; 3] {
        let requests = [
            (Workload::Gather1, &self.hits1),
            (Workload::Gather001, &self.hits001),
            (Workload::Random, &self.random),
        ];
        requests.map(|(work, docs)| Lookups { work, docs, batch: BATCH, units: docs.len() as u64 })
    }

    /// [`gathers`](Self::gathers), and `take`.
    pub fn calls(&self) -> impl Iterator<Item = Lookups<'_>> {
        let (docs, _) = self.random.as_chunks::<TAKEN>();
        let take = Lookups {
            work: Workload::Take,
            docs: docs.as_flattened(),
            batch: TAKEN,
            units: docs.len() as u64,
        };
        self.gathers().into_iter().chain([take])
    }
}

/// All hosts that occur, ascending, and the ords that are looked up.
pub fn host_lookups(docs: u32) -> (Vec<String>, Vec<u32>) {
    let ids: HashSet<u32> = data::host_ids(docs).into_iter().collect();
    let mut ids: Vec<u32> = ids.into_iter().collect();
    ids.sort_unstable();
    let ords = data::random_docs(ids.len() as u32, LOOKUPS).into_iter().map(DocId::get).collect();
    (ids.into_iter().map(data::host_name).collect(), ords)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_one_percent() {
        for &column in Column::ALL {
            let Some(range) = column.range(1_000_000) else { continue };
            let Values::Numbers(numbers) = column.values(1_000_000) else { panic!("{column} has numbers") };
            let found = numbers.values.iter().filter(|value| range.contains(value)).count();
            assert!((9_000..11_000).contains(&found), "{column}: {found}");
        }
    }

    #[test]
    fn names_round_trip() {
        assert!(Workload::ALL.iter().all(|&work| work.name().parse() == Ok(work)));
        assert!("sizes".parse::<Column>().unwrap_err().contains("size-shifted"));
    }
}
