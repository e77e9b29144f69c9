//! Checks of sort keys against the fields.

use docvalues_format::file::sort::{MAX_SORT_KEYS, SortKey};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::Schema;

/// Checks that documents can be sorted by `keys`.
pub(crate) fn check_keys(keys: &[SortKey], schema: &Schema) -> Result<()> {
    if keys.len() > MAX_SORT_KEYS {
        return Err(ErrorKind::TooManySortKeys { max: MAX_SORT_KEYS }.into());
    }
    for (i, key) in keys.iter().enumerate() {
        let refuse = |kind| Err(Error::new(kind).of(&key.column));
        match schema.field(&key.column).and_then(|field| schema.get(field)) {
            None => return refuse(ErrorKind::SortByNothing),
            Some(spec) if spec.is_multi_valued() => return refuse(ErrorKind::SortBySeveral),
            Some(_) if keys[..i].iter().any(|before| before.column == key.column) => {
                return refuse(ErrorKind::SortTwice);
            }
            Some(_) => {}
        }
    }
    Ok(())
}
