//! Calls of any tools for a request, with complete arguments where the request tells them.

use super::error::IntentError;
use super::fallback;
use super::known::Known;
use super::parted;
use super::settings::{Fill, Settings};
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::model::Connection;
use steward_core::ports::{Embedder, Models};
use steward_core::tool::ToolSpec;
use steward_parse::fill::{Call, Form, Request, calls};

/// Sentences looked at by themselves.
const SENTENCES: usize = 6;
/// What the likeness of one sentence counts less than that of the whole request.
const PART: f32 = 0.05;
/// What it adds that the verb of a tool's name is asked for.
const VERB: f32 = 0.08;

/// How sure an argument is that only the model had a word on.
const WRITTEN: f32 = 0.2;

/// A call with what is known of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct FilledCall {
    /// The tool's name.
    pub tool: String,
    /// A JSON object; it fits the tool's schema where `open` is empty.
    pub arguments: Value,
    /// How alike the request and the tool's name and description are, -1 to 1.
    pub similarity: f32,
    /// 0 to 1: that this call is wanted, by similarity and arguments together; 0.5 and more is a yes.
    pub confidence: f32,
    /// 0 to 1 for each argument that is there.
    pub sure: BTreeMap<String, f32>,
    /// Required arguments that nothing in the request could be read as.
    pub open: Vec<String>,
    /// The share of the request's words that the tool or its arguments account for, 0 to 1.
    pub explained: f32,
}

/// The calls that `request` wants of `tools`; none where no tool fits. What comes back is worth a
/// try; a call with `open` arguments can't be made yet.
pub async fn fill(
    models: Option<&dyn Models>,
    embedder: &dyn Embedder,
    connection: &Connection,
    request: &str,
    tools: &[ToolSpec],
) -> Result<Vec<FilledCall>, IntentError> {
    let settings = &Settings::shipped()?.fill;
    let mut known = Known::new(embedder);
    let ranked = rank(request, tools, &mut known, settings.looked_at).await?;
    let read = Request::read(request);
    let mut best: Option<(f32, Vec<FilledCall>)> = None;
    for (similarity, tool) in &ranked {
        let made = of_tool(&read, tool, *similarity, &mut known, settings).await?;
        // The first tool keeps its place unless the next can be called and it can't, or is much surer.
        let worth = made.first().map_or(0.0, |call| call.confidence - if call.open.is_empty() { 0.0 } else { 1.0 });
        if best.as_ref().is_none_or(|(known, _)| worth > known + settings.lead) {
            best = Some((worth, made));
        }
    }
    let mut made = best.map(|(_, made)| made).unwrap_or_default();
    if let Some(apart) = parted::fill(&made, request, tools, &mut known, settings).await? {
        made = apart;
    }
    made.retain(|call| call.confidence >= settings.wanted);
    if let Some(models) = models {
        for call in made.iter_mut().filter(|call| !call.open.is_empty()) {
            complete(call, request, tools, connection, models).await;
        }
    }
    Ok(made)
}

/// Lets the model write what the request did not tell in so many words.
async fn complete(
    call: &mut FilledCall,
    request: &str,
    tools: &[ToolSpec],
    connection: &Connection,
    models: &dyn Models,
) {
    let Some(tool) = tools.iter().find(|tool| tool.name == call.tool) else {
        return;
    };
    match fallback::completed(request, tool, &call.arguments, connection, models).await {
        Ok(arguments) => {
            for name in call.open.drain(..) {
                call.sure.insert(name, WRITTEN);
            }
            call.arguments = arguments;
        }
        Err(reason) => tracing::debug!(tool = %call.tool, %reason, "no arguments by the model"),
    }
}

