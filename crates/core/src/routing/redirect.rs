//! Requests that go elsewhere because of what they are about.

use super::Hint;
use crate::AgentId;
use serde::{Deserialize, Serialize};

/// Where a request goes that its agent does not carry out as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Redirect {
    /// To those of the agent's tools alone that the hint names.
    Tools,
    /// To another agent, which carries it out as its own.
    Agent(AgentId),
}

/// What became of a redirect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Redirected {
    /// What the request is about.
    pub hint: Hint,
    /// The request's words that decided, in lower case.
    pub words: Vec<String>,
    /// Name of the agent that was asked, where another one carries it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from: Option<String>,
    /// Where it went, or why nowhere else, for a person.
    pub reason: String,
}
