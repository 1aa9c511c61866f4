use crate::error::{ToolsError, refused};
use jiff::civil::DateTime;
use jiff::tz::Offset;
use steward_core::Timestamp;
use steward_core::ports::Clock;

/// Reads `2026-11-22T09:00` (local time) or RFC 3339.
pub(crate) fn parse(text: &str, clock: &dyn Clock) -> Result<Timestamp, ToolsError> {
    let text = text.trim();
    if let Ok(exact) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp(exact.as_millisecond()));
    }
    let bad = || refused!("`{text}` is no time; write YYYY-MM-DDTHH:MM for local time, such as 2026-05-30T09:00");
    if !text.contains(['T', 't', ' ']) {
        return Err(bad());
    }
    let local: DateTime = text.parse().map_err(|_| bad())?;
    let utc = Offset::UTC.to_timestamp(local).map_err(|_| bad())?.as_millisecond();
    // The offset depends on the point in time, which depends on the offset. Two rounds settle it, except within the
    // hour that a change of the clocks skips or repeats.
    let mut at = Timestamp(utc);
    for _ in 0..2 {
        at = Timestamp(utc - i64::from(clock.utc_offset_minutes(at)) * 60_000);
    }
    Ok(at)
}

/// `2026-11-22 09:00` in local time.
pub(crate) fn local(at: Timestamp, clock: &dyn Clock) -> String {
    let minutes = i64::from(clock.utc_offset_minutes(at));
    let shifted = Timestamp(at.0.saturating_add(minutes * 60_000)).rfc3339();
    shifted.get(..16).unwrap_or(&shifted).replace('T', " ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{local, parse};
    use steward_core::Timestamp;
    use steward_core::ports::Clock;

    /// One hour east, two from the given point on.
    struct Changing(Timestamp);

    impl Clock for Changing {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }
        fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
            if at < self.0 { 60 } else { 120 }
        }
    }

    #[test]
    fn local_and_exact_times() {
        // 2026-03-29T01:00Z, when Central Europe goes to summer time.
        let clock = Changing(Timestamp(1_774_746_000_000));
        let check = |text: &str, expect: &str| {
            assert_eq!(parse(text, &clock).unwrap().rfc3339(), expect, "{text}");
        };
        check("2026-03-28T09:00", "2026-03-28T08:00:00Z");
        check("2026-03-29T09:00", "2026-03-29T07:00:00Z");
        check("2026-03-29 09:00:30", "2026-03-29T07:00:30Z");
        check("2026-03-29T09:00:00Z", "2026-03-29T09:00:00Z");
        check("2026-03-29T09:00:00-05:00", "2026-03-29T14:00:00Z");
        let at = parse("2026-07-01T18:30", &clock).unwrap();
        assert_eq!(local(at, &clock), "2026-07-01 18:30");
        for bad in ["tomorrow", "9:00", "2026-13-01T09:00", "2026-07-01", "2026-02-30T10:00", ""] {
            let error = parse(bad, &clock).unwrap_err().to_string();
            assert!(error.contains("YYYY-MM-DDTHH:MM"), "{bad}: {error}");
        }
    }
}
