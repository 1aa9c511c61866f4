//! The names of events, as they are stored.

use super::EventBody;

impl EventBody {
    /// The name of this kind of event, as stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run.started",
            Self::RunQueued { .. } => "run.queued",
            Self::RunResumed { .. } => "run.resumed",
            Self::IntentFiltered { .. } => "intent.filtered",
            Self::ModelRequested { .. } => "model.requested",
            Self::ModelDelta { .. } => "model.delta",
            Self::ModelResponded { .. } => "model.responded",
            Self::ModelFailed { .. } => "model.failed",
            Self::ModelCorrected { .. } => "model.corrected",
            Self::IntentDispatched { .. } => "intent.dispatched",
            Self::ToolsFound { .. } => "tools.found",
            Self::ContextCompacted { .. } => "context.compacted",
            Self::PlanSearched(_) => "plan.searched",
            Self::PlanProposed { .. } => "plan.proposed",
            Self::PlanFailed { .. } => "plan.failed",
            Self::DeepPlanned { .. } => "deep.planned",
            Self::DeepReplanned { .. } => "deep.replanned",
            Self::DeepStepEnded { .. } => "deep.step",
            Self::DeepReminded { .. } => "deep.reminded",
            Self::PlanFilled { .. } => "plan.filled",
            Self::ApprovalRequested { .. } => "approval.requested",
            Self::ApprovalDecided { .. } => "approval.decided",
            Self::GrantsChanged { .. } => "grants.changed",
            Self::ToolRejected { .. } => "tool.rejected",
            Self::ToolIntent { .. } => "tool.intent",
            Self::ToolStaged { .. } => "tool.staged",
            Self::ToolResult { .. } => "tool.result",
            Self::RunDelegated { .. } => "run.delegated",
            Self::RunReturned { .. } => "run.returned",
            Self::DataClassified { .. } => "data.classified",
            Self::DataMasked { .. } => "data.masked",
            Self::ToolUndoing { .. } => "tool.undoing",
            Self::ToolUndoFailed { .. } => "tool.undo_failed",
            Self::ToolUndone { .. } => "tool.undone",
            Self::ToolUncertain { .. } => "tool.uncertain",
            Self::TimerSet { .. } => "timer.set",
            Self::TimerFired { .. } => "timer.fired",
            Self::RunSteered { .. } => "run.steered",
            Self::StopRequested { .. } => "run.stop_requested",
            Self::RunFinished { .. } => "run.finished",
            Self::Unknown => "unknown",
        }
    }
}
