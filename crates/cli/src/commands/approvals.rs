use super::follow::Follow;
use super::rows::by_id;
use crate::client::Client;
use crate::options::duration;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::Subcommand;
use std::time::Duration;
use steward_core::approval::{Answer, Subject, Taint};
use steward_core::policy::{GrantScope, RiskClass};

/// What waits for a person; answer it.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward approvals\n  steward approvals approve 3f2a\n  steward approvals approve 3f2a --for 1h\n  steward approvals answer 3f2a \"call it b.txt\""
)]
pub enum ApprovalAction {
    /// Let it through.
    Approve {
        /// Its id, or the end of it.
        id: String,
        /// Also what comes of the same tool until the run ends; never what can't be undone.
        #[arg(long, conflicts_with = "for_time")]
        for_run: bool,
        /// Also what the agent does with the same tool for so long (90s, 30m, 1h, at most 7d); never what can't be undone.
        #[arg(long = "for", id = "for_time", value_name = "TIME", value_parser = duration)]
        for_time: Option<Duration>,
    },
    /// Refuse it.
    Deny {
        /// Its id, or the end of it.
        id: String,
        /// Why; the agent is told.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Say how it should be instead, or answer a question.
    Answer {
        /// Its id, or the end of it.
        id: String,
        /// What to say.
        text: String,
    },
    /// An interrupted write: it happened.
    Happened {
        /// Its id, or the end of it.
        id: String,
    },
    /// An interrupted write: run it again.
    RunAgain {
        /// Its id, or the end of it.
        id: String,
    },
    /// An interrupted write: leave it out.
    Skip {
        /// Its id, or the end of it.
        id: String,
    },
}

pub async fn run(client: &Client, action: Option<ApprovalAction>, term: Term) -> anyhow::Result<Exit> {
    match action {
        None => list(client, term).await,
        Some(action) => decide(client, action, term).await,
    }
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let open = client.open_approvals().await?;
    Ok(term.listed(&open, "Nothing waits for you.", |approval| {
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
    }))
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

async fn decide(client: &Client, action: ApprovalAction, term: Term) -> anyhow::Result<Exit> {
    let (ApprovalAction::Approve { id, .. }
    | ApprovalAction::Deny { id, .. }
    | ApprovalAction::Answer { id, .. }
    | ApprovalAction::Happened { id }
    | ApprovalAction::RunAgain { id }
    | ApprovalAction::Skip { id }) = &action;
    let none = format!("nothing open has the id `{id}`; `steward approvals` lists what is open");
    let approval = by_id(client.open_approvals().await?, id, |approval| approval.id.to_string(), "entries", &none)?;
    let row = client.run(approval.run_id).await?;
    let answer = match action {
        ApprovalAction::Approve { for_run, for_time, .. } => Answer::Approve {
            grant: (for_run || for_time.is_some()).then(|| wider(&approval.subject)).transpose()?,
            until: for_time.map(|time| client.now().plus(time)),
        },
        ApprovalAction::Deny { reason, .. } => Answer::Deny { reason },
        ApprovalAction::Answer { text, .. } => Answer::Feedback { text },
        ApprovalAction::Happened { .. } => Answer::Happened,
        ApprovalAction::RunAgain { .. } => Answer::RunAgain,
        ApprovalAction::Skip { .. } => Answer::Skip,
    };
    client.decide(approval.id, &answer).await?;
    Follow::plain(term).to_end(client, approval.run_id, row.last_seq).await
}

/// What a wider approval covers; never what can't be undone.
fn wider(subject: &Subject) -> anyhow::Result<GrantScope> {
    match subject {
        Subject::Call { risk: RiskClass::Destructive, .. } => {
            bail!("this can't be undone, so it is asked each time; approve it without --for-run and --for")
        }
        Subject::Plan { previews, .. } if previews.iter().any(|step| step.risk == RiskClass::Destructive) => {
            bail!("the plan has a step that can't be undone; approve it without --for-run and --for")
        }
        Subject::Call { tool, .. } => Ok(GrantScope::Tool { name: tool.clone() }),
        Subject::Plan { .. } => Ok(GrantScope::AllButDestructive),
        Subject::Uncertain { .. } | Subject::Question { .. } => {
            bail!("this asks for no permission; leave --for-run and --for out")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wider;
    use serde_json::{Value, json};
    use steward_core::policy::GrantScope;

    fn of(subject: Value) -> Result<GrantScope, String> {
        wider(&serde_json::from_value(subject).unwrap()).map_err(|why| why.to_string())
    }

    fn call(risk: &str) -> Value {
        json!({"kind": "call", "call_id": "c", "tool": "write", "arguments": {}, "args_hash": "h", "risk": risk, "preview": {"summary": "", "reversible": true}})
    }

    fn plan(risk: &str) -> Value {
        json!({"kind": "plan", "plan_hash": "h", "previews": [{"step": 0, "risk": risk, "preview": {"summary": "", "reversible": true}}]})
    }

    #[test]
    fn a_wider_yes_is_never_one_to_what_cannot_be_undone() {
        let tool = GrantScope::Tool { name: "write".to_owned() };
        assert_eq!(of(call("write")), Ok(tool));
        assert_eq!(of(plan("external")), Ok(GrantScope::AllButDestructive));
        for refused in [
            call("destructive"),
            plan("destructive"),
            json!({"kind": "question", "call_id": "c", "text": "?"}),
            json!({"kind": "uncertain", "call_id": "c", "tool": "t", "arguments": {}}),
        ] {
            assert!(of(refused.clone()).unwrap_err().contains("--for"), "{refused}");
        }
    }
}
