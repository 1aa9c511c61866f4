//! Days and times as people write them.

use super::token::{Kind, Token};

/// A day, as far as it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Date {
    pub year: Option<u32>,
    pub month: Option<u32>,
    pub day: Option<u32>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Number of a month by its name or the usual short one.
pub(super) fn month(word: &str) -> Option<u32> {
    let at = MONTHS
        .iter()
        .position(|name| *name == word || word == &name[..3] || (word == "sept" && *name == "september"))?;
    u32::try_from(at + 1).ok()
}

pub(super) fn month_name(number: u32) -> &'static str {
    MONTHS.get(usize::try_from(number).unwrap_or(0).wrapping_sub(1)).copied().unwrap_or("")
}

pub(super) fn is_weekday(word: &str) -> bool {
    WEEKDAYS.contains(&word.strip_suffix('s').unwrap_or(word))
}

fn year_of(token: &Token) -> Option<u32> {
    (token.text.len() == 4).then(|| token.text.parse().ok()).flatten().filter(|year| (1000..=2999).contains(year))
}

fn day_of(token: &Token) -> Option<u32> {
    token.text.parse().ok().filter(|day| (1..=31).contains(day) && token.text.len() <= 2)
}

/// A day that begins at token `at`, and the token after it.
pub(super) fn date(tokens: &[Token], at: usize) -> Option<(Date, usize)> {
    let token = &tokens[at];
    if token.kind == Kind::Word
        && let Some(date) = numeric(&token.text)
    {
        return Some((date, at + 1));
    }
    let mut date = Date::default();
    let mut end = at;
    // In any order: a month by name once, a day with it, a year.
    let mut next = at;
    while let Some(token) = tokens.get(next) {
        let skip = |next: usize| next + 1;
        if date.month.is_none()
            && let Some(number) = month(&token.lower)
            && (token.cap || token.lower.len() > 3)
        {
            date.month = Some(number);
        } else if date.year.is_none()
            && let Some(year) = year_of(token)
            && (date.month.is_some() || tokens.get(next + 1).is_some_and(|t| month(&t.lower).is_some()))
        {
            date.year = Some(year);
        } else if date.day.is_none()
            && token.kind == Kind::Number
            && let Some(day) = day_of(token)
            && (date.month.is_some() || month_follows(tokens, next + 1))
        {
            date.day = Some(day);
            if tokens.get(next + 1).is_some_and(|t| matches!(t.lower.as_str(), "st" | "nd" | "rd" | "th")) {
                next += 1;
            }
        } else if next > at
            && (token.is(",") || token.is("of") || token.is(".") || token.is("the"))
            && tokens.get(next + 1).is_some_and(|t| {
                year_of(t).is_some() && date.month.is_some()
                    || (date.month.is_none() && month(&t.lower).is_some())
                    || (token.is(".") && day_of(t).is_some() && date.day.is_none())
            })
        {
            next = skip(next);
            continue;
        } else {
            break;
        }
        next += 1;
        end = next;
        if date.year.is_some() && date.month.is_some() && date.day.is_some() {
            break;
        }
    }
    let told = date.month.is_some() && (date.day.is_some() || date.year.is_some());
    told.then_some((date, end))
}

fn month_follows(tokens: &[Token], at: usize) -> bool {
    tokens
        .iter()
        .skip(at)
        .take(3)
        .find(|t| !matches!(t.lower.as_str(), "st" | "nd" | "rd" | "th" | "of"))
        .is_some_and(|t| month(&t.lower).is_some())
}

/// `2022-08-16`, `16.08.2022`, `16/08/2022`, `08-16-2022`; none where it may be two days.
fn numeric(text: &str) -> Option<Date> {
    let mark = ['-', '/', '.'].into_iter().find(|mark| text.contains(*mark))?;
    let parts: Vec<&str> = text.split(mark).collect();
    let numbers: Vec<u32> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    if numbers.len() != 3 || parts.len() != 3 {
        return None;
    }
    let (year, month, day) = if parts[0].len() == 4 {
        (numbers[0], numbers[1], numbers[2])
    } else if parts[2].len() == 4 {
        let (first, second) = (numbers[0], numbers[1]);
        // The order of month and day differs by country, but for points; what can't be a month is the day.
        match mark {
            '.' => (numbers[2], second, first),
            _ if first > 12 || first == second => (numbers[2], second, first),
            _ if second > 12 => (numbers[2], first, second),
            _ => return None,
        }
    } else {
        return None;
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Date {
        year: Some(year),
        month: Some(month),
        day: Some(day),
    })
}

/// `tomorrow`, `next month`, `this weekend`, `Monday`: the token after it.
pub(super) fn relative(tokens: &[Token], at: usize) -> Option<usize> {
    let token = &tokens[at];
    if matches!(token.lower.as_str(), "today" | "tomorrow" | "yesterday" | "tonight")
        || is_weekday(&token.lower)
        || (token.cap && !token.first && month(&token.lower).is_some() && token.text.len() > 3)
    {
        return Some(at + 1);
    }
    let led = matches!(token.lower.as_str(), "next" | "this" | "last" | "upcoming" | "coming" | "previous" | "past");
    let unit = |t: &Token| {
        matches!(t.lower.as_str(), "week" | "weekend" | "month" | "year" | "quarter" | "morning" | "evening" | "night")
            || is_weekday(&t.lower)
    };
    (led && tokens.get(at + 1).is_some_and(unit)).then_some(at + 2)
}

/// A day in the form that `pattern` shows with `Y`, `M` and `D`; `None` where a part is not known.
pub(super) fn format(date: &Date, pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let same = rest.chars().take_while(|other| *other == c).count();
        match (c, same) {
            ('Y', 2) => out.push_str(&padded(date.year? % 100, 2)),
            ('Y', _) => out.push_str(&padded(date.year?, 4)),
            ('M', 1 | 2) => out.push_str(&padded(date.month?, 2)),
            ('M', 3) => out.push_str(&capital(&month_name(date.month?)[..3])),
            ('M', _) => out.push_str(&capital(month_name(date.month?))),
            ('D', 1 | 2) => out.push_str(&padded(date.day?, 2)),
            (other, _) => (0..same).for_each(|_| out.push(other)),
        }
        rest = &rest[same * c.len_utf8()..];
    }
    Some(out)
}

fn padded(number: u32, digits: usize) -> String {
    format!("{number:0digits$}")
}

pub(super) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Date, numeric};

    #[test]
    fn a_day_that_may_be_two_is_none() {
        let day = |text| numeric(text).and_then(|Date { year, month, day }| Some((year?, month?, day?)));
        assert_eq!(day("2022-08-16"), Some((2022, 8, 16)));
        assert_eq!(day("16/08/2022"), Some((2022, 8, 16)));
        assert_eq!(day("08-16-2022"), Some((2022, 8, 16)));
        assert_eq!(day("05.06.2026"), Some((2026, 6, 5)));
        assert_eq!(day("05/05/2026"), Some((2026, 5, 5)));
        assert_eq!(day("05/06/2026"), None);
    }
}
