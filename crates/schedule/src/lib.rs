//! When something is due, and nothing else: instants come in, instants go out.
//!
//! No I/O, no clock, no randomness. [`Timing`] says when, [`Plan`] is a timing in its zone with its limits, [`decide`] says which
//! occurrences are to be stored and what becomes of each, [`describe`] and [`read_words`] turn timings into words and back.
//! Wall-clock times become instants in one place, `wall.rs`, whose rule [`explain_changes`] puts into words.

mod cron;
mod describe;
mod error;
mod fate;
mod pause;
mod plan;
mod rrule;
mod texts;
mod timing;
mod wall;
mod words;
mod zone;

pub use cron::{Cron, MAX_CRON_LINES};
pub use describe::{describe, explain_changes};
pub use error::TimingError;
pub use fate::{
    Decision, Fate, MAX_QUEUED, MAX_ROWS, MissReason, MissedPolicy, OpenRow, OverlapPolicy, Policy, ROWS_AHEAD,
    SkipReason, Stored, decide, list_withdrawn,
};
pub use pause::{MAX_NOTE, Outcome, Pause, PauseReason, count_failures, pause_for_failures};
pub use plan::{MAX_JITTER_SECONDS, Occurrence, Plan, ScheduleTime};
pub use rrule::{MAX_COUNT, Rrule};
pub use texts::Language;
pub use timing::{IntervalSeconds, MAX_INTERVAL_SECONDS, OnceTime, Timing};
pub use wall::ClockChange;
pub use words::{MAX_WORDS_LENGTH, Question, ReadContext, ReadTiming, Reading, read_words};
pub use zone::{ZoneChange, Zones};
