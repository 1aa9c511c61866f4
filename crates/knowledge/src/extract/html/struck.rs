//! Elements whose style strikes out their text: by an attribute, or by a rule of the page for a class or a kind of elements.

use super::super::text::is_one_of;
use super::{Span, attribute};
use html5ever::tokenizer::Tag;
use std::collections::HashSet;

/// Most elements within each other that are struck out.
const OPEN: usize = 50;
/// A paragraph without an end goes to where one of these begins.
const ENDS_PARAGRAPH: &str = "p div ul ol dl table section article blockquote pre h1 h2 h3 h4 h5 h6 hr form";
const LINE: &str = "line-through";

#[derive(Default)]
pub(super) struct Struck {
    /// Of the style sheet that is open.
    sheet: String,
    /// Such as `p`, `.old` and `p.old`.
    rules: HashSet<String>,
    open: Vec<Span>,
}

impl Struck {
    pub fn add_style(&mut self, text: &str) {
        self.sheet.push_str(text);
    }

    /// Takes the rules of the style sheet that ends.
    pub fn end_style(&mut self) {
        let sheet = std::mem::take(&mut self.sheet);
        if !sheet.contains(LINE) {
            return;
        }
        for rule in sheet.split('}') {
            let Some((before, look)) = rule.rsplit_once('{') else { continue };
            if !look.contains(LINE) {
                continue;
            }
            let before = before.rsplit("*/").next().unwrap_or(before);
            let selectors = before.rsplit(['{', ';']).next().unwrap_or(before);
            let is_simple = |one: &&str| one.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
            self.rules.extend(selectors.split(',').map(str::trim).filter(is_simple).map(str::to_owned));
        }
        self.rules.remove("");
    }

    /// Begins an element if its text is struck out; whether it is.
    pub fn begin(&mut self, tag: &Tag) -> bool {
        let name: &str = &tag.name;
        let of_rules = || {
            let mut classes = attribute(tag, "class").unwrap_or_default().split_ascii_whitespace();
            self.rules.contains(name)
                || classes.any(|class| {
                    self.rules.contains(&format!(".{class}")) || self.rules.contains(&format!("{name}.{class}"))
                })
        };
        let is_struck = attribute(tag, "style").is_some_and(|look| look.contains(LINE))
            || !self.rules.is_empty() && !is_one_of(name, "del s strike") && of_rules();
        let begins = is_struck && self.open.len() < OPEN;
        if begins {
            self.open.push(Span::new(name));
        }
        begins
    }

    /// A tag opens: how many elements end by that.
    pub fn open_tag(&mut self, name: &str) -> usize {
        self.end(|span| {
            let ends = match span.name.as_str() {
                "p" => is_one_of(name, ENDS_PARAGRAPH),
                "td" | "th" => is_one_of(name, "td th tr"),
                "tr" => name == "tr",
                _ => false,
            };
            ends || !span.is_open_after(name, true)
        })
    }

    /// A tag closes: how many elements end by that.
    pub fn close_tag(&mut self, name: &str) -> usize {
        self.end(|span| !span.is_open_after(name, false))
    }

    fn end(&mut self, mut ends: impl FnMut(&mut Span) -> bool) -> usize {
        let before = self.open.len();
        self.open.retain_mut(|span| !ends(span));
        before - self.open.len()
    }
}
