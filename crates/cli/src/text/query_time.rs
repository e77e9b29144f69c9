//! Dates and times in queries: what is printed is read.

use jiff::fmt::temporal::{DateTimeParser, Pieces};

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
/// offset, if there is a zone, also in that format.
fn query_time(field: &Field, zone: Option<&TimeZone>, text: &str) -> Option<String> {
    if !is_time(field.logical) {
        return None;
    }
    let is_date = field.logical == LogicalType::Date;
    if let Ok(pieces) = Pieces::parse(text) {
        return zone.filter(|_| is_local(&pieces) && !is_date).map(|zone| format!("{text}[{zone}]"));
    }
    let time = TextFormat::parse(field.format.as_deref()?).time?;
    if let Some(zone) = zone.filter(|_| !is_date)
        && let Some(local) = time.read_local(text)
    {
        return Some(format!("{local}[{zone}]"));
    }
    let (moment, _) = time.read(text)?;
    let mut read = String::new();
    let is_printed = match is_date {
        true => TimeFormat::iso_date().print_day(days(moment), &mut read),
        false => TimeFormat::canonical().print(moment, &mut read),
    };
    is_printed.then_some(read)
}

/// Whether a date or time says no offset and no zone.
fn is_local(pieces: &Pieces<'_>) -> bool {
    pieces.offset().is_none() && pieces.time_zone_annotation().is_none()
}

/// The time in UTC at which clocks in `zone` show `text`, as RFC 3339. `None` for other text than a time without an offset.
pub(crate) fn in_utc(zone: &TimeZone, text: &str) -> Option<String> {
    let pieces = Pieces::parse(text).ok()?;
    let is_local_time = is_local(&pieces) && pieces.time().is_some();
    let local = is_local_time.then(|| format!("{text}[{zone}]"))?;
    Some(DateTimeParser::new().parse_zoned(&local).ok()?.timestamp().to_string())
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
        let local = read(time, "%d.%m.%Y %H:%M", zone, "31.01.2024 12:00");
        assert_eq!(local.as_deref(), Some("2024-01-31T12:00:00[Europe/Berlin]"));
        assert_eq!(read(day, "%d.%m.%Y", zone, "31.01.2024").as_deref(), Some("2024-01-31"));
        // Such a column has a start of a day in UTC.
        assert_eq!(read(time, "%d.%m.%Y", zone, "31.01.2024").as_deref(), Some("2024-01-31T00:00:00Z"));
        // The text or the format has an offset.
        assert_eq!(read(time, log, zone, "10/Oct/2000:13:55:36 -0700").as_deref(), utc);
        for offset in ["GMT", "UTC", "Z", "+00:00"] {
            let (format, text) = (format!("%d.%m.%Y %T {offset}"), format!("10.10.2000 20:55:36 {offset}"));
            assert_eq!(read(time, &format, zone, &text).as_deref(), utc, "{text}");
        }
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

    #[test]
    fn local_times_are_those_of_clocks() {
        for (zone, text, expected) in [
            ("Europe/Berlin", "2024-01-31 12:00", Some("2024-01-31T11:00:00Z")),
            ("Europe/Berlin", "2024-07-31T12:00:00.25", Some("2024-07-31T10:00:00.25Z")),
            // Skipped, and shown twice.
            ("Europe/Berlin", "2024-03-31 02:30", Some("2024-03-31T01:30:00Z")),
            ("Europe/Berlin", "2024-10-27 02:30", Some("2024-10-27T00:30:00Z")),
            ("+05:30", "2024-01-31 12:00", Some("2024-01-31T06:30:00Z")),
            ("Europe/Berlin", "2024-01-31T12:00Z", None),
            ("Europe/Berlin", "2024-01-31T12:00+02:00", None),
            ("Europe/Berlin", "2024-01-31", None),
            ("Europe/Berlin", "noon", None),
        ] {
            assert_eq!(in_utc(&TimeZone::get(zone).unwrap(), text).as_deref(), expected, "{text}");
        }
    }
}
