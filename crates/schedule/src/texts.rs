//! The texts in which timings are said, by language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::civil::{Date, Weekday};
use serde::{Deserialize, Serialize};

/// A language that schedules are read and described in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "de")]
    German,
}

/// The texts of `data/describe.*.toml`; `{…}` in them is filled in.
#[derive(Deserialize)]
pub(crate) struct Texts {
    pub and: String,
    pub or: String,
    pub comma: String,
    weekdays: Vec<String>,
    months: Vec<String>,
    ordinals: Vec<String>,
    last_ordinals: Vec<String>,
    day_number: String,
    suffixes: Vec<String>,
    teen_suffix: String,
    pub units: Vec<String>,
    pub plural_units: Vec<String>,
    pub elapsed_units: Vec<String>,
    pub elapsed_plural_units: Vec<String>,
    pub changes: BTreeMap<String, String>,
    #[serde(flatten)]
    phrases: BTreeMap<String, toml::Value>,
}

static ENGLISH: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../data/describe.en.toml")));
static GERMAN: LazyLock<Texts> = LazyLock::new(|| read(include_str!("../data/describe.de.toml")));

#[expect(clippy::expect_used, reason = "part of the program, which a test reads")]
fn read(text: &str) -> Texts {
    toml::from_str(text).expect("valid texts")
}

impl Texts {
    pub(crate) fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
        }
    }

    /// The phrase of a name with its places filled in.
    pub(crate) fn fill(&self, name: &str, values: &[(&str, &str)]) -> String {
        let text =
            self.phrases.get(name).and_then(toml::Value::as_str).or_else(|| self.changes.get(name).map(String::as_str));
        debug_assert!(text.is_some(), "no text {name}");
        fill(text.unwrap_or(name), values)
    }

    /// `a`, `a and b`, `a, b and c`.
    pub(crate) fn join(&self, items: &[String], last: &str) -> String {
        match items {
            [] => String::new(),
            [one] => one.clone(),
            [others @ .., one] => format!("{}{last}{one}", others.join(&self.comma)),
        }
    }

    pub(crate) fn weekday(&self, weekday: Weekday) -> &str {
        get(&self.weekdays, usize::from(weekday.to_sunday_zero_offset().unsigned_abs()))
    }

    /// The name of a month, 1 to 12.
    pub(crate) fn month(&self, month: u8) -> &str {
        get(&self.months, usize::from(month.saturating_sub(1)))
    }

    /// `first`, `12th`, `last`: `n` counts from the end where it is negative.
    pub(crate) fn ordinal(&self, n: i16) -> String {
        let at = usize::from(n.unsigned_abs()).saturating_sub(1);
        if n < 0 {
            return self.last_ordinals.get(at).cloned().unwrap_or_else(|| {
                fill("{n} {last}", &[("n", &self.day(n.unsigned_abs())), ("last", get(&self.last_ordinals, 0))])
            });
        }
        self.ordinals.get(at).cloned().unwrap_or_else(|| self.day(n.unsigned_abs()))
    }

    /// `1st`, `12th`.
    pub(crate) fn day(&self, n: u16) -> String {
        let teen = (11..=13).contains(&(n % 100));
        let suffix = if teen { &self.teen_suffix } else { get(&self.suffixes, usize::from(n % 10)) };
        fill(&self.day_number, &[("n", &n.to_string()), ("suffix", suffix)])
    }

    pub(crate) fn long_date(&self, date: Date) -> String {
        let month = u8::try_from(date.month()).unwrap_or(1);
        self.fill(
            "long_date",
            &[
                ("weekday", self.weekday(date.weekday())),
                ("day", &date.day().to_string()),
                ("month", self.month(month)),
                ("year", &date.year().to_string()),
            ],
        )
    }
}

fn get(list: &[String], at: usize) -> &str {
    list.get(at).map_or("?", String::as_str)
}

pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

#[cfg(test)]
mod tests {
    use super::{Language, Texts};

    #[test]
    fn both_languages_have_the_same_texts() {
        let [english, german] = [Language::English, Language::German].map(Texts::of);
        assert_eq!(english.phrases.keys().collect::<Vec<_>>(), german.phrases.keys().collect::<Vec<_>>());
        assert_eq!(english.changes.keys().collect::<Vec<_>>(), german.changes.keys().collect::<Vec<_>>());
        for texts in [english, german] {
            assert_eq!((texts.weekdays.len(), texts.months.len(), texts.suffixes.len()), (7, 12, 10));
        }
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21, 22, 31].map(|n| english.day(n)).join(" "),
            "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 31st"
        );
        assert_eq!(german.day(15), "15.");
    }
}
