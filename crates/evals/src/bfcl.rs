//! `steward-evals bfcl`: function calls of the Berkeley leaderboard, judged by its own checker.

mod answer;
mod cases;
mod package;
mod report;

use crate::cli::{Bfcl, Way};
use crate::requests;
use anyhow::{Context, bail};
use cases::Case;
use package::Package;
use report::{Finding, Verdict};
use serde_json::{Value, json};
use std::time::Instant;
use steward::compose::{Composition, Options};
use steward::settings::Settings;
use steward::term::{Exit, Term};
use steward_core::model::Connection;
use steward_core::ports::Models as _;

/// Cases between two progress messages without a terminal.
const TELL_EVERY: usize = 25;

/// Ctrl-C ends it without a result.
pub async fn run(settings: Settings, args: Bfcl, term: Term) -> anyhow::Result<Exit> {
    tokio::select! {
        done = measure(settings, args, term) => done,
        signal = tokio::signal::ctrl_c() => {
            signal?;
            term.clear();
            term.say("stopped; nothing was judged");
            Ok(Exit::Refused)
        }
    }
}

async fn measure(mut settings: Settings, args: Bfcl, term: Term) -> anyhow::Result<Exit> {
    let category = args.category.name();
    term.status("opening the evaluation package");
    let package = Package::open(&settings.cache_dir).await?;
    let lines = package.call(&["cases", &category], &Value::Null).await?;
    let cases = chosen(cases::read(lines)?, &category, args.offset, args.limit)?;
    // Connections of the environment and the built-in model need no data of the installation.
    let scratch = tempfile::tempdir().context("cannot make a folder for the evaluation")?;
    let own = (settings.data_dir.clone(), settings.database.take());
    let wanted = settings.connection.take();
    settings.data_dir = scratch.path().join("data");
    let mut app = Composition::open(&settings, Options::default()).await?;
    if let Some(name) = &wanted
        && app.connections.named(name).is_err()
    {
        app.close().await;
        (settings.data_dir, settings.database) = own;
        app = Composition::open(&settings, Options::default()).await?;
    }
    let id = requests::connection_named(&app, wanted.as_deref())?;
    let connection = app.models.select(id).await?;
    let mut findings = all(&app, &connection, &cases, args.strategy, term).await;
    app.close().await;
    term.clear();
    let given: Vec<Value> = findings.iter().map(|finding| json!({"id": finding.id, "calls": finding.called})).collect();
    let verdicts: Vec<Verdict> = serde_json::from_value(package.call(&["check", &category], &json!(given)).await?)
        .context("the evaluation package gave no verdicts")?;
    report::judge(&mut findings, &verdicts);
    report::print(&category, &findings, args.json, term);
    Ok(Exit::Done)
}

fn chosen(mut cases: Vec<Case>, category: &str, offset: usize, limit: Option<usize>) -> anyhow::Result<Vec<Case>> {
    if offset >= cases.len() {
        bail!("{category} has {} cases; choose an --offset below that", cases.len());
    }
    if limit == Some(0) {
        bail!("there is nothing to do with --limit 0; choose at least 1");
    }
    cases.drain(..offset);
    cases.truncate(limit.unwrap_or(usize::MAX));
    Ok(cases)
}

async fn all(app: &Composition, connection: &Connection, cases: &[Case], way: Way, term: Term) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let place = format!("{}/{} {}", index + 1, cases.len(), case.id);
        term.status(&place);
        if !term.live && index % TELL_EVERY == 0 {
            term.say(&place);
        }
        let begun = Instant::now();
        let (called, why) = match answer::calls(app, connection, case, way).await {
            Ok(called) => (called, String::new()),
            Err(reason) => (Vec::new(), reason),
        };
        findings.push(Finding {
            id: case.id.clone(),
            called,
            right: false,
            why,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }
    findings
}
