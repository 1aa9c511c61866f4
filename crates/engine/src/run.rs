//! One run at work: its steps, each committed to the journal before it counts.

mod access;
mod approval_request;
mod budget;
pub(crate) mod delegation;
mod finish;
pub(crate) mod journal;
pub(crate) mod missing_right;
mod model_call;
mod plan_search;
pub(crate) mod planning;
mod prompt_room;
mod provisional;
pub(crate) mod references;
mod request_dispatch;
pub(crate) mod runner;
pub(crate) mod tool_call;
mod tool_search;

use crate::deps::Deps;
use crate::error::EngineError;
use crate::run::journal::Journal;
use async_trait::async_trait;
use std::sync::Arc;
use steward_core::event::{EventBody, RequestedBy, ToolResult};
use steward_core::run::{ChildRun, RunState};
use steward_core::{Cancellation, RunId};
use tokio::sync::Notify;

#[derive(Debug, Clone, Default)]
pub(crate) struct RunSignals {
    pub wake: Arc<Notify>,
    /// The run was stopped, or its lease was lost: tools and model calls end.
    pub cancellation: Cancellation,
}

impl RunSignals {
    /// Ends what is in flight; the durable command says why.
    pub fn interrupt(&self) {
        self.cancellation.cancel();
        self.wake.notify_one();
    }
}

fn result_of(call_id: String, tool: String, result: ToolResult) -> EventBody {
    EventBody::ToolResult { call_id, tool, result, ms: 0, evidence: None }
}

/// Starts and stops the runs that a run delegates to. The service does it, which stands above the runs.
#[async_trait]
pub(crate) trait ChildRuns: Send + Sync {
    /// Makes `child` as a run below the one with the state `parent`, and drives it.
    async fn start_child(&self, child: &ChildRun, parent: &RunState) -> Result<(), EngineError>;
    /// `client_left`: nobody asked for it, the client of the run above has left.
    async fn stop_child(&self, run: RunId, by: RequestedBy, client_left: bool) -> Result<(), EngineError>;
}

pub(crate) struct RunContext<'a> {
    pub deps: &'a Deps,
    pub signals: &'a RunSignals,
    pub journal: Journal,
    pub children: &'a dyn ChildRuns,
    /// The number of [`Users::identities`](steward_core::ports::Users::identities) at which access was last checked.
    pub access_checked: Option<u64>,
}

impl RunContext<'_> {
    /// Whether the run ended or waits after a call that gave no reply, or is being stopped.
    fn is_interrupted(&self) -> bool {
        let state = &self.journal.state;
        state.is_finished() || state.waiting.is_some() || self.signals.cancellation.is_cancelled()
    }
}
