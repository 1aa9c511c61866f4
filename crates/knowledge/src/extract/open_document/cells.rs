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
    use super::{formula, length_of_time};

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
