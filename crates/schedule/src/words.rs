//! Timings from words, in English and German.
//!
//! A text is read whole or asked about: each of its words is known and used exactly once, and what it leaves open is a question,
//! never a guess. Two things are taken for granted, as both languages do: an hour without am or pm is one of 24 (a bare 1 to 5
//! is asked about), and a timing of so many weeks or days counts from the first time that comes.

mod clock;
mod days;
mod grammar;
mod lexicon;
mod question;
mod resolve;
mod said;
mod tokens;

use jiff::Timestamp as Instant;
use serde::{Deserialize, Serialize};
use steward_core::Timestamp;

use crate::describe::describe;
use crate::plan::ScheduleTime;
use crate::texts::Language;
use crate::timing::Timing;
use crate::zone::Zones;
use lexicon::Lexicon;
use question::Ask;
use resolve::{Resolved, Resolver};

/// The longest text that is read, in bytes.
pub const MAX_WORDS_LENGTH: usize = 400;

/// What words are read against.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    /// From when `tomorrow` and the first occurrence count.
    pub now: Timestamp,
    /// The zone, by its IANA name, unless the text names another one.
    pub zone: &'a str,
    /// The language of descriptions, and of questions about a text in neither.
    pub language: Language,
}

/// What a text says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reading {
    Timing(Box<ReadTiming>),
    Question(Question),
}

/// A timing that was read, with what it says in words: what a person confirms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTiming {
    pub time: ScheduleTime,
    pub description: String,
}

/// What is to be asked before anything is planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its name for programs, such as `time_missing`.
    pub about: String,
    /// The question, in the language of the text.
    pub text: String,
    /// Timings that the text may mean; empty: it is to be said anew.
    pub choices: Vec<ReadTiming>,
}

/// Reads a timing in English or German. Never fails: what isn't clear comes back as a question.
pub fn read_words(text: &str, context: &ReadContext, zones: &Zones) -> Reading {
    let own = context.language;
    let other = if own == Language::English { Language::German } else { Language::English };
    if text.len() > MAX_WORDS_LENGTH || text.trim().is_empty() {
        return ask(&Ask::Empty, own, Vec::new());
    }
    let (first, second) = (read_in(own, text, context, zones), read_in(other, text, context, zones));
    match (first, second) {
        (Reading::Timing(one), Reading::Timing(two)) if one.time != two.time => {
            ask(&Ask::EitherOr, own, vec![*one, *two])
        }
        (found @ Reading::Timing(_), _) | (_, found @ Reading::Timing(_)) => found,
        // The language that knows all its words asks.
        (Reading::Question(one), Reading::Question(two)) => {
            let unknown = Ask::UnknownWord(String::new()).name();
            let knows = |language| count_known(language, text, zones);
            let second_knows_more = (one.about == unknown && two.about != unknown) || knows(other) > knows(own);
            Reading::Question(if second_knows_more { two } else { one })
        }
    }
}

fn count_known(language: Language, text: &str, zones: &Zones) -> usize {
    tokens::split(text, Lexicon::of(language), zones).iter().filter(|token| !token.senses.is_empty()).count()
}

fn ask(about: &Ask, language: Language, choices: Vec<ReadTiming>) -> Reading {
    let text = about.text(Lexicon::of(language));
    Reading::Question(Question { about: about.name().to_owned(), text, choices })
}

fn read_in(language: Language, text: &str, context: &ReadContext, zones: &Zones) -> Reading {
    read(language, text, context, zones).unwrap_or_else(|about| ask(&about, language, Vec::new()))
}

fn read(language: Language, text: &str, context: &ReadContext, zones: &Zones) -> Result<Reading, Ask> {
    let tokens = tokens::split(text, Lexicon::of(language), zones);
    if tokens.is_empty() {
        return Err(Ask::Empty);
    }
    let said = grammar::parse(&tokens)?;
    let zone_name = said.zone.as_deref().unwrap_or(context.zone);
    let zone = zones.find(zone_name).map_err(|_| Ask::UnknownWord(zone_name.to_owned()))?;
    let now = Instant::from_millisecond(context.now.0).map_err(|_| Ask::NotPossible)?;
    let names_day = match said.when {
        Some(said::When::Days(_)) => true,
        Some(said::When::Delay(..)) => !said.times.is_empty(),
        _ => false,
    };
    if names_day {
        // `tomorrow at 8 in Asia/Tokyo`, where another day may be tomorrow.
        let own = zones.find(context.zone).map_err(|_| Ask::UnknownWord(context.zone.to_owned()))?;
        if own.to_datetime(now).date() != zone.to_datetime(now).date() {
            return Err(Ask::DayMissing);
        }
    }
    let describe_timing = |timing: Timing| {
        let time = ScheduleTime::new(timing, zone_name);
        let plan = time.plan("", zones).map_err(|_| Ask::NotPossible)?;
        Ok(ReadTiming { description: describe(&plan, context.language), time })
    };
    match (Resolver { said: &said, zone: &zone, now }).resolve()? {
        Resolved::One(timing) => Ok(Reading::Timing(Box::new(describe_timing(timing)?))),
        Resolved::Choose(about, timings) => {
            let choices = timings.into_iter().map(describe_timing).collect::<Result<Vec<_>, Ask>>()?;
            Ok(ask(&about, language, choices))
        }
    }
}
