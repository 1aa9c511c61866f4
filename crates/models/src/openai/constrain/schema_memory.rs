//! What an endpoint has refused of constraints.
//!
//! A refusal that names a tool leaves that tool's arguments open. One that names none leaves open those of all tools
//! that were not yet accepted; once that request is accepted, the next ones try half of them again, halving again
//! after a refusal. So a bad tool among n is found with one refusal and about log2(n) more, no request is refused
//! more than twice for it, and each is answered.

use super::refusal::{self, Branch};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use steward_core::hash::of_json;
use steward_core::model::Constrained;

/// Most schemas and tools remembered for one endpoint and model. Beyond that all is forgotten and learned again.
const SCHEMAS: usize = 16;
const TOOLS: usize = 96;

/// Flag of a schema, by method: it is refused.
const REFUSED: u8 = 1;
/// It is refused with `strict`.
const LOOSE: u8 = 2;
/// It has too many tools to search among, so their arguments are left open.
const OPEN: u8 = 4;

/// States of a tool's arguments: accepted, refused, and from `HELD` on held back, higher is more narrowly suspected.
const GOOD: u8 = 1;
const BAD: u8 = 2;
const HELD: u8 = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SchemaMemory {
    schemas: BTreeMap<u32, u8>,
    tools: BTreeMap<u32, u8>,
    /// A trial was just refused: no other one until a request is accepted.
    resting: bool,
}

pub(super) fn key(way: Constrained, schema: &Value) -> u32 {
    let hash = of_json(&json!([way, schema]));
    u32::from_str_radix(hash.get(..8).unwrap_or_default(), 16).unwrap_or_default()
}

fn tool_key(way: Constrained, branch: &Branch<'_>) -> u32 {
    key(way, &json!([branch.name, branch.arguments]))
}

impl SchemaMemory {
    pub(crate) fn is_empty(&self) -> bool {
        self.schemas.is_empty() && self.tools.is_empty()
    }

    pub(super) fn refuses(&self, key: u32) -> bool {
        self.schema(key) & REFUSED != 0
    }

    pub(super) fn refuses_strict(&self, key: u32) -> bool {
        self.schema(key) & LOOSE != 0
    }

    fn schema(&self, key: u32) -> u8 {
        get(&self.schemas, key)
    }

    /// Which of the schema's branches are left open, by position.
    pub(super) fn opens(&self, way: Constrained, schema: &Value) -> Vec<bool> {
        let all = refusal::of(schema);
        if self.is_empty() {
            return vec![false; all.len()];
        }
        if self.schema(key(way, &refusal::skeleton(schema))) & OPEN != 0 {
            return vec![true; all.len()];
        }
        let words: Vec<u8> = all.iter().map(|branch| get(&self.tools, tool_key(way, branch))).collect();
        let trial = self.trial(&words);
        words.iter().enumerate().map(|(at, word)| *word >= BAD && !trial.contains(&at)).collect()
    }

    /// Positions of the held-back tools to try next: half of the most narrowly suspected.
    fn trial(&self, words: &[u8]) -> Vec<usize> {
        let most = words.iter().copied().max().unwrap_or(0);
        if self.resting || most < HELD {
            return Vec::new();
        }
        let group: Vec<usize> = (0..words.len()).filter(|at| words[*at] == most).collect();
        group[..group.len().div_ceil(2)].to_vec()
    }

