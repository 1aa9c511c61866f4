pub mod features;
mod tools;
mod vectors;

pub use tools::rank;

use std::collections::HashSet;
use steward_core::event::Ranked;
use steward_core::plan::FINAL_ANSWER;
use steward_core::text::{parts, stem};
use steward_core::tool::ToolSpec;

/// Shorter words are ignored.
const SHORTEST: usize = 3;
/// Weight of a word of the tool's name.
const NAME: f32 = 2.0;

/// Ranks all of `tools` by the words that they share with `request`, best first; for where there is no embedder.
pub fn by_words(request: &str, tools: &[ToolSpec]) -> Vec<Ranked> {
    let wanted = words(request);
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let most = (wanted.len().max(1)) as f32;
    let mut ranked: Vec<Ranked> = tools
        .iter()
        .filter(|tool| tool.name != FINAL_ANSWER)
        .map(|tool| {
            let name = words(&tool.name);
            let mut about = words(&tool.description);
            for utterance in tool.utterances.iter() {
                about.extend(words(utterance));
            }
            let score: f32 = wanted
                .iter()
                .map(|word| match (name.contains(word), about.contains(word)) {
                    (true, _) => NAME,
                    (false, true) => 1.0,
                    (false, false) => 0.0,
                })
                .sum();
            Ranked { tool: tool.name.clone(), score: (score / (NAME * most)).clamp(0.0, 1.0) }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked
}

fn words(text: &str) -> HashSet<String> {
    let long = parts(text).into_iter().filter(|word| word.chars().count() >= SHORTEST);
    long.map(|word| stem(&word)).collect()
}
