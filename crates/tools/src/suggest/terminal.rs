//! Proposals for `terminal`.

use super::extract::arithmetic::calculation;
use super::extract::clause::after;
use super::extract::command::split;
use super::extract::quoted::quoted;
use super::extract::text::{any_phrase, has_phrase, plain, words};
use super::lexicon::{Template, lexicon};
use super::{View, grep, ranked, suggestion};
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Commands to run, best first. They are split into arguments, never given to a shell.
pub fn suggest(request: &str, scope: &ToolScope) -> Vec<Suggestion> {
    let view = View::look(scope);
    let text = plain(request);
    let mut found = Vec::new();
    found.extend(explicit(request));
    found.extend(arithmetic(request, &text));
    found.extend(counting(request, &text, &view));
    found.extend(
        lexicon()
            .terminal
            .commands
            .iter()
            .filter_map(|template| templated(request, &text, template, &view)),
    );
    ranked(found, 4)
}

/// "Run the command date -u", "execute `ls -l`".
fn explicit(request: &str) -> Option<Suggestion> {
    let lexicon = &lexicon().terminal;
    let clause = after(request, &lexicon.run, &lexicon.run_end)?;
    let code = quoted(request)
        .into_iter()
        .find(|quote| quote.start >= clause.cue_start);
    let whole = code.as_ref().is_some_and(|quote| {
        request[clause.start..quote.start]
            .split_whitespace()
            .count()
            <= 2
    });
    let line = match &code {
        Some(quote) if whole => quote.text,
        _ => clause.text,
    };
    let line = line.strip_prefix("the command ").unwrap_or(line);
    let argv = split(line)?;
    let program = argv.first()?;
    let like_a_program = program
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c));
    if !like_a_program {
        return None;
    }
    let spoken = request[clause.cue_start..clause.start].to_lowercase();
    let early = request[..clause.cue_start].split_whitespace().count() <= 4;
    let score = if spoken.contains("command") || spoken.contains("terminal") || whole {
        0.96
    } else if early && argv.len() <= 6 {
        0.8
    } else {
        0.4
    };
    Some(suggestion(
        json!({"argv": argv}),
        score,
        format!("runs the command {line}"),
    ))
}

/// Arithmetic is done by awk, which every Unix has.
fn arithmetic(request: &str, text: &str) -> Option<Suggestion> {
    let found = calculation(request)?;
    let cue = any_phrase(text, &lexicon().terminal.compute).is_some();
    let score = match (cue, found.operands) {
        (true, _) => 0.94,
        (false, 2..) => 0.75,
        _ => 0.4,
    };
    let program = format!("BEGIN{{printf \"%.15g\\n\", {}}}", found.expression);
    Some(suggestion(
        json!({"argv": ["awk", program]}),
        score,
        format!("computes {}", found.expression),
    ))
}

/// "How many lines of x mention Y".
fn counting(request: &str, text: &str, view: &View) -> Option<Suggestion> {
    let lexicon = &lexicon().grep;
    any_phrase(text, &lexicon.count)?;
    any_phrase(text, &lexicon.cues)?;
    let place = grep::place(request, view).filter(|place| !place.folder && place.score >= 0.6)?;
    if super::is_database(&place.path) {
        return None;
    }
    let (pattern, sure) = grep::patterns(request, Some(&place)).into_iter().next()?;
    let mut argv = vec!["grep", "-c", "-F"];
    if !grep::level(&pattern) {
        argv.push("-i");
    }
    argv.extend(["--", &pattern, &place.path]);
    Some(suggestion(
        json!({"argv": argv}),
        sure + 0.13,
        format!("counts the lines of {} with \"{pattern}\"", place.path),
    ))
}

/// A question of the table of commands.
fn templated(request: &str, text: &str, template: &Template, view: &View) -> Option<Suggestion> {
    let phrase = any_phrase(text, &template.any)?;
    let mut score = template.score;
    let mut argv = Vec::new();
    for part in &template.argv {
        let wanted = match part.as_str() {
            "{file}" => Some(view.file(request)),
            "{any}" => Some(view.named(request).into_iter().next()),
            _ => None,
        };
        match wanted {
            Some(named) => {
                let named = named.filter(|named| named.score >= 0.5)?;
                if super::is_database(&named.path) && phrase.contains("row") {
                    return None;
                }
                score *= 0.6 + 0.4 * named.score;
                argv.push(named.path);
            }
            None => argv.push(part.clone()),
        }
    }
    // Which lines, rather than how many lines in all: `counting` knows better.
    let narrowed = template.argv.first().is_some_and(|program| program == "wc")
        && any_phrase(text, &lexicon().grep.cues).is_some();
    if narrowed {
        score *= 0.7;
    }
    // A question about the machine has few words beside its phrase.
    if !template.argv.iter().any(|part| part.starts_with('{')) {
        let rest = words(text).len().saturating_sub(phrase.split(' ').count());
        if rest > 6 || has_phrase(text, "remind me") || has_phrase(text, "file") {
            score *= 0.6;
        }
    }
    Some(suggestion(
        json!({"argv": argv}),
        score,
        format!("\"{phrase}\" is answered by {}", argv.join(" ")),
    ))
}
