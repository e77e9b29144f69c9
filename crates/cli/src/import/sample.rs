//! The sample of an input, from which types are chosen.

use std::time::{Duration, Instant};

use super::Import;
use super::error::{InputError, Result};
use super::infer_types::Evidence;
use super::open_input::{OpenInput, Rows};
use super::row::{Cell, Row};
use super::source::Source;

/// The time that a pipe may take for its sample, from its first row on.
const PATIENCE: Duration = Duration::from_secs(1);

impl Import {
    /// Reads the first rows of an input, and keeps them if the input cannot be read again. A pipe that pauses ends its
    /// sample, unless that is to have all rows.
    pub(super) fn sample(
        &mut self,
        source: &Source,
        mut rows: Rows,
        evidence: &mut Vec<Evidence>,
    ) -> Result<Option<OpenInput>> {
        let mut kept = (!source.is_replayable()).then(Vec::new);
        let is_patient = kept.is_none() || self.options.end.is_none() || self.options.sample == u64::MAX;
        let (mut row, mut left, mut began) = (Row::default(), self.options.sample, None);
        while left > 0 && (is_patient || began.is_none_or(|began: Instant| began.elapsed() < PATIENCE)) {
            match rows.next(&mut self.fields, &mut row) {
                Ok(false) => break,
                Ok(true) => {
                    self.sampled += 1;
                    evidence.resize_with(self.fields.len().max(evidence.len()), Evidence::default);
                    for cell in &row.cells {
                        self.add_evidence(source, &row, cell, evidence);
                    }
                    if let Some(kept) = &mut kept {
                        kept.push(Ok(row.clone()));
                    }
                }
                Err(InputError::Bad(bad)) if self.options.skip_bad => {
                    if let Some(kept) = &mut kept {
                        kept.push(Err(bad));
                    }
                }
                Err(error) if error.is_pause() => continue,
                Err(error) => return Err(error),
            }
            left -= 1;
            began.get_or_insert_with(Instant::now);
        }
        Ok(kept.map(|sample| OpenInput::Rows(sample, rows)))
    }

    fn add_evidence(&self, source: &Source, row: &Row, cell: &Cell, evidence: &mut [Evidence]) {
        let text = row.text(cell);
        if cell.form.is_csv() && self.options.missing.find(text).is_some() {
            return;
        }
        let place = || {
            let (line, column) = row.place(cell);
            (source.name.to_string(), line, column)
        };
        if let Some(evidence) = evidence.get_mut(cell.field.index()) {
            evidence.add(cell.form, cell.element, text, place);
        }
    }
}
