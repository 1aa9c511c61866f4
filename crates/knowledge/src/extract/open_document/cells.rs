//! Values of cells that have no text, as libraries write them.

use super::super::number_format::general;
use super::super::xml::{Element, Xml};

pub(super) fn value(element: &Element<'_>, xml: &Xml<'_>) -> Option<String> {
    let of = |name: &str| {
        xml.attribute_of(element, ":office:", name).or_else(|| {
            // The one that has no other meaning.
            (name != "value").then(|| element.attribute(name)).flatten()
        })
    };
    let number = || of("value").map(|value| value.trim().parse::<f64>().map_or(value, general));
    match of("value-type").as_deref() {
        Some("percentage") => {
            let share = of("value")?.trim().parse::<f64>().ok()?;
            Some(format!("{}%", general(share * 100.0)))
        }
        Some("currency") => {
            let currency = of("currency").unwrap_or_default();
            number().map(|number| format!("{number} {currency}").trim_end().to_owned())
        }
        Some("boolean") => of("boolean-value").map(|value| value.to_uppercase()),
        Some("time") => of("time-value").map(|time| length_of_time(&time).unwrap_or(time)),
        _ => ["string-value", "date-value", "time-value", "boolean-value"]
            .iter()
            .find_map(|name| of(name))
            .or_else(number),
    }
}

/// The day of a cell that is a date, as ISO 8601 writes it.
pub(super) fn date(element: &Element<'_>, xml: &Xml<'_>) -> Option<String> {
    let of = |name: &str| xml.attribute_of(element, ":office:", name);
    let value = of("date-value").filter(|_| of("value-type").is_some_and(|kind| kind == "date"))?;
    value.get(..10).map(str::to_owned)
}

/// The text of a date with the day behind it, where it leaves open which one it means: where its year is not whole, or its
/// day and month are numbers that come before the year without points between them.
pub(super) fn with_date(text: String, date: &str) -> String {
    let (Some(year), Some(day)) = (date.get(..4), date.get(8..10)) else { return text };
    let numbers: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    let is_time =
        !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || ": .,APMapm".contains(letter));
    let has_name =
        text.split(char::is_whitespace).any(|word| word.chars().filter(|one| one.is_alphabetic()).count() > 2);
    let is_clear = match numbers.as_slice() {
        [first, ..] if *first == year => true,
        all if !all.contains(&year) => false,
        _ if has_name => true,
        [first, ..] => {
            first.trim_start_matches('0') == day.trim_start_matches('0') && text.contains('.') && !text.contains('/')
        }
        [] => false,
    };
    if is_clear || text.is_empty() || is_time && text.contains(':') { text } else { format!("{text} ({date})") }
}

/// `PT37H30M00S` is 37:30:00.
fn length_of_time(text: &str) -> Option<String> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (days, rest) = rest.strip_prefix('P')?.split_once('T')?;
    let days: u64 = if days.is_empty() { 0 } else { days.strip_suffix('D')?.parse().ok()? };
    let (hours, rest) = rest.split_once('H').unwrap_or(("0", rest));
    let (minutes, rest) = rest.split_once('M').unwrap_or(("0", rest));
    let seconds: f64 = if rest.is_empty() { 0.0 } else { rest.strip_suffix('S')?.replace(',', ".").parse().ok()? };
    let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(format!("{sign}{}:{minutes:02}:{seconds:02.0}", days.checked_mul(24)?.checked_add(hours)?))
}

/// `of:=[.B2]*SUM([.C2:.C3])` is `=B2*SUM(C2:C3)`.
pub(super) fn formula(text: &str) -> String {
    let text = text.split_once(":=").map_or(text, |(_, formula)| formula);
    let mut out = String::from("=");
    let mut in_reference = false;
    for letter in text.trim_start_matches('=').chars() {
        match letter {
            '[' => in_reference = true,
            ']' => in_reference = false,
            '.' if in_reference && !out.ends_with(char::is_alphanumeric) => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{formula, length_of_time, with_date};

    #[test]
    fn dates_that_leave_the_day_open_say_it() {
        for (text, expected) in [
            ("04/05/24", "04/05/24 (2024-05-04)"),
            ("04/05/2024", "04/05/2024 (2024-05-04)"),
            ("04.05.24", "04.05.24 (2024-05-04)"),
            ("04.05.2024", "04.05.2024"),
            ("4. Mai 2024", "4. Mai 2024"),
            ("2024-05-04", "2024-05-04"),
            ("12:30:00", "12:30:00"),
            ("Sa 04 May", "Sa 04 May (2024-05-04)"),
            ("", ""),
        ] {
            assert_eq!(with_date(text.to_owned(), "2024-05-04"), expected);
        }
    }

    #[test]
    fn values_are_written_as_people_know_them() {
        assert_eq!(length_of_time("PT37H30M00S").as_deref(), Some("37:30:00"));
        assert_eq!(length_of_time("PT00H05M09.4S").as_deref(), Some("0:05:09"));
        assert_eq!(length_of_time("P1DT2H").as_deref(), Some("26:00:00"));
        assert_eq!(length_of_time("noon"), None);
        assert_eq!(formula("of:=[.B2]*SUM([.C2:.C3];[$Data.A1])"), "=B2*SUM(C2:C3;$Data.A1)");
        assert_eq!(formula("=A1+1"), "=A1+1");
    }
}
