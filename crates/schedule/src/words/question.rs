//! What is asked where a text doesn't say one timing.

use super::lexicon::Lexicon;
use crate::texts::fill;

/// Why a text isn't read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    Empty,
    UnknownWord(String),
    Misplaced(String),
    TimeMissing,
    DayMissing,
    EitherOr,
    OnceOrAlways,
    DayNotInEachMonth,
    NthOrAlternate(i32),
    WindowUnclear,
    HourUnclear,
    MidnightUnclear,
    TwoTimings,
    Contradiction,
    NotPossible,
    NoSuchDay,
    Past,
}

impl Ask {
    /// Its name in the data and for programs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::UnknownWord(_) => "unknown_word",
            Self::Misplaced(_) => "misplaced",
            Self::TimeMissing => "time_missing",
            Self::DayMissing => "day_missing",
            Self::EitherOr => "either_or",
            Self::OnceOrAlways => "once_or_always",
            Self::DayNotInEachMonth => "day_not_in_each_month",
            Self::NthOrAlternate(_) => "nth_or_alternate",
            Self::WindowUnclear => "window_unclear",
            Self::HourUnclear => "hour_unclear",
            Self::MidnightUnclear => "midnight_unclear",
            Self::TwoTimings => "two_timings",
            Self::Contradiction => "contradiction",
            Self::NotPossible => "not_possible",
            Self::NoSuchDay => "no_such_day",
            Self::Past => "past",
        }
    }

    pub(super) fn text(&self, lexicon: &Lexicon) -> String {
        let text = lexicon.question(self.name());
        match self {
            Self::UnknownWord(word) | Self::Misplaced(word) => fill(text, &[("word", word)]),
            Self::NthOrAlternate(n) => fill(text, &[("n", &n.to_string())]),
            _ => text.to_owned(),
        }
    }
}
