//! `steward eval answers`: what the detectors and the judge of plans say of answers behind which no tool
//! stands, as for a model that is not trusted.

use crate::exit::Exit;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::Path;
use steward_core::deep::is_multi_step;
use steward_core::receipts::{check, false_completion};

/// One line of the file. Further fields are the writer's own.
#[derive(Debug, Deserialize)]
struct Case {
    request: String,
    answer: String,
}

/// What was found in one line.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Hit {
    line: usize,
    which: &'static str,
    phrase: String,
}

/// Runs the command.
pub fn run(file: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read the answers of {}", file.display()))?;
    let cases = read(&text, &file.display().to_string())?;
    let hits: Vec<Hit> = cases.iter().flat_map(|(line, case)| judged(*line, case)).collect();
    let lines = |which: &str| {
        let mut lines: Vec<usize> = hits.iter().filter(|hit| hit.which == which).map(|hit| hit.line).collect();
        lines.dedup();
        lines.len()
    };
    let [corrected, unverified, planned] = ["corrected", "unverified", "planned"].map(lines);
    if as_json {
        println!(
            "{}",
            json!({"cases": cases.len(), "corrected": corrected, "unverified": unverified, "planned": planned, "hits": hits})
        );
        return Ok(Exit::Done);
    }
    for hit in &hits {
        println!("{:>5} {:<10} {}", hit.line, hit.which, hit.phrase.replace('\n', " "));
    }
    println!("{} answers: {corrected} corrected, {unverified} unverified, {planned} planned", cases.len());
    Ok(Exit::Done)
}

fn judged(line: usize, case: &Case) -> Vec<Hit> {
    let hit = |which, phrase: &str| Hit { line, which, phrase: phrase.to_owned() };
    let Case { request, answer } = case;
    let mut hits = Vec::new();
    if let Some(words) = false_completion(request, answer).and_then(|range| answer.get(range)) {
        hits.push(hit("corrected", words));
    }
    let claims = check(request, answer, &[]).claims;
    let unproved = claims.iter().filter(|claim| claim.calls.is_empty());
    hits.extend(unproved.map(|claim| hit("unverified", &claim.text)));
    if is_multi_step(request) {
        hits.push(hit("planned", request));
    }
    hits
}

fn read(text: &str, name: &str) -> anyhow::Result<Vec<(usize, Case)>> {
    let mut cases = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim().is_empty() {
            continue;
        }
        let case = serde_json::from_str(content)
            .with_context(|| format!("{name} line {line}: want {{\"request\": \"…\", \"answer\": \"…\"}}"))?;
        cases.push((line, case));
    }
    if cases.is_empty() {
        bail!("{name} has no answers: one JSON object per line with request and answer is wanted");
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{judged, read};

    #[test]
    fn each_judge_has_its_say() {
        let text = "{\"request\": \"Delete old.log\", \"answer\": \"I deleted old.log.\"}\n\n\
            {\"request\": \"Read a.txt and then write b.txt\", \"answer\": \"Let me open a.txt.\", \"kind\": \"x\"}\n\
            {\"request\": \"Who was Bach?\", \"answer\": \"A composer.\"}\n";
        let hits: Vec<_> = read(text, "f")
            .unwrap()
            .iter()
            .flat_map(|(line, case)| judged(*line, case))
            .map(|hit| (hit.line, hit.which, hit.phrase))
            .collect();
        let expect = [
            (1, "corrected", "I deleted old.log"),
            (1, "unverified", "I deleted old.log"),
            (3, "corrected", "Let me open a.txt"),
            (3, "unverified", "Let me open a.txt"),
            (3, "planned", "Read a.txt and then write b.txt"),
        ];
        assert_eq!(hits, expect.map(|(line, which, text)| (line, which, text.to_owned())));
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, part) in [
            ("", "has no answers"),
            ("{\"request\": \"a\", \"answer\": \"b\"}\n{\"request\": 1}", "f line 2: want"),
            ("nonsense", "f line 1: want"),
        ] {
            let error = read(text, "f").unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
