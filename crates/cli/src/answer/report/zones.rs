//! The zones of a column: the least and the greatest number of each few thousand documents, by which filters skip.

use super::double;
use crate::api::DocRange;
use crate::api::search::stats::ColumnStats;
use crate::error::Result;
use crate::open::Segments;

/// The most zones of a chart; others are joined with those beside them.
const PLACES: usize = 100;

/// The zones of a column, deleted documents included.
pub(crate) struct ZoneMap {
    /// The ranges of zones in the order of the documents, from 0 to 1.
    pub(super) spans: Vec<(f64, f64)>,
    pub(super) count: usize,
    /// Those that may hold the median.
    pub(super) open: usize,
}

impl ZoneMap {
    /// The zones of a column that has several, of different numbers.
    pub(crate) fn of(segments: &Segments, stats: &ColumnStats) -> Result<Option<ZoneMap>> {
        let logical = stats.field.logical;
        let median = stats.percentiles.first().and_then(|(_, value)| value.stored());
        let Some(median) = median.map(|stored| double(logical, stored)) else { return Ok(None) };
        let (mut zones, mut ends) = (Vec::new(), Vec::new());
        for segment in segments.all() {
            let Some(column) = segment.column(&stats.field.name)? else { continue };
            let info = column.info();
            let index = column.skip_index().filter(|index| !index.levels().is_empty());
            let Some(index) = index.filter(|_| info.field.logical == logical) else { return Ok(None) };
            index.zones(0, DocRange::new(0, info.docs), &mut zones)?;
            let own = zones.iter().filter(|zone| zone.min <= zone.max);
            ends.extend(own.map(|zone| (double(logical, zone.min), double(logical, zone.max))));
        }
        ends.retain(|(low, high)| low.is_finite() && high.is_finite());
        let (least, greatest) = joined(&ends);
        let span = greatest - least;
        if ends.len() < 2 || !span.is_finite() || span <= 0.0 {
            return Ok(None);
        }
        let open = ends.iter().filter(|(low, high)| (*low..=*high).contains(&median)).count();
        let spans = ends.chunks(ends.len().div_ceil(PLACES)).map(joined);
        let spans = spans.map(|(low, high)| ((low - least) / span, (high - least) / span)).collect();
        Ok(Some(ZoneMap { spans, count: ends.len(), open }))
    }
}

/// The range of several.
fn joined(ends: &[(f64, f64)]) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    ends.iter().fold(none, |(low, high), (min, max)| (low.min(*min), high.max(*max)))
}
