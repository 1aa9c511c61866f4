//! Rules of the installation over what its agents do.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::inputs::{is_trimmed_line, same_version};
use crate::settings::kept_setting;
use serde_json::json;
use std::collections::BTreeSet;
use steward_core::policy::{Decision, TOOL_RULES_SETTING, ToolRule, ToolRules};
use steward_core::ports::{Agents as _, Settings as _};
use tokio::sync::Mutex;

const MAX_RULES: usize = 100;
/// In characters.
const MAX_NAME: usize = 80;

/// Held from reading the version until the change is saved.
static CHANGES: Mutex<()> = Mutex::const_new(());

impl App {
    pub async fn tool_rules(&self, caller: &Caller) -> AppResult<ToolRules> {
        authorize(caller, Action::Read, Resource::Policies)?;
        Ok(kept_setting(&self.store, self.tenant(), TOOL_RULES_SETTING).await?)
    }

    /// Replaces the rules. They hold for runs that begin from now on; runs at work keep theirs.
    pub async fn set_tool_rules(&self, caller: &Caller, wanted: ToolRules) -> AppResult<ToolRules> {
        authorize(caller, Action::Administer, Resource::Policies)?;
        self.check_rules(&wanted.rules).await?;
        let _changing = CHANGES.lock().await;
        let before = self.tool_rules(caller).await?;
        same_version(before.version, wanted.version, "/api/policies/tools")?;
        let rules = ToolRules { version: before.version + 1, rules: wanted.rules };
        self.store.set_setting(self.tenant(), TOOL_RULES_SETTING, &json!(rules)).await?;
        tracing::info!(by = caller.by(), version = rules.version, rules = rules.rules.len(), "tool rules were changed");
        Ok(rules)
    }

    async fn check_rules(&self, rules: &[ToolRule]) -> AppResult<()> {
        if rules.len() > MAX_RULES {
            return Err(AppError::invalid(
                "rules",
                format!("more than {MAX_RULES} rules"),
                "join those that say the same",
            ));
        }
        let mut names = BTreeSet::new();
        for (index, rule) in rules.iter().enumerate() {
            check_rule(index, rule)?;
            if !names.insert(rule.name.as_str()) {
                return Err(AppError::invalid(
                    format!("rules.{index}.name"),
                    format!("there are two rules `{}`", rule.name),
                    "give each a name of its own; it is shown wherever the rule decides",
                ));
            }
            for name in &rule.agents {
                if self.store.agent_by_name(self.tenant(), name).await?.is_none() {
                    return Err(AppError::invalid(
                        format!("rules.{index}.agents"),
                        format!("there is no agent `{name}`"),
                        "see GET /api/agents for their names; leave the list empty for all",
                    ));
                }
            }
        }
        Ok(())
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
