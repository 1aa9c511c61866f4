//! The phrase lists of `data/lexicon.toml`.

use crate::read::moment::TimeWords;
use crate::read::path::PathWords;
use serde::Deserialize;
use std::sync::OnceLock;

/// All phrase lists. Each list's meaning is told where it stands in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lexicon {
    /// Nouns of the file system.
    pub paths: PathWords,
    /// Names of times.
    pub time: TimeWords,
    /// Writing files.
    pub write: WriteWords,
    /// Searching the web.
    pub search: SearchWords,
    /// Notes.
    pub notes: NoteWords,
    /// Reminders.
    pub reminders: ReminderWords,
    /// The calendar.
    pub calendar: CalendarWords,
    /// Memory.
    pub memory: MemoryWords,
    /// Mail.
    pub mail: MailWords,
    /// Mail that has come.
    pub inbox: InboxWords,
}

macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident { $($field:ident),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                #[doc = concat!("Phrases for `", stringify!($field), "`.")]
                pub $field: Vec<String>,
            )+
        }
    )+};
}

lists! {
    /// For `write`.
    WriteWords { cues, append, overwrite, content, content_start, content_end, leading, references }
    /// For notes.
    NoteWords { create, title, title_end, text, text_end }
    /// For reminders.
    ReminderWords { create, lead, text, list }
    /// For `save_memory`.
    MemoryWords { cues, replace, facts }
    /// For `mail_draft`.
    MailWords { cues, subject, subject_end, body, body_end }
    /// For `mail_list`.
    InboxWords { cues, unread }
    /// For `web_search`.
    SearchWords { cues, before, end }
}

/// For the calendar.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalendarWords {
    /// What asks for a new event.
    pub create: Vec<String>,
    /// What stands before its title.
    pub lead: Vec<String>,
    /// What says where it goes.
    pub place: Vec<String>,
    /// How often it takes place.
    pub repeat: Vec<Repeat>,
    /// What asks for a look.
    pub list: Vec<String>,
}

/// Words for a repetition.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The words.
    pub words: Vec<String>,
    /// `daily`, `weekly`, `monthly`, `yearly`, or a rule.
    pub rule: String,
}

/// The lists that come with the program.
///
/// # Panics
/// Never in a build that passed its tests: one of them parses the file.
#[expect(clippy::expect_used, reason = "the file is part of the program and parsed by a test")]
pub fn lexicon() -> &'static Lexicon {
    static LEXICON: OnceLock<Lexicon> = OnceLock::new();
    LEXICON.get_or_init(|| toml::from_str(include_str!("../data/lexicon.toml")).expect("lexicon.toml is well formed"))
}
