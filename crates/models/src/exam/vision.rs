//! Whether it sees: a red square, asked for its colour.

use super::constrained::{content, max_tokens_field, raw};
use super::findings::Findings;
use super::questions::QUESTIONS;
use super::session::{ExamSession, NoReply};
use super::{CheckResult, verdict};
use crate::openai::Outgoing;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

const RED_SQUARE: &[u8] = include_bytes!("../../data/exam/red_square.png");

pub(super) async fn check(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let picture = STANDARD.encode(RED_SQUARE);
    let mut body = json!({
        "model": session.connection.model,
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": QUESTIONS.vision.ask},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}},
        ]}],
        "stream": false,
    });
    body[max_tokens_field(&session.connection)] = json!(session.longest(30));
    let sent = Outgoing::post("chat/completions", &body);
    let answer = raw(session, &sent).await;
    if answer.as_ref().is_err_and(NoReply::is_refusal) {
        found.vision = Some(false);
    }
    let answer = content(&answer?);
    let sees = QUESTIONS.vision.rule.is_met(&answer);
    found.vision = Some(sees);
    verdict(sees, "it names the colour of a picture", || {
        format!("asked for the colour of a red picture it wrote: {answer}")
    })
}
