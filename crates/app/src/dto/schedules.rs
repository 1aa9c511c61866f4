use serde::{Deserialize, Serialize};
use steward_core::ports::OccurrenceRow;
use steward_core::{AgentId, RunId, ScheduleId, Timestamp, UserId};
use steward_schedule::{ClockChange, Language, Pause, PauseReason};
use utoipa::ToSchema;

/// When something is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ScheduleTiming {
    /// Wall-clock times by cron: five fields, or six with seconds first; several expressions are separated by `;`.
    Cron {
        /// `0 8 * * MON-FRI`
        expression: String,
    },
    /// Elapsed time, whatever clocks do.
    Interval {
        /// Seconds from one to the next.
        every_seconds: u64,
        /// One of its instants, from which it counts, ms since 1970 UTC; null: 1970.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anchor: Option<Timestamp>,
    },
    /// A single time.
    Once {
        /// By the wall clock of the zone, `2027-03-14T08:00`, or with an offset, `2027-03-14T08:00:00+01:00`.
        at: String,
    },
    /// Wall-clock times by a recurrence rule of iCalendar (RFC 5545).
    Rrule {
        /// `FREQ=MONTHLY;BYDAY=-1FR`
        rule: String,
        /// From when it counts, by the wall clock: `2027-01-01T08:00`.
        begin: String,
    },
}

/// When a schedule is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleWhen {
    /// The times.
    pub timing: ScheduleTiming,
    /// IANA time zone, such as `Europe/Berlin` or `UTC`.
    pub zone: String,
    /// Nothing is due before, ms since 1970 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Timestamp>,
    /// Nothing is due after, ms since 1970 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// Each is put off by up to so many seconds, always the same for the same occurrence.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 86400)]
    pub jitter_seconds: u32,
}

/// What becomes of occurrences whose time passed while nothing could start them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum MissedOccurrences {
    /// None is caught up.
    Skip,
    /// One run for all of them.
    #[default]
    Once,
    /// Each one that was due within so many seconds.
    All {
        /// Seconds.
        within_seconds: u32,
    },
}

/// What becomes of an occurrence that is due while the schedule's last run still works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverlappingOccurrences {
    /// It is skipped.
    #[default]
    Skip,
    /// One waits; others join it.
    QueueOne,
    /// All wait, and run one after the other.
    QueueAll,
    /// The run that works is cancelled.
    CancelOther,
    /// Both work.
    Allow,
}

/// Seconds after which an occurrence that nothing started counts as missed, where nothing else is said.
fn usual_grace() -> u32 {
    60
}

/// After how many failed runs in a row a schedule rests, where nothing else is said.
#[expect(clippy::unnecessary_wraps, reason = "the form that serde asks for")]
fn usual_failures() -> Option<u32> {
    Some(5)
}

/// A schedule to make, or what one becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleInput {
    /// Its name, on one line.
    #[schema(max_length = 100)]
    pub name: String,
    /// The agent whose runs it starts.
    pub agent_id: AgentId,
    /// What the agent is asked each time. `{{date}}`, `{{time}}`, `{{due}}` and `{{schedule}}` in it are filled in.
    #[schema(max_length = 20000)]
    pub request: String,
    /// When.
    pub when: ScheduleWhen,
    /// What becomes of missed occurrences.
    #[serde(default)]
    pub missed: MissedOccurrences,
    /// What becomes of an occurrence that is due while a run still works.
    #[serde(default)]
    pub overlap: OverlappingOccurrences,
    /// Seconds after which an occurrence that nothing started counts as missed.
    #[serde(default = "usual_grace")]
    #[schema(minimum = 1, maximum = 86400)]
    pub grace_seconds: u32,
    /// It rests after so many runs that failed one after the other; null: never.
    #[serde(default = "usual_failures")]
    #[schema(required = false, minimum = 1, maximum = 1000)]
    pub pause_after_failures: Option<u32>,
}

