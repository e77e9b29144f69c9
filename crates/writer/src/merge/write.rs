//! Writes the merged columns, in order: several in parallel if they fit the budget.

use docvalues_format::id::DocId;
use docvalues_storage::Spill;
use docvalues_terms::build::IdOptions;

use super::plan::{self, MergedColumn, Plan};
use super::{MergeProgress, Merger};
use crate::buffer::SpillBudget;
use crate::encode::Encoder;
use crate::error::{ErrorKind, Result};
use crate::file::{Append, FileWriter, sorted_ids};
use crate::options::WriterOptions;
use crate::parallel;
use crate::sort::DocMap;
use crate::summary::Summary;

/// The minimum share of the budget, in bytes, for columns that are merged in parallel. With less, spilling costs more
/// time than the threads save.
const SHARE: usize = 32 << 20;

/// Columns, for each thread, that are in progress, or wait to be written.
const AHEAD: usize = 2;

impl Merger<'_> {
    pub(super) fn write_all(self, out: Append<'_>, spill: Option<&Spill>) -> Result<Summary> {
        let Merger { mut sources, mut options } = self;
        if let Some(spill) = spill {
            spill.limit(options.writer.spill_limit);
        }
        plan::keep_last(&mut sources, &options, spill)?;
        let plan = Plan::new(&sources, &options)?;
        let WriterOptions { jump_tables, zones, budget, threads, .. } = options.writer;
        // Columns in progress, or waiting to be written, share the budget. Without a temporary file, one column has
        // all.
        let most = if spill.is_some() { budget / (AHEAD * SHARE) } else { 1 };
        let threads = parallel::count(threads).clamp(1, most.max(1));
        let mut pool = parallel::pool(threads);
        let encoder = Encoder { docs: plan.docs, doc_map: None, jump_tables, zones, pool: None };
        let spill_budget = SpillBudget::new(budget / threads, spill);
        let doc_map = plan.doc_map(&encoder, budget, &spill_budget)?;
        if let Some(moved) = &mut options.moved {
            let sources = sources.iter().enumerate();
            let mut docs = sources.flat_map(|(at, source)| source.live.iter().map(move |doc| (at, doc)));
            DocMap::each_place(doc_map.as_ref(), plan.docs, |_, place| {
                docs.next().into_iter().for_each(|(source, doc)| moved(source, doc, DocId::new(place)));
            })?;
        }
        let encoder = Encoder { doc_map: doc_map.as_ref(), ..encoder };
        let sorted = |(name, options): (String, IdOptions)| {
            plan.ids(&name, doc_map.as_ref(), budget, &spill_budget, None).map(|ids| (name, ids, options))
        };
        let ids = options.ids.map(sorted).transpose()?;

        let mut file = FileWriter::begin(out)?;
        let mut watch = |done: usize| {
            if let Some(MergedColumn { spec, .. }) = plan.columns.get(done) {
                let columns = plan.columns.len();
                (options.watch)(MergeProgress { column: spec.name(), done, columns });
            }
        };
        watch(0);
        while let Some(left @ [_, ..]) = plan.columns.get(file.columns.len()..) {
            let share = budget / (AHEAD * threads);
            // Columns that fit a share are merged in parallel; a larger one is merged alone, with all of the budget.
            let few = left.iter().take_while(|column| pool.is_some() && column.needs() <= share / 2).count();
            let (columns, pool_now, budget_now) = match few {
                0 | 1 => (&left[..1], None, budget),
                _ => (&left[..few], pool.as_ref(), share),
            };
            let encoder = Encoder { pool: pool.as_ref(), ..encoder };
            let mut waited_for = columns.iter();
            let merged: Result<()> = parallel::map_in_order(
                pool_now,
                AHEAD,
                columns.iter(),
                |column| column.needs(),
                |column| column.read(jump_tables, budget_now, spill)?.encode(&column.spec, &encoder),
                |encoded| {
                    let Some(column) = waited_for.next() else { return Ok(()) };
                    let encoded = encoded.map_err(|kind| column.refuse(kind))?;
                    file.column(encoded).map_err(|error| column.refuse(error.into()))?;
                    watch(file.columns.len());
                    Ok(())
                },
            );
            match merged {
                // Byte strings were longer than estimated: from here on, each column has all of the budget.
                Err(error) if few > 1 && matches!(error.kind(), ErrorKind::Budget { .. }) => pool = None,
                merged => merged?,
            }
        }
        sorted_ids::finish(file, plan.docs, &plan.sort, ids)
    }
}
