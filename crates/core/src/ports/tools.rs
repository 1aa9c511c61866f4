//! Tools behind one dispatcher.

use crate::agent::Agent;
use crate::skill::{Skill, SkillPrompt, SkillRef};
use crate::tool::{Preview, Settled, Staged, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use crate::{AgentId, Cancellation, ConversationId, RunId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;

/// Where and for whom a tool runs.
#[derive(Debug, Clone)]
pub struct ToolScope {
    pub tenant: TenantId,
    /// The run; `None` for a preview or proposal outside one.
    pub run: Option<RunId>,
    pub agent: AgentId,
    pub conversation: Option<ConversationId>,
    /// Folder that file tools are confined to.
    pub workspace: PathBuf,
    /// Folder in it that commands start in, relative; empty for the workspace itself.
    pub folder: String,
    /// Now, as the run sees it.
    pub now: Timestamp,
    /// Minutes east of UTC, for words like "tomorrow".
    pub utc_offset_minutes: i32,
    /// Longest call, milliseconds.
    pub timeout_ms: u64,
    /// The user behind the run.
    pub user: Option<UserId>,
    /// The skill that the tool stands for, in the version of the run; none for built-in tools.
    pub skill: Option<SkillRef>,
    /// Cancelled when the run is stopped or its lease is lost; tools end soon after.
    pub cancellation: Cancellation,
}

impl ToolScope {
    /// Whether the run was stopped, or its lease was lost.
    pub fn stopped(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentTools {
    /// What it can call, in a stable order.
    pub tools: Vec<ToolSpec>,
    /// What its internal skills add to the prompt.
    pub prompts: Vec<SkillPrompt>,
}

/// A call that policy and, where asked, a person have let through. Only the engine makes one,
/// after the intent is committed.
#[derive(Debug, Clone)]
pub struct Authorized {
    /// The call, arguments validated.
    pub call: ToolCall,
    /// Stable over repeats of this call after a crash.
    pub idempotency_key: String,
    /// Hash of the arguments that the decision was bound to; the dispatcher checks it again.
    pub args_hash: String,
    /// Where it is told what is about to happen; `None` outside a run.
    pub stage: Option<Arc<dyn Stage>>,
}

/// Takes down what a call is about to do.
#[async_trait]
pub trait Stage: std::fmt::Debug + Send + Sync {
    /// Durable when it returns. After an error nothing may be done.
    async fn stage(&self, staged: Staged) -> Result<(), ToolError>;
}

/// A call that a crash cut off.
#[derive(Debug, Clone)]
pub struct Interrupted {
    pub call: ToolCall,
    /// As at its run.
    pub idempotency_key: String,
    /// What it was about to do; `None`: it had not come so far.
    pub staged: Option<Staged>,
    /// What calls of other tools and runs were about to do since, oldest first.
    pub later: Vec<Staged>,
}

/// All tools of an installation.
#[async_trait]
pub trait Tools: Send + Sync {
    /// What there is, in a stable order.
    fn catalogue(&self) -> Vec<ToolSpec>;
    /// What `agent` has: the built-in tools that it names (all, if it names none), then those of its
    /// skills. Read anew for each run, so that a change needs no restart.
    async fn of_agent(&self, _tenant: TenantId, agent: &Agent) -> Result<AgentTools, ToolError> {
        let mut tools = self.catalogue();
        if !agent.tools.is_empty() {
            tools.retain(|spec| agent.tools.contains(&spec.name));
        }
        Ok(AgentTools { tools, prompts: Vec::new() })
    }
    /// A run has ended: what is kept for it beyond its calls is let go. Returns at once.
    fn ended(&self, _run: RunId) {}
    /// Whether a skill can be carried out as it is configured, when it is saved: which field is wrong
    /// and what to do.
    fn check_skill(&self, _skill: &Skill) -> Result<(), String> {
        Ok(())
    }
    /// What a call would change.
    async fn preview(&self, call: &ToolCall, scope: &ToolScope) -> Preview;
    async fn run(&self, call: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError>;
    /// Whether a call that a crash cut off has happened. Looks only.
    async fn settle(&self, call: Interrupted, _scope: &ToolScope) -> Settled {
        Settled::Unknown(format!("`{}` leaves nothing that shows it", call.call.name))
    }
    /// Takes an effect back; returns what was restored. One that is back already is no error.
    async fn undo(&self, undo: &Undo, scope: &ToolScope) -> Result<String, ToolError>;
}
