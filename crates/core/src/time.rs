use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Milliseconds since the Unix epoch, UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Saturates.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// Time from `earlier` to this point; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Days since 1970-01-01 (UTC).
    pub fn day(self) -> i64 {
        self.0.div_euclid(DAY)
    }

    /// Beginning of a day, given in days since 1970-01-01; saturates.
    pub fn of_day(day: i64) -> Self {
        Self(day.saturating_mul(DAY))
    }

    /// Its date in UTC: `2026-11-21`.
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.day());
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Beginning of a day in UTC that is written as `2026-11-21`; `None`: there is no such day.
    pub fn of_date(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let mut part = |digits: usize| {
            let part = parts.next()?;
            (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<i64>().ok())?
        };
        let (year, month, day) = (part(4)?, part(2)?, part(2)?);
        let year_of_march = year - i64::from(month <= 2);
        let era = year_of_march.div_euclid(400);
        let doy = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
        let yoe = year_of_march.rem_euclid(400);
        let days = era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468;
        // What is no day of its month comes out as another one.
        let found = Self::of_day(days);
        (found.date() == text).then_some(found)
    }

    /// Beginning of its month in UTC.
    #[must_use]
    pub fn month(self) -> Self {
        let (_, _, day) = civil(self.day());
        Self::of_day(self.day() - (day - 1))
    }

    /// Beginning of the following month in UTC.
    #[must_use]
    pub fn next_month(self) -> Self {
        // This is some day of the next month: no month has more than 31 days, none fewer than 28.
        Self::of_day(self.month().day() + 31).month()
    }

    /// `2026-11-21T08:00:00Z`, for people and for models.
    pub fn rfc3339(self) -> String {
        let (days, ms) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        let (year, month, day) = civil(days);
        let seconds = ms / 1000;
        format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Year, month and day of the proleptic Gregorian calendar from days since 1970-01-01 (Hinnant's algorithm).
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn formats_known_dates() {
        assert_eq!(Timestamp(0).rfc3339(), "1970-01-01T00:00:00Z");
        assert_eq!(Timestamp(1_709_210_096_000).rfc3339(), "2024-02-29T12:34:56Z");
        assert_eq!(Timestamp(-1000).rfc3339(), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn months_begin_and_end() {
        let at = |text: &str, days: i64| {
            assert_eq!(Timestamp::of_day(days).date(), text);
            Timestamp::of_day(days)
        };
        let leap = at("2024-02-29", 19_782);
        assert_eq!(leap.month().date(), "2024-02-01");
        assert_eq!(leap.next_month().date(), "2024-03-01");
        let december = Timestamp(at("2026-12-31", 20_818).0 + 86_399_999);
        assert_eq!(december.day(), 20_818);
        assert_eq!(december.month().date(), "2026-12-01");
        assert_eq!(december.next_month().date(), "2027-01-01");
        let mut begin = Timestamp(0);
        for month in 1..=240 {
            let next = begin.next_month();
            let days = next.day() - begin.day();
            assert!((28..=31).contains(&days), "{month}: {days}");
            assert_eq!(Timestamp(next.0 - 1).month(), begin);
            begin = next;
        }
        assert_eq!(begin.date(), "1990-01-01");
    }

    #[test]
    fn dates_are_read_as_they_are_written() {
        for day in [-400_000, -1, 0, 1, 58, 59, 60, 365, 11_016, 20_000, 20_781, 100_000] {
            let at = Timestamp::of_day(day);
            assert_eq!(Timestamp::of_date(&at.date()).map(Timestamp::day), (day > -700_000).then_some(day));
        }
        for text in ["", "2026", "2026-1-1", "2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "x", "2026-01-01T"]
        {
            assert_eq!(Timestamp::of_date(text), None, "{text}");
        }
    }
}
