//! Dates and times in queries: what is printed is read.

use jiff::fmt::temporal::Pieces;

use super::text_format::TextFormat;
use super::time::{TimeFormat, days, is_time};
use crate::api::search::calendar::TimeZone;
use crate::api::search::query::Literal;
use crate::api::{Field, LogicalType};

/// Converts a literal that is compared with values of `field`, if it is a date or a time.
pub(crate) fn convert(field: &Field, zone: Option<&TimeZone>, literal: &mut Literal) {
    if let Literal::Text(text) = literal
        && let Some(read) = query_time(field, zone, text)
    {
        *text = read;
    }
}

/// A date or time as text of a query, if a query does not read `text` so: printed in the format of `field`, or without an
/// offset, if there is a zone.
fn query_time(field: &Field, zone: Option<&TimeZone>, text: &str) -> Option<String> {
    if !is_time(field.logical) {
        return None;
    }
    let is_date = field.logical == LogicalType::Date;
    if let Ok(pieces) = Pieces::parse(text) {
        let is_local = pieces.offset().is_none() && pieces.time_zone_annotation().is_none();
        return zone.filter(|_| is_local && !is_date).map(|zone| format!("{text}[{zone}]"));
    }
    let (moment, _) = TextFormat::parse(field.format.as_deref()?).time?.read(text)?;
    let mut read = String::new();
    let is_printed = match is_date {
        true => TimeFormat::iso_date().print_day(days(moment), &mut read),
        false => TimeFormat::canonical().print(moment, &mut read),
    };
    is_printed.then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Kind;

    #[test]
    fn what_is_printed_is_read() {
        let read = |logical, format: &str, zone: Option<&str>, text: &str| {
            let format = Some(format.to_owned()).filter(|format| !format.is_empty());
            let field = Field { format, ..Field::new("at", Kind::Numeric, logical) };
            query_time(&field, zone.map(|zone| TimeZone::get(zone).unwrap()).as_ref(), text)
        };
        let (day, time) = (LogicalType::Date, LogicalType::TimestampMillis);
        let zone = Some("Europe/Berlin");
        assert_eq!(read(day, "%d.%m.%Y", None, "31.01.2024").as_deref(), Some("2024-01-31"));
        let log = "%d/%b/%Y:%H:%M:%S %z;offset=-07:00";
        let utc = Some("2000-10-10T20:55:36Z");
        assert_eq!(read(time, log, None, "10/Oct/2000:13:55:36 -0700").as_deref(), utc);
        let local = read(time, "", zone, "2024-01-31 12:00");
        assert_eq!(local.as_deref(), Some("2024-01-31 12:00[Europe/Berlin]"));
        assert_eq!(read(time, "", zone, "2024-01-31").as_deref(), Some("2024-01-31[Europe/Berlin]"));
        for (logical, zone, text) in [
            (time, None, "2024-01-31"),
            (time, zone, "2024-01-31T12:00Z"),
            (time, zone, "2024-01-31T12:00[UTC]"),
            (day, zone, "2024-01-31"),
            (LogicalType::Utf8, zone, "2024-01-31"),
            (time, zone, "yesterday"),
        ] {
            assert_eq!(read(logical, "", zone, text), None, "{text}");
        }
    }
}
