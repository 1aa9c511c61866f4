//! The phrase lists of `data/lexicon.toml`.

use crate::settings::read;
use serde::Deserialize;
use std::sync::LazyLock;

/// The file says what each list means.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lexicon {
    pub paths: PathWords,
    pub time: TimeWords,
    pub write: WriteWords,
    pub search: SearchWords,
    pub notes: NoteWords,
    pub reminders: ReminderWords,
    pub calendar: CalendarWords,
    pub memory: MemoryWords,
    pub mail: MailWords,
    pub inbox: InboxWords,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct PathWords {
    /// "file", "document": any file.
    pub file: Vec<String>,
    pub folder: Vec<String>,
    /// "csv", "log", "page".
    pub kinds: Vec<Kind>,
}

/// Words for a kind of entry, and the extensions they stand for.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Kind {
    /// Such as "spreadsheet".
    pub words: Vec<String>,
    /// Such as `csv`.
    pub extensions: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct TimeWords {
    /// Twelve lists, January first.
    pub months: Vec<Vec<String>>,
    /// Seven lists, Monday first.
    pub weekdays: Vec<Vec<String>>,
    /// Words for days counted from today: today, tomorrow, the day after.
    pub days: Vec<Vec<String>>,
    /// Words for an hour of the day.
    pub hours: Vec<Named>,
    /// Words for lengths of time, in minutes.
    pub units: Vec<Named>,
    /// "at", "on", "by": removed together with the time.
    pub before: Vec<String>,
    /// "next", "coming".
    pub next: Vec<String>,
    /// "in", "after": before a length of time.
    pub within: Vec<String>,
    /// "at", "um", "@": before a bare hour.
    pub at: Vec<String>,
    /// Words for the hours one to twelve.
    pub small: Vec<Vec<String>>,
    /// "half past", "halb": minutes from the hour that follows.
    pub from: Vec<Named>,
    /// "y media", "et quart": minutes from the hour before.
    pub past: Vec<Named>,
}

/// Words for a number of minutes.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Named {
    pub words: Vec<String>,
    /// For hours of the day, since midnight.
    pub minutes: i64,
}

macro_rules! lists {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {$(
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub $field: Vec<String>,)+
        }
    )+};
}

lists! {
    WriteWords {
        cues, append, overwrite, replaces, replaced, keeps, edits, nouns, inserts, ends, places, content, content_start,
        content_end, leading, references,
    }
    NoteWords { create, title, title_end, text, text_end }
    ReminderWords { create, lead, text, list }
    MemoryWords { cues, replace, facts }
    MailWords { cues, subject, subject_end, body, body_end }
    InboxWords { cues, unread }
    SearchWords { cues, before, end }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalendarWords {
    pub create: Vec<String>,
    pub lead: Vec<String>,
    pub place: Vec<String>,
    pub repeat: Vec<Repeat>,
    pub list: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    pub words: Vec<String>,
    /// `daily`, `weekly`, `monthly`, `yearly`, or a rule.
    pub rule: String,
}

pub fn lexicon() -> &'static Lexicon {
    static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| read(include_str!("../data/lexicon.toml")));
    &LEXICON
}
