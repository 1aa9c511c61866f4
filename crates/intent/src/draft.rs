//! Drafts the one call for a request whose kind is known. Arguments come from the request and from what really exists;
//! what is missing is asked for, never invented.

pub(crate) mod files;
pub(crate) mod near;
mod search;

use crate::read::arithmetic::calculation;
use crate::read::path::PathMatch;
use crate::read::urls;
use crate::view::View;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use steward_core::ports::Embedder;
use steward_core::text::{quoted, words};

/// Above this score a file is meant.
const NAMED: f32 = 0.55;
/// Most words of a command line if nothing marks its end.
const LONGEST: usize = 8;
/// Kinds that involve no file.
const OTHER: &[&str] = &["calc", "clock", "run", "fetch", "notes", "reminders", "calendar", "inbox", "web"];

#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub kind: &'a str,
    pub text: &'a str,
    /// Whether the kind is sure; if not, what is found in the workspace has to confirm it.
    pub sure: bool,
    /// Earlier requests of the conversation, oldest first.
    pub earlier: &'a [String],
    /// Lower-case words that occur in questions of any kind, and so name nothing.
    pub asking: &'a BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The call; `None` if something is missing, which `frame` asks for.
    pub call: Option<(String, Value)>,
    /// Key of the sentence in `data/replies.toml` that reports the result or asks.
    pub frame: &'static str,
    /// Values for the sentence's placeholders.
    pub words: Vec<(&'static str, String)>,
    /// The query that the call asks, which the next request may go on from.
    pub query: Option<Value>,
}

/// A word or a quotation that names something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub text: String,
    /// Index among the request's words.
    pub at: usize,
    pub start: usize,
    pub quoted: bool,
    /// Whether it is capitalised and doesn't begin the request.
    pub proper: bool,
}

/// A request, the workspace, and the means to compare words.
pub(crate) struct Desk<'a> {
    pub wanted: Wanted<'a>,
    pub view: &'a View,
    pub embedder: &'a dyn Embedder,
}

/// Drafts the call; `None` if the request says nothing that could be looked for.
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
        "clock" => {
            let argv = json!({"argv": ["date", "+%Y-%m-%d %H:%M %Z"]});
            Some(call("terminal", argv, "clock", Vec::new()))
        }
        "run" => desk.run(),
        "fetch" => desk.fetch(),
        "notes" => Some(call("notes_list", json!({}), "plain", Vec::new())),
        "reminders" => Some(call("reminders_list", json!({}), "plain", Vec::new())),
        _ => None,
    }
}

impl Desk<'_> {
    /// The file that is meant, named now or before.
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

    fn missing(&self) -> Option<String> {
        let unknown = crate::read::path::unknown_paths(self.wanted.text, &self.view.entries);
        let named = self.view.named(self.wanted.text);
        let meant = |span: (usize, usize)| named.iter().any(|one| one.span == span && one.score >= NAMED);
        unknown.into_iter().find(|(name, span)| name.contains('.') && !meant(*span)).map(|(name, _)| name)
    }

    pub(crate) fn no_file(&self) -> Draft {
        match self.missing() {
            Some(name) => open("no_file", vec![("name", name)]),
            None => open("which_file", Vec::new()),
        }
    }

    /// Meaningful words in order, without the span `apart` (a file's name).
    pub(crate) fn told(&self, apart: (usize, usize)) -> Vec<Told> {
        let text = self.wanted.text;
        let quotes = quoted(text);
        let mut found = Vec::new();
        for (at, word) in words(text).into_iter().enumerate() {
            if word.start < apart.1 && apart.0 < word.end {
                continue;
            }
            if let Some(quote) = quotes.iter().find(|q| word.start >= q.start && word.end <= q.end) {
                let whole = quote.text.to_owned();
                if found.last().is_none_or(|last: &Told| last.text != whole) {
                    let start = word.start;
                    found.push(Told { text: whole, at, start, quoted: true, proper: true });
                }
                continue;
            }
            // "l'album", "d'Anna": what precedes the apostrophe means nothing.
            let bare = word.text.trim_end_matches("'s").trim_end_matches("’s");
            let bare = match bare.split_once(['\'', '’']) {
                Some((article, rest)) if article.chars().count() <= 2 => rest,
                _ => bare,
            };
            let lower = bare.to_lowercase();
            let upper = bare.chars().next().is_some_and(char::is_uppercase);
            let level = upper && bare.chars().all(|c| !c.is_lowercase()) && bare.len() > 1;
            // "y a-t-il", "gibt's": joined words ask if each of them does.
            let asks = |word: &str| self.wanted.asking.contains(word);
            let asks = (asks(&lower) || lower.split('-').all(asks)) && !level;
            if !lower.is_empty() && !asks {
                let proper = upper && at > 0;
                found.push(Told { text: bare.to_owned(), at, start: word.start, quoted: false, proper });
            }
        }
        found
    }

    pub(crate) fn calc(&self) -> Option<Draft> {
        let found = calculation(self.wanted.text)?;
        let program = format!("BEGIN{{printf \"%.15g\\n\", {}}}", found.expression);
        let argv = json!({"argv": ["awk", program]});
        Some(call("terminal", argv, "calc", vec![("formula", found.expression)]))
    }

    /// A command line between quotation marks, or from the first word that is a command.
    pub(crate) fn run(&self) -> Option<Draft> {
        let text = self.wanted.text;
        let runs = |program: &str| self.view.reader().runs(program);
        let line = if let Some(quote) = quoted(text).into_iter().next() {
            quote.text
        } else {
            let mut words = words(text).into_iter();
            let start = words.find(|word| runs(word.text))?.start;
            text[start..].trim_end_matches(['.', '?', '!', ' '])
        };
        let mut argv = self.view.reader().split_command(line)?;
        let said = argv
            .iter()
            .skip(1)
            .position(|word| self.wanted.asking.contains(&word.to_lowercase()) && !word.starts_with('-'));
        argv.truncate(said.map_or(LONGEST, |at| at + 1));
        runs(argv.first()?).then(|| call("terminal", json!({"argv": argv}), "plain", Vec::new()))
    }

    pub(crate) fn fetch(&self) -> Option<Draft> {
        let url = urls(self.wanted.text).into_iter().next()?;
        Some(call("web_fetch", json!({"url": url}), "plain", Vec::new()))
    }
}

pub(crate) fn call(tool: &str, arguments: Value, frame: &'static str, words: Vec<(&'static str, String)>) -> Draft {
    Draft { call: Some((tool.to_owned(), arguments)), frame, words, query: None }
}

pub(crate) fn open(frame: &'static str, words: Vec<(&'static str, String)>) -> Draft {
    Draft { call: None, frame, words, query: None }
}
