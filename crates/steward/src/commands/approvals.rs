//! `steward approvals`: what waits for a person.

use super::ask::Follow;
use crate::cli::{self, ApprovalAction};
use crate::compose::{App, Options};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::bail;
use serde_json::json;
use steward_core::approval::{Answer, Approval, Subject};
use steward_core::ports::{ApprovalFilter, Approvals as _, RunStore as _};

/// Runs the command.
pub async fn run(settings: Settings, args: cli::Approvals, term: Term) -> anyhow::Result<Exit> {
    let app = App::open(&settings, Options::default()).await?;
    let exit = match &args.action {
        None => list(&app, args.json, term).await,
        Some(action) => decide(&app, action, args.json, term).await,
    };
    app.close().await;
    exit
}

async fn open(app: &App) -> anyhow::Result<Vec<Approval>> {
    let filter = ApprovalFilter {
        open: true,
        run: None,
        limit: 1000,
    };
    Ok(app.store.approvals(app.tenant, filter).await?)
}

async fn list(app: &App, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let open = open(app).await?;
    if as_json {
        println!("{}", json!(open));
        return Ok(Exit::Done);
    }
    if open.is_empty() {
        term.say("Nothing waits for you.");
    }
    for approval in &open {
        println!(
            "{}  {}  {}",
            approval.id,
            approval.asked_at.rfc3339(),
            describe(&approval.subject)
        );
        println!("    run {}", approval.run_id);
        let actions = match approval.subject {
            Subject::Uncertain { .. } => "happened | run-again | skip",
            Subject::Question { .. } => "answer ID \"…\"",
            _ => "approve | deny | answer ID \"what to change\"",
        };
        println!("    steward approvals {actions}");
    }
    Ok(Exit::Done)
}

fn describe(subject: &Subject) -> String {
    match subject {
        Subject::Call {
            tool,
            arguments,
            risk,
            preview,
            ..
        } => {
            format!("may {tool} ({risk:?}) run? {arguments} {}", preview.summary)
        }
        Subject::Plan { previews, .. } => {
            let changes: Vec<_> = previews
                .iter()
                .map(|one| one.preview.summary.as_str())
                .collect();
            format!("may the plan run? {}", changes.join("; "))
        }
        Subject::Uncertain {
            tool, arguments, ..
        } => {
            format!("{tool} was interrupted: did it happen? {arguments}")
        }
        Subject::Question { text, .. } => format!("question: {text}"),
    }
}

async fn decide(
    app: &App,
    action: &ApprovalAction,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let (text, answer) = match action {
        ApprovalAction::Approve { id } => (id, Answer::Approve { grant: None }),
        ApprovalAction::Deny { id, reason } => (
            id,
            Answer::Deny {
                reason: reason.clone(),
            },
        ),
        ApprovalAction::Answer { id, text } => (id, Answer::Feedback { text: text.clone() }),
        ApprovalAction::Happened { id } => (id, Answer::Happened),
        ApprovalAction::RunAgain { id } => (id, Answer::RunAgain),
        ApprovalAction::Skip { id } => (id, Answer::Skip),
    };
    let open = open(app).await?;
    let fits: Vec<&Approval> = open
        .iter()
        .filter(|approval| {
            let id = approval.id.to_string();
            id.starts_with(text.as_str()) || id.ends_with(text.as_str())
        })
        .collect();
    let approval = match fits[..] {
        [one] => one,
        [] => bail!("nothing open has the id `{text}`; `steward approvals` lists what is open"),
        _ => bail!("`{text}` fits {} entries; give more of the id", fits.len()),
    };
    let row = app.store.run(app.tenant, approval.run_id).await?;
    app.runs.decide(approval.id, answer, "cli").await?;
    let follow = Follow {
        term,
        verbose: false,
        json: as_json,
        ask: term.can_ask,
    };
    follow
        .to_end(&app.runs, approval.run_id, row.last_seq)
        .await
}
