//! What a text says, part by part, and which senses fill which part.

use super::lexicon::{Part, Sense, Unit};

/// A time of the day as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub hour: u32,
    pub minute: u32,
    /// Whether am or pm was said; `Some(true)`: of the afternoon.
    pub after_noon: Option<bool>,
    /// A bare hour, without minutes and without a word for the hour.
    pub spoken: bool,
    pub midnight: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Day,
    Workday,
    Weekday(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// So many days after today.
    Days(i64),
    Date(Option<i16>, i8, i8),
    /// So much time from now.
    Delay(u32, Unit),
}

/// What was said, part by part.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// It was said that it repeats.
    pub repeats: bool,
    pub step: Option<(u32, Unit)>,
    /// Bit 0 is Sunday.
    pub weekdays: u64,
    /// The nth, negative from the end, of what.
    pub nth: Vec<(i32, Target)>,
    pub month_days: Vec<u32>,
    /// In what nth and the days count.
    pub period: Option<Unit>,
    pub months: u64,
    pub times: Vec<Clock>,
    pub window: Option<(Clock, Clock)>,
    pub part: Option<Part>,
    pub when: Option<When>,
    pub zone: Option<String>,
}

pub(super) fn as_number(sense: &Sense) -> Option<u32> {
    if let Sense::Number(number) = sense { Some(*number) } else { None }
}

pub(super) fn as_unit(sense: &Sense) -> Option<Unit> {
    if let Sense::Unit(unit) = sense { Some(*unit) } else { None }
}

pub(super) fn as_month(sense: &Sense) -> Option<u8> {
    if let Sense::Month(month) = sense { Some(*month) } else { None }
}

pub(super) fn is_month(sense: &Sense) -> bool {
    as_month(sense).is_some()
}

pub(super) fn as_part(sense: &Sense) -> Option<Part> {
    if let Sense::Part(part) = sense { Some(*part) } else { None }
}

pub(super) fn as_position(sense: &Sense) -> Option<i32> {
    match sense {
        Sense::Ordinal(n) => i32::try_from(*n).ok(),
        Sense::FromEnd(n) => Some(i32::from(*n)),
        _ => None,
    }
}

pub(super) fn as_target(sense: &Sense) -> Option<Target> {
    match sense {
        Sense::Unit(Unit::Day) => Some(Target::Day),
        Sense::Workday => Some(Target::Workday),
        Sense::Weekday(day) => Some(Target::Weekday(*day)),
        _ => None,
    }
}

pub(super) fn as_span(sense: &Sense) -> Option<(u32, Unit)> {
    if let Sense::Span(n, unit) = sense { Some((*n, *unit)) } else { None }
}
