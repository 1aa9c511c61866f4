//! The phrase lists of `data/lexicon.toml`.

use crate::read::moment::TimeWords;
use crate::read::path::PathWords;
use serde::Deserialize;
use std::sync::LazyLock;

/// The file says what each list means.
#[derive(Debug, Clone, Deserialize)]
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

macro_rules! lists {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {$(
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub $field: Vec<String>,)+
        }
    )+};
}

lists! {
    WriteWords { cues, append, overwrite, content, content_start, content_end, leading, references }
    NoteWords { create, title, title_end, text, text_end }
    ReminderWords { create, lead, text, list }
    MemoryWords { cues, replace, facts }
    MailWords { cues, subject, subject_end, body, body_end }
    InboxWords { cues, unread }
    SearchWords { cues, before, end }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalendarWords {
    pub create: Vec<String>,
    pub lead: Vec<String>,
    pub place: Vec<String>,
    pub repeat: Vec<Repeat>,
    pub list: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    pub words: Vec<String>,
    /// `daily`, `weekly`, `monthly`, `yearly`, or a rule.
    pub rule: String,
}

/// The lists that come with the program. Never panics in a build that passed its tests: one of them parses the file.
#[expect(clippy::expect_used, reason = "the file is part of the program and parsed by a test")]
pub fn lexicon() -> &'static Lexicon {
    static LEXICON: LazyLock<Lexicon> =
        LazyLock::new(|| toml::from_str(include_str!("../data/lexicon.toml")).expect("lexicon.toml is well formed"));
    &LEXICON
}
