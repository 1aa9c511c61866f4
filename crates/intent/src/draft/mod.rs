//! The one call that does what is wanted, once the kind of a request is known. The arguments come from the request and from
//! what is really there; what is missing is asked for, never made up. Nothing here knows a language but for the few words
//! of `data/tables.toml`.

mod calls;
pub(crate) mod files;
pub(crate) mod near;
mod search;
pub(crate) mod told;

use crate::read::path::PathMatch;
use crate::view::View;
use serde_json::Value;
use std::collections::BTreeSet;
use steward_core::ports::Embedder;

/// Surer than this, a file is meant.
const NAMED: f32 = 0.55;
/// Kinds that look into no file.
const OTHER: &[&str] = &["calc", "clock", "run", "fetch", "notes", "reminders", "calendar", "inbox", "web"];

/// A request whose kind is known.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub kind: &'a str,
    /// The request; one that goes on from another stands behind it.
    pub text: &'a str,
    /// Byte of `text` from which on it is new.
    pub since: usize,
    /// Whether that is sure; if not, what is found in the workspace has to confirm it.
    pub sure: bool,
    /// What was asked before in the conversation, oldest first.
    pub earlier: &'a [String],
    /// Words, in lower case, in which anything may be asked: they name nothing.
    pub asking: &'a BTreeSet<String>,
}

/// What is made of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The call; none: something is missing, and `frame` asks for it.
    pub call: Option<(String, Value)>,
    /// Which sentence of `data/replies.toml` tells the result, or asks.
    pub frame: &'static str,
    /// What fills the sentence.
    pub words: Vec<(&'static str, String)>,
}

/// A request, what is in the workspace, and what can tell words alike.
pub(crate) struct Desk<'a> {
    pub wanted: Wanted<'a>,
    pub view: &'a View,
    pub embedder: &'a dyn Embedder,
}

/// Drafts the call for what is wanted; `None` if the request says nothing that could be looked for.
pub async fn draft(wanted: Wanted<'_>, view: &View, embedder: &dyn Embedder) -> Option<Draft> {
    let desk = Desk { wanted, view, embedder };
    // What a file says can't be told from another.
    if !OTHER.contains(&desk.wanted.kind)
        && let Some(name) = desk.missing()
    {
        return Some(open("no_file", vec![("name", name)]));
    }
    if !wanted.sure {
        return match wanted.kind {
            "columns" | "count" | "extreme" | "average" | "sum" | "rows" => desk.table().await,
            "read" | "summary" | "head" | "tail" => {
                let named = desk.view.file(wanted.text).is_some_and(|found| found.score >= NAMED);
                if named { desk.read().await } else { None }
            }
            "mention" => desk.mention().await,
            "calc" => desk.calc(),
            "fetch" => desk.fetch(),
            _ => None,
        };
    }
    match wanted.kind {
        "list" => Some(desk.list()),
        "read" | "summary" | "head" | "tail" => desk.read().await,
        "lines" | "words" | "size" => desk.measure().await,
        "search" | "search_count" => Some(desk.search().await),
        "count" if desk.counts_lines() => desk.measure().await,
        "columns" | "tables" | "count" | "extreme" | "average" | "sum" | "rows" => desk.table().await,
        "calc" => desk.calc(),
        "clock" => Some(calls::clock()),
        "run" => desk.run(),
        "fetch" => desk.fetch(),
        "notes" => Some(calls::bare("notes_list")),
        "reminders" => Some(calls::bare("reminders_list")),
        _ => None,
    }
}

impl Desk<'_> {
    /// The file that is meant: named now, or before.
    pub(crate) fn file(&self) -> Option<PathMatch> {
        let named = |text: &str| {
            let found = self.view.file(text);
            found.filter(|found| found.score >= NAMED)
        };
        named(self.wanted.text).or_else(|| {
            let earlier = self.wanted.earlier.iter().rev();
            let before = earlier.take(4).find_map(|text| named(text));
            before.map(|found| PathMatch { span: (0, 0), ..found })
        })
    }

    /// A file that is named and isn't there.
    fn missing(&self) -> Option<String> {
        let unknown = crate::read::path::unknown_paths(self.wanted.text, &self.view.entries);
        let named = self.view.named(self.wanted.text);
        let meant = |span: (usize, usize)| named.iter().any(|one| one.span == span && one.score >= NAMED);
        unknown.into_iter().find(|(name, span)| name.contains('.') && !meant(*span)).map(|(name, _)| name)
    }

    /// Asks which file is meant, or says that one isn't there.
    pub(crate) fn no_file(&self) -> Draft {
        match self.missing() {
            Some(name) => open("no_file", vec![("name", name)]),
            None => open("which_file", Vec::new()),
        }
    }
}

pub(crate) fn call(tool: &str, arguments: Value, frame: &'static str, words: Vec<(&'static str, String)>) -> Draft {
    Draft { call: Some((tool.to_owned(), arguments)), frame, words }
}

pub(crate) fn open(frame: &'static str, words: Vec<(&'static str, String)>) -> Draft {
    Draft { call: None, frame, words }
}
