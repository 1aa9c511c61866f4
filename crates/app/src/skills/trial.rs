use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::skills::{SkillTest, SkillTested};
use crate::skills::of;
use crate::tool_calls::{authorized, direct_call};
use std::time::Instant;
use steward_core::policy::{Decision, RiskClass, needs_four_eyes, strictest};
use steward_core::ports::{Skills as _, ToolScope};
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::truncate;
use steward_core::{AgentId, Cancellation, SkillId, schema};
use uuid::Uuid;

/// Cancels when the caller goes away, so that the skill ends.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl App {
    /// `dry_run: false` really does it. A skill that does more than look needs `confirm` and an operator.
    pub async fn test_skill(&self, caller: &Caller, id: SkillId, wanted: SkillTest) -> AppResult<SkillTested> {
        authorize(caller, Action::Operate, Resource::SkillCall { changes: false })?;
        let skill = self.store.skill(self.tenant(), id).await?;
        authorize(caller, Action::Operate, of(&skill))?;
        if matches!(skill.kind(), SkillKind::Internal | SkillKind::AgentDelegation) {
            return Err(AppError::invalid(
                "type",
                format!("a skill of the type {} can't be called by itself", skill.kind().as_str()),
                "attach it to an agent and ask that agent",
            ));
        }
        if let Err(why) = schema::validate(&skill.parameters, &wanted.arguments) {
            return Err(AppError::invalid("arguments", why, "see the skill's parameters"));
        }
        if !wanted.dry_run && skill.risk != RiskClass::Read {
            authorize(caller, Action::Operate, Resource::SkillCall { changes: true })?;
            if !wanted.confirm {
                return Err(AppError::conflict(
                    "confirm",
                    format!("`{}` changes something or sends it out", skill.name),
                    "look at the dry run first, then send `confirm: true`",
                ));
            }
        }
        let agent = match wanted.agent {
            Some(id) => {
                let agent = self.agent_for(caller, Action::Ask, id).await?;
                // Else somebody's own skill would be called with what was given to other skills of that agent.
                if !self.store.agents_with(self.tenant(), skill.id).await?.contains(&agent.id) {
                    authorize(caller, Action::Operate, Resource::SkillCall { changes: true })?;
                }
                agent.id
            }
            None => AgentId(Uuid::nil()),
        };
        if !wanted.dry_run {
            self.check_rules_of_trial(caller, &skill, agent, wanted.confirm).await?;
        }
        Ok(self.call_skill(caller, &skill, agent, wanted).await)
    }

    /// The rules of the installation hold for people as for agents: what is denied is not tried either, and what needs a
    /// second person can't be confirmed by the first.
    async fn check_rules_of_trial(
        &self,
        caller: &Caller,
        skill: &Skill,
        agent: AgentId,
        confirmed: bool,
    ) -> AppResult<()> {
        let rules = self.kept_tool_rules().await?.of_run(agent, caller.origin, Some(caller.principal.role));
        let takes_data_out = skill.risk == RiskClass::External || skill.kind().sends_out();
        let Some(rule) = strictest(&rules, skill.risk, takes_data_out) else {
            return Ok(());
        };
        let (name, rule_name) = (&skill.name, &rule.name);
        if rule.decision == Decision::Deny {
            return Err(AppError::forbidden(
                format!("the rule “{rule_name}” of this installation denies `{name}`"),
                "look at the dry run; an administrator can change the rule",
            )
            .code("denied_by_rule"));
        }
        if needs_four_eyes(&rules, skill.risk) {
            return Err(AppError::forbidden(
                format!("a rule of this installation wants a second person for `{name}`"),
                "ask an agent that has the skill: its call waits for the approval of somebody else",
            )
            .code("denied_by_rule"));
        }
        if !confirmed {
            return Err(AppError::conflict(
                "confirm",
                format!("the rule “{rule_name}” of this installation asks before `{name}` is called"),
                "look at the dry run first, then send `confirm: true`",
            ));
        }
        Ok(())
    }

    async fn call_skill(&self, caller: &Caller, skill: &Skill, agent: AgentId, wanted: SkillTest) -> SkillTested {
        let deps = self.deps();
        let cancel = CancelOnDrop(Cancellation::default());
        let scope = ToolScope {
            skill: Some(skill.reference()),
            ..self.tool_scope(caller, agent, skill.limits.timeout_ms, cancel.0.clone())
        };
        let key = self.new_id().to_string();
        let call = direct_call(format!("test-{key}"), &skill.name, wanted.arguments);
        let begun = Instant::now();
        let preview = deps.tools.preview(&call, &scope).await;
        let mut told = SkillTested {
            ok: true,
            preview: match &preview.detail {
                Some(detail) => format!("{}\n{detail}", preview.summary),
                None => preview.summary.clone(),
            },
            change: preview,
            output: None,
            data: None,
            error: None,
            ms: 0,
        };
        if !wanted.dry_run {
            match deps.tools.run(authorized(call, key), &scope).await {
                Ok(output) if output.failed => {
                    told.ok = false;
                    told.error = Some(output.content);
                }
                Ok(output) => {
                    told.output = Some(truncate(&output.content, skill.limits.result_chars).0);
                    told.data = output.data;
                }
                Err(error) => {
                    told.ok = false;
                    told.error = Some(error.to_string());
                }
            }
        }
        told.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        told
    }
}
