//! One policy for every way in: chat, CLI, schedule, webhook, sub-agent.

mod judge;
mod rules;

use crate::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use judge::{Verdict, judge};
pub use rules::{TOOL_RULES_SETTING, ToolRule, ToolRules, needs_four_eyes, strictest};

/// How much harm a tool can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Risk)]
#[serde(rename_all = "lowercase")]
pub enum RiskClass {
    /// Looks, changes nothing, sends nothing out.
    Read,
    /// Changes something that can be restored.
    Write,
    /// Sends something out of the house.
    External,
    /// Changes something that can't be restored.
    Destructive,
}

/// What a policy says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Runs at once.
    Allow,
    /// Waits for a person.
    Ask,
    /// Never runs.
    Deny,
}

/// Where a run came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The command line.
    Cli,
    /// A chat in the studio.
    Chat,
    /// The API.
    Api,
    /// A timer: nobody is there to answer.
    Schedule,
    /// A call of a webhook: nobody is there to answer.
    Webhook,
    /// Another run.
    Delegation,
}

/// What an agent may do unasked, by risk class; `tools` goes before the classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// For tools that only look.
    pub read: Decision,
    /// For changes that can be restored.
    pub write: Decision,
    /// For what leaves the house.
    pub external: Decision,
    /// For changes that can't be restored.
    pub destructive: Decision,
    /// Tool name to decision.
    #[serde(default)]
    pub tools: BTreeMap<String, Decision>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            read: Decision::Allow,
            write: Decision::Ask,
            external: Decision::Ask,
            destructive: Decision::Ask,
            tools: BTreeMap::new(),
        }
    }
}

impl Policy {
    pub(crate) fn of_class(&self, risk: RiskClass) -> Decision {
        match risk {
            RiskClass::Read => self.read,
            RiskClass::Write => self.write,
            RiskClass::External => self.external,
            RiskClass::Destructive => self.destructive,
        }
    }
}

/// A permission that a person gave, and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Grant {
    /// What it covers.
    pub scope: GrantScope,
    /// When it ends, milliseconds since 1970 UTC; with its run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub until: Option<Timestamp>,
}

/// What a grant covers; never a destructive call, but for `call`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GrantScope {
    /// Every call of one tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// One call with exactly these arguments.
    Call {
        /// Name of the tool.
        name: String,
        /// Hash of the arguments.
        args_hash: String,
    },
    /// Every call that is not destructive.
    AllButDestructive,
}

/// A permission that outlives its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AgentGrant)]
pub struct StandingGrant {
    /// Its id.
    pub id: uuid::Uuid,
    /// For which agent.
    pub agent: AgentId,
    /// What it covers, and until when.
    pub grant: Grant,
    /// Who gave it.
    pub by: String,
    /// When.
    pub created_at: Timestamp,
}
