use crate::agent_lookup::of;
use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::dto::agents::AgentInput;
use crate::dto::skills::SkillInput;
use crate::inputs::is_line;
use crate::routing::{check_deep, check_routing, in_range};
use serde_json::Value;
use std::collections::BTreeMap;
use steward_core::agent::{Agent, Deep, OwnData, Tuning};
use steward_core::budget::Preset;
use steward_core::policy::Policy;
use steward_core::ports::{Agents, Ids, KnownConnection, Skills as _, StoreError};
use steward_core::prompt::PromptPreview;
use steward_core::routing::{Redirect, Routing};
use steward_core::skill::Skill;
use steward_core::tool::ToolSpec;
use steward_core::{AgentId, SkillId, TenantId};
use steward_engine::PreviewFor;
use steward_store::Store;

const DEFAULT_INSTRUCTIONS: &str = include_str!("../prompts/agent.md");
const OOS_INSTRUCTIONS: &str = include_str!("../prompts/oos.md");
const OOSD_INSTRUCTIONS: &str = include_str!("../prompts/oosd.md");

const MAX_NAME: usize = 64;
const MAX_INSTRUCTIONS: usize = 100_000;
/// Tries of a change before it is given up; each that fails means that somebody else's change was written.
const TRIES: u32 = 50;

impl App {
    /// Agents by name with `text` in name or instructions; `deleted`: those that can be restored instead.
    pub async fn agents(&self, caller: &Caller, text: Option<&str>, deleted: bool) -> AppResult<Vec<Agent>> {
        authorize(caller, Action::Read, Resource::Agents)?;
        let wanted = text.unwrap_or_default().trim().to_lowercase();
        let mut agents = if deleted {
            self.store.deleted_agents(self.tenant()).await?
        } else {
            self.store.agents(self.tenant()).await?
        };
        agents.retain(|agent| {
            authorize(caller, Action::Read, of(agent)).is_ok()
                && (agent.name.to_lowercase().contains(&wanted) || agent.instructions.to_lowercase().contains(&wanted))
        });
        Ok(agents)
    }

    pub async fn agent(&self, caller: &Caller, id: AgentId) -> AppResult<Agent> {
        authorize(caller, Action::Read, Resource::Agents)?;
        self.agent_for(caller, Action::Read, id).await
    }

    pub async fn create_agent(&self, caller: &Caller, input: AgentInput) -> AppResult<Agent> {
        authorize(caller, Action::Write, Resource::Agents)?;
        self.check_agent(&input).await?;
        let agent = input.with_id(AgentId(self.new_id()), None);
        self.prepare_new_resource(caller, agent.id.into()).await?;
        self.store.save_agent(self.tenant(), &agent).await?;
        self.follow_skills(agent.id, &[], &agent.skills).await?;
        Ok(agent)
    }

    /// Runs at work keep the agent they started with.
    pub async fn replace_agent(&self, caller: &Caller, id: AgentId, input: &AgentInput) -> AppResult<Agent> {
        authorize(caller, Action::Operate, Resource::Agents)?;
        self.change_agent(caller, id, |_| Ok(input.clone())).await
    }

    /// Changes the fields that a JSON merge patch (RFC 7396) names.
    pub async fn patch_agent(&self, caller: &Caller, id: AgentId, patch: &Value) -> AppResult<Agent> {
        authorize(caller, Action::Operate, Resource::Agents)?;
        self.change_agent(caller, id, |before| {
            let mut whole = serde_json::to_value(before).unwrap_or_default();
            if let Some(fields) = whole.as_object_mut() {
                fields.remove("id");
            }
            merge(&mut whole, patch);
            serde_json::from_value::<AgentInput>(whole).map_err(|error| AppError::of_body("", &error.to_string()))
        })
        .await
    }

    /// Replaces an agent by what `input` makes of it; asks `input` again if the agent was changed in between.
    async fn change_agent(
        &self,
        caller: &Caller,
        id: AgentId,
        input: impl Fn(&Agent) -> AppResult<AgentInput>,
    ) -> AppResult<Agent> {
        for _ in 0..TRIES {
            let before = self.agent_for(caller, Action::Write, id).await?;
            let wanted = input(&before)?;
            self.check_agent(&wanted).await?;
            let after = wanted.with_id(id, Some(&before));
            self.may_change_agent(caller, &before, &after).await?;
            if self.store.change_agent(self.tenant(), &before, &after).await? {
                self.follow_skills(id, &before.skills, &after.skills).await?;
                return Ok(after);
            }
        }
        Err(AppError::conflict("agent_busy", "the agent is changed by others all the time", "try again in a moment"))
    }

