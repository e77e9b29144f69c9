//! Which commit of the columns belongs to one of the text.

use std::path::Path;

use docvalues::store::error::Result as StoreResult;
use docvalues::store::{CommitInfo, Store, StoreOptions, StoreReader};

use crate::error::{Error, Result};

/// The user data of a commit of the columns: the operation of the text's commit.
pub(crate) fn user_data(opstamp: u64) -> [u8; 8] {
    opstamp.to_le_bytes()
}

/// The operation of a commit of the columns; that of a new index if it has no user data.
fn opstamp_of(user_data: &[u8]) -> Option<u64> {
    match user_data {
        [] => Some(0),
        bytes => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
    }
}

/// Goes back to the newest commit of the columns that belongs to the text's, unless it is the newest.
pub(crate) fn go_back(columns: &Path, opstamp: u64, options: StoreOptions) -> Result<()> {
    let commits = StoreReader::commits(columns)?;
    let (newest, older) = match commits.split_last() {
        // Opening the store says what is wrong with it.
        None | Some(((_, Err(_)), _)) => return Ok(()),
        Some(((_, Ok(newest)), older)) => (newest, older),
    };
    if opstamp_of(&newest.user_data) == Some(opstamp) {
        return Ok(());
    }
    let belongs = |commit: &&(u64, StoreResult<CommitInfo>)| {
        commit.1.as_ref().is_ok_and(|commit| opstamp_of(&commit.user_data) == Some(opstamp))
    };
    let Some((number, _)) = older.iter().rev().find(belongs) else {
        return Err(Error::Apart { folder: columns.display().to_string(), opstamp });
    };
    // There is no log whose batches could be lost.
    Store::recover(columns, *number, Some(0), options)?;
    Ok(())
}
