//! Strategy `fuzzy`: phrases that imply a call. The phrases are data, `data/fuzzy.toml`; here is how
//! they are applied. What is found so is weak, so doubt means no call.

mod object;
mod rules;

use crate::grammar::Call;
use crate::index::ToolIndex;
use crate::prose::sentences;
pub use rules::{RuleError, Rules};
use serde_json::{Map, Value};
use steward_core::tool::CallSource;

/// How sure a phrase is.
const CONFIDENCE: f32 = 0.4;
/// Longest sentence that is a phrase, bytes.
const LONGEST: usize = 800;
/// More calls than this in one reply are a listing, no intention.
const MOST: usize = 8;

/// Calls that the phrases of `text` imply, of tools that are on offer.
pub(crate) fn calls(text: &str, tools: &ToolIndex) -> Vec<Call> {
    let mut all: Vec<Call> = Vec::new();
    for intent in Rules::built_in().intents(text) {
        let Some(name) = tools.resolve_call(&intent.tool, None) else {
            continue;
        };
        let key = tools.argument(name, &intent.argument);
        let arguments: Map<String, Value> = [(key, Value::String(intent.object))].into_iter().collect();
        let arguments = Value::Object(arguments);
        if all.iter().any(|call| call.name == name && call.arguments == arguments) {
            continue;
        }
        all.push(Call {
            id: None,
            name: name.to_owned(),
            arguments,
            source: CallSource::Fuzzy,
            confidence: CONFIDENCE,
            untyped: false,
        });
    }
    all.truncate(MOST);
    all
}

/// A phrase that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Canonical name of the tool.
    pub tool: String,
    /// Name of the argument that the phrase gives.
    pub argument: String,
    /// Its value.
    pub object: String,
}

impl Rules {
    /// What the sentences of `text` say that their writer is about to do.
    pub fn intents(&self, text: &str) -> Vec<Intent> {
        let lines = sentences(text, |line| self.is_example(line));
        lines.iter().filter_map(|sentence| self.sentence(sentence.text)).collect()
    }

    fn sentence(&self, sentence: &str) -> Option<Intent> {
        // A question asks for leave; who has an intention says it briefly.
        if sentence.len() > LONGEST {
            return None;
        }
        if sentence.ends_with(['?', '؟', '？']) {
            return None;
        }
        let sentence = sentence.trim_end_matches(['.', '!', '…', ':', ' ', '*']).trim_start_matches(['*', '_']);
        self.rules().iter().find_map(|rule| {
            let found = rule.pattern.find(sentence)?;
            crate::work::count(sentence.len());
            let rest = &sentence[found.end()..];
            let object = object::find(rule, rest, self)?;
            let after = &rest[object.end..];
            if rule.after.as_ref().is_some_and(|after_rule| !after_rule.is_match(after)) {
                return None;
            }
            let guard = self.guard(&rule.lang)?;
            if guard.is_match(&sentence[..found.end()]) || guard.is_match(after) {
                return None;
            }
            Some(Intent { tool: rule.tool.clone(), argument: rule.argument.clone(), object: object.text })
        })
    }
}
