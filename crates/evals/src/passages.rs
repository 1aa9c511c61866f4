//! `steward-evals passages`: what place the passages have that answer a question, in each way to search.

use crate::cli::Passages;
use crate::labelled::Answer;
use crate::requests::{self, Contents};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use steward::settings::Settings;
use steward::term::{Exit, Term};
use steward_cli::Needs;
use steward_cli::client::Client;
use steward_knowledge::evaluate::{Judgements, Rankings, quality};

/// Passages that are looked at.
const FOUND: usize = 100;
/// Ways to search, as the API names them.
const MODES: [&str; 3] = ["text", "vectors", "hybrid"];

#[derive(Debug, Clone, Deserialize)]
struct Case {
    id: String,
    text: String,
    /// None for a question that nothing answers.
    answers: Vec<Answer>,
}

const CONTENTS: Contents = Contents {
    what: "questions",
    line: "{\"id\", \"text\", \"answers\": [{\"file\", \"quote\"}…]}",
    none: "has no questions",
};

pub async fn run(settings: Settings, args: Passages, term: Term) -> anyhow::Result<Exit> {
    let cases: Vec<(usize, Case)> = requests::read(&args.file, &CONTENTS)?;
    let cases: Vec<Case> = cases.into_iter().map(|(_, case)| case).filter(|case| !case.answers.is_empty()).collect();
    let judgements: Judgements = cases
        .iter()
        .map(|case| (case.id.clone(), (0..case.answers.len()).map(|at| (name_of(at), 1)).collect::<HashMap<_, _>>()))
        .collect();
    let client = steward::open(&settings, Needs::default(), term).await?;
    let mut stages = Vec::new();
    for mode in MODES {
        let (mut rankings, mut took) = (Rankings::new(), Vec::new());
        for (index, case) in cases.iter().enumerate() {
            term.status(&format!("{mode}: {}/{} {}", index + 1, cases.len(), case.text));
            let begun = Instant::now();
            let found = search(&client, case, mode, &args.collection).await?;
            took.push(begun.elapsed());
            rankings.insert(case.id.clone(), ranking(case, &found));
        }
        took.sort_unstable();
        let quality = quality(&rankings, &judgements);
        stages.push(json!({"mode": mode, "quality": quality, "p50_ms": at(&took, 50), "p99_ms": at(&took, 99)}));
    }
    client.close().await;
    term.clear();
    if args.json {
        println!("{}", json!({"queries": cases.len(), "stages": stages}));
        return Ok(Exit::Done);
    }
    println!(
        "{:<10}{:>9}{:>11}{:>12}{:>8}{:>9}{:>9}",
        "", "nDCG@10", "recall@10", "recall@100", "MRR", "p50 ms", "p99 ms"
    );
    for stage in &stages {
        let quality = &stage["quality"];
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        println!(
            "{:<10}{:>9.3}{:>11.3}{:>12.3}{:>8.3}{:>9.1}{:>9.1}",
            stage["mode"].as_str().unwrap_or_default(),
            number(&quality["ndcg_at_10"]),
            number(&quality["recall_at_10"]),
            number(&quality["recall_at_100"]),
            number(&quality["mrr"]),
            number(&stage["p50_ms"]),
            number(&stage["p99_ms"]),
        );
    }
    println!("{} questions", cases.len());
    Ok(Exit::Done)
}

async fn search(client: &Client, case: &Case, mode: &str, collections: &[String]) -> anyhow::Result<Vec<Value>> {
    let body = json!({"query": case.text, "mode": mode, "limit": FOUND, "fresh": true, "collections": collections});
    let result: Value = client.post("/api/documents/search", &body).await?;
    Ok(result["found"].as_array().cloned().unwrap_or_default())
}

/// Each answer by its own name, where it is found first; all else by a place of its own.
fn ranking(case: &Case, found: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let answer = |one: &Value| {
        let (source, name, passage) = (text(&one["source"]), text(&one["name"]), text(&one["chunk"]["text"]));
        case.answers.iter().position(|answer| answer.is_in(&source, &name, &passage)).map(name_of)
    };
    found.iter().enumerate().map(|(place, one)| answer(one).unwrap_or_else(|| format!("other {place}"))).collect()
}

fn name_of(answer: usize) -> String {
    format!("answer {answer}")
}

/// Milliseconds.
fn at(sorted: &[Duration], percent: usize) -> f64 {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
}
