//! Whether it calls tools, in each form, and among how many it still chooses right.

use super::findings::{Findings, FormScore, Score};
use super::questions::TOOL_QUESTIONS;
use super::rules::{are_all_made, call_points};
use super::session::{ExamSession, NoReply, Reply, text_request};
use super::{CheckResult, decide, verdict};
use serde_json::json;
use steward_core::message::Message;
use steward_core::model::{Constrained, ModelError, ModelErrorClass, ModelRequest, Strategy, Wire};
use steward_core::tool::{CallSource, ToolCall, ToolSpec};

/// Longest reply with a call, tokens.
const LONGEST: u32 = 160;

pub(super) fn request(session: &ExamSession<'_>, strategy: Strategy, tools: &[ToolSpec], ask: &str) -> ModelRequest {
    let mut messages = Vec::new();
    let explained = session.format.instructions(strategy, tools);
    if !explained.is_empty() {
        messages.push(Message::system(explained));
    }
    messages.push(Message::user(ask));
    let mut request = text_request(messages, LONGEST);
    match strategy {
        Strategy::Native => request.tools = tools.to_vec(),
        Strategy::GuidedJson => request.schema = Some(session.format.schema(tools)),
        Strategy::React => request.stop = vec!["\nObservation:".to_owned()],
        Strategy::Markers => {}
    }
    request
}

pub(super) async fn calls(
    session: &ExamSession<'_>,
    found: &Findings,
    strategy: Strategy,
    tools: &[ToolSpec],
    ask: &str,
) -> Result<(Reply, Vec<ToolCall>), NoReply> {
    let mut connection = session.connection.clone();
    connection.capabilities.json_schema = decide::can_constrain(found);
    connection.capabilities.constrained = decide::way(found, &connection);
    if connection.capabilities.constrained == Some(Constrained::OllamaFormat) {
        // No other interface reads it.
        connection.wire = Some(Wire::Native);
    }
    let reply = session.ask_at(&connection, request(session, strategy, tools, ask)).await?;
    let calls = session.format.calls(strategy, tools, &reply.chunks);
    Ok((reply, calls))
}

pub(super) async fn form(session: &ExamSession<'_>, found: &mut Findings, strategy: Strategy) -> CheckResult {
    let tools = TOOL_QUESTIONS.tools();
    let (mut score, mut right_tools, mut words) = (Score::default(), 0, Vec::new());
    for case in &TOOL_QUESTIONS.cases {
        let (reply, calls) = match calls(session, found, strategy, &tools, &case.ask).await {
            Ok(pair) => pair,
            Err(NoReply::Failed(error)) if refuses_tools(&error, strategy) => {
                let why = error.detail.unwrap_or(error.message);
                let of = 2 * u32::try_from(TOOL_QUESTIONS.cases.len()).unwrap_or(1);
                let score = Score::new(0, of);
                found.forms.push(FormScore { strategy, score, right_tools: 0 });
                return Ok((score, format!("the server refuses tools: {why}")));
            }
            // The cases so far still tell something.
            Err(NoReply::Over(_)) if score.of > 0 => break,
            Err(no_reply) => return Err(no_reply),
        };
        let points = call_points(case.call.as_ref(), &calls);
        right_tools += u32::from(case.call.is_some() && points > 0);
        score.add(Score::new(points, 2));
        if points < 2 {
            words.push(format!("\"{}\" → {}", case.ask, said(&reply, &calls)));
        }
    }
    found.forms.push(FormScore { strategy, score, right_tools });
    if words.is_empty() {
        words.push("the right tool with the right arguments each time, and none where none is needed".to_owned());
    }
    Ok((score, words.join("; ")))
}

fn refuses_tools(error: &ModelError, strategy: Strategy) -> bool {
    strategy == Strategy::Native && matches!(error.class, ModelErrorClass::BadRequest | ModelErrorClass::Server)
}

fn said(reply: &Reply, calls: &[ToolCall]) -> String {
    if calls.is_empty() {
        let text: String = reply.answer().chars().take(60).collect();
        return format!("no call: {text}");
    }
    let calls: Vec<String> = calls.iter().map(|call| format!("{}{}", call.name, call.arguments)).collect();
    calls.join(" ")
}

pub(super) async fn parallel(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let Some(form) = decide::best_form(found) else {
        return Err(NoReply::Over("it does not call tools by itself"));
    };
    let tools = TOOL_QUESTIONS.tools();
    let wanted = &TOOL_QUESTIONS.parallel;
    let (reply, calls) = calls(session, found, form.strategy, &tools, &wanted.ask).await?;
    let all = are_all_made(&wanted.calls, &calls);
    found.parallel = Some(all);
    verdict(all, "two calls in one reply", || format!("one at a time: {}", said(&reply, &calls)))
}

pub(super) async fn follow_up(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let native = found.form(Strategy::Native);
    if native.is_none_or(|form| form.right_tools == 0) {
        return Err(NoReply::Over("it does not call tools natively"));
    }
    let follow = &TOOL_QUESTIONS.follow_up;
    let call = ToolCall::new("call_1", &follow.call.name, json!(follow.call.arguments), CallSource::Native);
    let messages = vec![
        Message::user(&follow.ask),
        Message::assistant("").with_calls(vec![call]),
        Message::tool("call_1", &follow.result),
    ];
    let mut request = text_request(messages, LONGEST);
    request.tools = TOOL_QUESTIONS.tools();
    let reply = session.ask(request).await?;
    let calls = session.format.calls(Strategy::Native, &TOOL_QUESTIONS.tools(), &reply.chunks);
    let read = follow.expect.is_met(&reply.text);
    verdict(read, "it answers from the result of its call", || {
        format!("the result of its call is not in its answer: {}", said(&reply, &calls))
    })
}

/// Tokens of a tool in a prompt, roughly.
const TOOL_TOKENS: usize = 45;

pub(super) async fn check(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let Some(form) = decide::best_form(found) else {
        return Err(NoReply::Over("it does not call tools by itself"));
    };
    let tool_count = &TOOL_QUESTIONS.tool_count;
    let (mut score, mut most, mut words) = (Score::default(), None, Vec::new());
    for count in [tool_count.few, tool_count.many] {
        let fits = found.window.as_ref().is_none_or(|(window, _)| count * TOOL_TOKENS * 2 < *window as usize);
        if !fits {
            words.push(format!("{count} tools take too much of its window"));
            break;
        }
        let tools = TOOL_QUESTIONS.tool_count(count);
        let mut right = 0;
        for (ask, name) in tool_count.ask.iter().zip(&tool_count.names) {
            let (_, calls) = calls(session, found, form.strategy, &tools, ask).await?;
            right += u32::from(matches!(calls.as_slice(), [call] if call.name == *name));
        }
        let of = u32::try_from(tool_count.ask.len()).unwrap_or(1);
        score.add(Score::new(right, of));
        words.push(format!("{right} of {of} right among {count} tools"));
        if right < of {
            most = most.or(Some(0));
            break;
        }
        most = Some(count);
    }
    found.tool_count = most;
    Ok((score, words.join("; ")))
}
