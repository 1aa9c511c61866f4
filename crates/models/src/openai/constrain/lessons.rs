//! What an endpoint refused of constraints. Small and copied with each request.
//!
//! A refusal that names a tool drops that tool's arguments. One that names none drops those of all
//! tools that were not yet proved; once the rest is accepted, the next requests bring half of them
//! back, halving again where that is refused. So a bad tool among n is found with one refusal and
//! about log2(n) more, no request is refused more than twice for it, and each is answered.

use serde_json::{Value, json};
use steward_core::hash::of_json;
use steward_core::model::Constrained;

use super::branches::{self, Branch};
use super::{refusal, ways};

/// Schemas and tools that are remembered of one endpoint and model. When they are full, all is
/// forgotten and found out again.
const SCHEMAS: usize = 16;
const TOOLS: usize = 96;

/// A schema that is refused, by way.
const REFUSED: u8 = 1;
/// `strict` is refused for it.
const LOOSE: u8 = 2;
/// Too many tools to search among: their arguments are left open.
const OPEN: u8 = 4;

/// Words about a tool's arguments: proved, refused, and from here on held back, the more narrowly
/// suspected the higher.
const GOOD: u8 = 1;
const BAD: u8 = 2;
const HELD: u8 = 3;

/// What was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::openai) struct Lessons {
    schemas: [(u32, u8); SCHEMAS],
    tools: [(u32, u8); TOOLS],
    /// A trial was just refused: no other one until a request is accepted.
    resting: bool,
}

impl Default for Lessons {
    fn default() -> Self {
        Self { schemas: [(0, 0); SCHEMAS], tools: [(0, 0); TOOLS], resting: false }
    }
}

/// What a schema is remembered by.
pub(super) fn key(way: Constrained, schema: &Value) -> u32 {
    let hash = of_json(&json!([way, schema]));
    // 0 is the empty place.
    u32::from_str_radix(hash.get(..8).unwrap_or_default(), 16).map_or(1, |key| key.max(1))
}

fn tool_key(way: Constrained, branch: &Branch<'_>) -> u32 {
    key(way, &json!([branch.name, branch.arguments]))
}

impl Lessons {
    /// Whether nothing was learned yet.
    pub(super) fn is_empty(&self) -> bool {
        self.schemas[0].0 == 0 && self.tools[0].0 == 0
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
        let all = branches::of(schema);
        if self.is_empty() {
            return vec![false; all.len()];
        }
        if self.schema(key(way, &branches::skeleton(schema))) & OPEN != 0 {
            return vec![true; all.len()];
        }
        let words: Vec<u8> = all.iter().map(|branch| get(&self.tools, tool_key(way, branch))).collect();
        let trial = self.trial(&words);
        words.iter().enumerate().map(|(at, word)| *word >= BAD && !trial.contains(&at)).collect()
    }

    /// Positions of the held ones that are tried next: half of those most narrowly suspected.
    fn trial(&self, words: &[u8]) -> Vec<usize> {
        let most = words.iter().copied().max().unwrap_or(0);
        if self.resting || most < HELD {
            return Vec::new();
        }
        let group: Vec<usize> = (0..words.len()).filter(|at| words[*at] == most).collect();
        group[..group.len().div_ceil(2)].to_vec()
    }

    /// What a refusal teaches; `None`: it is not about the constraint.
    pub(in crate::openai) fn refused(self, status: u16, raw: &str, sent: &Value) -> Option<Self> {
        let (way, schema) = ways::of_request(sent)?;
        if !refusal::is_about_constraint(status, raw) {
            return None;
        }
        let mut next = self;
        let whole = match way {
            Constrained::JsonObject | Constrained::LlamaCppGrammar => {
                next.drop_schema(key(way, schema), REFUSED);
                return Some(next);
            }
            _ => key(way, &branches::skeleton(schema)),
        };
        let constrained: Vec<Branch<'_>> =
            branches::of(schema).into_iter().filter(|branch| !branch.is_open()).collect();
        // A sender that does not go by what was learned would be asked for ever.
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
        } else if constrained.is_empty() || refusal::is_of_the_way(raw, ways::field(way)) {
            next.drop_schema(whole, REFUSED);
        } else {
            next.narrow(way, whole, &constrained);
        }
        Some(next)
    }

    /// A refusal that names no tool.
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
            // The next request is the one without them.
            self.resting = true;
        }
    }

    /// What an accepted request teaches; `None`: nothing new.
    pub(in crate::openai) fn accepted(self, sent: &Value) -> Option<Self> {
        if self.tools[0].0 == 0 {
            return None;
        }
        let (way, schema) = ways::of_request(sent)?;
        let mut next = self;
        next.resting = false;
        let all = branches::of(schema);
        let proved = all.iter().filter(|branch| !branch.is_open());
        let proved: Vec<(u32, u8)> = proved
            .map(|branch| (tool_key(way, branch), GOOD))
            .filter(|(key, _)| get(&self.tools, *key) != GOOD)
            .collect();
        if !proved.is_empty() && all.len() <= TOOLS {
            next.mark(proved);
        }
        (next != self).then_some(next)
    }

    fn drop_schema(&mut self, key: u32, word: u8) {
        let word = word | self.schema(key);
        put(&mut self.schemas, vec![(key, word)]);
    }

    fn mark(&mut self, words: Vec<(u32, u8)>) {
        put(&mut self.tools, words);
    }
}

fn get(places: &[(u32, u8)], key: u32) -> u8 {
    places.iter().take_while(|(known, _)| *known != 0).find(|(known, _)| *known == key).map_or(0, |(_, word)| *word)
}

/// Writes all of `words`; where there is no room for them, the others are forgotten.
fn put(places: &mut [(u32, u8)], words: Vec<(u32, u8)>) {
    let fresh = words.iter().filter(|(key, _)| get(places, *key) == 0).count();
    let free = places.iter().filter(|(known, _)| *known == 0).count();
    if fresh > free {
        places.fill((0, 0));
    }
    for (key, word) in words {
        let place = places.iter_mut().find(|(known, _)| *known == key || *known == 0);
        if let Some(place) = place {
            *place = (key, word);
        }
    }
}
