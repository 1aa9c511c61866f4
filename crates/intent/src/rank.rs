pub mod features;

use crate::settings::Settings;
use features::{Seen, see};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use steward_core::event::Ranked;
use steward_core::locks::lock;
use steward_core::plan::FINAL_ANSWER;
use steward_core::ports::{Embedder, IntentError, Ranking};
use steward_core::text::{has_phrase, parts, stem};
use steward_core::tool::ToolSpec;

/// Shorter words are ignored.
const SHORTEST: usize = 3;
/// Weight of a word of the tool's name.
const NAME: f32 = 2.0;

/// Ranks all of `tools`. `final_answer` is not ranked: it stands for talk, whose score the others have to beat.
pub async fn rank(request: &str, tools: &[ToolSpec], embedder: &dyn Embedder) -> Result<Ranking, IntentError> {
    let settings = Settings::shipped();
    let seen = see(request, &settings.mask);
    let vectors = of(tools, embedder).await?;
    let mut texts = vec![request.to_owned()];
    if seen.masked != request {
        texts.push(seen.masked.clone());
    }
    let views = embed(&texts, embedder).await?;
    let nearest =
        |vectors: &ToolVectors| views.iter().map(|view| similarity(view, vectors, settings)).fold(0.0, f32::max);
    let mut talk = 0.0;
    let mut ranked: Vec<(f32, &str)> = Vec::new();
    for (tool, vectors) in tools.iter().zip(vectors.iter()) {
        match tool.name.as_str() {
            FINAL_ANSWER => talk = nearest(vectors),
            name => ranked.push((nearest(vectors) + bonus(name, &seen, settings), name)),
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = ranked.first().map_or(0.0, |(score, ..)| *score);
    let kept =
        ranked.iter().map(|(score, name)| Ranked { tool: (*name).to_owned(), score: score.clamp(0.0, 1.0) }).collect();
    Ok(Ranking { tools: kept, wants_tool: best >= settings.talk_below.max(talk) })
}

fn similarity(view: &[f32], tool: &ToolVectors, settings: &Settings) -> f32 {
    let description = cosine(view, &tool.description);
    let mut nearest: Vec<f32> = tool.utterances.iter().map(|utterance| cosine(view, utterance)).collect();
    nearest.sort_by(|a, b| b.total_cmp(a));
    let Some(first) = nearest.first() else {
        return description;
    };
    let three = &nearest[..nearest.len().min(3)];
    #[expect(clippy::cast_precision_loss, reason = "at most three")]
    let mean = three.iter().sum::<f32>() / three.len() as f32;
    settings.nearest.mul_add(*first, settings.nearest_three * mean) + settings.description * description
}

fn bonus(tool: &str, seen: &Seen, settings: &Settings) -> f32 {
    settings
        .rules
        .iter()
        .filter_map(|rule| Some((rule, rule.add.get(tool)?)))
        .filter(|(rule, _)| {
            rule.features.iter().any(|feature| seen.features.contains(feature))
                || rule.any.iter().any(|phrase| has_phrase(&seen.plain, phrase))
        })
        .map(|(_, add)| *add)
        .sum()
}

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

/// Catalogues that are cached; an installation has one or a few.
const REMEMBERED: usize = 8;

#[derive(Debug, Clone, PartialEq)]
struct ToolVectors {
    /// Of its name and description.
    description: Vec<f32>,
    utterances: Vec<Vec<f32>>,
}

type Catalogue = Arc<Vec<ToolVectors>>;

static CACHE: Mutex<Vec<(String, Catalogue)>> = Mutex::new(Vec::new());

/// The vectors of the tools, in their order; computed once per catalogue.
async fn of(tools: &[ToolSpec], embedder: &dyn Embedder) -> Result<Catalogue, IntentError> {
    let words: Vec<_> = tools.iter().map(|tool| (&tool.name, &tool.description, &tool.utterances)).collect();
    let key = steward_core::hash::of_json(&serde_json::json!([embedder.model(), words]));
    {
        let known = lock(&CACHE);
        if let Some((_, vectors)) = known.iter().find(|(name, _)| *name == key) {
            return Ok(Arc::clone(vectors));
        }
    }
    let mut texts = Vec::new();
    for tool in tools {
        texts.push(format!("{}: {}", tool.name.replace('_', " "), tool.description));
        texts.extend(tool.utterances.iter().cloned());
    }
    let vectors = embedder.embed_lasting(&texts).await?;
    let mut vectors = as_many(&texts, vectors)?.into_iter();
    let made: Vec<ToolVectors> = tools
        .iter()
        .map(|tool| ToolVectors {
            description: vectors.next().unwrap_or_default(),
            utterances: vectors.by_ref().take(tool.utterances.len()).collect(),
        })
        .collect();
    let made = Arc::new(made);
    let mut known = lock(&CACHE);
    if known.len() >= REMEMBERED {
        known.remove(0);
    }
    known.push((key, Arc::clone(&made)));
    Ok(made)
}

/// An error if the number of vectors is wrong.
async fn embed(texts: &[String], embedder: &dyn Embedder) -> Result<Vec<Vec<f32>>, IntentError> {
    as_many(texts, embedder.embed(texts).await?)
}

fn as_many(texts: &[String], vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, IntentError> {
    if vectors.len() != texts.len() {
        return Err(IntentError::Vectors { asked: texts.len(), got: vectors.len() });
    }
    Ok(vectors)
}

/// Cosine of two unit vectors.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
