//! The true context window: what the server tells, and else a word at the beginning of ever longer
//! prompts. On Ollama also whether it gives more when asked for more.

use std::fmt::Write as _;

use steward_core::message::Message;
use steward_core::model::{ModelErrorClass, Provider, Wire};
use steward_core::prompt::estimate_tokens;

use super::desk::{Desk, Silence, plain};
use super::examine::Mark;
use super::findings::{Findings, Score};
use super::judge::has_any;
use super::questions::BOOK;
use super::server;

/// Prompts of the needle test, tokens.
const SIZES: [u32; 3] = [1000, 2000, 4000];
/// A window that is worth asking Ollama for, by millions of parameters: memory grows with both.
const ROOMY: u32 = 16_384;
const MODEST: u32 = 8192;
const BIG_MODEL: u64 = 15_000;

pub(super) async fn check(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    if desk.connection.provider == Provider::Ollama {
        return ollama(desk, found).await;
    }
    if let Some(window) = found.told.window {
        let how = match desk.connection.provider {
            Provider::Local => "this program starts it so",
            _ => "the server says so",
        };
        found.window = Some((window, how.to_owned()));
        return Ok((Score::new(1, 1), format!("{window} tokens: {how}")));
    }
    needle(desk, found).await
}

async fn ollama(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    server::running(desk, &mut found.told).await;
    let now = found.told.ollama_window();
    found.window = Some((now, "as Ollama has loaded it".to_owned()));
    let trained = found.told.trained.unwrap_or(now);
    let roomy = match found.told.millions {
        Some(millions) if millions > BIG_MODEL => MODEST,
        _ => ROOMY,
    };
    let wanted = trained.min(roomy);
    let own = desk.connection.capabilities.num_ctx;
    if now >= wanted && own.is_none() {
        return Ok((Score::new(1, 1), format!("{now} tokens, as Ollama has loaded it")));
    }
    let wanted = own.unwrap_or(wanted);
    let mut connection = desk.connection.clone();
    connection.wire = Some(Wire::Native);
    connection.capabilities.num_ctx = Some(wanted);
    let asked = plain(vec![Message::user("Say hello in one word.")], 16);
    let answered = desk.ask_at(&connection, asked).await;
    let mut told = found.told.clone();
    told.window = None;
    server::running(desk, &mut told).await;
    let confirmed = answered.is_ok() && told.window.is_some_and(|window| window >= wanted);
    found.num_ctx = answered.is_ok().then_some((wanted, confirmed));
    if answered.is_ok() {
        let how = if confirmed {
            "as Ollama gives it when asked by `num_ctx`"
        } else {
            "asked for by `num_ctx`; Ollama does not tell what it gives"
        };
        found.window = Some((wanted, how.to_owned()));
    }
    let detail = match &found.num_ctx {
        Some((wanted, _)) => {
            format!("{now} tokens by default, {wanted} when asked for by `num_ctx`")
        }
        None => format!("{now} tokens; it does not answer when asked for {wanted}"),
    };
    Ok((Score::new(1, 1), detail))
}

async fn needle(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let mut score = Score::default();
    for size in SIZES {
        let prompt = haystack(size);
        if estimate_tokens(&prompt) > desk.tokens_left() / 2 {
            break;
        }
        let heard = match desk.say(vec![Message::user(prompt)], 40).await {
            Ok(heard) => heard,
            Err(Silence::Failed(error)) if error.class == ModelErrorClass::ContextLength => {
                found.forgets = Some(size);
                score.add(Score::new(0, 1));
                break;
            }
            Err(Silence::Failed(error)) if error.class == ModelErrorClass::Timeout => break,
            Err(Silence::Over(_)) if score.of > 0 => break,
            Err(silence) => return Err(silence),
        };
        let words = [BOOK.needle.word.clone()];
        let known = has_any(&heard.answer().to_lowercase(), &words);
        score.add(Score::new(u32::from(known), 1));
        if !known {
            found.forgets = Some(size);
            break;
        }
        found.remembers = Some(size);
    }
    if score.of == 0 {
        return Err(Silence::Over("a long prompt took too long"));
    }
    let detail = match (found.remembers, found.forgets) {
        (Some(known), Some(lost)) => {
            format!("it knew the beginning of {known} tokens, not that of {lost}")
        }
        (Some(known), None) => {
            format!("it knew the beginning of {known} tokens; the server does not tell its window")
        }
        (None, _) => format!("it did not know the beginning of {} tokens", SIZES[0]),
    };
    Ok((score, detail))
}

/// About so many tokens with the word at the beginning.
fn haystack(tokens: u32) -> String {
    let needle = &BOOK.needle;
    let mut text = needle.before.replace("{word}", &needle.word);
    // A token of plain English is four letters and a bit.
    let chars = tokens as usize * 9 / 2;
    for (n, line) in needle.filler.iter().cycle().enumerate() {
        if text.len() >= chars {
            break;
        }
        let _ = write!(text, "\n{}. {line}", n + 1);
    }
    text.push_str("\n\n");
    text.push_str(&needle.after);
    text
}
