//! A conversation that outgrows its window.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Compaction, CompactionInput};
use crate::Timestamp;
use crate::message::{Message, Role};
use crate::prompt::{COMPACT_FROM, Prompt, PromptInput, TRUNCATE_FROM, assemble};
use crate::tool::{CallSource, ToolCall};
use proptest::prelude::*;

const RESERVE: u32 = 200;

struct Talk {
    history: Vec<Message>,
    messages: Vec<Message>,
    window: u32,
    now: Compaction,
}

impl Talk {
    fn prompt(&self) -> Prompt {
        assemble(&PromptInput {
            instructions: "You help.",
            skills: "",
            tool_text: "Tools: look.",
            memory: "likes tea",
            own_sections: "",
            own_changes: "",
            references: "",
            notes: "",
            now: Timestamp(0),
            history: &self.history,
            messages: &self.messages,
            closing: "",
            beside: 0,
            window: self.window,
            reserve: RESERVE,
            longest: None,
            compaction: &self.now,
        })
    }

    /// As the engine does it; whether anything was changed.
    fn make_room(&mut self) -> bool {
        let before = self.now.clone();
        for _ in 0..4 {
            let prompt = self.prompt();
            if !prompt.is_over(TRUNCATE_FROM, 0) {
                break;
            }
            let full = prompt.is_over(COMPACT_FROM, 0);
            let said = CompactionInput {
                history: &self.history,
                messages: &self.messages,
                now: &self.now,
                usable: u64::from(self.window - RESERVE),
            };
            if let Some(cut) = said.cut(full) {
                self.now = cut;
                continue;
            }
            let Some(older) = said.older().filter(|_| full) else {
                break;
            };
            let summary = said.composed(&older);
            assert!(!said.transcript(&older).is_empty());
            self.now = Compaction { summary, ..older.next };
        }
        self.now != before
    }

    fn step(&mut self, n: usize, length: usize) {
        let call = ToolCall {
            id: format!("c{n}"),
            name: "look".into(),
            arguments: serde_json::json!({"n": n}),
            source: CallSource::Native,
            confidence: 1.0,
            signature: None,
        };
        self.messages.push(Message::assistant("I look.").with_calls(vec![call]));
        self.messages.push(Message::tool(format!("c{n}"), "x".repeat(length)));
    }
}

/// Each result follows its call, and each call is followed by its result.
fn whole(prompt: &Prompt) {
    let mut open: Vec<&str> = Vec::new();
    for message in &prompt.messages {
        if let Some(id) = &message.tool_call_id {
            let at = open.iter().position(|one| one == id);
            open.remove(at.unwrap_or_else(|| panic!("result of {id} without its call")));
        } else {
            assert!(open.is_empty(), "{open:?} have no result");
        }
        open.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
    }
    assert!(open.is_empty(), "{open:?} have no result");
}

fn talk(turns: usize, length: usize, window: u32) -> Talk {
    let turn = |n: usize| {
        [Message::user(format!("question {n} {}", "q".repeat(length))), Message::assistant(format!("answer {n}"))]
    };
    Talk {
        history: (0..turns).flat_map(turn).collect(),
        messages: vec![Message::user("the request")],
        window,
        now: Compaction::default(),
    }
}

#[test]
fn a_long_run_is_compacted_now_and_then() {
    let mut talk = talk(3, 100, 4000);
    let mut changes = 0;
    for n in 0..60 {
        changes += usize::from(talk.make_room());
        let prompt = talk.prompt();
        assert!(prompt.fits, "step {n}");
        talk.step(n, 600);
    }
    assert!((2..20).contains(&changes), "{changes} of 60 steps");
    assert!(talk.now.summary.contains("question 0") || talk.now.summary.contains("left out"));
    let prompt = talk.prompt();
    assert!(prompt.messages.iter().any(|m| m.text.ends_with("the request")));
    assert!(prompt.messages[1].text.starts_with("[What was said"));
}

#[test]
fn a_long_history_leaves_whole_turns_out() {
    let mut talk = talk(40, 300, 4000);
    assert!(talk.make_room());
    let prompt = talk.prompt();
    assert!(prompt.fits && talk.now.history_from > 10);
    assert_eq!(talk.now.history_from % 2, 0, "a question stays with its answer");
    assert!(!talk.make_room(), "one change suffices");
}

proptest! {
    #[test]
    fn the_beginning_stays_the_same_between_compactions(
        turns in 0usize..12,
        length in 0usize..600,
        window in 1500u32..9000,
        results in prop::collection::vec(0usize..3000, 1..25),
    ) {
        let mut talk = talk(turns, length, window);
        talk.make_room();
        let mut before = talk.prompt();
        for (n, result) in results.into_iter().enumerate() {
            talk.step(n, result);
            let changed = talk.make_room();
            let prompt = talk.prompt();
            whole(&prompt);
            prop_assert!(prompt.messages.iter().any(|m| m.role == Role::User && m.text.ends_with("the request")));
            if !changed {
                prop_assert_eq!(&prompt.messages[..before.messages.len()], &before.messages[..]);
            }
            prop_assert_eq!(&prompt.messages[0], &before.messages[0], "the system part never changes");
            before = prompt;
        }
    }
}
