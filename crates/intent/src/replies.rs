//! Replies without a larger model: the sentences of `data/replies.toml`, in the language of the request.

use crate::kinds::{Group, Kind};
use crate::settings::read;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use steward_core::event::Setup;
use steward_core::reference::Reference;

const TRIES: usize = 3;
const FILES: usize = 5;
/// Most passages that are quoted.
const PASSAGES: usize = 3;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    en: String,
    de: String,
    fr: String,
    es: String,
}

impl Texts {
    fn of(&self, language: &str) -> &str {
        match language {
            "de" => &self.de,
            "fr" => &self.fr,
            "es" => &self.es,
            _ => &self.en,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
struct Can {
    tool: String,
    #[serde(flatten)]
    texts: Texts,
}

#[derive(Debug, Clone, Deserialize)]
struct Try {
    endings: Vec<String>,
    #[serde(flatten)]
    texts: Texts,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replies {
    connect: Texts,
    files: Texts,
    tries: Texts,
    can: Vec<Can>,
    #[serde(rename = "try")]
    to_try: Vec<Try>,
    talk: BTreeMap<String, Texts>,
    beyond: BTreeMap<String, Texts>,
    how: BTreeMap<String, Texts>,
    frame: BTreeMap<String, Texts>,
}

#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    pub language: &'a str,
    pub setup: &'a Setup,
    pub files: &'a [String],
}

impl Replies {
    pub fn shipped() -> &'static Self {
        static REPLIES: LazyLock<Replies> = LazyLock::new(|| read(include_str!("../data/replies.toml")));
        &REPLIES
    }

    /// The reply to a kind that no tool handles, or to an act that lacks something.
    pub fn of_kind(&self, kind: &Kind, language: &str) -> Option<&str> {
        let texts = match kind.group {
            Group::Talk => self.talk.get(&kind.name),
            Group::Beyond => self.beyond.get(&kind.name),
            Group::Act => self.how.get(&kind.name),
            Group::Look => self.beyond.get("unknown"),
        };
        Some(texts?.of(language))
    }

    /// The reply to talk, or to what is beyond this model.
    pub fn reply(&self, kind: &Kind, here: Here<'_>) -> String {
        match kind.group {
            Group::Talk | Group::Beyond => self.filled(self.of_kind(kind, here.language).unwrap_or_default(), here),
            Group::Look | Group::Act => self.beyond("unknown", here),
        }
    }

    pub fn beyond(&self, why: &str, here: Here<'_>) -> String {
        let text = self.beyond.get(why).map_or("", |texts| texts.of(here.language));
        self.filled(text, here)
    }

    /// Says that an act can't be done with what was given, and how to phrase it.
    pub fn too_little(&self, kind: &Kind, here: Here<'_>) -> String {
        let how = self.of_kind(kind, here.language).unwrap_or_default();
        self.beyond("said_too_little", here).replace("{how}", how)
    }

    /// The sentence for a result, with the known values filled in; `None` if there is none of that name.
    pub fn framed(&self, name: &str, words: &[(&str, String)], here: Here<'_>) -> Option<String> {
        let mut text = self.filled(self.frame.get(name)?.of(here.language), here);
        for (key, value) in words {
            text = text.replace(&format!("{{{key}}}"), value);
        }
        Some(text)
    }

    /// For a model that can't sum up: the passages of documents themselves. `None`: nothing in them is near to the request.
    pub fn passages(&self, here: Here<'_>) -> Option<String> {
        let quotes: Vec<String> = here.setup.references.iter().take(PASSAGES).map(passage).collect();
        if quotes.is_empty() {
            return None;
        }
        self.framed("passages", &[("quotes", quotes.join("\n\n"))], here)
    }

    /// Example requests that work with these files of a workspace, best first.
    pub fn tries(&self, files: &[String], language: &str) -> Vec<String> {
        let mut found = Vec::new();
        for one in &self.to_try {
            let ends = |file: &&String| {
                let ending = file.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
                ending.is_some_and(|ending| one.endings.contains(&ending))
            };
            let text = one.texts.of(language);
            if one.endings.is_empty() {
                found.push(text.to_owned());
            } else if let Some(file) = files.iter().find(ends) {
                found.push(text.replace("{file}", file));
            }
        }
        found
    }

    fn filled(&self, text: &str, here: Here<'_>) -> String {
        let language = here.language;
        let has = |tool: &str| here.setup.tools.iter().any(|spec| spec.name == tool);
        let can: Vec<&str> = self.can.iter().filter(|can| has(&can.tool)).map(|can| can.texts.of(language)).collect();
        let files: Vec<&str> = here.files.iter().take(FILES).map(String::as_str).collect();
        let files = match files.as_slice() {
            [] => String::new(),
            some => self.files.of(language).replace("{files}", &some.join(", ")),
        };
        let mut tries = self.tries(here.files, language);
        tries.truncate(TRIES);
        let quoted: Vec<String> = tries.iter().map(|one| quote(one, language)).collect();
        let tries = self.tries.of(language).replace("{tries}", &quoted.join(" · "));
        let text = text
            .replace("{can}", &can.join(", "))
            .replace("{files}", &files)
            .replace("{tries}", &tries)
            .replace("{connect}", self.connect.of(language));
        text.replace("  ", " ").trim().to_owned()
    }
}

/// A passage of a document, with its source.
fn passage(reference: &Reference) -> String {
    let text = if reference.quote.is_empty() { &reference.text } else { &reference.quote };
    let lines: Vec<String> = text.trim().lines().map(|line| format!("> {line}\n")).collect();
    format!("{}\n— {} [{}]", lines.concat(), reference.place(), reference.number)
}

fn quote(text: &str, language: &str) -> String {
    match language {
        "de" => format!("„{text}“"),
        "fr" => format!("« {text} »"),
        "es" => format!("«{text}»"),
        _ => format!("“{text}”"),
    }
}
