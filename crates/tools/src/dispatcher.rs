//! Dispatches tool calls: validates them, compares them with what was approved, limits their time and survives panics.

use crate::browser::BROWSER_TOOLS;
use crate::catalogue;
use crate::credential::{scrub_result, scrubber_of};
use crate::domains::DOMAIN_TOOLS;
use crate::error::ToolsError;
use crate::handler::{Context, DynHandler, ToolHandler, would_fail};
use crate::outside_watch;
use crate::package::REFERENCE_TOOLS;
use crate::skills::{self, SkillRuntime};
use async_trait::async_trait;
use futures::FutureExt as _;
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use steward_core::agent::Agent;
use steward_core::ports::{AgentTools, Authorized, Interrupted, ToolScope, Tools};
use steward_core::skill::Skill;
use steward_core::tool::{
    DB_QUERY, EffectClass, Preview, SAVE_MEMORY, Settled, ToolCall, ToolError, ToolOutput, ToolSpec, UPDATE_DB_SCHEMA,
    Undo,
};
use steward_core::{RunId, TenantId, hash, schema};

/// How long a tool that changes something gets to end by itself.
const GRACE_PERIOD: Duration = Duration::from_millis(500);
const PREVIEW_TIMEOUT: Duration = Duration::from_secs(10);
const EMPTY: &str = "(The tool answered nothing: its output is empty.)";

type RunEndedHook = Box<dyn Fn(RunId) + Send + Sync>;

struct RegisteredTool {
    spec: ToolSpec,
    handler: Box<dyn DynHandler>,
}

#[derive(Default)]
pub struct DispatcherBuilder(Dispatcher);

impl DispatcherBuilder {
    #[must_use]
    pub fn with<H: ToolHandler>(mut self, handler: H) -> Self {
        self.0.tools.push(RegisteredTool { spec: handler.spec(), handler: Box::new(handler) });
        self
    }

    #[must_use]
    pub fn skills(mut self, runtime: Arc<SkillRuntime>) -> Self {
        self.0.skills = Some(runtime);
        self
    }

    /// Calls `hook` for each run that has ended, so that it can drop what it keeps for it.
    #[must_use]
    pub fn when_ended(mut self, hook: impl Fn(RunId) + Send + Sync + 'static) -> Self {
        self.0.ended.push(Box::new(hook));
        self
    }

    pub fn build(self) -> Result<Dispatcher, ToolsError> {
        let mut names = BTreeSet::new();
        for RegisteredTool { spec, .. } in &self.0.tools {
            if !names.insert(&spec.name) {
                return Err(ToolsError::Duplicate(spec.name.clone()));
            }
            if spec.description.is_empty() {
                catalogue::check(&spec.name)?;
            }
        }
        Ok(self.0)
    }
}

#[derive(Default)]
pub struct Dispatcher {
    tools: Vec<RegisteredTool>,
    skills: Option<Arc<SkillRuntime>>,
    ended: Vec<RunEndedHook>,
}

enum CallTarget<'a> {
    Tool(&'a RegisteredTool),
    Skill(&'a SkillRuntime, Box<Skill>),
}

impl CallTarget<'_> {
    fn schema(&self) -> &serde_json::Value {
        match self {
            Self::Tool(tool) => &tool.spec.parameters,
            Self::Skill(_, skill) => &skill.parameters,
        }
    }

    fn effect(&self) -> EffectClass {
        match self {
            Self::Tool(tool) => tool.spec.effect,
            Self::Skill(_, skill) => skill.effect,
        }
    }

    /// The longest call: the run's limit, or the skill's own if that is shorter.
    fn timeout(&self, scope: &ToolScope) -> Duration {
        Duration::from_millis(match self {
            Self::Tool(_) => scope.timeout_ms,
            Self::Skill(_, skill) => scope.timeout_ms.min(skill.limits.timeout_ms),
        })
    }

    async fn preview(&self, arguments: &serde_json::Value, scope: &ToolScope) -> Result<Preview, ToolError> {
        match self {
            Self::Tool(tool) => tool.handler.preview(arguments.clone(), scope).await,
            Self::Skill(runtime, skill) => Ok(runtime.preview(skill, arguments, scope).await),
        }
    }

    async fn run(&self, arguments: serde_json::Value, context: &Context) -> Result<ToolOutput, ToolError> {
        match self {
            Self::Tool(tool) => tool.handler.run(arguments, context).await,
            Self::Skill(runtime, skill) => Ok(runtime.run(skill, &arguments, context).await?),
        }
    }
}

