//! Frees room in a full window: old results are cut first, then old messages are summarised. Each change is recorded in
//! the log, so that the beginning of the prompt stays the same in between.

use super::{KEEP_RESULTS, OLD_RESULT, weight};
use crate::message::{Message, Role};
use crate::tool::truncate;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::Range;

/// A cut has to free one part in so many of the usable window.
const WORTH: u64 = 10;
/// Share of the usable window that full messages may take after a summary, percent.
const KEPT: u64 = 40;
/// Longest message in the text to be summarised, characters.
const SHOWN: usize = 1500;
/// Longest piece of a message in a summary made without a model, characters.
const PIECE: usize = 200;

/// How older messages stand in a prompt. Places count messages of the history and of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Compaction {
    /// First message of the history that is said in full.
    #[serde(default)]
    pub history_from: usize,
    /// First message of the run, after its request, that is said in full.
    #[serde(default)]
    pub run_from: usize,
    /// Results before this place, history and run counted together, are cut.
    #[serde(default)]
    pub cut: usize,
    /// What stands for the messages left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

impl Compaction {
    /// Index of the run's first message after the request that is kept in full.
    pub(super) fn run_from(&self) -> usize {
        self.run_from.max(1)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Older {
    /// The resulting compaction, still with the old summary.
    pub next: Compaction,
    /// Messages of the history that it would additionally replace.
    pub history: Range<usize>,
    /// Messages of the run that it would additionally replace.
    pub run: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
pub struct CompactionInput<'a> {
    pub history: &'a [Message],
    /// Messages of the run, the request first.
    pub messages: &'a [Message],
    pub now: &'a Compaction,
    /// Tokens that a prompt may have.
    pub usable: u64,
}

impl CompactionInput<'_> {
    /// Cuts all results but the newest; `None` if that frees too little. With `pressing` any gain is enough.
    pub fn cut(&self, pressing: bool) -> Option<Compaction> {
        let results = |(_, message): &(usize, &Message)| message.role == Role::Tool;
        let all = || self.history.iter().chain(self.messages).enumerate();
        let newest: Vec<usize> = all().filter(results).map(|(at, _)| at).collect();
        let last = newest.len().checked_sub(KEEP_RESULTS)?;
        let cut = *newest.get(last)?;
        let won: u64 = all()
            .filter(results)
            .filter(|(at, _)| (self.now.cut..cut).contains(at) && self.is_full(*at))
            .map(|(_, message)| weight(message).saturating_sub(weight(&shortened(message))))
            .sum();
        let worth = if pressing { 1 } else { self.usable / WORTH };
        (won >= worth.max(1)).then(|| Compaction { cut, ..self.now.clone() })
    }

    /// The oldest messages to drop, so that the others fit; a call stays with its result. `None` if nothing can go.
    pub fn older(&self) -> Option<Older> {
        let limit = self.usable * KEPT / 100;
        let mut next = self.now.clone();
        next.run_from = next.run_from();
        let history_from = next.history_from.min(self.history.len());
        for at in history_from..=self.history.len() {
            let turn = self.history.get(at).is_none_or(|message| message.role == Role::User);
            if !turn {
                continue;
            }
            next.history_from = at;
            if self.kept(&next) <= limit {
                break;
            }
        }
        let newest = self.messages.iter().rposition(|message| message.role != Role::Tool).unwrap_or(0);
        let run_from = next.run_from;
        if self.kept(&next) > limit {
            for at in run_from..=newest.max(run_from) {
                let whole = self.messages.get(at).is_some_and(|message| message.role != Role::Tool);
                if !whole {
                    continue;
                }
                next.run_from = at;
                if self.kept(&next) <= limit {
                    break;
                }
            }
        }
        let older = Older { history: history_from..next.history_from, run: run_from..next.run_from, next };
        (!older.history.is_empty() || !older.run.is_empty()).then_some(older)
    }

    /// The messages that `older` replaces, with the earlier summary.
    pub fn transcript(&self, older: &Older) -> String {
        let mut text = String::new();
        if !self.now.summary.is_empty() {
            let _ = writeln!(text, "Before that: {}\n", self.now.summary);
        }
        for message in self.range(older) {
            let _ = writeln!(text, "{}\n", told(message, SHOWN));
        }
        text.trim_end().to_owned()
    }

    /// A summary without a model: the beginning of each message; the newest ones are kept first.
    pub fn composed(&self, older: &Older) -> String {
        let room = usize::try_from(self.usable / 8 * 3).unwrap_or(usize::MAX);
        let mut lines: Vec<String> = self.now.summary.lines().map(str::to_owned).collect();
        lines.extend(self.range(older).map(|message| told(message, PIECE)));
        let mut kept = 0;
        let mut size = 0;
        for line in lines.iter().rev() {
            size += line.chars().count() + 1;
            if size > room && kept > 0 {
                break;
            }
            kept += 1;
        }
        let left_out = lines.len() - kept;
        let mut text = if left_out > 0 { format!("[{left_out} older lines left out]\n") } else { String::new() };
        text.push_str(&lines[left_out..].join("\n"));
        text
    }

    fn range<'b>(&'b self, older: &Older) -> impl Iterator<Item = &'b Message> {
        let of = |all: &'b [Message], range: &Range<usize>| all.get(range.clone()).unwrap_or_default().iter();
        of(self.history, &older.history).chain(of(self.messages, &older.run))
    }

    fn is_full(&self, at: usize) -> bool {
        match at.checked_sub(self.history.len()) {
            None => at >= self.now.history_from,
            Some(0) => true,
            Some(at) => at >= self.now.run_from(),
        }
    }

    fn kept(&self, next: &Compaction) -> u64 {
        let request = self.messages.first().map_or(0, weight);
        let rest = full(self.history, self.messages, next);
        request + rest.iter().map(|(_, message)| weight(message)).sum::<u64>()
    }
}

/// Messages in full, without the request; `true` for those of the run.
pub(super) fn full(history: &[Message], messages: &[Message], by: &Compaction) -> Vec<(bool, Message)> {
    let old = history.iter().enumerate().skip(by.history_from);
    let new = messages.iter().enumerate().skip(by.run_from());
    let new = new.map(|(at, message)| (at + history.len(), message));
    old.chain(new)
        .map(|(at, message)| {
            let message = if message.role == Role::Tool && at < by.cut { shortened(message) } else { message.clone() };
            (at >= history.len(), message)
        })
        .collect()
}

fn shortened(message: &Message) -> Message {
    let (text, _) = truncate(&message.text, OLD_RESULT);
    Message { text, ..message.clone() }
}

/// The speaker and the text, cut to `limit`.
fn told(message: &Message, limit: usize) -> String {
    let who = match message.role {
        Role::System => "Instruction",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Result",
    };
    let mut text = truncate(message.text.trim(), limit).0;
    for call in &message.tool_calls {
        let arguments = truncate(&call.arguments.to_string(), limit).0;
        let gap = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{gap}[called {} {arguments}]", call.name);
    }
    format!("{who}: {text}")
}

#[cfg(test)]
mod tests;
