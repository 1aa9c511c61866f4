//! Skills: the runtime that finds a call's skill, credential and executor, runs it, and scrubs secrets from what leaves.

mod credential;
mod executor;
mod http;
mod program;
mod scrape;
mod sql;
mod ssh;
pub mod template;
mod undo;

pub(crate) use executor::spec_of;
pub use executor::{Executor, SkillCall};
pub(crate) use http::parse_allow_list;
pub use http::{GraphqlExecutor, HttpExecutor, HuggingfaceExecutor};
pub use program::{
    AnsibleExecutor, DockerExecutor, Programs, PythonExecutor, PythonProgram, PythonReply, PythonRunner, ShellExecutor,
};
pub(crate) use program::{compute, value_text, workspace_changes};
pub use scrape::ScrapeExecutor;
pub use sql::SqlExecutor;
pub use ssh::{FileHostKeys, HostKeysError, SshAddress, SshExecutor, trust_host};
pub(crate) use undo::is_skill_undo as is_undo;

use crate::credential::{scrub_error, scrub_output, scrub_preview, scrubber_of};
use crate::error::{ToolsError, refused};
use crate::handler::{Context, would_fail};
use async_trait::async_trait;
use futures::FutureExt as _;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::agent::Agent;
use steward_core::ports::{
    AgentTools, Agents, Interrupted, ResourceGrants, SkillFilter, Skills, Stage, StoreError, ToolScope, Users, Vault,
};
use steward_core::scrub::Scrubber;
use steward_core::skill::{Skill, SkillKind, SkillPrompt, SkillRef, SkillSpec};
use steward_core::tool::{Preview, Settled, Staged, ToolError, ToolOutput};

const PAGE_SIZE: u32 = 100;

#[derive(Clone)]
pub struct SkillPorts {
    pub skills: Arc<dyn Skills>,
    pub agents: Arc<dyn Agents>,
    /// For the role in the discovery of credentials.
    pub users: Arc<dyn Users>,
    /// For credentials that are granted to users.
    pub grants: Arc<dyn ResourceGrants>,
    pub vault: Arc<dyn Vault>,
}

#[derive(Debug, Default)]
pub(crate) struct AgentSkills {
    pub tools: AgentTools,
    /// Whether any came in a package.
    pub packaged: bool,
    /// The built-in tools that its prompts need; empty: any.
    pub allowed: BTreeSet<String>,
}

/// Runs skills. They are read for each run, so that a change needs no restart.
pub struct SkillRuntime {
    ports: SkillPorts,
    executors: BTreeMap<SkillKind, Arc<dyn Executor>>,
}

impl SkillRuntime {
    pub fn new(ports: SkillPorts) -> Self {
        Self { ports, executors: BTreeMap::new() }
    }

    /// Adds the executor of a kind, in place of an earlier one.
    #[must_use]
    pub fn with(mut self, executor: Arc<dyn Executor>) -> Self {
        self.executors.insert(executor.kind(), executor);
        self
    }

    /// Whether a skill may be saved: name, schema, templates and configuration. The error says what to do.
    pub fn check(&self, skill: &Skill) -> Result<(), String> {
        executor::check_skill(skill)?;
        self.executors.get(&skill.kind()).map_or(Ok(()), |executor| executor.check(skill))
    }

    pub(crate) async fn of_agent(
        &self,
        tenant: TenantId,
        agent: &Agent,
        taken: impl Fn(&str) -> bool,
    ) -> Result<AgentSkills, ToolsError> {
        let mut found = AgentSkills::default();
        for id in &agent.skills {
            let skill = match self.ports.skills.skill(tenant, *id).await {
                Ok(skill) if skill.enabled => skill,
                Ok(_) | Err(StoreError::NotFound(_)) => continue,
                Err(error) => return Err(ToolsError::from(error)),
            };
            found.packaged |= skill.package.is_some();
            if let SkillSpec::Internal(spec) = &skill.spec {
                found.allowed.extend(spec.tools.iter().cloned());
                found.tools.prompts.push(SkillPrompt { name: skill.name, text: spec.prompt.clone() });
                continue;
            }
            let kind = skill.kind();
            let known = kind == SkillKind::AgentDelegation || self.executors.contains_key(&kind);
            if taken(&skill.name) || !known {
                tracing::warn!(skill = %skill.name, kind = kind.as_str(), "skill left out: its name is taken, or nothing carries out its type");
                continue;
            }
            found.tools.tools.extend(skill.tool());
        }
        Ok(found)
    }

