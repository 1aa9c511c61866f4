//! `steward-evals facts`: whether answers hold what was asked for, and cite the passage where it stands.

use crate::cli::Facts;
use crate::labelled::Answer;
use crate::requests::{self, Contents};
use anyhow::bail;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::{Duration, Instant};
use steward::settings::Settings;
use steward::term::{Exit, Term};
use steward_cli::Needs;
use steward_cli::client::{Chat, Client};
use steward_core::AgentId;
use steward_core::ConnectionId;
use steward_core::event::{EventBody, Mode, Outcome, ToolResult};
use steward_core::reference::{Reference, cited, references_of};

const LIMIT: Duration = Duration::from_mins(3);
/// A question whose answer stands in one place.
#[derive(Debug, Clone, Deserialize)]
struct Case {
    id: String,
    text: String,
    #[serde(flatten)]
    answer: Answer,
    /// What a right answer contains.
    expect: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Finding {
    id: String,
    /// The answer holds what is expected.
    expected: bool,
    /// The answer cites a passage that says it.
    cited: bool,
    /// The run was given such a passage.
    given: bool,
    /// Documents that the answer cites.
    sources: Vec<String>,
    answer: String,
    ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

const CONTENTS: Contents = Contents {
    what: "questions",
    line: "{\"id\", \"text\", \"file\", \"quote\", \"expect\": […]}",
    none: "has no questions",
};

pub async fn run(settings: Settings, args: Facts, term: Term) -> anyhow::Result<Exit> {
    let cases: Vec<(usize, Case)> = requests::read(&args.file, &CONTENTS)?;
    let count = cases.len().min(args.limit.unwrap_or(usize::MAX));
    let client = steward::open(&settings, Needs::default(), term).await?;
    let agent = client.agent_named(args.agent.as_deref()).await?.id;
    let connection = client.connection_named(settings.connection.as_deref()).await?;
    let mut findings = Vec::new();
    for (index, (_, case)) in cases.iter().take(count).enumerate() {
        term.status(&format!("{}/{count} {}", index + 1, case.text));
        let finding = one(&client, agent, connection, case).await;
        if !args.json {
            term.clear();
            print_line(term, case, &finding);
        }
        findings.push(finding);
    }
    term.clear();
    client.close().await;
    let number = |held: fn(&Finding) -> bool| findings.iter().filter(|one| held(one)).count();
    let (right, expected) = (number(|one| one.expected && one.cited), number(|one| one.expected));
    let (cites, given) = (number(|one| one.cited), number(|one| one.given));
    if args.json {
        let found = json!({"cases": count, "right": right, "expected": expected, "cited": cites, "given": given,
            "results": findings});
        println!("{found}");
    } else {
        println!("{count} questions, right {right} (expected text {expected}, passage cited {cites}, given {given})");
    }
    Ok(Exit::Done)
}

async fn one(client: &Client, agent: AgentId, connection: Option<ConnectionId>, case: &Case) -> Finding {
    let begun = Instant::now();
    let mut finding = Finding { id: case.id.clone(), ..Finding::default() };
    if let Some(problem) = requests::problem(LIMIT, follow(client, agent, connection, case, &mut finding)).await {
        finding.error = Some(problem);
    }
    finding.ms = begun.elapsed().as_millis();
    finding
}

async fn follow(
    client: &Client,
    agent: AgentId,
    connection: Option<ConnectionId>,
    case: &Case,
    finding: &mut Finding,
) -> anyhow::Result<()> {
    let chat = Chat {
        agent,
        message: case.text.clone(),
        conversation: None,
        mode: Mode::Loop,
        connection,
        planner: None,
        executor: None,
    };
    let run = client.chat(&chat).await?.run;
    let mut given: Vec<Reference> = Vec::new();
    let mut events = client.events(run, 0);
    while let Some(event) = events.next().await {
        match event?.body {
            EventBody::RunStarted { setup, .. } => given.extend(setup.references.iter().cloned()),
            EventBody::ToolResult { result: ToolResult::Ok { data: Some(data), .. }, .. } => {
                given.extend(references_of(&data));
            }
            EventBody::ApprovalRequested { .. } => {
                client.stop(run).await?;
                finding.error = Some("asked a person".to_owned());
            }
            EventBody::RunFinished { outcome, answer, .. } => {
                if let Outcome::Failed { message } = outcome {
                    finding.error = Some(message);
                }
                judge(case, &answer, &given, finding);
                return Ok(());
            }
            _ => {}
        }
    }
    bail!("the log ended early")
}

fn judge(case: &Case, answer: &str, given: &[Reference], finding: &mut Finding) {
    let says = |one: &Reference| case.answer.is_in(&one.source, &one.name, &one.text);
    let cites = cited(answer, given);
    let folded = answer.to_lowercase();
    finding.expected = case.expect.iter().all(|part| folded.contains(&part.to_lowercase()));
    finding.cited = cites.iter().any(|one| says(one));
    finding.given = given.iter().any(says);
    finding.sources = cites.iter().map(|one| one.name.clone()).collect();
    answer.clone_into(&mut finding.answer);
}

fn print_line(term: Term, case: &Case, finding: &Finding) {
    let mark = |good: bool| {
        if good { term.green("✓") } else { term.red("✗") }
    };
    println!(
        "{} {} {} {}  {:>6} ms  {}  {}{}",
        case.id,
        mark(finding.expected),
        mark(finding.cited),
        mark(finding.given),
        finding.ms,
        case.text,
        finding.sources.join(", "),
        finding.error.as_ref().map(|error| format!("  [{error}]")).unwrap_or_default(),
    );
}
