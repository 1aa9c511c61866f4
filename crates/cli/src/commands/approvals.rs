use super::follow::Follow;
use super::picked::by_id;
use crate::args::{self, ApprovalAction};
use crate::client::{Client, Scope};
use crate::exit::Exit;
use crate::term::Term;
use steward_core::approval::{Answer, Approval, Subject, Taint};

pub async fn run(client: &Client, args: &args::Approvals, term: Term) -> anyhow::Result<Exit> {
    match &args.action {
        None => list(client, args.json, term).await,
        Some(action) => decide(client, action, args.json, term).await,
    }
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let open = client.open_approvals().await?;
    if term.listed(&open, as_json, "Nothing waits for you.") {
        return Ok(Exit::Done);
    }
    for approval in &open {
        println!("{}  {}  {}", approval.id, approval.asked_at.rfc3339(), describe(&approval.subject));
        println!("    run {}", approval.run_id);
        for one in taint_of(&approval.subject) {
            println!("    may derive from {} ({})", one.origin, one.tool);
        }
        let actions = match approval.subject {
            Subject::Uncertain { .. } => &["happened ID", "run-again ID", "skip ID"][..],
            Subject::Question { .. } => &["answer ID \"…\""],
            _ => &["approve ID", "deny ID", "answer ID \"what to change\""],
        };
        for action in actions {
            println!("    steward approvals {}", action.replace("ID", &approval.id.to_string()));
        }
    }
    Ok(Exit::Done)
}

fn taint_of(subject: &Subject) -> &[Taint] {
    match subject {
        Subject::Call { taint, .. } | Subject::Plan { taint, .. } => taint,
        Subject::Uncertain { .. } | Subject::Question { .. } => &[],
    }
}

fn describe(subject: &Subject) -> String {
    match subject {
        Subject::Call { tool, arguments, risk, preview, .. } => {
            format!("may {tool} ({risk:?}) run? {arguments} {}", preview.summary)
        }
        Subject::Plan { previews, .. } => {
            let changes: Vec<_> = previews.iter().map(|one| one.preview.summary.as_str()).collect();
            format!("may the plan run? {}", changes.join("; "))
        }
        Subject::Uncertain { tool, arguments, .. } => {
            format!("{tool} was interrupted: did it happen? {arguments}")
        }
        Subject::Question { text, .. } => format!("question: {text}"),
    }
}

async fn decide(client: &Client, action: &ApprovalAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let approval = find(client, id_of(action)).await?;
    let row = client.run(approval.run_id).await?;
    match answer(action) {
        Some(answer) => client.decide(approval.id, answer).await?,
        None => client.approve(&approval, scope(action)).await?,
    }
    Follow::plain(term, as_json).to_end(client, approval.run_id, row.last_seq).await
}

async fn find(client: &Client, text: &str) -> anyhow::Result<Approval> {
    let none = format!("nothing open has the id `{text}`; `steward approvals` lists what is open");
    by_id(client.open_approvals().await?, text, |approval| approval.id.to_string(), "entries", &none)
}

fn id_of(action: &ApprovalAction) -> &str {
    match action {
        ApprovalAction::Approve { id, .. }
        | ApprovalAction::Deny { id, .. }
        | ApprovalAction::Answer { id, .. }
        | ApprovalAction::Happened { id }
        | ApprovalAction::RunAgain { id }
        | ApprovalAction::Skip { id } => id,
    }
}

/// `None` for an approval, which may cover more.
fn answer(action: &ApprovalAction) -> Option<Answer> {
    Some(match action {
        ApprovalAction::Approve { .. } => return None,
        ApprovalAction::Deny { reason, .. } => Answer::Deny { reason: reason.clone() },
        ApprovalAction::Answer { text, .. } => Answer::Feedback { text: text.clone() },
        ApprovalAction::Happened { .. } => Answer::Happened,
        ApprovalAction::RunAgain { .. } => Answer::RunAgain,
        ApprovalAction::Skip { .. } => Answer::Skip,
    })
}

fn scope(action: &ApprovalAction) -> Scope {
    match action {
        ApprovalAction::Approve { for_time: Some(time), .. } => Scope::Time(*time),
        ApprovalAction::Approve { for_run: true, .. } => Scope::Run,
        _ => Scope::Once,
    }
}
