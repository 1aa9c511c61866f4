//! `steward eval domains`: whether questions about data are answered with the rows that are expected.

use crate::client::{Chat, Client};
use crate::term::{Exit, Term, print_json};
use anyhow::{Context as _, bail};
use clap::Args;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use steward_core::event::{EventBody, Mode, Outcome, ToolResult};

#[derive(Debug, Clone, Args)]
pub struct EvalDomains {
    /// File of questions.
    file: PathBuf,
    /// The agent that is asked.
    #[arg(long, default_value = "oos", value_name = "NAME")]
    agent: String,
    /// Only the first N.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// One JSON object instead of a line for each.
    #[arg(long)]
    pub(super) json: bool,
}

const TOOL: &str = "oos_query";
/// Longest time of one question.
const LONGEST: Duration = Duration::from_mins(5);
/// Numbers that differ by less are equal: averages are rounded.
const CLOSE: f64 = 0.011;

type Rows = Vec<Vec<Value>>;

/// A question and the rows that answer it.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    text: String,
    #[serde(default)]
    kind: String,
    /// `None`: nothing in the database answers it.
    #[serde(default)]
    rows: Option<Rows>,
    /// Of a question that can be read in several ways, the rows of each.
    #[serde(default)]
    either: Vec<Rows>,
    /// Whether the order of the rows counts.
    #[serde(default)]
    ordered: bool,
}

#[derive(Debug, Default, Serialize)]
struct Finding {
    id: String,
    kind: String,
    text: String,
    right: bool,
    /// The last query that was asked.
    query: Value,
    /// Rows that it found.
    found: Option<usize>,
    expected: Option<usize>,
    answer: String,
    ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub async fn run(client: &Client, args: &EvalDomains, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("can't read {}", args.file.display()))?;
    let mut cases: Vec<Case> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let case = serde_json::from_str(line)
            .with_context(|| format!("line {} of {} is no question: id, text, rows", at + 1, args.file.display()))?;
        cases.push(case);
    }
    if cases.is_empty() {
        bail!("{} has no questions", args.file.display());
    }
    cases.truncate(args.limit.unwrap_or(usize::MAX));
    let agent = client.agent_named(Some(&args.agent)).await?.id;
    let connection = client.connection_named(connection).await?;
    let mut findings: Vec<Finding> = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        term.status(&format!("{}/{} {}", at + 1, cases.len(), case.text));
        let chat = Chat {
            agent,
            message: case.text.clone(),
            conversation: None,
            mode: Mode::Loop,
            connection,
            planner: None,
            executor: None,
        };
        let finding = asked(client, &chat, case).await;
        term.clear();
        if !term.json {
            println!("{}", line(&finding, term));
        }
        findings.push(finding);
    }
    let right = findings.iter().filter(|one| one.right).count();
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for one in &findings {
        let (good, all) = kinds.entry(&one.kind).or_default();
        *good += usize::from(one.right);
        *all += 1;
    }
    if term.json {
        let kinds: BTreeMap<_, _> =
            kinds.iter().map(|(kind, (good, all))| (*kind, json!({"right": good, "questions": all}))).collect();
        print_json(&json!({"questions": findings.len(), "right": right, "kinds": kinds, "results": findings}));
    } else {
        for (kind, (good, all)) in kinds {
            println!("{kind:<12} {good} of {all}");
        }
        println!("{right} of {} answered with the rows that are expected", findings.len());
    }
    Ok(Exit::Done)
}

async fn asked(client: &Client, chat: &Chat, case: &Case) -> Finding {
    let begun = Instant::now();
    let mut finding = Finding {
        id: case.id.clone(),
        kind: case.kind.clone(),
        text: case.text.clone(),
        expected: case.rows.as_ref().map(Vec::len),
        ..Finding::default()
    };
    match tokio::time::timeout(LONGEST, follow(client, chat, &mut finding)).await {
        Ok(Ok(rows)) => {
            finding.found = rows.as_ref().map(Vec::len);
            finding.right = is_right(case, rows.as_ref());
        }
        Ok(Err(error)) => finding.error = Some(format!("{error:#}")),
        Err(_) => finding.error = Some("it took too long".to_owned()),
    }
    finding.ms = begun.elapsed().as_millis();
    finding
}

/// The rows of the last query of the run; `None`: it asked nothing of the data.
async fn follow(client: &Client, chat: &Chat, finding: &mut Finding) -> anyhow::Result<Option<Rows>> {
    let run = client.chat(chat).await?.run;
    let mut events = client.events(run, 0);
    while let Some(event) = events.next().await {
        match event?.body {
            EventBody::ToolResult { tool, result: ToolResult::Ok { data: Some(data), .. }, .. } if tool == TOOL => {
                finding.query = data["query"].clone();
            }
            EventBody::ApprovalRequested { .. } => {
                client.stop(run).await?;
                finding.error = Some("it asked a person".to_owned());
            }
            EventBody::RunFinished { outcome, answer, .. } => {
                finding.answer = answer;
                if let Outcome::Failed { message } = outcome {
                    finding.error = Some(message);
                }
                break;
            }
            _ => {}
        }
    }
    if finding.query.is_null() {
        return Ok(None);
    }
    // The run may have seen a few of the rows only.
    let answer: Value = client.post("/api/domains/query", &json!({"query": finding.query})).await?;
    Ok(Some(serde_json::from_value(answer["rows"].clone()).context("an answer without rows")?))
}

