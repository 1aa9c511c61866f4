//! The words of a language and what they mean, from `data/words.*.toml`.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::texts::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Morning,
    Midday,
    Afternoon,
    Evening,
    Night,
}

/// What a word can mean. A word may have several senses; its neighbours choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sense {
    Every,
    Other,
    At,
    On,
    In,
    Of,
    And,
    Or,
    Comma,
    Between,
    From,
    To,
    HourWord,
    Am,
    Pm,
    Noon,
    Midnight,
    HalfPast,
    HalfTo,
    QuarterPast,
    QuarterTo,
    Filler,
    Unit(Unit),
    /// So many of a unit in one word: half an hour.
    Span(u32, Unit),
    /// `weekly`: every so many.
    EverySpan(u32, Unit),
    /// A day of the week, 0 is Sunday.
    Weekday(u8),
    /// Each of them: `Mondays`.
    Weekdays(u8),
    Workday,
    Workdays,
    Weekend,
    Weekends,
    Month(u8),
    Today,
    Tomorrow,
    DayAfterTomorrow,
    Part(Part),
    EveryPart(Part),
    TodayPart(Part),
    /// The last is -1, the one before it -2.
    FromEnd(i8),
    Ordinal(u32),
    Number(u32),
    /// Hour, minute, and whether it is of the afternoon where am or pm was written.
    Clock(u32, u32, Option<bool>),
    /// Year, where given, month and day.
    Date(Option<i16>, i8, i8),
    Zone(String),
}

#[derive(Deserialize)]
struct File {
    senses: BTreeMap<String, Vec<String>>,
    endings: Endings,
    questions: BTreeMap<String, String>,
}

/// What may follow the digits of a number.
#[derive(Deserialize)]
pub(super) struct Endings {
    pub ordinal: Vec<String>,
    pub hour: Vec<String>,
}

pub(super) struct Lexicon {
    senses: HashMap<String, Vec<Sense>>,
    pub endings: Endings,
    questions: BTreeMap<String, String>,
}

static ENGLISH: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("../../data/words.en.toml")));
static GERMAN: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("../../data/words.de.toml")));

#[expect(clippy::expect_used, reason = "part of the program, which a test reads")]
fn read(text: &str) -> Lexicon {
    let file: File = toml::from_str(text).expect("valid words");
    let mut senses: HashMap<String, Vec<Sense>> = HashMap::new();
    for (name, words) in file.senses {
        let sense = read_sense(&name).expect("a known sense");
        for word in words {
            senses.entry(word).or_default().push(sense.clone());
        }
    }
    Lexicon { senses, endings: file.endings, questions: file.questions }
}

fn read_sense(name: &str) -> Option<Sense> {
    let words: Vec<&str> = name.split(' ').collect();
    Some(match words[..] {
        [word] => match word {
            "every" => Sense::Every,
            "other" => Sense::Other,
            "at" => Sense::At,
            "on" => Sense::On,
            "in" => Sense::In,
            "of" => Sense::Of,
            "and" => Sense::And,
            "or" => Sense::Or,
            "between" => Sense::Between,
            "from" => Sense::From,
            "to" => Sense::To,
            "hour-word" => Sense::HourWord,
            "am" => Sense::Am,
            "pm" => Sense::Pm,
            "noon" => Sense::Noon,
            "midnight" => Sense::Midnight,
            "half-past" => Sense::HalfPast,
            "half-to" => Sense::HalfTo,
            "quarter-past" => Sense::QuarterPast,
            "quarter-to" => Sense::QuarterTo,
            "filler" => Sense::Filler,
            "workday" => Sense::Workday,
            "workdays" => Sense::Workdays,
            "weekend" => Sense::Weekend,
            "weekends" => Sense::Weekends,
            "today" => Sense::Today,
            "tomorrow" => Sense::Tomorrow,
            "day-after-tomorrow" => Sense::DayAfterTomorrow,
            "last" => Sense::FromEnd(-1),
            "second-last" => Sense::FromEnd(-2),
            _ => return None,
        },
        ["unit", unit] => Sense::Unit(read_unit(unit)?),
        ["span", n, unit] => Sense::Span(n.parse().ok()?, read_unit(unit)?),
        ["every", "fortnight"] => Sense::EverySpan(2, Unit::Week),
        ["every", unit] => Sense::EverySpan(1, read_unit(unit)?),
        ["weekday", day] => Sense::Weekday(read_weekday(day)?),
        ["weekdays", day] => Sense::Weekdays(read_weekday(day)?),
        ["month", n] => Sense::Month(n.parse().ok()?),
        ["ordinal", n] => Sense::Ordinal(n.parse().ok()?),
        ["number", n] => Sense::Number(n.parse().ok()?),
        ["part", part] => Sense::Part(read_part(part)?),
        ["every", "part", part] => Sense::EveryPart(read_part(part)?),
        ["today", "part", part] => Sense::TodayPart(read_part(part)?),
        _ => return None,
    })
}

fn read_unit(name: &str) -> Option<Unit> {
    let units = [Unit::Second, Unit::Minute, Unit::Hour, Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year];
    let names = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
    names.iter().position(|known| *known == name).map(|at| units[at])
}

fn read_weekday(name: &str) -> Option<u8> {
    let names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    names.iter().position(|known| *known == name).and_then(|at| u8::try_from(at).ok())
}

fn read_part(name: &str) -> Option<Part> {
    let parts = [Part::Morning, Part::Midday, Part::Afternoon, Part::Evening, Part::Night];
    let names = ["morning", "midday", "afternoon", "evening", "night"];
    names.iter().position(|known| *known == name).map(|at| parts[at])
}

impl Lexicon {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
        }
    }

    /// The senses of a word or a phrase in lower case; none: it isn't known.
    pub(super) fn find(&self, phrase: &str) -> &[Sense] {
        self.senses.get(phrase).map_or(&[], Vec::as_slice)
    }

    pub(super) fn question<'a>(&'a self, name: &'a str) -> &'a str {
        debug_assert!(self.questions.contains_key(name), "no question {name}");
        self.questions.get(name).map_or(name, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, Lexicon};

    #[test]
    fn both_languages_are_read_and_have_the_same_questions() {
        let [english, german] = [Language::English, Language::German].map(Lexicon::of);
        assert!(english.questions.keys().eq(german.questions.keys()));
        for lexicon in [english, german] {
            for word in lexicon.senses.keys() {
                assert_eq!(*word, word.to_lowercase());
                assert!(word.split(' ').count() <= super::super::tokens::MAX_PHRASE, "{word}");
            }
        }
    }
}
