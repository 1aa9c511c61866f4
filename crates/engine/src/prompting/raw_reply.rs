//! A reply as received, kept for replays: plain text, or, where there is more than text,
//! `{"received":{"text":…,"reasoning":…,"tool_calls":[…]}}`.

use serde::{Deserialize, Serialize};
use steward_core::model::{ModelChunk, Usage};
use steward_core::prompt::estimate_tokens;
use steward_parse::Parsed;

/// How a reply that is not only text begins. Text that begins so is wrapped itself.
const WRAPPED: &str = "{\"received\":";

/// Chunks, joined where that loses nothing.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceivedReply {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CallPiece>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CallPiece {
    index: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Wrapped {
    received: ReceivedReply,
}

impl ReceivedReply {
    /// About how many tokens came.
    pub fn tokens(&self) -> u64 {
        let calls = self.tool_calls.iter();
        let calls = calls.map(|piece| estimate_tokens(&piece.arguments));
        estimate_tokens(&self.text) + estimate_tokens(&self.reasoning) + calls.sum::<u64>()
    }

    pub fn push(&mut self, chunk: &ModelChunk) {
        match chunk {
            ModelChunk::Text(text) => self.text.push_str(text),
            ModelChunk::Reasoning(text) => self.reasoning.push_str(text),
            ModelChunk::ToolCall { index, id, name, arguments } => {
                let goes_on = id.as_deref().is_none_or(str::is_empty) && name.as_deref().is_none_or(str::is_empty);
                match self.tool_calls.last_mut() {
                    Some(last) if goes_on && last.index == *index => {
                        last.arguments.push_str(arguments);
                    }
                    _ => self.tool_calls.push(CallPiece {
                        index: *index,
                        id: id.clone(),
                        name: name.clone(),
                        arguments: arguments.clone(),
                        signature: None,
                    }),
                }
            }
            ModelChunk::Signature { index, signature } => {
                let mut pieces = self.tool_calls.iter_mut();
                if let Some(piece) = pieces.rfind(|piece| piece.index == *index) {
                    piece.signature = Some(signature.clone());
                }
            }
            ModelChunk::End { .. } => {}
        }
    }

    /// Calls `change` with each text, and whether it is a piece of a call's arguments.
    pub fn change_texts(&mut self, change: impl Fn(&mut String, bool)) {
        change(&mut self.text, false);
        change(&mut self.reasoning, false);
        for piece in &mut self.tool_calls {
            change(&mut piece.arguments, true);
        }
    }

    /// What to keep; empty where it is just the text that was understood.
    pub fn raw(mut self, parsed: &Parsed) -> String {
        let calls = !parsed.calls.is_empty() || !parsed.broken.is_empty();
        // Reasoning is only searched for calls where there is nothing else; elsewhere it does not matter.
        let thought = !self.reasoning.is_empty() && self.tool_calls.is_empty() && parsed.text.is_empty();
        if !thought {
            self.reasoning.clear();
        }
        if thought || !self.tool_calls.is_empty() || self.text.starts_with(WRAPPED) {
            let text = self.text.clone();
            return serde_json::to_string(&Wrapped { received: self }).unwrap_or(text);
        }
        if self.text == parsed.text && !calls {
            return String::new();
        }
        self.text
    }
}

