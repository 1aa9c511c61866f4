//! `steward-evals answers`: what the detectors and the judge of plans say about answers behind which no tool stands.

use crate::cli::Answers;
use crate::requests::{self, Contents};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use steward::term::Exit;
use steward_core::deep::is_multi_step;
use steward_core::model::Capabilities;
use steward_core::receipts::{check, false_completion};

/// One line of the file; further fields belong to its author.
#[derive(Debug, Deserialize)]
struct Case {
    request: String,
    answer: String,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Hit {
    line: usize,
    which: &'static str,
    phrase: String,
}

const CONTENTS: Contents = Contents {
    what: "answers",
    line: "{\"request\": \"…\", \"answer\": \"…\"}",
    none: "has no answers: one JSON object per line with request and answer is wanted",
};

/// How many answers each judge speaks up about.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Counts {
    corrected: usize,
    unverified: usize,
    planned: usize,
}

impl Counts {
    /// `capabilities`: of the model that would have given the answers.
    fn of(hits: &[Hit], capabilities: &Capabilities) -> Self {
        let lines = |which: &str| {
            hits.iter().filter(|hit| hit.which == which).map(|hit| hit.line).collect::<BTreeSet<_>>().len()
        };
        let helped = |which: &str| if capabilities.trusted { 0 } else { lines(which) };
        Self { corrected: helped("corrected"), unverified: lines("unverified"), planned: helped("planned") }
    }
}

pub fn run(args: &Answers) -> anyhow::Result<Exit> {
    let cases: Vec<(usize, Case)> = requests::read(&args.file, &CONTENTS)?;
    let hits: Vec<Hit> = cases.iter().flat_map(|(line, case)| judged(*line, case)).collect();
    let usual = Counts::of(&hits, &Capabilities::default());
    let graded_d = Counts::of(&hits, &Capabilities { trusted: false, ..Capabilities::default() });
    if args.json {
        println!("{}", json!({"cases": cases.len(), "not_examined": usual, "graded_d": graded_d, "hits": hits}));
        return Ok(Exit::Done);
    }
    for hit in &hits {
        println!("{:>5} {:<10} {}", hit.line, hit.which, hit.phrase.replace('\n', " "));
    }
    println!("{} answers", cases.len());
    for (name, Counts { corrected, unverified, planned }) in [("not examined", usual), ("graded D", graded_d)] {
        println!("of a model {name}: {corrected} corrected, {unverified} unverified, {planned} planned");
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{CONTENTS, Case, Counts, judged};
    use crate::requests;
    use steward_core::model::Capabilities;

    fn read(text: &str) -> anyhow::Result<Vec<(usize, Case)>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        requests::read(file.path(), &CONTENTS)
    }

    #[test]
    fn each_judge_has_its_say() {
        let text = "{\"request\": \"Delete old.log\", \"answer\": \"I deleted old.log.\"}\n\n\
            {\"request\": \"Read a.txt and then write b.txt\", \"answer\": \"Let me open a.txt.\", \"kind\": \"x\"}\n\
            {\"request\": \"Who was Bach?\", \"answer\": \"A composer.\"}\n";
        let hits: Vec<_> = read(text)
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
    fn what_is_not_examined_is_only_marked() {
        let hits: Vec<_> = read("{\"request\": \"Read a.txt and then write b.txt\", \"answer\": \"I wrote b.txt.\"}")
            .unwrap()
            .iter()
            .flat_map(|(line, case)| judged(*line, case))
            .collect();
        let counts = Counts::of(&hits, &Capabilities::default());
        assert_eq!(counts, Counts { corrected: 0, unverified: 1, planned: 0 });
        let counts = Counts::of(&hits, &Capabilities { trusted: false, ..Capabilities::default() });
        assert_eq!(counts, Counts { corrected: 1, unverified: 1, planned: 1 });
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, part) in [
            ("", "has no answers"),
            ("{\"request\": \"a\", \"answer\": \"b\"}\n{\"request\": 1}", " line 2: want {\"request\""),
            ("nonsense", " line 1: want {\"request\""),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