    /// The skill in the version of the run; refused if it was disabled or removed since.
    pub(crate) async fn load(&self, tenant: TenantId, reference: &SkillRef) -> Result<Skill, ToolsError> {
        let skills = &self.ports.skills;
        let current = match skills.skill(tenant, reference.id).await {
            Ok(current) => current,
            Err(StoreError::NotFound(_)) => {
                return Err(ToolsError::refused("this skill was removed; do without it, or ask an operator"));
            }
            Err(error) => return Err(ToolsError::from(error)),
        };
        if !current.enabled {
            return Err(refused!("the skill `{}` is switched off; do without it, or ask an operator", current.name));
        }
        if current.version == reference.version {
            return Ok(current);
        }
        self.version(tenant, reference).await
    }

    /// One version, even if it may no longer be called.
    async fn version(&self, tenant: TenantId, reference: &SkillRef) -> Result<Skill, ToolsError> {
        let (id, version) = (reference.id, reference.version);
        let skill = self.ports.skills.skill_version(tenant, id, version).await;
        skill.map_err(|error| match error {
            StoreError::NotFound(_) => {
                refused!("version {version} of this skill is not there any more; begin a new run")
            }
            other => other.into(),
        })
    }

    fn executor(&self, kind: SkillKind) -> Result<&Arc<dyn Executor>, ToolsError> {
        self.executors.get(&kind).ok_or_else(|| {
            ToolsError::Refused(match kind {
                SkillKind::Internal => "an internal skill adds to the prompt and can't be called".to_owned(),
                SkillKind::AgentDelegation => "only a run can delegate; ask the agent in a conversation".to_owned(),
                other => format!("this installation can't carry out {} skills; ask an operator", other.as_str()),
            })
        })
    }

    /// What a call would do. A credential is opened only for a dry run.
    pub async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Preview {
        let executor = match self.executor(skill.kind()) {
            Ok(executor) => executor,
            Err(error) => return would_fail(error),
        };
        let mut preview = if executor.has_dry_run(skill) {
            self.dry_run(executor.as_ref(), skill, arguments, scope).await
        } else {
            let mut preview = executor.preview(skill, arguments, scope).await.unwrap_or_else(would_fail);
            self.note_credential(skill, scope, &mut preview).await;
            preview
        };
        if let Some(compensation) = skill.compensation.as_ref().filter(|_| !preview.reversible) {
            preview.reversible = true;
            let line = format!("undone by the skill {}", compensation.skill);
            preview.detail = Some(preview.detail.into_iter().chain([line]).collect::<Vec<_>>().join("\n"));
        }
        preview
    }

    /// Adds which credential the call would use, or that it would fail for lack of one; nothing is opened.
    async fn note_credential(&self, skill: &Skill, scope: &ToolScope, preview: &mut Preview) {
        match credential::discover(&self.ports, skill, scope).await {
            Ok(None) => {}
            Ok(Some(found)) => {
                let said = format!(", with the credential {}", found.name);
                preview.summary.push_str(&said);
            }
            Err(_) if preview.summary.starts_with("would fail") => {}
            Err(error) => preview.summary = format!("would fail: {error} ({})", preview.summary),
        }
    }