/// What starts runs of an agent by itself, with the rights that its owner has at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Schedule {
    /// Its id.
    pub id: ScheduleId,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner_id: UserId,
    /// Their email address; null: they are gone.
    #[schema(required)]
    pub owner: Option<String>,
    /// The agent whose runs it starts.
    pub agent_id: AgentId,
    /// Its name; null: it is gone.
    #[schema(required)]
    pub agent: Option<String>,
    /// What the agent is asked each time.
    pub request: String,
    /// When.
    pub when: ScheduleWhen,
    /// When, in words.
    pub description: String,
    /// What becomes of missed occurrences.
    pub missed: MissedOccurrences,
    /// What becomes of an occurrence that is due while a run still works.
    pub overlap: OverlappingOccurrences,
    /// Seconds after which an occurrence that nothing started counts as missed.
    pub grace_seconds: u32,
    /// It rests after so many runs that failed one after the other; null: never.
    #[schema(required)]
    pub pause_after_failures: Option<u32>,
    /// Runs that failed one after the other by now, since it was last resumed.
    pub failures: u32,
    /// While it rests: why.
    #[schema(required)]
    pub pause: Option<SchedulePause>,
    /// When it is next due, ms since 1970 UTC; null: never again, or it rests.
    #[schema(required)]
    pub next_at: Option<Timestamp>,
    /// The last occurrence that has its fate; null: there was none.
    #[schema(required)]
    pub last: Option<ScheduleOccurrence>,
    /// Whether the caller may change it: it is their own.
    pub may_change: bool,
    /// ms since 1970 UTC.
    pub created_at: Timestamp,
    /// ms since 1970 UTC.
    pub updated_at: Timestamp,
    /// When it was deleted, ms since 1970 UTC; null: it wasn't.
    #[schema(required)]
    pub deleted_at: Option<Timestamp>,
}

/// Why a schedule rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchedulePauseReason {
    /// A person paused it.
    Person,
    /// Too many runs failed one after the other.
    Failures,
    /// Its owner is gone, or lost a right that it needs.
    Owner,
    /// No run can be started.
    CannotStart,
}

/// A schedule that rests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SchedulePause {
    /// Since when, ms since 1970 UTC.
    pub since: Timestamp,
    /// Why.
    pub reason: SchedulePauseReason,
    /// What was written when it was paused; where no person did: what is wrong.
    pub note: String,
}

impl From<Pause> for SchedulePause {
    fn from(pause: Pause) -> Self {
        let reason = match pause.reason {
            PauseReason::Person => SchedulePauseReason::Person,
            PauseReason::Failures { .. } => SchedulePauseReason::Failures,
            PauseReason::Owner => SchedulePauseReason::Owner,
            PauseReason::CannotStart => SchedulePauseReason::CannotStart,
        };
        let note = match pause.reason {
            PauseReason::Failures { count } if pause.note.is_empty() => {
                format!("{count} runs failed one after the other; look at the last one, then resume it")
            }
            _ => pause.note,
        };
        Self { since: pause.since, reason, note }
    }
}

/// Where an occurrence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OccurrenceStatus {
    /// It isn't due yet.
    Planned,
    /// It was due and waits for the run before it.
    Queued,
    /// A run was started for it.
    Ran,
    /// The run of another occurrence is also its own.
    Joined,
    /// The schedule's settings say so, or it rested.
    Skipped,
    /// Its time passed and it isn't caught up.
    Missed,
}

/// One time at which a schedule is, or was, due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScheduleOccurrence {
    /// The time that the schedule says, ms since 1970 UTC. It tells its occurrences apart.
    pub nominal: Timestamp,
    /// When it starts: put off by the jitter, ms since 1970 UTC.
    pub due: Timestamp,
    /// Whether a person asked for it.
    pub by_hand: bool,
    /// Where it stands.
    pub status: OccurrenceStatus,
    /// Why it was skipped or missed: `still_running`, `queue_full`, `paused`, `not_caught_up`, `outside_window`, `paused_since`.
    #[schema(required)]
    pub reason: Option<String>,
    /// The occurrence that it joined, ms since 1970 UTC.
    #[schema(required)]
    pub joined: Option<Timestamp>,
    /// Its run.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// How that ended: `completed`, `failed`, `stopped`, `limited`, `rejected`, or that it was `deleted`; null: it works, or
    /// there is none.
    #[schema(required)]
    pub outcome: Option<String>,
    /// When its fate was decided, ms since 1970 UTC.
    #[schema(required)]
    pub settled_at: Option<Timestamp>,
}