fn is_right(case: &Case, rows: Option<&Rows>) -> bool {
    let Some(rows) = rows else { return case.rows.is_none() };
    case.rows.iter().chain(&case.either).any(|expected| answers(expected, rows, case.ordered))
}

/// Whether columns of the rows are those that are expected. Further columns are no error.
fn answers(expected: &Rows, rows: &Rows, ordered: bool) -> bool {
    if expected.len() != rows.len() {
        return false;
    }
    let (Some(first), Some(row)) = (expected.first(), rows.first()) else { return true };
    matched(expected, rows, first.len(), row.len(), ordered, &mut Vec::new())
}

fn matched(expected: &Rows, rows: &Rows, wanted: usize, given: usize, ordered: bool, columns: &mut Vec<usize>) -> bool {
    let equal = |one: &[Value], row: &[Value], columns: &[usize]| {
        one.iter().zip(columns).all(|(value, column)| row.get(*column).is_some_and(|other| is_same(value, other)))
    };
    if columns.len() == wanted {
        if ordered {
            return expected.iter().zip(rows).all(|(one, row)| equal(one, row, columns));
        }
        let mut left: Vec<&Vec<Value>> = rows.iter().collect();
        return expected.iter().all(|one| {
            let found = left.iter().position(|row| equal(one, row, columns));
            found.map(|at| left.swap_remove(at)).is_some()
        });
    }
    let at = columns.len();
    for column in 0..given {
        let fits = |one: &Vec<Value>| {
            rows.iter().any(|row| matches!((one.get(at), row.get(column)), (Some(a), Some(b)) if is_same(a, b)))
        };
        if columns.contains(&column) || !expected.iter().all(fits) {
            continue;
        }
        columns.push(column);
        if matched(expected, rows, wanted, given, ordered, columns) {
            return true;
        }
        columns.pop();
    }
    false
}

fn is_same(one: &Value, other: &Value) -> bool {
    if let (Some(one), Some(other)) = (one.as_f64(), other.as_f64()) {
        return (one - other).abs() <= CLOSE.max(one.abs() * 1e-6);
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (one, other) = (text(one), text(other));
    // A day, and the same day at midnight.
    let day = |long: &str, short: &str| {
        short.len() == 10
            && long.strip_prefix(short).is_some_and(|time| time.trim_matches(['T', ' ', '0', ':', '.']).is_empty())
    };
    one == other || day(&one, &other) || day(&other, &one)
}

fn line(finding: &Finding, term: Term) -> String {
    let mark = term.mark(finding.right);
    let rows = |count: Option<usize>| count.map_or("–".to_owned(), |count| count.to_string());
    let error = finding.error.as_ref().map(|error| format!("  [{error}]")).unwrap_or_default();
    format!(
        "{} {mark} {:>5}/{:<5} {:>6} ms  {}{error}",
        finding.id,
        rows(finding.found),
        rows(finding.expected),
        finding.ms,
        finding.text
    )
}

#[cfg(test)]
mod tests {
    use super::{Rows, answers};
    use serde_json::{Value, json};

    fn rows(value: Value) -> Rows {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn answers_are_compared_by_their_columns() {
        for (expected, given, ordered, right) in [
            (json!([["a"], ["b"]]), json!([["b"], ["a"]]), false, true),
            (json!([["a"], ["b"]]), json!([["b"], ["a"]]), true, false),
            (json!([["a", 1]]), json!([[7, 1.001, "x", "a"]]), false, true),
            (json!([["a", 1], ["b", 2]]), json!([["a", 2], ["b", 1]]), false, false),
            (json!([["a"]]), json!([["a"], ["a"]]), false, false),
            (json!([["a"], ["a"]]), json!([["a"], ["b"]]), false, false),
            (json!([["2024-01-31"]]), json!([["2024-01-31 00:00:00"]]), false, true),
            (json!([["2024-01-31"]]), json!([["2024-01-31 10:00:00"]]), false, false),
            (json!([[null]]), json!([[null]]), false, true),
            (json!([]), json!([]), false, true),
            (json!([["1985", 3]]), json!([[1985, 3]]), false, true),
        ] {
            assert_eq!(answers(&rows(expected.clone()), &rows(given.clone()), ordered), right, "{expected} {given}");
        }
    }
}
