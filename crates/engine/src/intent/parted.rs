//! A request of several wishes: each part with the tool that fits it.

use super::error::IntentError;
use super::fill::{FilledCall, alike, of_tool};
use super::known::Known;
use super::settings::Fill;
use serde_json::{Map, Value};
use steward_core::tool::ToolSpec;
use steward_parse::fill::{Form, Request, parts};

/// Most calls of one request.
const MOST: usize = 24;
/// Most wishes of one request; a text with more sentences tells a story.
const LONGEST: usize = 8;
/// A part needs to be so much like its tool.
const NEAR: f32 = 0.25;
/// And so much where it has no word of the tool's name.
const CLEAR: f32 = 0.4;

/// The calls of a request part by part, where that explains it better than `whole`; `None` where the
/// request is of one piece.
pub async fn fill(
    whole: &[FilledCall],
    request: &str,
    tools: &[ToolSpec],
    known: &mut Known<'_>,
    settings: &Fill,
) -> Result<Option<Vec<FilledCall>>, IntentError> {
    let pieces = parts(request);
    if pieces.len() < 2 {
        return Ok(None);
    }
    let wishes = wishes(&pieces, tools);
    if !(2..=LONGEST).contains(&wishes.len()) {
        return Ok(None);
    }
    let mut made: Vec<FilledCall> = Vec::new();
    let mut wanting = 0;
    // Whether every part tells all that its tool needs, and that is more than one thing.
    let mut alone = true;
    for text in &wishes {
        let ranked = alike(text, &[], tools, known).await?;
        let read = Request::read(text);
        let mut best: Option<(f32, Vec<FilledCall>)> = None;
        for (similarity, tool) in ranked.into_iter().take(settings.looked_at) {
            let form = Form::of(&tool.name, &tool.description, &tool.parameters);
            if similarity < NEAR || (similarity < CLEAR && form.named(&read) == 0) {
                continue;
            }
            let calls = of_tool(&read, tool, similarity, known, settings).await?;
            let Some(first) = calls.first() else { continue };
            if required(tool).next().is_some() && !own(first, tool) {
                continue;
            }
            let worth = first.confidence - if first.open.is_empty() { 0.0 } else { 0.5 };
            if best.as_ref().is_none_or(|(known, _)| worth > known + settings.lead * 0.5) {
                best = Some((worth, calls));
            }
        }
        let Some((_, calls)) = best else { continue };
        wanting += 1;
        alone &= calls.iter().all(|call| {
            call.open.is_empty() && tools.iter().any(|tool| tool.name == call.tool && required(tool).count() > 1)
        });
        for mut call in calls {
            for name in std::mem::take(&mut call.open) {
                match carried(&name, &call.tool, &made, whole) {
                    Some((value, sure)) => {
                        put(&mut call.arguments, &name, value);
                        call.sure.insert(name, sure);
                    }
                    None => call.open.push(name),
                }
            }
            let again = made.iter().any(|one| one.tool == call.tool && one.arguments == call.arguments);
            if !again && made.len() < MOST {
                made.push(call);
            }
        }
    }
    made.retain(|call| call.open.is_empty());
    let several = made.iter().any(|call| call.tool != made[0].tool);
    let better = wanting > 1 && made.len() > 1 && (several || (alone && made.len() >= whole.len()));
    Ok(better.then_some(made))
}

/// Pieces brought together again: a comma or `and` begins a new wish only where a tool is named.
fn wishes(pieces: &[steward_parse::fill::Part], tools: &[ToolSpec]) -> Vec<String> {
    let forms: Vec<Form> = tools.iter().map(|tool| Form::of(&tool.name, &tool.description, &tool.parameters)).collect();
    let names = |text: &str| {
        let read = Request::read(text);
        forms.iter().any(|form| form.named(&read) > 0)
    };
    // Where wishes are counted, what lies between belongs to the one before.
    let counted = pieces.iter().filter(|piece| piece.counted).count() > 1;
    let mut out: Vec<String> = Vec::new();
    for piece in pieces {
        match out.last_mut() {
            Some(last) if counted && piece.apart && !piece.counted => {
                last.push_str(". ");
                last.push_str(&piece.text);
            }
            Some(last) if !(piece.apart || names(&piece.text) && names(last)) => {
                last.push_str(", ");
                last.push_str(&piece.text);
            }
            _ => out.push(piece.text.clone()),
        }
    }
    out
}

fn required(tool: &ToolSpec) -> impl Iterator<Item = &str> {
    tool.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a call has a required argument of its own.
fn own(call: &FilledCall, tool: &ToolSpec) -> bool {
    required(tool).any(|name| {
        call.sure.iter().any(|(label, sure)| *sure > 0.4 && label.split('.').next().is_some_and(|outer| outer == name))
    })
}

/// What another part says of an argument: the nearest call before, of the same tool first; else the
/// request as a whole.
fn carried(name: &str, tool: &str, made: &[FilledCall], whole: &[FilledCall]) -> Option<(Value, f32)> {
    let of = |call: &FilledCall| {
        let value = at(&call.arguments, name)?.clone();
        Some((value, call.sure.get(name).copied().unwrap_or(0.2)))
    };
    let before = made.iter().rev();
    before
        .clone()
        .filter(|call| call.tool == tool)
        .find_map(of)
        .or_else(|| whole.iter().filter(|call| call.tool == tool).find_map(of))
        .or_else(|| before.clone().find_map(of))
        .or_else(|| whole.iter().find_map(of))
}

fn at<'a>(arguments: &'a Value, label: &str) -> Option<&'a Value> {
    label.split('.').try_fold(arguments, |value, name| value.get(name))
}

fn put(arguments: &mut Value, label: &str, value: Value) {
    let mut place = arguments;
    let mut names = label.split('.').peekable();
    while let Some(name) = names.next() {
        let Value::Object(map) = place else { return };
        if names.peek().is_none() {
            map.insert(name.to_owned(), value);
            return;
        }
        place = map.entry(name.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
}