impl From<OccurrenceRow> for ScheduleOccurrence {
    fn from(row: OccurrenceRow) -> Self {
        let status = match row.settled.as_ref().map(|fate| fate.word.as_str()) {
            None if row.queued => OccurrenceStatus::Queued,
            None => OccurrenceStatus::Planned,
            Some("ran") => OccurrenceStatus::Ran,
            Some("joined") => OccurrenceStatus::Joined,
            Some("skipped") => OccurrenceStatus::Skipped,
            Some(_) => OccurrenceStatus::Missed,
        };
        let (reason, joined) = row.settled.map_or((None, None), |fate| (fate.reason, fate.into));
        Self {
            nominal: row.nominal,
            due: row.due,
            by_hand: row.by_hand,
            status,
            reason,
            joined,
            run_id: row.run,
            outcome: row.outcome,
            settled_at: row.settled_at,
        }
    }
}

/// The language of descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleLanguage {
    /// English
    #[default]
    En,
    /// German
    De,
}

impl From<ScheduleLanguage> for Language {
    fn from(language: ScheduleLanguage) -> Self {
        match language {
            ScheduleLanguage::En => Self::English,
            ScheduleLanguage::De => Self::German,
        }
    }
}

/// What to look at before a schedule is made: words, or times.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePreviewInput {
    /// `every weekday at 8`, in English or German.
    #[schema(max_length = 400)]
    pub words: Option<String>,
    /// In the place of words.
    pub when: Option<ScheduleWhen>,
    /// The time zone that words are read in, unless they name another one.
    pub zone: Option<String>,
    /// The language of the answer.
    #[serde(default)]
    pub language: ScheduleLanguage,
}

/// A time that was read, with what it says in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReadWhen {
    /// The times.
    pub when: ScheduleWhen,
    /// In words.
    pub description: String,
}

/// What is asked back where words don't say one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScheduleQuestion {
    /// Its name for programs, such as `time_missing`.
    pub about: String,
    /// The question.
    pub text: String,
    /// Times that the words may mean; empty: say it anew.
    pub choices: Vec<ReadWhen>,
}

/// One of the next times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NextOccurrence {
    /// The time that the schedule says, ms since 1970 UTC.
    pub nominal: Timestamp,
    /// When it starts: put off by the jitter, ms since 1970 UTC.
    pub due: Timestamp,
    /// By the wall clock of the zone, with its offset: `2027-03-14T03:00:00-04:00`.
    pub shown: String,
    /// How a change of the clock bears on it.
    pub change: OccurrenceClockChange,
}

/// How a change of the clock bears on an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OccurrenceClockChange {
    /// Its wall-clock time exists once.
    None,
    /// Its wall-clock time is missing that day: it is due at the first instant after the gap.
    AfterGap,
    /// Its wall-clock time comes twice that day; this is the first.
    FirstOfTwo,
    /// The repeated pass of a time that comes twice, for times of every hour.
    SecondOfTwo,
}

impl From<ClockChange> for OccurrenceClockChange {
    fn from(change: ClockChange) -> Self {
        match change {
            ClockChange::None => Self::None,
            ClockChange::AfterGap => Self::AfterGap,
            ClockChange::FirstOfTwo => Self::FirstOfTwo,
            ClockChange::SecondOfTwo => Self::SecondOfTwo,
        }
    }
}

/// What words or times say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SchedulePreview {
    /// The times; null: there is a question.
    #[schema(required)]
    pub when: Option<ScheduleWhen>,
    /// In words; empty where there is a question.
    pub description: String,
    /// What happens when clocks change, and when they do next; empty in zones where they don't.
    pub clock_changes: String,
    /// The next five times, or fewer if it ends.
    pub next: Vec<NextOccurrence>,
    /// What is asked back.
    #[schema(required)]
    pub question: Option<ScheduleQuestion>,
}

/// A pause by a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SchedulePauseInput {
    /// Why, for whoever looks later.
    #[serde(default)]
    #[schema(max_length = 500)]
    pub note: String,
}

/// A run that was started at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct ScheduleRunStarted {
    /// The run.
    pub run_id: RunId,
}
