//! The true context window: what the server tells, else whether the model knows a word at the beginning of ever
//! longer prompts. For Ollama also whether it gives more when asked.

use super::findings::{Findings, Score};
use super::questions::QUESTIONS;
use super::rules::contains_any;
use super::session::{ExamSession, NoReply, text_request};
use super::{CheckResult, server_info};
use steward_core::message::Message;
use steward_core::model::{ModelErrorClass, Provider, Wire};
use steward_core::prompt::estimate_tokens;

/// Prompts of the needle test, tokens.
const SIZES: [u32; 3] = [1000, 2000, 4000];
/// Windows worth asking Ollama for. Memory grows with window and model size (`BIG_MODEL` in millions of parameters).
const ROOMY: u32 = 16_384;
const MODEST: u32 = 8192;
const BIG_MODEL: u64 = 15_000;

pub(super) async fn check(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    if session.connection.provider == Provider::Ollama {
        return ollama(session, found).await;
    }
    if let Some(window) = found.server.window {
        let how = match session.connection.provider {
            Provider::Local => "this program starts it so",
            _ => "the server says so",
        };
        found.window = Some((window, how.to_owned()));
        return Ok((Score::new(1, 1), format!("{window} tokens: {how}")));
    }
    needle(session, found).await
}

async fn ollama(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    server_info::running(session, &mut found.server).await;
    let now = found.server.ollama_window();
    found.window = Some((now, "as Ollama has loaded it".to_owned()));
    let trained = found.server.trained.unwrap_or(now);
    let roomy = match found.server.millions {
        Some(millions) if millions > BIG_MODEL => MODEST,
        _ => ROOMY,
    };
    let wanted = trained.min(roomy);
    let own = session.connection.capabilities.num_ctx;
    if now >= wanted && own.is_none() {
        return Ok((Score::new(1, 1), format!("{now} tokens, as Ollama has loaded it")));
    }
    let wanted = own.unwrap_or(wanted);
    let mut connection = session.connection.clone();
    connection.wire = Some(Wire::Native);
    connection.capabilities.num_ctx = Some(wanted);
    let asked = text_request(vec![Message::user("Say hello in one word.")], 16);
    let answered = session.ask_at(&connection, asked).await;
    let mut now_running = found.server.clone();
    now_running.window = None;
    server_info::running(session, &mut now_running).await;
    if answered.is_err() {
        return Ok((Score::new(1, 1), format!("{now} tokens; it does not answer when asked for {wanted}")));
    }
    let confirmed = now_running.window.is_some_and(|window| window >= wanted);
    found.num_ctx = Some((wanted, confirmed));
    let how = if confirmed {
        "as Ollama gives it when asked by `num_ctx`"
    } else {
        "asked for by `num_ctx`; Ollama does not tell what it gives"
    };
    found.window = Some((wanted, how.to_owned()));
    Ok((Score::new(1, 1), format!("{now} tokens by default, {wanted} when asked for by `num_ctx`")))
}

async fn needle(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let mut score = Score::default();
    for size in SIZES {
        let prompt = haystack(size);
        if estimate_tokens(&prompt) > session.tokens_left() / 2 {
            break;
        }
        let reply = match session.ask_text(vec![Message::user(prompt)], 40).await {
            Ok(reply) => reply,
            Err(NoReply::Failed(error)) if error.class == ModelErrorClass::ContextLength => {
                found.forgets = Some(size);
                score.add(Score::new(0, 1));
                break;
            }
            Err(NoReply::Failed(error)) if error.class == ModelErrorClass::Timeout => break,
            Err(NoReply::Over(_)) if score.of > 0 => break,
            Err(no_reply) => return Err(no_reply),
        };
        let words = [QUESTIONS.needle.word.clone()];
        let known = contains_any(&reply.answer().to_lowercase(), &words);
        score.add(Score::new(u32::from(known), 1));
        if !known {
            found.forgets = Some(size);
            break;
        }
        found.remembers = Some(size);
    }
    if score.of == 0 {
        return Err(NoReply::Over("a long prompt took too long"));
    }
    let detail = match (found.remembers, found.forgets) {
        (Some(known), Some(lost)) => format!("it knew the beginning of {known} tokens, not that of {lost}"),
        (Some(known), None) => {
            format!("it knew the beginning of {known} tokens; the server does not tell its window")
        }
        (None, _) => format!("it did not know the beginning of {} tokens", SIZES[0]),
    };
    Ok((score, detail))
}

fn haystack(tokens: u32) -> String {
    let needle = &QUESTIONS.needle;
    let mut text = needle.before.replace("{word}", &needle.word);
    needle.fill(&mut text, tokens);
    text.push_str("\n\n");
    text.push_str(&needle.after);
    text
}
