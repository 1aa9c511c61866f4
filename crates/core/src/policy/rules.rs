//! Rules of an installation over what its agents do: they only ever make an agent's own policy stricter.

use super::{Decision, Origin, RiskClass};
use crate::AgentId;
use crate::ports::Role;
use serde::{Deserialize, Serialize};

/// Where the rules are kept among the settings.
pub const TOOL_RULES_SETTING: &str = "policy.tool_rules";

/// For which calls an installation wants more care than the agent's own policy. An empty list means all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    /// Its name, unique; shown wherever it decides.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// The classes of tools it is about.
    #[serde(default)]
    pub risks: Vec<RiskClass>,
    /// The agents: a rule stays with an agent whatever it is called.
    #[serde(default)]
    pub agents: Vec<AgentId>,
    /// Where the run came from.
    #[serde(default)]
    pub origins: Vec<Origin>,
    /// The role of the user who asked. A run without a user is among all of them.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// The least that happens: `ask` or `deny`.
    pub decision: Decision,
    /// Whether only somebody else than who asked may approve such a call, each by itself.
    #[serde(default)]
    pub four_eyes: bool,
    /// Whether a data policy stands behind it, for what a run has seen. Such a rule is made anew for each decision, and
    /// is about all that takes data out, whatever its class.
    #[serde(skip)]
    pub of_data: bool,
}

/// The rules of an installation. `version` counts their changes, so that two administrators don't overwrite each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRules {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// All that fit a call hold; the strictest decides.
    #[schema(max_items = 100)]
    pub rules: Vec<ToolRule>,
}

impl ToolRules {
    /// The rules that hold for a run. A user's role that is not known counts as every role.
    pub fn of_run(&self, agent: AgentId, origin: Origin, role: Option<Role>) -> Vec<ToolRule> {
        let fits = |rule: &&ToolRule| {
            (rule.agents.is_empty() || rule.agents.contains(&agent))
                && (rule.origins.is_empty() || rule.origins.contains(&origin))
                && role.is_none_or(|role| rule.roles.is_empty() || rule.roles.contains(&role))
        };
        self.rules.iter().filter(fits).cloned().collect()
    }
}

impl ToolRule {
    /// `takes_data_out`: what [`ToolSpec::takes_data_out`](crate::tool::ToolSpec::takes_data_out) says.
    pub fn is_about(&self, risk: RiskClass, takes_data_out: bool) -> bool {
        if self.of_data { takes_data_out } else { self.risks.is_empty() || self.risks.contains(&risk) }
    }

    /// Whether only a permission for just this call counts.
    pub fn is_for_each_call(&self) -> bool {
        self.four_eyes || self.of_data
    }
}

/// The strictest of the rules about such tools.
pub fn strictest(rules: &[ToolRule], risk: RiskClass, takes_data_out: bool) -> Option<&ToolRule> {
    let about = rules.iter().filter(|rule| rule.is_about(risk, takes_data_out));
    about.max_by_key(|rule| (rule.decision, rule.four_eyes, rule.of_data))
}

/// Whether a call of this class needs somebody else than who asked.
pub fn needs_four_eyes(rules: &[ToolRule], risk: RiskClass) -> bool {
    rules.iter().any(|rule| rule.four_eyes && rule.is_about(risk, false))
}

/// Whether calls of such tools are let through one by one.
pub(super) fn needs_each_call(rules: &[ToolRule], risk: RiskClass, takes_data_out: bool) -> bool {
    rules.iter().any(|rule| rule.is_for_each_call() && rule.is_about(risk, takes_data_out))
}

#[cfg(test)]
mod tests {
    use super::{ToolRule, ToolRules, needs_four_eyes, strictest};
    use crate::AgentId;
    use crate::policy::{Decision, Origin, RiskClass};
    use crate::ports::Role;
    use serde_json::{Value, json};
    use uuid::Uuid;

    fn rule(name: &str, decision: &str, limits: &Value) -> ToolRule {
        let mut rule = json!({"name": name, "decision": decision});
        if let (Value::Object(rule), Value::Object(limits)) = (&mut rule, limits) {
            rule.extend(limits.clone());
        }
        serde_json::from_value(rule).expect("a rule")
    }

    const SHOP: AgentId = AgentId(Uuid::from_u128(1));
    const DESK: AgentId = AgentId(Uuid::from_u128(2));

    #[test]
    fn rules_hold_for_the_runs_that_they_name() {
        let rules = ToolRules {
            version: 1,
            rules: vec![
                rule("all", "ask", &json!({})),
                rule("shop", "ask", &json!({"agents": [SHOP]})),
                rule("night", "deny", &json!({"origins": ["schedule"]})),
                rule("juniors", "deny", &json!({"roles": ["developer"]})),
            ],
        };
        for (agent, origin, role, expect) in [
            (DESK, Origin::Chat, Some(Role::Operator), "all"),
            (SHOP, Origin::Chat, Some(Role::Operator), "all shop"),
            (DESK, Origin::Schedule, Some(Role::Operator), "all night"),
            (DESK, Origin::Chat, Some(Role::Developer), "all juniors"),
            (SHOP, Origin::Schedule, None, "all shop night juniors"),
        ] {
            let names: Vec<String> = rules.of_run(agent, origin, role).into_iter().map(|rule| rule.name).collect();
            assert_eq!(names.join(" "), expect, "{agent:?} {origin:?} {role:?}");
        }
    }

    #[test]
    fn the_strictest_rule_of_a_class_decides() {
        let rules = [
            rule("ask", "ask", &json!({"risks": ["write", "external"]})),
            rule("never", "deny", &json!({"risks": ["external"]})),
            rule("two", "ask", &json!({"risks": ["destructive"], "four_eyes": true})),
        ];
        let of = |risk| strictest(&rules, risk, false).map(|rule| (rule.name.as_str(), rule.decision));
        assert_eq!(of(RiskClass::Read), None);
        assert_eq!(of(RiskClass::Write), Some(("ask", Decision::Ask)));
        assert_eq!(of(RiskClass::External), Some(("never", Decision::Deny)));
        assert_eq!(of(RiskClass::Destructive), Some(("two", Decision::Ask)));
        assert!(needs_four_eyes(&rules, RiskClass::Destructive));
        assert!(!needs_four_eyes(&rules, RiskClass::External));
    }
}
