//! What carries a kind of skill out.

use crate::handler::Context;
use async_trait::async_trait;
use serde_json::Value;
use steward_core::ports::{Interrupted, OpenedCredential, ToolScope};
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::{Preview, Settled, ToolError, ToolOutput};

/// One call of a skill, checked: the arguments fit its schema, the credential is the one that the
/// discovery chose.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The skill, in the version of the run.
    pub skill: &'a Skill,
    pub arguments: &'a Value,
    /// Its credential, opened; only an executor ever sees it.
    pub secret: Option<&'a OpenedCredential>,
}

/// Carries out all skills of one kind.
#[async_trait]
pub trait Executor: Send + Sync {
    fn kind(&self) -> SkillKind;

    /// Whether a configuration makes sense, when it is saved: which field is wrong and what to do.
    fn check(&self, skill: &Skill) -> Result<(), String>;

    /// What a call would do, without its secrets: the request, the command line, the rows.
    async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Preview;

    /// Whether [`Self::look`] tells more than [`Self::preview`]. It gets the credential.
    fn looks(&self, _skill: &Skill) -> bool {
        false
    }

    /// What a call would change, found out where it would change it, with nothing left changed. What it returns may
    /// hold secrets: the runtime takes them out.
    async fn look(&self, job: Job<'_>, scope: &ToolScope) -> Preview {
        self.preview(job.skill, job.arguments, scope).await
    }

    /// Does it. Ends soon after [`Context::halted`]. What it returns may hold secrets: the runtime
    /// takes them out.
    async fn run(&self, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolError>;

    /// Whether a call that a crash cut off has happened, by what it told [`Context::stage`]. Looks only.
    async fn settle(&self, job: Job<'_>, _call: &Interrupted, _scope: &ToolScope) -> Settled {
        Settled::Unknown(format!("what `{}` does leaves nothing that shows it", job.skill.name))
    }

    /// Takes an effect back from the snapshot that [`Self::run`] made.
    async fn undo(&self, job: Job<'_>, _snapshot: &Value, _scope: &ToolScope) -> Result<String, ToolError> {
        Err(ToolError::RespondToModel(format!("what `{}` did can't be undone by Steward", job.skill.name)))
    }
}
