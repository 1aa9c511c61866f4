use crate::agent::{Agent, KeptFor};
use crate::provenance::{Consulted, Provenance};
use crate::skill::{Skill, SkillPrompt, SkillRef};
use crate::tool::{Preview, Settled, Staged, ToolCall, ToolError, ToolOutput, ToolSpec, Undo};
use crate::{AgentId, Cancellation, ConversationId, RunId, TenantId, Timestamp, UserId};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct ToolScope {
    pub tenant: TenantId,
    /// `None` for a preview or a proposal outside a run.
    pub run: Option<RunId>,
    pub agent: AgentId,
    pub conversation: Option<ConversationId>,
    /// Folder that file tools are confined to.
    pub workspace: PathBuf,
    /// Folder in which commands start, relative to the workspace; empty for the workspace itself.
    pub folder: String,
    /// The current time as the run sees it.
    pub now: Timestamp,
    /// Minutes east of UTC, for words like "tomorrow".
    pub utc_offset_minutes: i32,
    pub timeout_ms: u64,
    pub user: Option<UserId>,
    /// Whose that is which the agent keeps; `None`: nobody's, so it keeps nothing.
    pub kept_for: Option<KeptFor>,
    /// All that the run has seen may derive from: what it keeps for later has the same provenance.
    pub provenance: Provenance,
    /// What this call has begun to read or to contact.
    pub consulted: Consulted,
    /// Files and folders of the workspace with a provenance of their own, beside the uploads.
    pub marked_files: Arc<[String]>,
    /// Passages that the run has been given: further ones are numbered after them.
    pub references: u32,
    /// The skill behind the tool, in the version of the run; `None` for built-in tools.
    pub skill: Option<SkillRef>,
    /// Cancelled when the run is stopped or its lease is lost; tools end soon after.
    pub cancellation: Cancellation,
}

impl ToolScope {
    pub fn stopped(&self) -> bool {
        self.cancellation.is_cancelled()
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentTools {
    /// In a stable order.
    pub tools: Vec<ToolSpec>,
    pub prompts: Vec<SkillPrompt>,
}

/// A call approved by the policy and, if asked, a person. Only the engine makes one, after the intent is committed.
#[derive(Debug, Clone)]
pub struct Authorized {
    /// With validated arguments.
    pub call: ToolCall,
    /// Stable over repeats of this call after a crash.
    pub idempotency_key: String,
    /// Hash of the arguments that were approved; the dispatcher checks it again.
    pub args_hash: String,
    /// Receives what is about to happen; `None` outside a run.
    pub stage: Option<Arc<dyn Stage>>,
}

#[async_trait]
pub trait Stage: std::fmt::Debug + Send + Sync {
    /// Durable when it returns. After an error the effect must not happen.
    async fn stage(&self, staged: Staged) -> Result<(), ToolError>;
}

/// A call cut off by a crash.
#[derive(Debug, Clone)]
pub struct Interrupted {
    pub call: ToolCall,
    /// The same as in its run.
    pub idempotency_key: String,
    /// What it was about to do; `None` if it had not come that far.
    pub staged: Option<Staged>,
    /// What calls of other tools and runs staged after it, oldest first.
    pub later: Vec<Staged>,
}

#[async_trait]
pub trait Tools: Send + Sync {
    /// In a stable order.
    fn catalogue(&self) -> Vec<ToolSpec>;
    /// `agent`'s built-in tools (all if it names none), then those of its skills; read anew for each run.
    async fn of_agent(&self, _tenant: TenantId, agent: &Agent) -> Result<AgentTools, ToolError> {
        let mut tools = self.catalogue();
        if !agent.tools.is_empty() {
            tools.retain(|spec| agent.tools.contains(&spec.name));
        }
        Ok(AgentTools { tools, prompts: Vec::new() })
    }
    /// Releases what is kept for a run beyond its calls. Returns at once.
    fn ended(&self, _run: RunId) {}
    /// Whether a skill that is being saved can be executed as configured; the error names the field and what to do.
    fn check_skill(&self, _skill: &Skill) -> Result<(), String> {
        Ok(())
    }
    async fn preview(&self, call: &ToolCall, scope: &ToolScope) -> Preview;
    async fn run(&self, call: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError>;
    /// Finds out, without changing anything, whether a call that a crash cut off has happened.
    async fn settle(&self, call: Interrupted, _scope: &ToolScope) -> Settled {
        Settled::Unknown(format!("`{}` leaves nothing that shows it", call.call.name))
    }
    /// Undoes an effect and returns what was restored; one that is already undone is no error.
    async fn undo(&self, undo: &Undo, scope: &ToolScope) -> Result<String, ToolError>;
}