/// The chunks that `raw` stands for; `finish` is the provider's word for the end.
pub(crate) fn chunks(raw: &str, finish: &str) -> Vec<ModelChunk> {
    let mut received = if raw.starts_with(WRAPPED) {
        serde_json::from_str::<Wrapped>(raw).map(|wrapped| wrapped.received)
    } else {
        Ok(ReceivedReply::default())
    }
    .unwrap_or_default();
    if received == ReceivedReply::default() {
        raw.clone_into(&mut received.text);
    }
    let mut chunks = Vec::new();
    if !received.reasoning.is_empty() {
        chunks.push(ModelChunk::Reasoning(received.reasoning));
    }
    if !received.text.is_empty() {
        chunks.push(ModelChunk::Text(received.text));
    }
    for piece in received.tool_calls {
        let index = piece.index;
        chunks.push(ModelChunk::ToolCall { index, id: piece.id, name: piece.name, arguments: piece.arguments });
        let signature = piece.signature;
        chunks.extend(signature.map(|signature| ModelChunk::Signature { index, signature }));
    }
    chunks.push(ModelChunk::End { finish: finish.to_owned(), usage: Usage::default(), model: String::new() });
    chunks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{ReceivedReply, chunks};
    use steward_core::model::{ModelChunk, Strategy};
    use steward_parse::{Parsed, StreamParser, ToolIndex};

    fn parse(strategy: Strategy, chunks: &[ModelChunk]) -> Parsed {
        let mut parser = StreamParser::new(strategy, &ToolIndex::new(&[]), "s1-");
        for chunk in chunks {
            parser.push(chunk);
        }
        Parsed { tail: vec![], ..parser.finish() }
    }

    /// What is kept of `sent`; checks that it parses to the same.
    fn kept(strategy: Strategy, sent: &[ModelChunk]) -> String {
        let parsed = parse(strategy, sent);
        let mut received = ReceivedReply::default();
        for chunk in sent {
            received.push(chunk);
        }
        let raw = received.raw(&parsed);
        let source = if raw.is_empty() { &parsed.text } else { &raw };
        let again = parse(strategy, &chunks(source, "stop"));
        assert_eq!(again.calls, parsed.calls, "{raw}");
        assert_eq!(again.broken, parsed.broken, "{raw}");
        assert_eq!(again.text, parsed.text, "{raw}");
        raw
    }

    fn text(text: &str) -> ModelChunk {
        ModelChunk::Text(text.into())
    }

    fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelChunk {
        ModelChunk::ToolCall { index, id: id.map(Into::into), name: name.map(Into::into), arguments: arguments.into() }
    }

    #[test]
    fn the_sign_of_a_thought_stays_with_its_call() {
        let signature = |index, text: &str| ModelChunk::Signature { index, signature: text.into() };
        let sent = [call(0, None, Some("read"), "{}"), signature(0, "sig-a=="), call(1, None, Some("read"), "{}")];
        let raw = kept(Strategy::Native, &sent);
        let calls = parse(Strategy::Native, &chunks(&raw, "tool_calls")).calls;
        let signed: Vec<_> = calls.iter().map(|call| call.signature.as_deref()).collect();
        assert_eq!(signed, [Some("sig-a=="), None]);
    }

    #[test]
    fn nothing_is_kept_of_plain_text() {
        assert_eq!(kept(Strategy::Native, &[text("Hello "), text("there")]), "");
        let thought = ModelChunk::Reasoning("hm".into());
        assert_eq!(kept(Strategy::Native, &[thought, text("Hello")]), "");
    }

    #[test]
    fn text_that_was_understood_as_something_else_is_kept_as_sent() {
        let reply =
            r#"{"reasoning": "look", "tool_calls": [{"name": "read", "arguments": {"path": "a"}}], "done": false}"#;
        assert_eq!(kept(Strategy::GuidedJson, &[text(reply)]), reply);
        assert_eq!(kept(Strategy::Native, &[text(" blanks ")]), " blanks ");
        let react = "Thought: look\nAction: read\nAction Input: {\"path\": \"a\"}\n";
        assert_eq!(kept(Strategy::React, &[text(react)]), react);
    }

    #[test]
    fn calls_of_the_providers_field_are_kept_piece_by_piece() {
        let raw = kept(
            Strategy::Native,
            &[
                text("Let me see."),
                call(0, Some("a"), Some("read"), "{\"path\""),
                call(0, None, None, ": \"x\"}"),
                call(0, Some("b"), Some("read"), "{}"),
                call(1, None, Some("list"), "{broken"),
            ],
        );
        assert!(raw.starts_with("{\"received\":"), "{raw}");
        let value: serde_json::Value = serde_json::from_str(&raw).unwrap();
        assert_eq!(value["received"]["tool_calls"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn calls_found_in_reasoning_and_text_in_disguise_survive() {
        let thought = "Action: read\nAction Input: {\"path\": \"a\"}\n";
        let thought = ModelChunk::Reasoning(thought.into());
        assert!(kept(Strategy::React, std::slice::from_ref(&thought)).contains("Action"));
        let nothing = r#"{"reasoning": "[TOOL] read", "tool_calls": [], "done": false}"#;
        kept(Strategy::GuidedJson, &[text(nothing)]);
        kept(Strategy::GuidedJson, &[thought, text(nothing)]);
        let disguised = r#"{"received":{"text":"other"}}"#;
        assert!(kept(Strategy::Native, &[text(disguised), text(" ")]).contains("other"));
    }
}
