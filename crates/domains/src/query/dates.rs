//! Dates and times of a query. A year, a month or a day stands for the whole of it.

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
    let mut parts = day.split('-');
    let year: i32 = number(parts.next()?, 4)?;
    let month = parts.next().map(|part| number(part, 2)).map_or(Some(None), |month| month.map(Some))?;
    let date = parts.next().map(|part| number(part, 2)).map_or(Some(None), |day| day.map(Some))?;
    if parts.next().is_some() || year == 0 || month.is_some_and(|month| !(1..=12).contains(&month)) {
        return None;
    }
    if let (Some(month), Some(day)) = (month, date)
        && !(1..=days_of(year, month)).contains(&day)
    {
        return None;
    }
    match (time, month, date) {
        (None, None, _) => Some(days(year, 1, 1, year + 1, 1, 1)),
        (None, Some(month), None) => {
            let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            Some(days(year, month, 1, next_year, next, 1))
        }
        (None, Some(month), Some(day)) => {
            let (next_year, next_month, next) = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                _ if day == days_of(year, month) => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
            Some(days(year, month, day, next_year, next_month, next))
        }
        (Some(time), Some(month), Some(day)) => {
            let time = time_of_day(time)?;
            Some(When::Moment(format!("{year:04}-{month:02}-{day:02} {time}")))
        }
        (Some(_), _, _) => None,
    }
}

fn days(year: i32, month: i32, day: i32, next_year: i32, next_month: i32, next: i32) -> When {
    let to = (next_year <= 9999).then(|| format!("{next_year:04}-{next_month:02}-{next:02}"));
    When::Days { from: format!("{year:04}-{month:02}-{day:02}"), to }
}

/// Exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i32> {
    let fits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn days_of(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
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
