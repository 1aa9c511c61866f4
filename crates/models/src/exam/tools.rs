//! Whether it calls tools, in each form.

use serde_json::json;
use steward_core::message::Message;
use steward_core::model::{Constrained, ModelError, ModelErrorClass, ModelRequest, Strategy, Wire};
use steward_core::tool::{CallSource, ToolCall, ToolSpec};

use super::decide;
use super::desk::{Desk, Heard, Silence, plain};
use super::examine::Mark;
use super::findings::{Findings, FormScore, Score};
use super::judge::{are_all_made, call_points};
use super::questions::TOOL_BOOK;

/// Longest reply with a call in it, tokens.
const LONGEST: u32 = 160;

/// A request in the form of `strategy`.
pub(super) fn request(desk: &Desk<'_>, strategy: Strategy, tools: &[ToolSpec], ask: &str) -> ModelRequest {
    let mut messages = Vec::new();
    let explained = desk.tongue.instructions(strategy, tools);
    if !explained.is_empty() {
        messages.push(Message::system(explained));
    }
    messages.push(Message::user(ask));
    let mut request = plain(messages, LONGEST);
    match strategy {
        Strategy::Native => request.tools = tools.to_vec(),
        Strategy::GuidedJson => request.schema = Some(desk.tongue.schema(tools)),
        Strategy::React => request.stop = vec!["\nObservation:".to_owned()],
        Strategy::Markers => {}
    }
    request
}

/// Asks in the form of `strategy` and reads the calls.
pub(super) async fn calls(
    desk: &Desk<'_>,
    found: &Findings,
    strategy: Strategy,
    tools: &[ToolSpec],
    ask: &str,
) -> Result<(Heard, Vec<ToolCall>), Silence> {
    let mut connection = desk.connection.clone();
    connection.capabilities.json_schema = decide::can_constrain(found);
    connection.capabilities.constrained = decide::way(found, &connection);
    if connection.capabilities.constrained == Some(Constrained::OllamaFormat) {
        // No other interface reads it.
        connection.wire = Some(Wire::Native);
    }
    let heard = desk.ask_at(&connection, request(desk, strategy, tools, ask)).await?;
    let calls = desk.tongue.calls(strategy, tools, &heard.chunks);
    Ok((heard, calls))
}

/// The cases in one form.
pub(super) async fn form(desk: &Desk<'_>, found: &mut Findings, strategy: Strategy) -> Mark {
    let tools = TOOL_BOOK.tools();
    let (mut score, mut right_tools, mut words) = (Score::default(), 0, Vec::new());
    for case in &TOOL_BOOK.cases {
        let (heard, calls) = match calls(desk, found, strategy, &tools, &case.ask).await {
            Ok(pair) => pair,
            Err(Silence::Failed(error)) if refuses_tools(&error, strategy) => {
                let why = error.detail.unwrap_or(error.message);
                let of = 2 * u32::try_from(TOOL_BOOK.cases.len()).unwrap_or(1);
                keep(found, strategy, Score::new(0, of), 0);
                return Ok((Score::new(0, of), format!("the server refuses tools: {why}")));
            }
            // What was found so far still tells something.
            Err(Silence::Over(_)) if score.of > 0 => break,
            Err(silence) => return Err(silence),
        };
        let points = call_points(case.call.as_ref(), &calls);
        right_tools += u32::from(case.call.is_some() && points > 0);
        score.add(Score::new(points, 2));
        if points < 2 {
            words.push(format!("\"{}\" → {}", case.ask, said(&heard, &calls)));
        }
    }
    keep(found, strategy, score, right_tools);
    if words.is_empty() {
        words.push("the right tool with the right arguments each time, and none where none is needed".to_owned());
    }
    Ok((score, words.join("; ")))
}

fn refuses_tools(error: &ModelError, strategy: Strategy) -> bool {
    strategy == Strategy::Native && matches!(error.class, ModelErrorClass::BadRequest | ModelErrorClass::Server)
}

fn keep(found: &mut Findings, strategy: Strategy, score: Score, right_tools: u32) {
    found.forms.push(FormScore { strategy, score, right_tools });
}

/// What it did, for a person.
fn said(heard: &Heard, calls: &[ToolCall]) -> String {
    if calls.is_empty() {
        let text: String = heard.answer().chars().take(60).collect();
        return format!("no call: {text}");
    }
    let calls: Vec<String> = calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect();
    calls.join(" ")
}

/// Several calls in one reply.
pub(super) async fn parallel(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let Some(form) = decide::best_form(found) else {
        return Err(Silence::Over("it does not call tools by itself"));
    };
    let tools = TOOL_BOOK.tools();
    let wanted = &TOOL_BOOK.parallel;
    let (heard, calls) = calls(desk, found, form.strategy, &tools, &wanted.ask).await?;
    let all = are_all_made(&wanted.calls, &calls);
    found.parallel = Some(all);
    let detail =
        if all { "two calls in one reply".to_owned() } else { format!("one at a time: {}", said(&heard, &calls)) };
    Ok((Score::new(u32::from(all), 1), detail))
}

/// Whether it reads the result of a call.
pub(super) async fn follow_up(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let native = found.form(Strategy::Native);
    if native.is_none_or(|form| form.right_tools == 0) {
        return Err(Silence::Over("it does not call tools natively"));
    }
    let follow = &TOOL_BOOK.follow_up;
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: follow.call.name.clone(),
        arguments: json!(follow.call.arguments),
        source: CallSource::Native,
        confidence: 1.0,
        signature: None,
    };
    let messages = vec![
        Message::user(&follow.ask),
        Message::assistant("").with_calls(vec![call]),
        Message::tool("call_1", &follow.result),
    ];
    let mut request = plain(messages, LONGEST);
    request.tools = TOOL_BOOK.tools();
    let heard = desk.ask(request).await?;
    let calls = desk.tongue.calls(Strategy::Native, &TOOL_BOOK.tools(), &heard.chunks);
    let read = follow.expect.is_met(&heard.text);
    let detail = if read {
        "it answers from the result of its call".to_owned()
    } else {
        format!("the result of its call is not in its answer: {}", said(&heard, &calls))
    };
    Ok((Score::new(u32::from(read), 1), detail))
}