    /// `None` if the refusal is not about the constraint.
    pub(crate) fn refused(&self, status: u16, raw: &str, sent: &Value) -> Option<Self> {
        let (way, schema) = super::method_of_request(sent)?;
        if !refusal::is_about_constraint(status, raw) {
            return None;
        }
        let mut next = self.clone();
        let whole = match way {
            Constrained::JsonObject | Constrained::LlamaCppGrammar => {
                next.drop_schema(key(way, schema), REFUSED);
                return Some(next);
            }
            _ => key(way, &refusal::skeleton(schema)),
        };
        let constrained: Vec<Branch<'_>> = refusal::of(schema).into_iter().filter(|branch| !branch.is_open()).collect();
        // A sender that does not use what was learned would be asked for ever.
        let mut sent_words = constrained.iter().map(|one| get(&self.tools, tool_key(way, one)));
        let unheeded = |word: u8| word == BAD || (word >= HELD && self.resting);
        if self.refuses(whole) || sent_words.any(unheeded) {
            return None;
        }
        let named = refusal::named(raw, &constrained, schema);
        if !named.is_empty() {
            let keys = named.iter().map(|at| tool_key(way, &constrained[*at]));
            next.mark(keys.map(|key| (key, BAD)).collect());
        } else if sent.pointer("/response_format/json_schema/strict") == Some(&json!(true)) {
            next.drop_schema(whole, LOOSE);
        } else if constrained.is_empty() || refusal::is_of_the_way(raw, super::field(way)) {
            next.drop_schema(whole, REFUSED);
        } else {
            next.narrow(way, whole, &constrained);
        }
        Some(next)
    }

    /// For a refusal that names no tool.
    fn narrow(&mut self, way: Constrained, whole: u32, constrained: &[Branch<'_>]) {
        let words: Vec<(u32, u8)> =
            constrained.iter().map(|branch| tool_key(way, branch)).map(|key| (key, get(&self.tools, key))).collect();
        let tried: Vec<(u32, u8)> = words.iter().copied().filter(|w| w.1 >= HELD).collect();
        let fresh: Vec<u32> = words.iter().filter(|w| w.1 == 0).map(|w| w.0).collect();
        if let [(key, _)] = tried.as_slice() {
            self.mark(vec![(*key, BAD)]);
            self.resting = true;
        } else if !tried.is_empty() {
            let narrower = tried.iter().map(|(key, word)| (*key, word.saturating_add(1)));
            self.mark(narrower.collect());
            self.resting = true;
        } else if fresh.is_empty() {
            self.drop_schema(whole, REFUSED);
        } else if let [key] = fresh.as_slice() {
            self.mark(vec![(*key, BAD)]);
        } else if words.len() > TOOLS {
            self.drop_schema(whole, OPEN);
        } else {
            self.mark(fresh.into_iter().map(|key| (key, HELD)).collect());
            // The next request goes without them.
            self.resting = true;
        }
    }

    /// `None`: nothing new.
    pub(crate) fn accepted(&self, sent: &Value) -> Option<Self> {
        if self.tools.is_empty() {
            return None;
        }
        let (way, schema) = super::method_of_request(sent)?;
        let mut next = self.clone();
        next.resting = false;
        let all = refusal::of(schema);
        let proved = all.iter().filter(|branch| !branch.is_open());
        let proved: Vec<(u32, u8)> = proved
            .map(|branch| (tool_key(way, branch), GOOD))
            .filter(|(key, _)| get(&self.tools, *key) != GOOD)
            .collect();
        if !proved.is_empty() && all.len() <= TOOLS {
            next.mark(proved);
        }
        (next != *self).then_some(next)
    }

    fn drop_schema(&mut self, key: u32, word: u8) {
        let word = word | self.schema(key);
        put(&mut self.schemas, vec![(key, word)], SCHEMAS);
    }

    fn mark(&mut self, words: Vec<(u32, u8)>) {
        put(&mut self.tools, words, TOOLS);
    }
}

fn get(words: &BTreeMap<u32, u8>, key: u32) -> u8 {
    words.get(&key).copied().unwrap_or(0)
}

/// Beyond `most` entries, the others are forgotten.
fn put(words: &mut BTreeMap<u32, u8>, new: Vec<(u32, u8)>, most: usize) {
    let fresh = new.iter().filter(|(key, _)| !words.contains_key(key)).count();
    if words.len() + fresh > most {
        words.clear();
    }
    words.extend(new);
}