/// The tools most alike to the request, best first.
async fn rank<'a>(
    request: &str,
    tools: &'a [ToolSpec],
    known: &mut Known<'_>,
    most: usize,
) -> Result<Vec<(f32, &'a ToolSpec)>, IntentError> {
    // In a long request the wish may be one sentence of many.
    let parts = sentences(request);
    let mut ranked = alike(request, &parts, tools, known).await?;
    if ranked.len() > 1 {
        let read = Request::read(request);
        for (similarity, tool) in &mut ranked {
            let form = Form::of(&tool.name, &tool.description, &tool.parameters);
            if form.asked(&read) {
                *similarity += VERB;
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    ranked.truncate(most);
    Ok(ranked)
}

/// Every tool with how alike it is to a text or, a little less, to one of its parts; best first.
pub(super) async fn alike<'a>(
    text: &str,
    parts: &[String],
    tools: &'a [ToolSpec],
    known: &mut Known<'_>,
) -> Result<Vec<(f32, &'a ToolSpec)>, IntentError> {
    let own: Vec<String> = tools.iter().map(told).collect();
    let mut texts = vec![text.to_owned()];
    texts.extend_from_slice(parts);
    texts.extend_from_slice(&own);
    known.learn(texts).await?;
    let mut ranked: Vec<(f32, &ToolSpec)> = tools
        .iter()
        .zip(&own)
        .map(|(tool, own)| {
            let whole = known.likeness(text, own);
            let part = parts.iter().map(|part| known.likeness(part, own) - PART).fold(whole, f32::max);
            (part, tool)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(ranked)
}

/// A tool as a text.
fn told(tool: &ToolSpec) -> String {
    let name = tool.name.replace(['_', '.'], " ");
    format!("{name}: {}", tool.description)
}

/// The sentences of a text of several, the last few of them.
fn sentences(request: &str) -> Vec<String> {
    let mut parts: Vec<String> = request
        .split_inclusive(['.', '?', '!', '\n'])
        .map(|part| part.trim().to_owned())
        .filter(|part| part.split_whitespace().count() >= 4)
        .collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    let first = parts.len().saturating_sub(SENTENCES);
    parts.drain(..first);
    parts
}

/// The calls of one tool that a text wants.
pub(super) async fn of_tool(
    read: &Request,
    tool: &ToolSpec,
    similarity: f32,
    known: &mut Known<'_>,
    settings: &Fill,
) -> Result<Vec<FilledCall>, IntentError> {
    let form = Form::of(&tool.name, &tool.description, &tool.parameters);
    let questions = form.questions();
    if !questions.is_empty() {
        let mut texts = read.phrases();
        texts.extend(questions);
        known.learn(texts).await?;
    }
    let name = tool.name.replace(['_', '.'], " ");
    known.learn(vec![read.text().to_owned(), name.clone()]).await?;
    let likeness = |phrase: &str, question: &str| known.likeness(phrase, question);
    let seen = Seen {
        similarity,
        name: known.likeness(read.text(), &name),
        overlap: form.overlap(read),
        called: form.called(read),
    };
    Ok(calls(read, &form, &likeness)
        .into_iter()
        .map(|call| FilledCall {
            tool: tool.name.clone(),
            similarity,
            confidence: wanted(settings, &seen, &call),
            explained: call.explained,
            arguments: call.arguments,
            sure: call.sure,
            open: call.open,
        })
        .collect())
}

/// What speaks for a tool before its arguments are looked at.
struct Seen {
    /// Likeness of the request and the tool's name and description, and its name alone.
    similarity: f32,
    name: f32,
    /// Shares of the request's words that the tool has, and of its name's words that the request has.
    overlap: f32,
    called: f32,
}

/// That a call is wanted, as a share of 1.
fn wanted(settings: &Fill, seen: &Seen, call: &Call) -> f32 {
    let least = call.least_required();
    let count = |count: usize, most: u16| f32::from(u16::try_from(count).unwrap_or(most).min(most));
    let (filled, open) = (count(call.sure.len(), 6), count(call.open.len(), 2));
    let share_open = if call.required() == 0 { 0.0 } else { count(call.open.len(), 40) / count(call.required(), 40) };
    let sum = settings.similarity.mul_add(seen.similarity, settings.base)
        + settings.name * seen.name
        + settings.least * least.unwrap_or(0.5)
        + settings.mean * call.mean_required().unwrap_or(0.5)
        + settings.both * seen.similarity * least.unwrap_or(0.5)
        + settings.overlap * seen.overlap
        + settings.called * seen.called
        + settings.explained * call.explained
        + settings.each * filled
        + settings.open * open
        + settings.share_open * share_open
        + settings.required * count(call.required(), 5)
        + if least.is_none() { settings.nothing_required } else { 0.0 };
    1.0 / (1.0 + (-sum).exp())
}
