//! Requests for approval and questions to people: the preview first, then the row and the event in one transaction.

use crate::deps::Deps;
use crate::run::delegation::preview;
use crate::run::journal::{Journal, status_write};
use crate::run::tool_call::tool_scope;
use steward_core::approval::{Approval, StepPreview, Subject};
use steward_core::event::EventBody;
use steward_core::plan::FINAL_ANSWER;
use steward_core::policy::RiskClass;
use steward_core::ports::{RunStatus, SideWrite, StoreResult};
use steward_core::run::{Ask, RunState};
use steward_core::tool::{CallSource, ToolCall};
use steward_core::{ApprovalId, Cancellation, hash};

pub(crate) async fn request_approval(
    deps: &Deps,
    journal: &mut Journal,
    ask: Ask,
    cancellation: &Cancellation,
) -> StoreResult<()> {
    let subject = match ask {
        Ask::Call { call, reason } => {
            let scope = tool_scope(deps, &journal.state, cancellation, &call.name).await?;
            let preview = preview(deps, &journal.state, &call, &scope).await;
            let taint =
                journal.state.tool(&call.name).map(|spec| journal.state.taint_of(spec, &call)).unwrap_or_default();
            Subject::Call {
                args_hash: hash::of_json(&call.arguments),
                risk: risk_of(&journal.state, &call.name),
                reason: if call.is_guessed() || !taint.is_empty() { reason } else { String::new() },
                call_id: call.id,
                tool: call.name,
                arguments: call.arguments,
                preview,
                taint,
            }
        }
        Ask::Plan => plan_subject(deps, &journal.state, cancellation).await?,
        Ask::Uncertain { call, why } => {
            Subject::Uncertain { why, call_id: call.id, tool: call.name, arguments: call.arguments }
        }
        Ask::Question { call, text } => Subject::Question { call_id: call.id, text },
    };
    let id = ApprovalId(deps.ids.next());
    let about = journal.state.about(&subject);
    let row = Approval {
        id,
        run_id: journal.run(),
        subject: subject.clone(),
        about: about.clone(),
        asked_at: deps.clock.now(),
        answer: None,
        decided_by: None,
        decided_at: None,
    };
    let asked = EventBody::ApprovalRequested { approval_id: id, subject: Box::new(subject), about: Box::new(about) };
    let status = status_write(&journal.state, RunStatus::Parked);
    journal.commit(vec![asked], vec![SideWrite::Approval(row), status]).await
}

fn risk_of(state: &RunState, tool: &str) -> RiskClass {
    state.tool(tool).map_or(RiskClass::Destructive, |spec| spec.risk)
}

async fn plan_subject(deps: &Deps, state: &RunState, cancellation: &Cancellation) -> StoreResult<Subject> {
    let Some(plan) = &state.plan else {
        return Ok(Subject::Plan { plan_hash: String::new(), previews: Vec::new(), taint: Vec::new() });
    };
    let mut previews = Vec::new();
    for (index, step) in plan.plan.steps.iter().enumerate() {
        let risk = risk_of(state, &step.tool);
        if step.tool == FINAL_ANSWER || risk == RiskClass::Read {
            continue;
        }
        let call = ToolCall::new(format!("preview-{index}"), &step.tool, step.args.clone(), CallSource::Plan);
        let scope = tool_scope(deps, state, cancellation, &call.name).await?;
        let preview = preview(deps, state, &call, &scope).await;
        previews.push(StepPreview { step: index, risk, preview });
    }
    Ok(Subject::Plan {
        plan_hash: plan.plan.hash(),
        previews,
        taint: if plan.tainted { state.sources() } else { Vec::new() },
    })
}