    /// Somebody who may change an agent only by a grant changes its name, instructions, tools and deep planning, gives it
    /// no skill or connection that they may not use themselves, and leaves all else alone.
    async fn may_change_agent(&self, caller: &Caller, before: &Agent, after: &Agent) -> AppResult<()> {
        if authorize(caller, Action::Write, Resource::Agents).is_ok() {
            return Ok(());
        }
        let kept = [
            ("policy", before.policy == after.policy),
            ("budget", before.budget == after.budget),
            ("routing", before.routing == after.routing),
            ("credentials", before.credentials == after.credentials),
            ("tuning", before.tuning == after.tuning),
            ("own_data", before.own_data == after.own_data),
            ("metadata", before.metadata == after.metadata),
        ];
        if let Some((field, _)) = kept.into_iter().find(|(_, same)| !same) {
            return Err(AppError::forbidden(
                format!("the `{field}` of an agent is an operator's to change"),
                format!("leave `{field}` as it is, or let an operator change it"),
            )
            .code("operator_only")
            .field(field));
        }
        if let Some(connection) = after.connection.filter(|_| before.connection != after.connection) {
            self.may_ask_connection(caller, connection).await?;
        }
        for id in after.skills.iter().filter(|id| !before.skills.contains(id)) {
            let skill = self.store.skill(self.tenant(), *id).await?;
            authorize(caller, Action::Read, crate::skills::of(&skill))?;
        }
        Ok(())
    }

    /// Its runs stay, and it can be restored.
    pub async fn delete_agent(&self, caller: &Caller, id: AgentId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Agents)?;
        self.live_agent(id).await?;
        Ok(self.store.delete_agent(self.tenant(), id, self.now()).await?)
    }

    pub async fn restore_agent(&self, caller: &Caller, id: AgentId) -> AppResult<Agent> {
        authorize(caller, Action::Write, Resource::Agents)?;
        Ok(self.store.restore_agent(self.tenant(), id).await?)
    }

    /// The prompt that an agent, saved or not, would begin with. Nothing is sent.
    pub async fn preview_agent(
        &self,
        caller: &Caller,
        agent: AgentInput,
        input: Option<&str>,
    ) -> AppResult<PromptPreview> {
        authorize(caller, Action::Read, Resource::Agents)?;
        self.check_agent(&agent).await?;
        for id in agent.skills.iter().flatten() {
            let skill = self.store.skill(self.tenant(), *id).await?;
            authorize(caller, Action::Read, crate::skills::of(&skill))?;
        }
        let agent = agent.with_id(AgentId(self.new_id()), None);
        let asked = PreviewFor { user: Some(caller.user()), workspace: self.workspace.copy() };
        Ok(self.runs.preview(&agent, None, input.unwrap_or_default(), asked).await?)
    }

    pub fn tools(&self, caller: &Caller) -> AppResult<Vec<ToolSpec>> {
        authorize(caller, Action::Read, Resource::Agents)?;
        Ok(self.deps().tools.catalogue())
    }

    /// Gives a skill to an agent, or takes it away; its next run has it, or not.
    pub async fn attach_skill(&self, caller: &Caller, agent: AgentId, skill: SkillId, attached: bool) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::Agents)?;
        let before = self.live_agent(agent).await?.skills;
        self.store.attach_skill(self.tenant(), agent, skill, attached).await?;
        let mut after = before.clone();
        after.retain(|one| *one != skill);
        after.extend(attached.then_some(skill));
        self.follow_skills(agent, &before, &after).await
    }

    /// Makes or changes the skill of this name and gives it to the agent: both or neither. Returns whether it was made.
    pub async fn create_and_attach_skill(
        &self,
        caller: &Caller,
        agent: AgentId,
        input: SkillInput,
    ) -> AppResult<(Skill, bool)> {
        authorize(caller, Action::Write, Resource::Agents)?;
        self.live_agent(agent).await?;
        let there = self.store.skill_by_name(self.tenant(), &input.name).await?;
        let skill = self.to_skill(caller, there.as_ref(), input).await?;
        self.check_skill(&skill).await?;
        let made = self.store.create_and_attach(self.tenant(), agent, &skill).await?;
        self.follow_skills(agent, &[], &[made.0.id]).await?;
        Ok(made)
    }

    async fn check_agent(&self, agent: &AgentInput) -> AppResult<()> {
        let tools: Vec<String> = self.deps().tools.catalogue().into_iter().map(|spec| spec.name).collect();
        let routing = &agent.routing;
        let names_none = agent.connection.is_none() && routing.connections().next().is_none();
        let connections = if names_none { Vec::new() } else { self.connections.list().await };
        let skills = self.skills_in_policy(agent).await?;
        self.check_redirects(routing).await?;
        judge(agent, &tools, &skills, &connections)
    }

    /// Refuses agents that aren't there.
    async fn check_redirects(&self, routing: &Routing) -> AppResult<()> {
        for (hint, to) in &routing.redirects {
            let Redirect::Agent(id) = to else { continue };
            self.live_agent(*id).await.map_err(|error| match error.kind {
                ErrorKind::NotFound => AppError::invalid(
                    format!("routing.redirects.{}", hint.name()),
                    format!("there is no agent {id}"),
                    "see GET /api/agents",
                ),
                _ => error,
            })?;
        }
        Ok(())
    }

    /// Names of the skills that the agent's policy names; refuses ids of skills that aren't there.
    async fn skills_in_policy(&self, agent: &AgentInput) -> AppResult<Vec<String>> {
        let tenant = self.tenant();
        for id in agent.skills.iter().flatten() {
            let found = self.store.skill(tenant, *id).await;
            if matches!(found, Err(StoreError::NotFound(_))) {
                return Err(AppError::invalid("skills", format!("there is no skill {id}"), "see GET /api/skills"));
            }
            found?;
        }
        let mut names = Vec::new();
        for name in agent.policy.tools.keys() {
            if self.store.skill_by_name(tenant, name).await?.is_some() {
                names.push(name.clone());
            }
        }
        Ok(names)
    }
}

