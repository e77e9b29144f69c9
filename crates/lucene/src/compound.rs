//! Compound files: the members of a `.cfs`, which its `.cfe` lists.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cursor::Cursor;
use crate::envelope::{Contents, open, verified};
use crate::error::{Error, ErrorKind, Result};
use crate::file::{Body, File};
use crate::order::Order;

/// The contents of a `.cfe` of a segment in this order of bytes, and of its `.cfs`.
fn contents(order: Order) -> [Contents; 2] {
    let [entries, data] = match order {
        Order::Big => ["Lucene50CompoundEntries", "Lucene50CompoundData"],
        Order::Little => ["Lucene90CompoundEntries", "Lucene90CompoundData"],
    };
    [entries, data].map(|name| Contents { name, oldest: 0, newest: 0, order })
}

/// A compound file.
#[derive(Debug)]
pub(crate) struct Compound {
    data: Body,
    /// The places of the members, by their names without that of the segment.
    members: BTreeMap<String, Range<usize>>,
}

impl Compound {
    /// Opens the compound file of a segment. Each member has a checksum of its own.
    pub(crate) fn open(entries: &File, data: &File, order: Order, id: &[u8; 16]) -> Result<Compound> {
        let [of_entries, of_data] = contents(order);
        let entries = verified(open(entries, &[of_entries], Some(id), "")?)?;
        let data = open(data, &[of_data], Some(id), "")?;
        let (mut cursor, mut members) = (Cursor::new(&entries), BTreeMap::new());
        for _ in 0..cursor.count("members of a compound file")? {
            let name = cursor.string()?.to_owned();
            let place = data.region(cursor.i64()?, cursor.i64()?);
            let outside = ErrorKind::Broken("a member outside of the compound file");
            let place = place.map_err(|_| cursor.refuse(outside))?;
            let is_new = members.insert(name, place).is_none();
            cursor.rule(is_new, "two members of one name")?;
        }
        let end = members.values().map(|place: &Range<usize>| place.end).max();
        let is_whole = end.is_none_or(|end| end == data.place.end);
        cursor.rule(is_whole, "a compound file that does not end with its last member")?;
        cursor.end()?;
        Ok(Compound { data, members })
    }

    /// The member with this name without that of its segment, such as `.fnm`.
    pub(crate) fn member(&self, name: &str) -> Result<File> {
        match self.members.get(name) {
            Some(place) => Ok(self.data.file.member(name, place.clone())),
            None => {
                let error = std::io::Error::from(std::io::ErrorKind::NotFound);
                Err(Error::new(format!("{}:{name}", self.data.file.name()), 0, ErrorKind::Io(error)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Encoder, ID, encode, file};

    fn compound(order: Order, members: &[(&str, i64, i64)]) -> Result<Compound> {
        let [of_entries, of_data] = contents(order);
        let mut out = Encoder::new(order);
        out.vint(i32::try_from(members.len()).unwrap());
        for (name, offset, len) in members {
            out.string(name).i64(*offset).i64(*len);
        }
        let entries = encode(of_entries.name, 0, "", &out.out);
        let data = encode(of_data.name, 0, "", b"member A..member B");
        Compound::open(&file(entries), &file(data), order, &ID)
    }

    #[test]
    fn members_are_found() {
        for order in [Order::Big, Order::Little] {
            let start = i64::try_from(26 + contents(order)[1].name.len()).unwrap();
            let members = [(".fnm", start, 8), ("_Lucene90_0.dvd", start + 10, 8)];
            let compound = compound(order, &members).unwrap();
            assert_eq!(compound.member(".fnm").unwrap().bytes(), b"member A");
            assert_eq!(compound.member("_Lucene90_0.dvd").unwrap().bytes(), b"member B");
            assert!(compound.member(".si").unwrap_err().is_missing());
            let error = super::tests::compound(order, &members[..1]).unwrap_err().to_string();
            assert!(error.contains("does not end with its last member"), "{error}");
        }
    }

    #[test]
    fn members_outside_of_the_file_are_refused() {
        for (offset, len) in [(0, 8), (60, 8), (46, 19), (-1, 8), (46, -1), (i64::MAX, i64::MAX)] {
            let refused = compound(Order::Little, &[(".fnm", offset, len)]);
            // The length, after the count, the name and the offset.
            let at = refused.unwrap_err().offset();
            assert_eq!(at, 26 + 23 + 1 + 5 + 8, "{len} bytes at {offset}");
        }
        assert!(compound(Order::Big, &[("a", 46, 1), ("a", 46, 1)]).is_err());
    }
}