    async fn dry_run(&self, executor: &dyn Executor, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Preview {
        let key = match credential::open(&self.ports, skill, scope).await {
            Ok(key) => key,
            Err(error) => {
                let mut preview = executor.preview(skill, arguments, scope).await.unwrap_or_else(would_fail);
                preview.summary = format!("{}; which ones can't be told: {error}", preview.summary);
                return preview;
            }
        };
        let job = SkillCall { skill, arguments, secret: key.as_ref() };
        let mut preview = executor.dry_run(job, scope).await.unwrap_or_else(would_fail);
        scrub_preview(&scrubber_of(credential::secrets(key.as_ref())), &mut preview);
        preview
    }

    pub async fn run(&self, skill: &Skill, arguments: &Value, context: &Context) -> Result<ToolOutput, ToolsError> {
        let executor = self.executor(skill.kind())?;
        let key = credential::open(&self.ports, skill, &context.scope).await?;
        context.check()?;
        let job = SkillCall { skill, arguments, secret: key.as_ref() };
        // All secrets of this call: of the credential, derived from it, and registered by the executor until then.
        let scrubber = |context: &Context| {
            scrubber_of(credential::secrets(key.as_ref()).into_iter().chain(context.learned_secrets()))
        };
        let stage = context.stage_of().map(|inner| -> Arc<dyn Stage> {
            let (skill, arguments) = (skill.clone(), arguments.clone());
            Arc::new(ScrubbingStage { inner, skill, arguments, scrubber: scrubber(context) })
        });
        let context = &context.clone().with_stage(stage);
        let done = AssertUnwindSafe(executor.run(job, context)).catch_unwind().await;
        let scrubber = scrubber(context);
        let mut output = match done {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return Err(scrub_error(&scrubber, error)),
            Err(panic) => {
                let message = crate::dispatcher::message(panic.as_ref());
                return Err(scrub_error(&scrubber, ToolsError::Panicked { tool: skill.name.clone(), message }));
            }
        };
        if skill.untrusted && !output.provenance.is_from_outside() {
            output.provenance.add_origin(&format!("the skill {}", skill.name));
        }
        // What failed and changed nothing has nothing to take back.
        if !output.failed || output.undo.is_some() {
            output.undo = undo::undo_record(skill, arguments, &output);
        }
        scrub_output(&scrubber, &mut output);
        Ok(output)
    }

    pub(crate) async fn settle(&self, skill: &Skill, call: Interrupted, scope: &ToolScope) -> Settled {
        let found = match self.executor(skill.kind()) {
            Ok(executor) => credential::open(&self.ports, skill, scope).await.map(|key| (executor, key)),
            Err(error) => Err(error),
        };
        let (executor, key) = match found {
            Ok(found) => found,
            Err(error) => return Settled::Unknown(error.to_string()),
        };
        let job = SkillCall { skill, arguments: &call.call.arguments, secret: key.as_ref() };
        let settled = executor.settle(job, &call, scope).await;
        let scrubber = scrubber_of(credential::secrets(key.as_ref()));
        let clean = |text: String| scrubber.scrub(&text).into_owned();
        match settled {
            Settled::Happened(text) => Settled::Happened(clean(text)),
            Settled::NotHappened(text) => Settled::NotHappened(clean(text)),
            Settled::Unknown(text) => Settled::Unknown(clean(text)),
        }
    }
}

/// Turns what an executor announces into what the call will return, without secrets.
struct ScrubbingStage {
    inner: Arc<dyn Stage>,
    skill: Skill,
    arguments: Value,
    scrubber: Scrubber,
}

impl fmt::Debug for ScrubbingStage {
    /// Omits the secrets that the scrubber knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScrubbingStage").finish_non_exhaustive()
    }
}

#[async_trait]
impl Stage for ScrubbingStage {
    async fn stage(&self, mut staged: Staged) -> Result<(), ToolError> {
        staged.output.undo = undo::undo_record(&self.skill, &self.arguments, &staged.output);
        scrub_output(&self.scrubber, &mut staged.output);
        self.scrubber.scrub_json(&mut staged.proof);
        self.inner.stage(staged).await
    }
}

pub(crate) async fn all_skills(
    skills: &dyn Skills,
    tenant: TenantId,
    filter: &SkillFilter,
) -> Result<Vec<Skill>, StoreError> {
    let (mut all, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = skills.skills(tenant, filter, after.as_deref(), PAGE_SIZE).await?;
        after = page.items.last().map(|one| one.name.clone());
        all.extend(page.items);
        if !page.more || after.is_none() {
            return Ok(all);
        }
    }
}
