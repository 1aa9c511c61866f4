//! What stands behind a question: content from outside, and the runs above the one that asks.

use serde::{Deserialize, Serialize};
use steward_core::approval;
use utoipa::ToSchema;
use uuid::Uuid;

/// Content from outside that entered a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Taint {
    /// The call that brought it.
    pub call_id: String,
    /// Name of its tool.
    pub tool: String,
    /// Where it comes from: an address, a sender, a file.
    pub origin: String,
}

/// A run that delegated to the one that asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunAbove {
    /// The run.
    pub run_id: Uuid,
    /// Its agent's name.
    #[schema(required)]
    pub agent_name: Option<String>,
}

impl From<approval::Taint> for Taint {
    fn from(taint: approval::Taint) -> Self {
        Self { call_id: taint.call_id, tool: taint.tool, origin: taint.origin }
    }
}