/// The agent `name` that every installation has, made at the first start.
pub async fn default_agent(store: &Store, ids: &dyn Ids, tenant: TenantId, name: &str) -> Result<Agent, StoreError> {
    if let Some(agent) = store.agent_by_name(tenant, name).await? {
        return Ok(agent);
    }
    let agent = plain_agent(AgentId(ids.next()), name, DEFAULT_INSTRUCTIONS, &[]);
    store.save_agent(tenant, &agent).await?;
    Ok(agent)
}

/// An agent with these tools, all else as usual; no tools: all.
fn plain_agent(id: AgentId, name: &str, instructions: &str, tools: &[&str]) -> Agent {
    Agent {
        id,
        name: name.to_owned(),
        instructions: instructions.trim().to_owned(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        connection: None,
        policy: Policy::default(),
        routing: Routing::default(),
        deep: Deep::default(),
        budget: Preset::default(),
        tuning: Tuning::default(),
        credentials: BTreeMap::new(),
        metadata: serde_json::Map::new(),
        own_data: OwnData::default(),
        auto_link_uploads: false,
        skills: Vec::new(),
    }
}

/// The agents that ask databases and that describe them, made with the first datasource. Those that are there stay.
pub(crate) async fn data_agents(store: &Store, ids: &dyn Ids, tenant: TenantId) -> Result<(), StoreError> {
    for (name, instructions, tools) in [
        ("oos", OOS_INSTRUCTIONS, &["oos_schema_search", "oos_query"][..]),
        ("oosd", OOSD_INSTRUCTIONS, &["domain_list", "domain_load", "view_save", "domain_save"][..]),
    ] {
        if store.agent_by_name(tenant, name).await?.is_none() {
            let agent = Agent { budget: Preset::Query, ..plain_agent(AgentId(ids.next()), name, instructions, tools) };
            store.save_agent(tenant, &agent).await?;
        }
    }
    Ok(())
}

fn judge(agent: &AgentInput, tools: &[String], skills: &[String], connections: &[KnownConnection]) -> AppResult<()> {
    if !is_line(agent.name.trim(), MAX_NAME) {
        return Err(AppError::invalid(
            "name",
            format!("a name has 1 to {MAX_NAME} characters on one line"),
            "choose another name",
        ));
    }
    if agent.instructions.chars().count() > MAX_INSTRUCTIONS {
        return Err(AppError::invalid(
            "instructions",
            format!("instructions have at most {MAX_INSTRUCTIONS} characters"),
            "put long texts into files that the agent can read",
        ));
    }
    let unknown = |names: Vec<&String>, field: &str| match names.into_iter().find(|name| !tools.contains(name)) {
        Some(name) => Err(AppError::invalid(
            field,
            format!("there is no tool `{name}`"),
            format!("there are: {}", tools.join(", ")),
        )),
        None => Ok(()),
    };
    unknown(agent.tools.iter().collect(), "tools")?;
    let built_in = agent.policy.tools.keys();
    let built_in = built_in.filter(|name| !skills.contains(name));
    unknown(built_in.collect(), "policy.tools")?;
    if let Some(id) = agent.connection
        && !connections.iter().any(|one| one.connection.id == id)
    {
        return Err(AppError::invalid(
            "connection",
            format!("there is no connection {id}"),
            "null is the default; GET /api/connections lists those that you may use",
        ));
    }
    check_routing(&agent.routing, connections)?;
    check_deep(agent.deep)?;
    let tuning = agent.tuning;
    for (fits, field, hint) in [
        ((0.0..=2.0).contains(&tuning.temperature), "tuning.temperature", "choose 0 to 2"),
        ((1..=1_000_000).contains(&tuning.max_tokens), "tuning.max_tokens", "choose 1 to 1000000"),
        (
            (1000..=3_600_000).contains(&tuning.timeout_ms),
            "tuning.timeout_ms",
            "choose 1000 (a second) to 3600000 (an hour)",
        ),
    ] {
        in_range(fits, field, hint)?;
    }
    Ok(())
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(target) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::{judge, merge};
    use crate::dto::agents::AgentInput;
    use serde_json::{Value, json};

    fn check(pointer: &str, value: Value, fits: bool) {
        let mut body = json!({
            "name": "writer", "instructions": "Write.", "tools": ["read"], "connection": null,
            "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "ask", "tools": {}},
            "routing": {}, "deep": {}, "budget": "agent", "tuning": {"temperature": 0.2, "max_tokens": 100, "timeout_ms": 5000},
        });
        *body.pointer_mut(pointer).unwrap() = value.clone();
        let agent: AgentInput = serde_json::from_value(body).unwrap();
        let tools = ["read".to_owned(), "write".to_owned()];
        assert_eq!(judge(&agent, &tools, &["restart".to_owned()], &[]).is_ok(), fits, "{pointer} {value}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        check("/name", json!("Ärztin 7"), true);
        check("/name", json!("  "), false);
        check("/name", json!("a\nb"), false);
        check("/name", json!("x".repeat(65)), false);
        check("/instructions", json!("x".repeat(100_001)), false);
        check("/tools", json!(["write", "reed"]), false);
        check("/policy/tools", json!({"write": "deny"}), true);
        check("/policy/tools", json!({"wright": "deny"}), false);
        check("/policy/tools", json!({"restart": "deny"}), true);
        check("/connection", json!("019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11"), false);
        check("/routing", json!({"max_fallback_attempts": 0}), false);
        check("/routing", json!({"hedge_after_ms": 500}), true);
        check("/deep", json!({"max_steps": 50}), false);
        check("/tuning/temperature", json!(2.1), false);
        check("/tuning/max_tokens", json!(0), false);
        check("/tuning/timeout_ms", json!(10), false);
    }

    #[test]
    fn fields_are_merged_and_null_removes() {
        let mut whole = json!({"name": "a", "metadata": {"x": 1, "y": 2}, "tools": ["read"]});
        merge(&mut whole, &json!({"metadata": {"x": null, "z": {"deep": true}}, "tools": ["write"], "deep": null}));
        assert_eq!(whole, json!({"name": "a", "metadata": {"y": 2, "z": {"deep": true}}, "tools": ["write"]}));
    }
}
