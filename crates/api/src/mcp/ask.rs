use crate::openai::waiting;
use crate::tenant_app::TenantApp;
use futures::StreamExt as _;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};
use steward_app::Caller;
use steward_core::approval::Subject;
use steward_core::event::{EventBody, Outcome};
use steward_core::receipts::Receipts;
use steward_core::run::Waiting;
use steward_core::{ApprovalId, RunId};

/// What every answer holds beside its text.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "run": {"type": "string", "description": "The run; its log has every step."},
            "outcome": {
                "type": "string",
                "enum": ["completed", "waiting", "failed", "stopped", "limited", "rejected"],
                "description": "`waiting`: a person must answer `approval` first.",
            },
            "answer": {"type": "string"},
            "verdict": {
                "type": ["string", "null"],
                "description": "Whether what the answer claims to have done is proved by the log: verified, unverified, no_claims.",
            },
            "approval": {"type": ["string", "null"], "description": "What it waits for."},
        },
        "required": ["run", "outcome", "answer"],
    })
}

/// Follows a run to its end, or to where it waits for a person. A caller that cancels stops it.
pub(super) async fn follow(
    state: &TenantApp,
    caller: &Caller,
    run: RunId,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let seen = state.run_state(run).await.map_err(|error| broken(&error))?;
    if let (Some(Waiting::Approval { id, subject }), None) = (&seen.waiting, &seen.outcome) {
        return Ok(waits(run, *id, subject));
    }
    let mut progress = Progress::of(context);
    let mut events = state.watch(run, 0);
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = context.ct.cancelled() => {
                if let Err(error) = state.cancel_run(caller, run).await {
                    tracing::debug!(%run, %error, "a cancelled run could not be stopped");
                }
                return Err(ErrorData::internal_error(format!("run {run} was stopped"), None));
            }
        };
        let Some(event) = event else {
            return Err(ErrorData::internal_error(format!("the log of run {run} ended early"), None));
        };
        let event = event.map_err(|error| broken(&error))?;
        match event.body {
            // One that is in the log already has been answered, or the run would be waiting.
            EventBody::ApprovalRequested { approval_id, subject, .. } if event.seq > seen.last_seq => {
                return Ok(waits(run, approval_id, &subject));
            }
            EventBody::ToolIntent { tool, .. } => progress.say(format!("uses {tool}")).await,
            EventBody::ToolResult { tool, .. } => progress.say(format!("used {tool}")).await,
            EventBody::RunFinished { outcome, answer, receipts, .. } => {
                return Ok(finished(run, &outcome, &answer, receipts.as_ref()));
            }
            _ => {}
        }
    }
}

fn broken(error: &dyn std::error::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn waits(run: RunId, approval: ApprovalId, subject: &Subject) -> CallToolResult {
    let text = format!(
        "{}\nApproval {approval} of run {run}. When it is answered, `follow_run` has the answer.",
        waiting(subject)
    );
    result(text.clone(), run, "waiting", &text, None, Some(approval))
}

fn finished(run: RunId, outcome: &Outcome, answer: &str, receipts: Option<&Receipts>) -> CallToolResult {
    let (word, why) = match outcome {
        Outcome::Completed => ("completed", None),
        Outcome::Failed { message } => ("failed", Some(message.clone())),
        Outcome::Stopped { by } => ("stopped", Some(format!("stopped by {by}"))),
        Outcome::Limited { limit, message } if message.is_empty() => {
            let limit = serde_json::to_value(limit).unwrap_or_default();
            let limit = limit.as_str().unwrap_or("spending");
            ("limited", Some(format!("it reached its limit of {limit}")))
        }
        Outcome::Limited { message, .. } => ("limited", Some(message.clone())),
        Outcome::Rejected => ("rejected", Some("a person said no to the plan".to_owned())),
    };
    let text = match &why {
        None => answer.to_owned(),
        Some(why) if answer.is_empty() => format!("{why} (run {run})"),
        Some(why) => format!("{answer}\n\n{why} (run {run})"),
    };
    let verdict = receipts.and_then(|found| serde_json::to_value(found.verdict).ok());
    let mut result = result(text, run, word, answer, verdict.as_ref(), None);
    result.is_error = Some(why.is_some());
    result
}

fn result(
    text: String,
    run: RunId,
    outcome: &str,
    answer: &str,
    verdict: Option<&Value>,
    approval: Option<ApprovalId>,
) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({
        "run": run,
        "outcome": outcome,
        "answer": answer,
        "verdict": verdict,
        "approval": approval,
    }));
    result
}

struct Progress {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    count: f64,
}

impl Progress {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token(), count: 0.0 }
    }

    async fn say(&mut self, message: String) {
        let Some(token) = &self.token else { return };
        self.count += 1.0;
        let mut said = ProgressNotificationParam::new(token.clone(), self.count);
        said.message = Some(message);
        if self.peer.notify_progress(said).await.is_err() {
            // Nobody listens any more; the run goes on.
            self.token = None;
        }
    }
}
