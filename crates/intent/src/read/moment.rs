//! Points in time in people's words: "tomorrow at 9", "next Monday 14:30", "in 20 minutes".

use super::number;
use crate::lexicon::{Named, TimeWords};
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Span, ToSpan};
use steward_core::text::{Word, words};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Local time.
    pub at: DateTime,
    /// Whether a day was given.
    pub day: bool,
    pub time: bool,
    /// Bytes of the request that give it.
    pub spans: Vec<(usize, usize)>,
}

#[derive(Default)]
struct Found {
    date: Option<Date>,
    time: Option<Time>,
    exact: Option<DateTime>,
    /// Whether a day was given that may mean two.
    unclear: bool,
    used: Vec<bool>,
}

/// The time that a request mentions. Without a day it is the next such time; without a time of day it is 9:00.
pub fn moment(request: &str, now: DateTime, names: &TimeWords) -> Option<Moment> {
    let words = words(request);
    let mut found = Found { used: vec![false; words.len()], ..Found::default() };
    let mut at = 0;
    while at < words.len() {
        let taken = length(&words, at, now, names, &mut found)
            .or_else(|| day(&words, at, now, names, &mut found))
            .or_else(|| hour(&words, at, names, &mut found));
        match taken {
            Some(count) => {
                for flag in &mut found.used[at..(at + count).min(words.len())] {
                    *flag = true;
                }
                at += count;
            }
            None => at += 1,
        }
    }
    if found.unclear {
        return None;
    }
    let (day, time) = (found.date.is_some(), found.time.is_some());
    let when = match (found.exact, found.date, found.time) {
        (Some(exact), None, None) => exact,
        (Some(exact), None, Some(time)) => exact.date().to_datetime(time),
        (_, Some(date), time) => date.to_datetime(time.unwrap_or(Time::constant(9, 0, 0, 0))),
        (None, None, Some(time)) => {
            let today = now.date().to_datetime(time);
            if today > now { today } else { now.date().tomorrow().ok()?.to_datetime(time) }
        }
        (None, None, None) => return None,
    };
    Some(Moment {
        at: when,
        day: day || found.exact.is_some(),
        time: time || found.exact.is_some(),
        spans: spans(&words, &found.used, names),
    })
}

fn spans(words: &[Word<'_>], used: &[bool], names: &TimeWords) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !used[at] {
            at += 1;
            continue;
        }
        let mut from = at;
        let leads = |from: usize, count: usize| {
            from >= count
                && !used[from - count..from].contains(&true)
                && names.before.contains(&phrase(words, from - count, count))
        };
        while let Some(count) = (1..=2).rev().find(|count| leads(from, *count)) {
            from -= count;
        }
        let mut to = at;
        while to + 1 < words.len()
            && (used[to + 1] || (to + 2 < words.len() && used[to + 2] && names.before.contains(&words[to + 1].lower)))
        {
            to += 1;
        }
        spans.push((words[from].start, words[to].end));
        at = to + 1;
    }
    spans
}