impl Dispatcher {
    pub fn builder() -> DispatcherBuilder {
        DispatcherBuilder::default()
    }

    fn tool(&self, name: &str) -> Option<&RegisteredTool> {
        self.tools.iter().find(|tool| tool.spec.name == name)
    }

    fn unknown(&self, name: &str) -> ToolError {
        let known: BTreeSet<&str> = self.tools.iter().map(|tool| tool.spec.name.as_str()).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        ToolsError::Unknown { name: name.to_owned(), known }.into()
    }

    async fn call_target(&self, name: &str, scope: &ToolScope) -> Result<CallTarget<'_>, ToolError> {
        match (self.tool(name), &self.skills, &scope.skill) {
            (Some(tool), _, _) => Ok(CallTarget::Tool(tool)),
            (None, Some(runtime), Some(reference)) => {
                let skill = runtime.load(scope.tenant, reference).await?;
                if skill.name != name {
                    let error = format!("`{name}` is not the skill `{}`; call it by its name", skill.name);
                    return Err(ToolsError::Refused(error).into());
                }
                Ok(CallTarget::Skill(runtime, Box::new(skill)))
            }
            _ => Err(self.unknown(name)),
        }
    }

    async fn run_guarded(
        name: &str,
        door: CallTarget<'_>,
        arguments: serde_json::Value,
        context: &Context,
    ) -> Result<ToolOutput, ToolError> {
        let timeout = door.timeout(&context.scope);
        let work = AssertUnwindSafe(door.run(arguments, context)).catch_unwind();
        tokio::pin!(work);
        let cause = tokio::select! {
            // The tool is woken by the same signal; what is said of a stop does not depend on who is first.
            biased;
            () = context.scope.cancellation.cancelled() => ToolsError::Stopped(name.to_owned()),
            () = tokio::time::sleep(timeout) => ToolsError::Deadline {
                tool: name.to_owned(),
                ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            },
            done = &mut work => return settle(name, done),
        };
        context.cancellation.cancel();
        if door.effect() == EffectClass::Read {
            return Err(cause.into());
        }
        // Dropping a tool in the middle of a change would leave its outcome unknown.
        match tokio::time::timeout(GRACE_PERIOD, work).await {
            Ok(done) => settle(name, done),
            Err(_) => Err(ToolsError::Unsettled { tool: name.to_owned(), why: cause.to_string() }.into()),
        }
    }
}

/// Says so where there is nothing to read: some providers refuse an empty result, and a model may take it for a failure.
fn with_words(output: ToolOutput) -> ToolOutput {
    if output.content.trim().is_empty() { ToolOutput { content: EMPTY.to_owned(), ..output } } else { output }
}

/// Whether the agent's own switches give it the tool; `None`: they say nothing of it.
fn switch_of(agent: &Agent, tool: &str) -> Option<bool> {
    let own = agent.own_data;
    match tool {
        SAVE_MEMORY => own.memory,
        DB_QUERY => Some(own.database),
        UPDATE_DB_SCHEMA => Some(own.documentation),
        _ => None,
    }
}

fn settle(
    tool: &str,
    done: Result<Result<ToolOutput, ToolError>, Box<dyn Any + Send>>,
) -> Result<ToolOutput, ToolError> {
    done.unwrap_or_else(|panic| {
        let message = message(panic.as_ref());
        tracing::error!(tool, message, "tool panicked");
        Err(ToolsError::Panicked { tool: tool.to_owned(), message }.into())
    })
}

pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[async_trait]
impl Tools for Dispatcher {
    fn catalogue(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec.clone()).collect()
    }

    async fn of_agent(&self, tenant: TenantId, agent: &Agent) -> Result<AgentTools, ToolError> {
        let mut found = AgentTools { tools: self.catalogue(), prompts: Vec::new() };
        let switched = |spec: &ToolSpec| switch_of(agent, &spec.name);
        found.tools.retain(|spec| {
            switched(spec).unwrap_or_else(|| {
                if agent.tools.is_empty() {
                    !BROWSER_TOOLS.contains(&spec.name.as_str()) && !DOMAIN_TOOLS.contains(&spec.name.as_str())
                } else {
                    agent.tools.contains(&spec.name)
                }
            })
        });
        if let Some(runtime) = &self.skills {
            let taken = |name: &str| self.tool(name).is_some();
            let skills = runtime.of_agent(tenant, agent, taken).await?;
            let reads = |spec: &ToolSpec| REFERENCE_TOOLS.contains(&spec.name.as_str());
            // Tools that a person chose for the agent stay; else only those that the package needs are offered.
            if agent.tools.is_empty() && !skills.allowed.is_empty() {
                let needed = |spec: &ToolSpec| skills.allowed.contains(&spec.name);
                found.tools.retain(|spec| reads(spec) || switched(spec) == Some(true) || needed(spec));
            }
            // The reference tools are useless without a package, and take space in small context windows.
            if !skills.packaged {
                found.tools.retain(|spec| !reads(spec));
            }
            found.tools.extend(skills.tools.tools);
            found.prompts.extend(skills.tools.prompts);
        }
        Ok(found)
    }

    fn ended(&self, run: RunId) {
        for hook in &self.ended {
            hook(run);
        }
    }

    fn check_skill(&self, skill: &Skill) -> Result<(), String> {
        if self.tool(&skill.name).is_some() {
            return Err(format!("name: `{}` is a built-in tool; choose another name", skill.name));
        }
        match &self.skills {
            Some(runtime) => runtime.check(skill),
            None => Ok(()),
        }
    }

    async fn preview(&self, call: &ToolCall, scope: &ToolScope) -> Preview {
        let door = match self.call_target(&call.name, scope).await {
            Ok(door) => door,
            Err(error) => return would_fail(error),
        };
        if let Err(problem) = schema::validate(door.schema(), &call.arguments) {
            return would_fail(ToolError::RespondToModel(problem));
        }
        let work = door.preview(&call.arguments, scope);
        match tokio::time::timeout(PREVIEW_TIMEOUT, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(Ok(preview))) => preview,
            Ok(Ok(Err(error))) => would_fail(error),
            Ok(Err(_)) | Err(_) => {
                Preview { summary: format!("what `{}` would change can't be told", call.name), ..Preview::default() }
            }
        }
    }

    async fn run(&self, call: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError> {
        let Authorized { call, idempotency_key, args_hash, stage } = call;
        let door = self.call_target(&call.name, scope).await?;
        if hash::of_json(&call.arguments) != args_hash {
            return Err(ToolsError::Changed(call.name).into());
        }
        schema::validate(door.schema(), &call.arguments)
            .map_err(|problem| ToolsError::Arguments { tool: call.name.clone(), problem })?;
        if scope.stopped() {
            return Err(ToolsError::Stopped(call.name).into());
        }
        let limit = door.timeout(scope);
        let context = Context::new(scope.clone(), idempotency_key, limit).with_stage(stage);
        let done = Self::run_guarded(&call.name, door, call.arguments, &context).await;
        let done = match done {
            Ok(output) => Ok(with_words(outside_watch::with_real_paths(output, scope).await?)),
            Err(error) => Err(error),
        };
        let secrets = context.learned_secrets();
        if secrets.is_empty() { done } else { scrub_result(&scrubber_of(secrets), done) }
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        let name = call.call.name.clone();
        let door = match self.call_target(&name, scope).await {
            Ok(door) => door,
            Err(error) => return Settled::Unknown(error.to_string()),
        };
        let work = async {
            match door {
                CallTarget::Tool(tool) => tool.handler.settle(call, scope).await,
                CallTarget::Skill(runtime, skill) => runtime.settle(&skill, call, scope).await,
            }
        };
        AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(tool = name, "looking whether a call has happened panicked");
            Settled::Unknown(format!("`{name}` failed to look"))
        })
    }

    async fn undo(&self, undo: &Undo, scope: &ToolScope) -> Result<String, ToolError> {
        match undo {
            Undo::Impossible { reason } => Err(ToolsError::NoUndo(reason.clone()).into()),
            Undo::Snapshot { tool, snapshot } => match (self.tool(tool), &self.skills) {
                (Some(found), _) => found.handler.undo(snapshot, scope).await,
                (None, Some(runtime)) if skills::is_undo(snapshot) => Ok(runtime.undo(snapshot, scope).await?),
                _ => Err(self.unknown(tool)),
            },
        }
    }
}
