//! One policy for every way in: chat, CLI, schedule, webhook, sub-agent.

use crate::Timestamp;
use crate::tool::{ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much harm a tool can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Risk)]
#[serde(rename_all = "lowercase")]
pub enum RiskClass {
    /// Looks, changes nothing, sends nothing out.
    Read,
    /// Changes something that can be restored.
    Write,
    /// Sends something out of the house.
    External,
    /// Changes something that can't be restored.
    Destructive,
}

/// What a policy says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Runs at once.
    Allow,
    /// Waits for a person.
    Ask,
    /// Never runs.
    Deny,
}

/// What an agent may do unasked, by risk class; `tools` goes before the classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// For tools that only look.
    pub read: Decision,
    /// For changes that can be restored.
    pub write: Decision,
    /// For what leaves the house.
    pub external: Decision,
    /// For changes that can't be restored.
    pub destructive: Decision,
    /// Tool name to decision.
    #[serde(default)]
    pub tools: BTreeMap<String, Decision>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            read: Decision::Allow,
            write: Decision::Ask,
            external: Decision::Ask,
            destructive: Decision::Ask,
            tools: BTreeMap::new(),
        }
    }
}

impl Policy {
    pub(crate) fn of_class(&self, risk: RiskClass) -> Decision {
        match risk {
            RiskClass::Read => self.read,
            RiskClass::Write => self.write,
            RiskClass::External => self.external,
            RiskClass::Destructive => self.destructive,
        }
    }
}

/// A permission that a person gave, and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Grant {
    /// What it covers.
    pub scope: GrantScope,
    /// When it ends, milliseconds since 1970 UTC; with its run if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub until: Option<Timestamp>,
}

/// What a grant covers; never a destructive call, but for `call`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GrantScope {
    /// Every call of one tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// One call with exactly these arguments.
    Call {
        /// Name of the tool.
        name: String,
        /// Hash of the arguments.
        args_hash: String,
    },
    /// Every call that is not destructive.
    AllButDestructive,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    pub reason: String,
}

/// Judges one call. Pure: `now` is only compared with the grants' ends.
pub fn judge(policy: &Policy, grants: &[Grant], spec: &ToolSpec, call: &ToolCall, now: Timestamp) -> Verdict {
    let mut decision = policy.tools.get(&spec.name).copied().unwrap_or(policy.of_class(spec.risk));
    let mut reason = format!("{} is {:?}", spec.name, spec.risk).to_lowercase();
    if decision == Decision::Allow && call.source.is_weak() && spec.risk != RiskClass::Read {
        decision = Decision::Ask;
        reason = format!("the call was only guessed ({:?})", call.source).to_lowercase();
    }
    if decision == Decision::Ask && granted(grants, spec, call, now) {
        return Verdict { decision: Decision::Allow, reason: "granted by a person".to_owned() };
    }
    Verdict { decision, reason }
}

fn granted(grants: &[Grant], spec: &ToolSpec, call: &ToolCall, now: Timestamp) -> bool {
    grants.iter().filter(|grant| grant.until.is_none_or(|until| now < until)).any(|grant| match &grant.scope {
        GrantScope::Call { name, args_hash } => {
            *name == call.name && *args_hash == crate::hash::of_json(&call.arguments)
        }
        GrantScope::Tool { name } => *name == call.name && spec.risk != RiskClass::Destructive,
        GrantScope::AllButDestructive => spec.risk != RiskClass::Destructive,
    })
}

#[cfg(test)]
mod tests {
    use super::{Decision, Grant, GrantScope, Policy, RiskClass, judge};
    use crate::Timestamp;
    use crate::tool::{CallSource, EffectClass, ToolCall, ToolSpec};
    use serde_json::json;
    use std::sync::Arc;

    fn check(risk: RiskClass, source: CallSource, grants: &[Grant], expect: Decision) {
        let spec = ToolSpec {
            name: "t".into(),
            description: String::new(),
            parameters: json!({}).into(),
            effect: EffectClass::Write,
            risk,
            utterances: Arc::default(),
            result_limit: 100,
            skill: None,
        };
        let call = ToolCall {
            id: "1".into(),
            name: "t".into(),
            arguments: json!({"a": 1}),
            source,
            confidence: 1.0,
            signature: None,
        };
        let verdict = judge(&Policy::default(), grants, &spec, &call, Timestamp(1000));
        assert_eq!(verdict.decision, expect, "{risk:?} {source:?} {grants:?}");
    }

    #[test]
    fn classes_sources_and_grants() {
        let all = [Grant { scope: GrantScope::AllButDestructive, until: None }];
        let past = [Grant { scope: GrantScope::AllButDestructive, until: Some(Timestamp(999)) }];
        let other = [Grant { scope: GrantScope::Call { name: "t".into(), args_hash: "0".into() }, until: None }];
        let exact = [Grant {
            scope: GrantScope::Call { name: "t".into(), args_hash: crate::hash::of_json(&json!({"a": 1})) },
            until: None,
        }];
        check(RiskClass::Read, CallSource::Native, &[], Decision::Allow);
        check(RiskClass::Read, CallSource::Fuzzy, &[], Decision::Allow);
        check(RiskClass::Write, CallSource::Native, &[], Decision::Ask);
        check(RiskClass::Write, CallSource::Native, &all, Decision::Allow);
        check(RiskClass::Write, CallSource::Native, &past, Decision::Ask);
        check(RiskClass::Write, CallSource::Native, &other, Decision::Ask);
        check(RiskClass::Destructive, CallSource::Native, &all, Decision::Ask);
        check(RiskClass::Destructive, CallSource::Native, &exact, Decision::Allow);
    }
}
