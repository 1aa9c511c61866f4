//! Dates and times of a query. A year, a month or a day stands for the whole of it.

use steward_core::Timestamp;

/// Characters of a day; those of years after 9999 have more.
const LENGTH: usize = 10;

/// What a text says about time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum When {
    /// From a day on, to before another; `None`: there is no later day.
    Days { from: String, to: Option<String> },
    /// `2024-01-31 10:30:00`, with a fraction if there is one.
    Moment(String),
}

/// Reads `2024`, `2024-01`, `2024-01-31`, or one with a time of day after a blank or `T`.
pub(super) fn read(text: &str) -> Option<When> {
    let text = text.trim();
    let (day, time) = match text.find(['T', ' ', 't']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim())),
        None => (text, None),
    };
    // A year and a month are known by their first day.
    let (from, to) = match day.len() {
        4 => {
            let from = Timestamp::of_date(&format!("{day}-01-01"))?;
            // Some day of the next January: no year has more than 366 days, none fewer than 365.
            (from, Timestamp::of_day(from.day() + 366).month())
        }
        7 => {
            let from = Timestamp::of_date(&format!("{day}-01"))?;
            (from, from.next_month())
        }
        _ => {
            let from = Timestamp::of_date(day)?;
            (from, Timestamp::of_day(from.day() + 1))
        }
    };
    match time {
        _ if day.starts_with("0000") => None,
        None => Some(When::Days { from: from.date(), to: Some(to.date()).filter(|date| date.len() == LENGTH) }),
        Some(time) if day.len() == LENGTH => Some(When::Moment(format!("{day} {}", time_of_day(time)?))),
        Some(_) => None,
    }
}

/// Exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i32> {
    let fits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// `10:30`, `10:30:15`, `10:30:15.123456`, also with the `Z` of universal time.
fn time_of_day(text: &str) -> Option<String> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (clock, fraction) = text.split_once('.').map_or((text, None), |(clock, fraction)| (clock, Some(fraction)));
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (number(hour, 2)?, number(minute, 2)?, 0),
        [hour, minute, second] => (number(hour, 2)?, number(minute, 2)?, number(second, 2)?),
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = match fraction {
        None => String::new(),
        Some(digits) if (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) => {
            let micros = digits.get(..6).unwrap_or(digits).trim_end_matches('0');
            if micros.is_empty() { String::new() } else { format!(".{micros}") }
        }
        Some(_) => return None,
    };
    Some(format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::{When, read};

    #[test]
    fn texts_and_what_they_stand_for() {
        for (text, from, to) in [
            ("2024", "2024-01-01", Some("2025-01-01")),
            ("2024-12", "2024-12-01", Some("2025-01-01")),
            ("2024-02", "2024-02-01", Some("2024-03-01")),
            ("2024-02-28", "2024-02-28", Some("2024-02-29")),
            ("2023-02-28", "2023-02-28", Some("2023-03-01")),
            ("1900-02-28", "1900-02-28", Some("1900-03-01")),
            ("2024-12-31", "2024-12-31", Some("2025-01-01")),
            ("9999-12-31", "9999-12-31", None),
        ] {
            let expect = When::Days { from: from.to_owned(), to: to.map(str::to_owned) };
            assert_eq!(read(text), Some(expect), "{text}");
        }
        for (text, moment) in [
            ("2024-01-31 10:30", "2024-01-31 10:30:00"),
            ("2024-01-31T10:30:15Z", "2024-01-31 10:30:15"),
            ("2024-01-31T10:30:15.120000", "2024-01-31 10:30:15.12"),
            ("2024-01-31 00:00:00.000", "2024-01-31 00:00:00"),
        ] {
            assert_eq!(read(text), Some(When::Moment(moment.to_owned())), "{text}");
        }
        for text in [
            "",
            "24",
            "2024-1",
            "2024-13",
            "2024-00-01",
            "2023-02-29",
            "2024-01-31x",
            "yesterday",
            "31.01.2024",
            "2024-01-31T25:00",
            "2024-01-31T10",
            "2024-01T10:00",
            "2024-01-31T10:30:15+02:00",
            "0000-01-01",
            "-2024",
            "２０２４",
            "2024-01-31 10:30:15.",
            "2024-01-31-01",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
