//! Arguments with few possible values: choices and yes or no.

use super::form::{Param, Type};
use super::request::What;
use super::score::Scorer;
use super::stem::{kin, split_name, stem};
use serde_json::Value;

/// How well each choice is spoken for, best first: index, score, tokens.
pub(super) fn choices(scorer: &Scorer<'_>, param: &Param) -> Vec<(usize, f32, Vec<usize>)> {
    let mut out: Vec<(usize, f32, Vec<usize>)> = param
        .choices
        .iter()
        .enumerate()
        .filter_map(|(index, choice)| {
            let (score, tokens) = spoken(scorer, param, choice)?;
            Some((index, score, tokens))
        })
        .collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1));
    out
}

fn spoken(scorer: &Scorer<'_>, param: &Param, choice: &Value) -> Option<(f32, Vec<usize>)> {
    let text = match choice {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let tokens = &scorer.request.tokens;
    // Word for word, whatever its case.
    let lower = text.to_lowercase();
    let exact = tokens.iter().position(|token| {
        // One letter is easily something else.
        token.lower == lower && (text.len() > 1 || token.text == text)
    });
    if let Some(at) = exact {
        let single = text.len() < 2 || scorer.words.stop.contains(&lower);
        let cue = scorer.cues(at, at + 1, param);
        // `as done`: a word of no meaning is a choice where it is led to.
        let led = text.len() > 1
            && tokens.iter().skip(1).zip(tokens).any(|(token, before)| token.lower == lower && before.is("as"));
        if !single || led || cue > 0.5 {
            // Of two arguments with the same values, each takes the one on its side.
            let (best, at) = tokens
                .iter()
                .enumerate()
                .filter(|(_, token)| token.lower == lower)
                .map(|(at, _)| (scorer.side(at, param).clamp(-1.0, 1.0), at))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
                .unwrap_or((0.0, at));
            return Some((3.0 + 0.5 * cue + best, vec![at]));
        }
        return None;
    }
    if let Ok(wanted) = text.parse::<f64>() {
        // `two rooms` for the choice `2`.
        return scorer.request.spans.iter().find_map(|span| match &span.what {
            What::Number(number) if number.word && !number.ordinal && (number.value - wanted).abs() < 1e-9 => {
                let cue = scorer.cues(span.from, span.to, param);
                (cue > 0.5).then(|| (3.0 + 0.5 * cue, vec![span.from]))
            }
            _ => None,
        });
    }
    let joined = stem(&split_name(&text).concat());
    if joined.len() > 3
        && let Some(at) = tokens.iter().position(|token| token.stem == joined)
    {
        return Some((2.8, vec![at]));
    }
    let all: Vec<String> = split_name(&text);
    let parts: Vec<String> =
        all.iter().filter(|word| !scorer.words.stop.contains(*word)).map(|word| stem(word)).collect();
    if parts.is_empty() {
        return None;
    }
    if parts.len() > 1
        && let Some(at) = together(scorer, &parts)
    {
        return Some((3.2, (at..at + parts.len()).collect()));
    }
    // `goals` for `Goals Scored`, where no other choice and not the question itself has the word.
    let head = &parts[0];
    let alone = parts.len() > 1
        && !param.told.contains(head)
        && !param.name.contains(head)
        && !scorer.form.about.contains(head)
        && param
            .choices
            .iter()
            .filter_map(Value::as_str)
            .filter(|other| split_name(other).iter().any(|word| stem(word) == *head))
            .count()
            == 1;
    if alone && let Some(at) = tokens.iter().position(|token| token.stem == *head) {
        return Some((1.7, vec![at]));
    }
    let mut used = Vec::new();
    let mut weight = 0.0;
    for part in &parts {
        let hit = tokens
            .iter()
            .enumerate()
            .find(|(_, token)| {
                kin(&token.stem, part)
                    || (token.stem.len() >= 4
                        && !scorer.words.stop.contains(&token.lower)
                        && part.starts_with(&token.stem))
            })
            .map(|(at, _)| (at, 1.0))
            .or_else(|| {
                tokens
                    .iter()
                    .enumerate()
                    .find(|(_, token)| token.is_content(scorer.words) && scorer.words.alike(&token.stem, part))
                    .map(|(at, _)| (at, 0.4))
            });
        if let Some((at, share)) = hit {
            let explained = scorer.form.about.iter().any(|own| own == part) && parts.len() > 1;
            weight += if explained { 0.5 * share } else { share };
            used.push(at);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let share = weight / parts.len() as f32;
    (share >= 0.4).then_some((2.6 * share, used))
}

/// Where all of `parts` stand in a row.
fn together(scorer: &Scorer<'_>, parts: &[String]) -> Option<usize> {
    let tokens = &scorer.request.tokens;
    (0..tokens.len().checked_sub(parts.len() - 1)?)
        .find(|at| parts.iter().enumerate().all(|(place, part)| kin(&tokens[at + place].stem, part)))
}

/// Texts that the description names as possible, as choices.
pub(super) fn told(scorer: &Scorer<'_>, param: &Param) -> Vec<(String, f32, usize)> {
    let place = |word: &String| {
        let tokens = &scorer.request.tokens;
        tokens.iter().position(|token| kin(&token.stem, word))
    };
    let aliased: Vec<(String, f32, usize)> =
        param.aliases.iter().filter_map(|(value, word)| Some((value.clone(), 4.5, place(word)?))).collect();
    if !aliased.is_empty() {
        return aliased;
    }
    let lower = param.description.to_lowercase();
    let few = [
        "can be", "either", "option", "must be", "one of", " or '", "valid", "support", "e.g. '", "e.g., '", "('",
        "like '",
    ]
    .iter()
    .any(|mark| lower.contains(mark));
    if !few || param.examples.len() < 2 {
        return Vec::new();
    }
    param
        .examples
        .iter()
        .filter(|example| example.split_whitespace().count() <= 3)
        .filter_map(|example| {
            let (score, tokens) = spoken(scorer, param, &Value::from(example.as_str()))?;
            (score >= 2.0).then(|| (example.clone(), score, tokens.first().copied().unwrap_or(0)))
        })
        .collect()
}

/// `turn on`, `switch off`, `enable`: what is asked of a switch.
fn switched(scorer: &Scorer<'_>) -> Option<bool> {
    let tokens = &scorer.request.tokens;
    tokens.iter().enumerate().find_map(|(at, token)| {
        let turned = matches!(token.lower.as_str(), "turn" | "switch" | "put" | "shut");
        let near = tokens.iter().skip(at + 1).take(4);
        match token.lower.as_str() {
            "enable" | "activate" => Some(true),
            "disable" | "deactivate" => Some(false),
            _ if turned => near
                .map(|next| next.lower.as_str())
                .find_map(|word| ["on", "off"].contains(&word).then_some(word == "on")),
            _ => None,
        }
    })
}

/// Yes or no by what the request speaks of; `None` where it doesn't. With how sure that is.
pub(super) fn yes_or_no(scorer: &Scorer<'_>, param: &Param) -> Option<(bool, f32)> {
    let worded =
        |text: &str| param.choices.iter().filter_map(Value::as_str).any(|choice| choice.eq_ignore_ascii_case(text));
    let in_words = (worded("true") && worded("false")) || (worded("yes") && worded("no"));
    if param.kind != Type::Bool && !in_words {
        return None;
    }
    let keep = |word: &&String| !scorer.words.bool_stop.contains(*word) && word.chars().any(char::is_alphabetic);
    let own: Vec<&String> = param.name.iter().filter(keep).collect();
    let (own, sure) = if own.is_empty() { (param.told.iter().filter(keep).take(4).collect(), 0.5) } else { (own, 0.8) };
    let tokens = &scorer.request.tokens;
    if param.path.last().is_some_and(|name| scorer.words.switches.contains(&name.to_lowercase()))
        && let Some(on) = switched(scorer)
    {
        return Some((on, 0.8));
    }
    let find = |own: &[&String]| -> Vec<usize> {
        own.iter()
            .filter_map(|word| {
                tokens.iter().position(|token| {
                    // `in-unit laundry`
                    let part = |part: &str| kin(&stem(part), word);
                    token.is_content(scorer.words)
                        && (kin(&token.stem, word) || (token.lower.contains('-') && token.lower.split('-').any(part)))
                })
            })
            .collect()
    };
    let mut hits = find(&own);
    let (mut own, mut sure) = (own, sure);
    if hits.is_empty() {
        // `in descending order` for `reverse: sort in reverse, i.e. descending order`.
        let rare: Vec<&String> = param
            .told
            .iter()
            .filter(|word| {
                word.len() > 4
                    && !scorer.words.bool_stop.contains(*word)
                    && scorer.form.spread.get(*word).copied().unwrap_or(1) == 1
                    && !scorer.form.about.iter().any(|own| kin(own, word))
            })
            .collect();
        hits = find(&rare);
        hits.truncate(1);
        own.truncate(1);
        sure = 0.3;
    }
    // What the tool is about anyway says nothing of one of its options.
    let news = hits.iter().any(|at| !scorer.form.about.iter().any(|own| kin(own, &tokens[*at].stem)));
    if hits.is_empty() || hits.len() * 2 < own.len() || (hits.len() < own.len() && !news) {
        return None;
    }
    let negated = hits
        .iter()
        .any(|at| tokens[at.saturating_sub(3)..*at].iter().any(|token| scorer.words.negations.contains(&token.lower)));
    Some((!negated, sure))
}
