//! How spreadsheets show numbers: as dates, as percentages, or as they are.

use steward_core::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    General,
    Percent,
    Date,
    DateTime,
    Time,
}

impl Format {
    pub fn built_in(id: u16) -> Self {
        match id {
            9 | 10 => Self::Percent,
            14..=17 | 27..=31 | 34..=36 | 50..=58 => Self::Date,
            18..=21 | 32 | 33 | 45..=47 => Self::Time,
            22 => Self::DateTime,
            _ => Self::General,
        }
    }

    pub fn show(self, number: f64, from_1904: bool) -> String {
        match self {
            Self::General => general(number),
            Self::Percent => format!("{}%", general((number * 1e8).round() / 1e6)),
            Self::Date => date(number, from_1904).unwrap_or_else(|| general(number)),
            Self::Time => time(number),
            Self::DateTime => {
                date(number, from_1904).map_or_else(|| general(number), |date| format!("{date} {}", time(number)))
            }
        }
    }
}

pub(super) fn is_date(format: Format) -> bool {
    matches!(format, Format::Date | Format::DateTime | Format::Time)
}

/// By a format's code, such as `dd.mm.yyyy`. Texts in it and colours say nothing.
pub(super) fn custom(code: &str) -> Format {
    let (mut plain, mut quoted, mut bracket, mut escaped) = (String::new(), false, false, false);
    for letter in code.chars() {
        match letter {
            _ if escaped => escaped = false,
            '"' => quoted = !quoted,
            '\\' | '_' | '*' if !quoted => escaped = true,
            '[' if !quoted => bracket = true,
            ']' if !quoted => bracket = false,
            // Elapsed hours stand in brackets.
            'h' | 'H' if bracket => plain.push('h'),
            letter if !quoted && !bracket => plain.push(letter.to_ascii_lowercase()),
            _ => {}
        }
    }
    let first = plain.split(';').next().unwrap_or_default();
    let (has_date, has_time) = (first.contains(['y', 'd']), first.contains(['h', 's']));
    match (has_date, has_time) {
        _ if first.contains('%') => Format::Percent,
        _ if first.contains("general") => Format::General,
        (true, true) => Format::DateTime,
        (true, false) => Format::Date,
        (false, true) => Format::Time,
        (false, false) if first.contains("mmm") => Format::Date,
        (false, false) => Format::General,
    }
}

/// Without the digits that only binary fractions have.
pub(super) fn general(number: f64) -> String {
    let rounded = format!("{number:.10}");
    let text = if number.abs() < 1e15 && rounded.contains('.') {
        rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_string()
    };
    match text.as_str() {
        "-0" => "0".to_owned(),
        "0" if number != 0.0 => number.to_string(),
        _ => text,
    }
}

/// Days since 1899-12-30, or since 1904-01-01.
#[expect(clippy::cast_possible_truncation, reason = "checked above")]
fn date(number: f64, from_1904: bool) -> Option<String> {
    const DAYS_BEFORE_1970: i64 = 25_569;
    const BETWEEN: i64 = 1462;
    if !(0.0..2_958_466.0).contains(&number) {
        return None;
    }
    let mut days = number.floor() as i64 + if from_1904 { BETWEEN } else { 0 };
    // A leap day that never was.
    if days < 60 && !from_1904 {
        days += 1;
    }
    Some(Timestamp::of_day(days - DAYS_BEFORE_1970).date())
}

#[expect(clippy::cast_possible_truncation, reason = "at most a day's seconds")]
fn time(number: f64) -> String {
    let seconds = ((number - number.floor()) * 86_400.0).round() as i64 % 86_400;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if seconds == 0 { format!("{hours:02}:{minutes:02}") } else { format!("{hours:02}:{minutes:02}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::{Format, custom, general};

    #[test]
    fn numbers_are_shown_as_spreadsheets_do() {
        for (code, number, shown) in [
            ("General", 0.1 + 0.2, "0.3"),
            ("0.00", 1234.5, "1234.5"),
            ("0%", 0.075, "7.5%"),
            ("dd.mm.yyyy", 45_292.0, "2024-01-01"),
            ("yyyy-mm-dd hh:mm", 45_292.75, "2024-01-01 18:00"),
            ("[h]:mm:ss", 0.5, "12:00"),
            ("mmm\\ yy", 1.0, "1900-01-01"),
            ("\"day \"0", 3.0, "3"),
            ("[Red]0.0", 3.0, "3"),
        ] {
            assert_eq!(custom(code).show(number, false), shown, "{code}");
        }
        assert_eq!(Format::built_in(14).show(0.0, true), "1904-01-01");
        assert_eq!(general(1e300), format!("{}", 1e300));
        assert_eq!(general(-0.0), "0");
        assert_eq!(general(1e-12), "0.000000000001");
    }
}
