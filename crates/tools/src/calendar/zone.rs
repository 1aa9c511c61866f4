//! Time zones of events, by their IANA names or the Windows names of `data/windows-zones.txt`.

use super::ics::{Component, Line};
use jiff::civil::DateTime;
use jiff::tz::{Dst, Offset, TimeZone};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Zone {
    Floating,
    Known(TimeZone),
    /// An unknown zone; its times are read as floating, with a note.
    Unknown(String),
}

impl Zone {
    pub fn named(id: &str) -> Self {
        let id = id.trim().trim_start_matches('/');
        let found = find_zone(id)
            .or_else(|| from_windows_name(id).and_then(find_zone))
            // `/vendor.example/20110521_1/Europe/Berlin`, as some programs write.
            .or_else(|| {
                let parts: Vec<&str> = id.split('/').collect();
                let tail = |count: usize| {
                    let from = parts.len().checked_sub(count)?;
                    find_zone(&parts[from..].join("/"))
                };
                (parts.len() > 2).then(|| tail(2).or_else(|| tail(3))).flatten()
            });
        found.map_or_else(|| Self::Unknown(id.to_owned()), Self::Known)
    }

    /// The zone to compute with; `home` where the event has none.
    pub fn or<'z>(&'z self, home: &'z TimeZone) -> &'z TimeZone {
        match self {
            Self::Known(zone) => zone,
            Self::Floating | Self::Unknown(_) => home,
        }
    }
}

fn find_zone(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Etc/UTC" | "GMT" | "Z") {
        return Some(TimeZone::UTC);
    }
    TimeZone::get(name).ok()
}

/// `VTIMEZONE` for programs that don't know the zone's name: ten years of clock changes from a year before `from`.
pub(super) fn vtimezone(zone: &TimeZone, from: jiff::Timestamp) -> Option<Component> {
    const DAY: i64 = 24 * 3600;
    const YEARS: i64 = 11;
    let name = zone.iana_name()?;
    let start = from - jiff::SignedDuration::from_secs(366 * DAY);
    let end = start + jiff::SignedDuration::from_secs(YEARS * 366 * DAY);
    let mut whole = Component::new("VTIMEZONE");
    whole.lines.push(Line::new("TZID", name));
    let first = zone.to_offset_info(start);
    let mut before = first.offset();
    let text = |offset: Offset| start.to_zoned(TimeZone::fixed(offset)).strftime("%z").to_string();
    let mut part = |dst: Dst, at: DateTime, from: Offset, to: Offset, name: &str| {
        let mut part = Component::new(if dst.is_dst() { "DAYLIGHT" } else { "STANDARD" });
        part.lines = vec![
            Line::new("DTSTART", at.strftime("%Y%m%dT%H%M%S").to_string()),
            Line::new("TZOFFSETFROM", text(from)),
            Line::new("TZOFFSETTO", text(to)),
            Line::new("TZNAME", name),
        ];
        whole.parts.push(part);
    };
    part(first.dst(), before.to_datetime(start), before, before, first.abbreviation());
    for change in zone.following(start).take_while(|change| change.timestamp() < end) {
        let after = change.offset();
        // The start of an observance is a local time before the change.
        part(change.dst(), before.to_datetime(change.timestamp()), before, after, change.abbreviation());
        before = after;
    }
    Some(whole)
}

fn from_windows_name(name: &str) -> Option<&'static str> {
    include_str!("../../data/windows-zones.txt")
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .find(|(windows, _)| windows.eq_ignore_ascii_case(name))
        .map(|(_, iana)| iana)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Zone, vtimezone};
    use jiff::tz::TimeZone;

    #[test]
    fn names_of_many_programs() {
        let berlin = Zone::Known(TimeZone::get("Europe/Berlin").unwrap());
        for name in [
            "Europe/Berlin",
            "W. Europe Standard Time",
            "/freeassociation.sourceforge.net/Europe/Berlin",
            "/mozilla.org/20050126_1/Europe/Berlin",
        ] {
            assert_eq!(Zone::named(name), berlin, "{name}");
        }
        assert_eq!(Zone::named("UTC"), Zone::Known(TimeZone::UTC));
        assert_eq!(Zone::named("Middle Earth"), Zone::Unknown("Middle Earth".into()));
    }

    #[test]
    fn a_zone_is_told_by_its_changes() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let text = vtimezone(&zone, "2026-11-21T08:00:00Z".parse().unwrap()).unwrap().text();
        for part in [
            "BEGIN:DAYLIGHT\r\nDTSTART:20270328T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nTZNAME:CEST\r\n",
            "BEGIN:STANDARD\r\nDTSTART:20261025T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nTZNAME:CET\r\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(vtimezone(&TimeZone::fixed(jiff::tz::offset(3)), jiff::Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn every_row_names_a_zone() {
        let rows = include_str!("../../data/windows-zones.txt").lines();
        let rows: Vec<&str> = rows.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        assert!(rows.len() > 100);
        for row in rows {
            let (windows, iana) = row.split_once(" = ").unwrap();
            assert!(TimeZone::get(iana).is_ok(), "{row}");
            assert_eq!(super::from_windows_name(windows), Some(iana), "{row}");
        }
    }
}
