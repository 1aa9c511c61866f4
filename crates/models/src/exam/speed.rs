//! How fast it reads and writes, and whether a repeated prompt beginning comes from a cache.

use super::findings::{Findings, Score};
use super::questions::QUESTIONS;
use super::session::{ExamSession, Reply};
use super::{CheckResult, ms};
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::message::Message;
use steward_core::prompt::estimate_tokens;

/// Tokens of the reply that is timed.
const WRITTEN: u32 = 120;
/// Tokens of the prompt that is timed.
const READ: u32 = 600;
/// Below this share of the first reading, the second came from a cache. Shorter first readings say nothing.
const CACHED_SHARE: f64 = 0.5;
const TELLING: Duration = Duration::from_millis(100);

pub(super) async fn check(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let reply = session.ask_text(vec![Message::user(&QUESTIONS.speed.ask)], WRITTEN).await?;
    found.first_token_ms = found.first_token_ms.min(ms(reply.first)).max(1);
    let written = match reply.usage.completion_tokens {
        0 => estimate_tokens(&reply.text) + estimate_tokens(&reply.reasoning),
        told => told,
    };
    let took = reply.total.saturating_sub(reply.first);
    found.tokens_per_second = rate(written.saturating_sub(1), took);
    Ok((
        Score::new(1, 1),
        format!("{:.0} tokens a second, the first after {} ms", found.tokens_per_second, found.first_token_ms),
    ))
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a figure for people")]
fn rate(tokens: u64, took: Duration) -> f32 {
    if took < Duration::from_millis(1) {
        return 0.0;
    }
    (tokens as f64 / took.as_secs_f64()) as f32
}

/// Sends the same long beginning twice. `at` makes it one that nobody has cached yet.
pub(super) async fn cache(session: &ExamSession<'_>, found: &mut Findings, at: Timestamp) -> CheckResult {
    let most = found.window.as_ref().map_or(READ, |(window, _)| window / 2);
    let beginning = beginning(at, READ.min(most));
    let first = read(session, &beginning, "How many lines end with a full stop? Answer briefly.").await?;
    let second = read(session, &beginning, "Which animal is spoken of? Answer briefly.").await?;
    let tokens = match first.usage.prompt_tokens {
        0 => estimate_tokens(&beginning),
        told => told - first.usage.cached_tokens.min(told),
    };
    if first.first >= TELLING {
        found.prompt_tokens_per_second = rate(tokens, first.first);
    }
    let told = second.usage.cached_tokens > 0;
    let faster = first.first >= TELLING && second.first.as_secs_f64() < first.first.as_secs_f64() * CACHED_SHARE;
    found.reuses_cache = Some(told || faster);
    let detail = if told {
        format!("{} of {} tokens came from a cache", second.usage.cached_tokens, second.usage.prompt_tokens)
    } else if faster {
        format!("the same beginning took {} ms, then {} ms", ms(first.first), ms(second.first))
    } else {
        "the same beginning was read anew".to_owned()
    };
    Ok((Score::new(u32::from(told || faster), 1), detail))
}

async fn read(session: &ExamSession<'_>, beginning: &str, end: &str) -> Result<Reply, super::session::NoReply> {
    let text = format!("{beginning}\n\n{end}");
    session.ask_text(vec![Message::user(text)], 8).await
}

fn beginning(at: Timestamp, tokens: u32) -> String {
    let mut text = format!("Notes number {}:", at.0);
    QUESTIONS.needle.fill(&mut text, tokens);
    text
}
