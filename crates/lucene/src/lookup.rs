//! Look-ups of terms in a segment. Files of terms are opened at the first look-up in a field.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use docvalues_column::DocId;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::field_infos::FieldInfo;
use crate::file_set::SegmentFiles;
use crate::options::Options;
use crate::postings::{TermFiles, uid};
use crate::segment_info::SegmentInfo;

/// What terms are opened from, and those that were.
pub(crate) struct Lookup {
    engine: Engine,
    /// Whether the checksums of large files are compared, too, when they are opened.
    verifies_all: bool,
    files: SegmentFiles,
    docs: u32,
    /// The release of Lucene that wrote the segment.
    lucene: [i32; 3],
    fields: Vec<FieldInfo>,
    /// By the number of the field.
    opened: Mutex<BTreeMap<i32, Arc<TermFiles>>>,
}

impl Lookup {
    /// Look-ups in the fields that a segment was written with.
    pub(crate) fn new(
        files: &SegmentFiles,
        (engine, options): (Engine, &Options),
        info: &SegmentInfo,
        fields: &[FieldInfo],
    ) -> Lookup {
        let SegmentInfo { docs, lucene, .. } = *info;
        let (files, fields, verifies_all) = (files.clone(), fields.to_vec(), options.verifies_all);
        Lookup { engine, verifies_all, files, docs, lucene, fields, opened: Mutex::default() }
    }

    /// The field of this name, if it is indexed.
    pub(crate) fn field(&self, name: &str) -> Option<&FieldInfo> {
        self.fields.iter().find(|field| field.name == name && field.index_options > 0)
    }

    /// Whether a field has the ids of Elasticsearch or OpenSearch, which are encoded, and which nested documents have, too.
    pub(crate) fn is_elastic(&self, field: &str) -> bool {
        self.engine == Engine::Elastic && field == "_id"
    }

    /// The term of an id.
    pub(crate) fn term(&self, field: &str, id: &str) -> Vec<u8> {
        if self.is_elastic(field) { uid::encode(id) } else { id.as_bytes().to_vec() }
    }

    /// The documents with a term, ascending.
    pub(crate) fn find(&self, field: &str, term: &[u8]) -> Result<Vec<DocId>> {
        let field = self.field(field).and_then(|field| Some((field, field.postings.as_ref()?)));
        match field {
            Some((field, postings)) => self.open(field, postings)?.find(field.number, term, self.docs),
            None => Ok(Vec::new()),
        }
    }

    /// Opens the terms of a field with postings of this format and suffix, once. Fields may share their files.
    fn open(&self, field: &FieldInfo, (format, suffix): &(String, String)) -> Result<Arc<TermFiles>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(terms) = opened.get(&field.number) {
            return Ok(Arc::clone(terms));
        }
        let of_release = |error: Error| error.of_release(self.lucene);
        let names = TermFiles::names(&self.files, field, (format, suffix)).map_err(of_release)?;
        let terms = match opened.values().find(|terms| terms.suffix == names.1) {
            Some(terms) => Arc::clone(terms),
            None => {
                let of_segment = (&self.fields[..], self.verifies_all);
                Arc::new(TermFiles::open(&self.files, field, names, of_segment).map_err(of_release)?)
            }
        };
        opened.insert(field.number, Arc::clone(&terms));
        Ok(terms)
    }

    /// Compares the checksums of all files of terms whose format is read. O(their length).
    pub(crate) fn verify(&self) -> Result<()> {
        let mut verified = BTreeSet::new();
        for field in self.fields.iter().filter(|field| field.index_options > 0) {
            let Some(postings) = &field.postings else { continue };
            match self.open(field, postings) {
                Ok(terms) if verified.insert(terms.suffix.clone()) => terms.verify()?,
                Err(error) if !error.kind().is_unsupported() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }
}
