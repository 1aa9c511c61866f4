//! Time zones by their IANA names.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

use crate::error::TimingError;

/// Where the rules of time zones come from.
///
/// [`Zones::bundled`] is part of the program: the same on every node, without a file. A caller who keeps the rules of the
/// system up to date hands them in with [`Zones::new`].
#[derive(Debug, Clone)]
pub struct Zones(TimeZoneDatabase);

impl Zones {
    pub fn new(database: TimeZoneDatabase) -> Self {
        Self(database)
    }

    /// The IANA database that was compiled in.
    pub fn bundled() -> Self {
        Self(TimeZoneDatabase::bundled())
    }

    /// The zone of an IANA name, in any case: `Europe/Berlin`, `utc`.
    ///
    /// Abbreviations such as `EST` or `CET` are refused: they name an offset of one half of the year, or several places.
    pub fn find(&self, name: &str) -> Result<TimeZone, TimingError> {
        let name = name.trim();
        let is_place = name.contains('/') || ["utc", "gmt"].contains(&name.to_lowercase().as_str());
        if let Some(zone) = is_place.then(|| self.0.get(name).ok()).flatten() {
            return Ok(zone);
        }
        let near = self.suggest(name);
        let hint = if near.is_empty() {
            "Write the name of a region and its city, for example Europe/Berlin, or UTC".to_owned()
        } else {
            format!("Did you mean {}?", near.join(" or "))
        };
        Err(TimingError::new("zone", format!("`{name}` isn't the name of a time zone"), hint))
    }

    /// Up to three names whose city begins as `name` does.
    fn suggest(&self, name: &str) -> Vec<String> {
        let plain = |text: &str| text.to_lowercase().replace([' ', '-'], "_");
        let wanted = plain(name.rsplit('/').next().unwrap_or(name));
        if wanted.len() < 3 {
            return Vec::new();
        }
        let names = self.0.available().map(|known| known.to_string()).filter(|known| known.contains('/'));
        let mut found: Vec<String> = names
            .filter(|known| known.rsplit('/').next().is_some_and(|city| plain(city).starts_with(&wanted)))
            .collect();
        found.sort_by_key(|known| (known.len(), known.clone()));
        found.truncate(3);
        found
    }
}

/// A change of the clock of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneChange {
    /// Its instant.
    pub at: Timestamp,
    /// Seconds that the clock is set forward; negative: back.
    pub seconds: i32,
}

/// The next changes of the clock after an instant and within `days`.
pub(crate) fn find_changes(zone: &TimeZone, after: Timestamp, days: i64) -> Vec<ZoneChange> {
    let Ok(until) = after.checked_add(SignedDuration::from_hours(days.saturating_mul(24))) else {
        return Vec::new();
    };
    let mut before = zone.to_offset(after);
    let mut found = Vec::new();
    for change in zone.following(after).take_while(|change| change.timestamp() <= until) {
        let seconds = change.offset().seconds() - before.seconds();
        before = change.offset();
        if seconds != 0 {
            found.push(ZoneChange { at: change.timestamp(), seconds });
        }
    }
    found
}
