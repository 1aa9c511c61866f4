//! `steward sandbox`: one file or statement, run exactly as a skill runs it, so that any attempt can be tried by hand.

mod python;
mod sql;

use crate::cli::{Sandbox, SandboxAction};
use crate::exit::Exit;
use crate::settings::Settings;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

pub async fn run(settings: Settings, args: Sandbox) -> anyhow::Result<Exit> {
    let answer = match args.action {
        SandboxAction::Python(args) => python::run(&settings, args).await,
        SandboxAction::Sql(args) => sql::run(args).await,
    };
    // The reader gets an answer, whatever was asked for.
    let answer = answer.unwrap_or_else(|error| {
        let error = json!({"kind": "input", "message": format!("{error:#}")});
        json!({"ok": false, "error": error, "outcome": "error"})
    });
    // A reader that has left needs nothing more.
    let _ = writeln!(std::io::stdout(), "{answer}");
    Ok(if answer["ok"] == Value::Bool(true) { Exit::Done } else { Exit::Failed })
}

fn seconds(given: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(given)
        .ok()
        .filter(|wall| !wall.is_zero() && *wall <= Duration::from_hours(1))
        .ok_or_else(|| anyhow::anyhow!("--timeout must be above 0 and at most 3600 seconds"))
}
