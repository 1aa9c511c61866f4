//! Rules of the installation over what its agents do.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::policies::{ToolRuleInput, ToolRuleView, ToolRulesInput, ToolRulesView};
use crate::inputs::is_trimmed_line;
use crate::settings::{kept_setting, save_changed};
use std::collections::BTreeSet;
use steward_core::AgentId;
use steward_core::policy::{Decision, TOOL_RULES_SETTING, ToolRule, ToolRules};

const MAX_RULES: usize = 100;
/// In characters.
const MAX_NAME: usize = 80;
const ADDRESS: &str = "/api/policies/tools";

impl App {
    pub async fn tool_rules(&self, caller: &Caller) -> AppResult<ToolRulesView> {
        authorize(caller, Action::Read, Resource::Policies)?;
        let rules = self.kept_tool_rules().await?;
        self.show_tool_rules(rules).await
    }

    /// Replaces the rules. They hold for runs that begin from now on; runs at work keep theirs.
    pub async fn set_tool_rules(&self, caller: &Caller, wanted: ToolRulesInput) -> AppResult<ToolRulesView> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        let before = self.kept_tool_rules().await?;
        let kept: BTreeSet<AgentId> = before.rules.iter().flat_map(|rule| rule.agents.iter().copied()).collect();
        let version = wanted.version;
        let rules = self.checked_rules(wanted.rules, &kept).await?;
        let rules = ToolRules { version: version + 1, rules };
        save_changed(&self.store, self.tenant(), TOOL_RULES_SETTING, &rules, (before.version, version), ADDRESS)
            .await?;
        tracing::info!(by = caller.by(), version = rules.version, rules = rules.rules.len(), "tool rules were changed");
        self.show_tool_rules(rules).await
    }

    pub(crate) async fn kept_tool_rules(&self) -> AppResult<ToolRules> {
        Ok(kept_setting(&self.store, self.tenant(), TOOL_RULES_SETTING).await?)
    }

    async fn show_tool_rules(&self, rules: ToolRules) -> AppResult<ToolRulesView> {
        let agents = rules.rules.iter().flat_map(|rule| rule.agents.iter().copied()).collect();
        let names = self.agent_names(agents).await?;
        let shown = rules.rules.into_iter().map(|rule| ToolRuleView {
            agents: names.refs(&rule.agents),
            name: rule.name,
            risks: rule.risks,
            origins: rule.origins,
            roles: rule.roles,
            decision: rule.decision,
            four_eyes: rule.four_eyes,
        });
        Ok(ToolRulesView { version: rules.version, rules: shown.collect() })
    }

    /// `kept`: agents that may stay in a rule though they were deleted.
    async fn checked_rules(&self, wanted: Vec<ToolRuleInput>, kept: &BTreeSet<AgentId>) -> AppResult<Vec<ToolRule>> {
        if wanted.len() > MAX_RULES {
            return Err(AppError::invalid(
                "rules",
                format!("more than {MAX_RULES} rules"),
                "join those that say the same",
            ));
        }
        let mut names = BTreeSet::new();
        let mut rules = Vec::with_capacity(wanted.len());
        for (index, rule) in wanted.into_iter().enumerate() {
            let ToolRuleInput { name, risks, agents, origins, roles, decision, four_eyes } = rule;
            let agents = self.agents_meant(&format!("rules.{index}.agents"), &agents, kept).await?;
            let rule = ToolRule { name, risks, agents, origins, roles, decision, four_eyes, of_data: false };
            check_rule(index, &rule)?;
            if !names.insert(rule.name.clone()) {
                return Err(AppError::invalid(
                    format!("rules.{index}.name"),
                    format!("there are two rules `{}`", rule.name),
                    "give each a name of its own; it is shown wherever the rule decides",
                ));
            }
            rules.push(rule);
        }
        Ok(rules)
    }
}

fn check_rule(index: usize, rule: &ToolRule) -> AppResult<()> {
    if !is_trimmed_line(&rule.name, MAX_NAME) {
        return Err(AppError::invalid(
            format!("rules.{index}.name"),
            format!("{:?} is no name for a rule", rule.name),
            format!("1 to {MAX_NAME} characters on one line, with no space at the ends"),
        ));
    }
    if rule.decision == Decision::Allow {
        return Err(AppError::invalid(
            format!("rules.{index}.decision"),
            "a rule never allows: what agents may do unasked stands in their own policies",
            "choose ask or deny",
        ));
    }
    if rule.four_eyes && rule.decision == Decision::Deny {
        return Err(AppError::invalid(
            format!("rules.{index}.four_eyes"),
            "what is denied needs nobody's approval",
            "choose ask, or leave four_eyes out",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_rule;
    use steward_core::policy::{Decision, ToolRule};

    #[test]
    fn a_rule_has_a_name_and_makes_something_stricter() {
        for (name, decision, four_eyes, expect) in [
            ("night", Decision::Deny, false, true),
            ("two people", Decision::Ask, true, true),
            ("", Decision::Ask, false, false),
            (" x", Decision::Ask, false, false),
            ("a\nb", Decision::Ask, false, false),
            ("mild", Decision::Allow, false, false),
            ("both", Decision::Deny, true, false),
        ] {
            let rule = ToolRule {
                name: name.to_owned(),
                risks: Vec::new(),
                agents: Vec::new(),
                origins: Vec::new(),
                roles: Vec::new(),
                decision,
                four_eyes,
                of_data: false,
            };
            assert_eq!(check_rule(0, &rule).is_ok(), expect, "{name}");
        }
    }
}