/// "in 20 minutes", "in half an hour", "two days from now".
fn length(words: &[Word<'_>], at: usize, now: DateTime, names: &TimeWords, found: &mut Found) -> Option<usize> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let within = (1..=2).rev().find(|count| names.within.contains(&phrase(words, at, *count)));
    let start = at + within.unwrap_or_default();
    let within = within.is_some();
    let (amount, mut next) = match lower(start) {
        "half" if matches!(lower(start + 1), "an" | "a") => (0.5, start + 2),
        "a" | "an" | "einer" | "einem" => (1.0, start + 1),
        word => (number::value(word).or_else(|| number::small(word).map(f64::from))?, start + 1),
    };
    let minutes = unit(lower(next), names)?;
    next += 1;
    let from_now = lower(next) == "from" && lower(next + 1) == "now";
    if !within && !from_now {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked by the calendar")]
    let total = (amount * minutes as f64).round() as i64;
    let span: Span = if minutes >= 1440 * 28 {
        #[expect(clippy::cast_possible_truncation, reason = "small")]
        let months = amount as i64 * (minutes / (1440 * 28));
        Span::new().try_months(months).ok()?
    } else {
        Span::new().try_minutes(total).ok()?
    };
    let then = now.checked_add(span).ok()?;
    if minutes >= 1440 {
        found.date = Some(then.date());
    } else {
        found.exact = Some(then);
    }
    Some(next + if from_now { 2 } else { 0 } - at)
}

/// The words from `at` on, with single spaces.
fn phrase(words: &[Word<'_>], at: usize, count: usize) -> String {
    let words: Vec<&str> = words.iter().skip(at).take(count).map(|word| word.lower.as_str()).collect();
    words.join(" ")
}

/// Minutes that `named` words at `at` stand for, and the number of these words.
fn shift(words: &[Word<'_>], at: usize, named: &[Named]) -> Option<(i64, usize)> {
    (1..=3).rev().find_map(|count| {
        let phrase = phrase(words, at, count);
        named.iter().find(|one| one.words.contains(&phrase)).map(|one| (one.minutes, count))
    })
}

fn unit(word: &str, names: &TimeWords) -> Option<i64> {
    names.units.iter().find(|unit| unit.words.iter().any(|w| w == word)).map(|unit| unit.minutes)
}

fn position(lists: &[Vec<String>], word: &str) -> Option<usize> {
    lists.iter().position(|list| list.iter().any(|w| w == word))
}

/// A day by name, weekday, or date.
fn day(words: &[Word<'_>], at: usize, now: DateTime, names: &TimeWords, found: &mut Found) -> Option<usize> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let today = now.date();
    if found.date.is_some() {
        return None;
    }
    // "the day after tomorrow" has four words; lists hold phrases with spaces.
    for count in (1..=4).rev() {
        let phrase = phrase(words, at, count);
        if let Some(days) = position(&names.days, &phrase) {
            found.date = today.checked_add(i64::try_from(days).ok()?.days()).ok();
            if phrase == "tonight" {
                found.time = found.time.or(Some(Time::constant(20, 0, 0, 0)));
            }
            return found.date.map(|_| count);
        }
    }
    let next = names.next.iter().any(|w| w == lower(at));
    let start = at + usize::from(next);
    if let Some(weekday) = position(&names.weekdays, lower(start)) {
        let weekday = Weekday::from_monday_zero_offset(i8::try_from(weekday).ok()?).ok()?;
        found.date = today.nth_weekday(1, weekday).ok();
        return found.date.map(|_| start + 1 - at);
    }
    if next {
        let minutes = unit(lower(start), names)?;
        if minutes < 1440 {
            return None;
        }
        let span = if minutes >= 1440 * 28 { 1.month() } else { (minutes / 1440).days() };
        found.date = today.checked_add(span).ok();
        return found.date.map(|_| start + 1 - at);
    }
    written(words, at, today, names, found)
}

/// `2026-12-02`, `24.12.2026`, `December 2, 2026`, `2nd of December`, `3. Mai`.
fn written(words: &[Word<'_>], at: usize, today: Date, names: &TimeWords, found: &mut Found) -> Option<usize> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let number = |index: usize| -> Option<i8> {
        let word = lower(index);
        word.parse().ok().or_else(|| number::ordinal(word).and_then(|n| i8::try_from(n).ok()))
    };
    let year_at = |index: usize| lower(index).parse::<i16>().ok().filter(|year| (1900..2200).contains(year));
    let word = lower(at);
    if let Ok(moment) = word.replace(' ', "T").parse::<DateTime>()
        && word.contains('t')
    {
        found.date = Some(moment.date());
        found.time = Some(moment.time());
        return Some(1);
    }
    if let Ok(date) = word.parse::<Date>()
        && word.len() == 10
    {
        found.date = Some(date);
        return Some(1);
    }
    let pieces: Vec<&str> = word.split(['.', '/', '-']).filter(|piece| !piece.is_empty()).collect();
    if pieces.len() == 3
        && let (Ok(first), Ok(second), Ok(y)) = (pieces[0].parse(), pieces[1].parse(), pieces[2].parse::<i16>())
    {
        let (d, m) = match word.contains('.') {
            true => (first, second),
            // Which of the two is the month differs by country; a number that can't be a month is the day.
            false if first == second || first > 12 => (first, second),
            false if second > 12 => (second, first),
            false => {
                found.unclear = true;
                return Some(1);
            }
        };
        found.date = Date::new(if y < 100 { y + 2000 } else { y }, m, d).ok();
        return found.date.map(|_| 1);
    }
    let (month, day, mut count) = if let Some(month) = position(&names.months, word) {
        (month, number(at + 1)?, 2)
    } else {
        let day = number(at)?;
        let of = usize::from(lower(at + 1) == "of");
        (position(&names.months, lower(at + 1 + of))?, day, 2 + of)
    };
    let month = i8::try_from(month + 1).ok()?;
    let year = year_at(at + count);
    count += usize::from(year.is_some());
    let date = Date::new(year.unwrap_or(today.year()), month, day).ok()?;
    found.date = match year {
        None if date < today => Date::new(today.year() + 1, month, day).ok(),
        _ => Some(date),
    };
    found.date.map(|_| count)
}

/// `14:30`, `9am`, `9 pm`, `at 9`, `noon`, `9 o'clock`, `um 9 Uhr`.
fn hour(words: &[Word<'_>], at: usize, names: &TimeWords, found: &mut Found) -> Option<usize> {
    if found.time.is_some() {
        return None;
    }
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    if let Some((minutes, count)) = shift(words, at, &names.hours) {
        found.time = clock(minutes);
        return found.time.map(|_| count);
    }
    if let Some((minutes, count)) = shift(words, at, &names.from)
        && let Some(hours) = number::small(lower(at + count)).or_else(|| lower(at + count).parse().ok())
        && (1..=12).contains(&hours)
    {
        found.time = clock(i64::from(hours) * 60 + minutes);
        return found.time.map(|_| count + 1);
    }
    let marked = (1..=2).any(|count| at >= count && names.at.contains(&phrase(words, at - count, count)));
    let word = lower(at);
    let spoken = number::small(word).filter(|_| marked).map(|hour| hour.to_string());
    let word = spoken.as_deref().unwrap_or(word);
    let half = ["am", "pm", "a.m", "p.m", "a.m.", "p.m."]
        .into_iter()
        .find(|half| word.ends_with(half) && word.len() > half.len());
    let (digits, mut suffix, mut count) = match half {
        Some(half) => (&word[..word.len() - half.len()], Some(half), 1),
        None => (word, None, 1),
    };
    let (hours, minutes) = match digits.split_once([':', 'h']) {
        Some((hours, minutes)) if minutes.len() == 2 => (hours.parse::<i64>().ok()?, minutes.parse::<i64>().ok()?),
        Some(_) => return None,
        None => (number::digits(digits)?.parse::<i64>().ok()?, 0),
    };
    if suffix.is_none() {
        match lower(at + 1) {
            half @ ("am" | "pm" | "a.m" | "p.m")
                if at + 2 >= words.len() || position(&names.months, lower(at + 3)).is_none() =>
            {
                suffix = Some(if half.starts_with('p') { "pm" } else { "am" });
                count += 1;
            }
            "o'clock" | "o’clock" | "uhr" | "h" | "heures" | "horas" => {
                suffix = Some("");
                count += 1;
            }
            _ => {}
        }
    }
    if suffix.is_none() && !marked && !digits.contains(':') {
        return None;
    }
    let mut hours = hours;
    if suffix.is_some_and(|s| s.starts_with('p')) && hours < 12 {
        hours += 12;
    } else if suffix.is_some_and(|s| s.starts_with('a')) && hours == 12 {
        hours = 0;
    }
    let after = (at + count..at + count + 4).map(&lower).collect::<Vec<_>>().join(" ");
    if hours <= 12 && suffix.is_none_or(str::is_empty) {
        for part in ["in the afternoon", "in the evening", "at night"] {
            if after.starts_with(part) {
                // Twelve at night is midnight, in the afternoon it is noon.
                hours = match (hours, part) {
                    (12, "at night") => 0,
                    (small, "at night") if small < 6 => small,
                    (12, _) => 12,
                    (hours, _) => hours + 12,
                };
                count += part.split(' ').count();
            }
        }
        if after.starts_with("in the morning") {
            count += 3;
        }
    }
    if minutes >= 60 {
        return None;
    }
    let (more, taken) = shift(words, at + count, &names.past).unwrap_or_default();
    count += taken;
    found.time = clock(hours * 60 + minutes + more);
    found.time.map(|_| count)
}

fn clock(minutes: i64) -> Option<Time> {
    let minutes = i16::try_from(minutes).ok().filter(|m| (0..1440).contains(m))?;
    Time::new(i8::try_from(minutes / 60).ok()?, i8::try_from(minutes % 60).ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::moment;
    use jiff::civil::date;

    #[test]
    fn people_s_times() {
        // A Saturday.
        let now = date(2026, 11, 21).at(10, 15, 0, 0);
        let names = &crate::lexicon::lexicon().time;
        for (request, expect) in [
            ("Remind me tomorrow at 9 to call the bank.", "2026-11-22T09:00"),
            ("next Monday 14:30 standup", "2026-11-23T14:30"),
            ("in 20 minutes", "2026-11-21T10:35"),
            ("in half an hour check the oven", "2026-11-21T10:45"),
            ("am 3. Mai um 8 Uhr", "2027-05-03T08:00"),
            ("on December 2 at 5pm", "2026-12-02T17:00"),
            ("2026-12-02", "2026-12-02T09:00"),
            ("at 8", "2026-11-22T08:00"),
            ("today at 6 pm", "2026-11-21T18:00"),
            ("the day after tomorrow at noon", "2026-11-23T12:00"),
            ("in two weeks", "2026-12-05T09:00"),
            ("on Friday at 7:45 in the morning", "2026-11-27T07:45"),
            ("on Friday at 12 at night", "2026-11-27T00:00"),
            ("on Friday at 11 at night", "2026-11-27T23:00"),
            ("on Friday at 2 at night", "2026-11-27T02:00"),
            ("on 24/12/2026 at 9", "2026-12-24T09:00"),
            ("on 12/24/2026 at 9", "2026-12-24T09:00"),
            ("am 03.12.2026 um 9 Uhr", "2026-12-03T09:00"),
            ("morgen um halb neun", "2026-11-22T08:30"),
            ("tomorrow at half past eight", "2026-11-22T08:30"),
            ("tomorrow at a quarter to 8", "2026-11-22T07:45"),
            ("morgen um Viertel nach 7", "2026-11-22T07:15"),
            ("mañana a las nueve y media", "2026-11-22T09:30"),
            ("demain à neuf heures et quart", "2026-11-22T09:15"),
            ("demain à 8 heures moins le quart", "2026-11-22T07:45"),
            ("dentro de 20 minutos", "2026-11-21T10:35"),
            ("in zwei Stunden", "2026-11-21T12:15"),
        ] {
            let found = moment(request, now, names).map(|m| m.at.strftime("%Y-%m-%dT%H:%M").to_string());
            assert_eq!(found.as_deref(), Some(expect), "{request}");
        }
        assert!(moment("list 5 files", now, names).is_none());
        assert!(moment("on 03/12/2026 at 9", now, names).is_none(), "March or December");
    }
}
