//! Judges one call by a policy, by the rules of the installation and by what people have granted.

use super::rules::{needs_each_call, strictest};
use super::{Decision, Grant, GrantScope, Policy, RiskClass, ToolRule};
use crate::Timestamp;
use crate::tool::{ToolCall, ToolSpec};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    pub reason: String,
}

/// Judges one call. Pure: `now` is only compared with the grants' ends.
pub fn judge(
    policy: &Policy,
    rules: &[ToolRule],
    grants: &[Grant],
    spec: &ToolSpec,
    call: &ToolCall,
    now: Timestamp,
) -> Verdict {
    let mut decision = policy.tools.get(&spec.name).copied().unwrap_or(policy.of_class(spec.risk));
    let mut reason = format!("{} is {:?}", spec.name, spec.risk).to_lowercase();
    if decision == Decision::Deny {
        "the policy of this agent".clone_into(&mut reason);
    }
    if decision == Decision::Allow && call.source.is_weak() && spec.risk != RiskClass::Read {
        decision = Decision::Ask;
        reason = format!("the call was only guessed ({:?})", call.source).to_lowercase();
    }
    let takes_data_out = spec.takes_data_out();
    let rule = strictest(rules, spec.risk, takes_data_out);
    if let Some(rule) = rule.filter(|rule| rule.decision > decision || rule.is_for_each_call()) {
        decision = decision.max(rule.decision);
        let what = if rule.of_data { "data policy" } else { "rule" };
        reason = format!("the {what} “{}” of this installation", rule.name);
    }
    if decision == Decision::Ask && granted(grants, spec, call, now, needs_each_call(rules, spec.risk, takes_data_out))
    {
        return Verdict { decision: Decision::Allow, reason: "granted by a person".to_owned() };
    }
    Verdict { decision, reason }
}

/// `exactly`: only a permission for just this call counts.
fn granted(grants: &[Grant], spec: &ToolSpec, call: &ToolCall, now: Timestamp, exactly: bool) -> bool {
    grants.iter().filter(|grant| grant.until.is_none_or(|until| now < until)).any(|grant| match &grant.scope {
        GrantScope::Call { name, args_hash } => {
            *name == call.name && *args_hash == crate::hash::of_json(&call.arguments)
        }
        _ if exactly => false,
        GrantScope::Tool { name } => *name == call.name && spec.risk != RiskClass::Destructive,
        GrantScope::AllButDestructive => spec.risk != RiskClass::Destructive,
    })
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::Timestamp;
    use crate::policy::{Decision, Grant, GrantScope, Policy, RiskClass, ToolRule};
    use crate::tool::{CallSource, EffectClass, ToolCall, ToolSpec};
    use serde_json::json;
    use std::sync::Arc;

    fn check(risk: RiskClass, source: CallSource, grants: &[Grant], expect: Decision) {
        check_with(&[], risk, source, grants, expect);
    }

    fn check_with(rules: &[ToolRule], risk: RiskClass, source: CallSource, grants: &[Grant], expect: Decision) {
        let spec = ToolSpec {
            name: "t".into(),
            description: String::new(),
            parameters: json!({}).into(),
            effect: EffectClass::Write,
            risk,
            sends_out: false,
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
        let verdict = judge(&Policy::default(), rules, grants, &spec, &call, Timestamp(1000));
        assert_eq!(verdict.decision, expect, "{rules:?} {risk:?} {source:?} {grants:?}");
    }

    fn rule(risks: &[RiskClass], decision: Decision, four_eyes: bool) -> ToolRule {
        ToolRule {
            name: "r".into(),
            risks: risks.to_vec(),
            agents: Vec::new(),
            origins: Vec::new(),
            roles: Vec::new(),
            decision,
            four_eyes,
            of_data: false,
        }
    }

    #[test]
    fn a_rule_makes_the_policy_stricter_and_never_milder() {
        let all = [Grant { scope: GrantScope::AllButDestructive, until: None }];
        let exact = [Grant {
            scope: GrantScope::Call { name: "t".into(), args_hash: crate::hash::of_json(&json!({"a": 1})) },
            until: None,
        }];
        let ask = [rule(&[RiskClass::Read, RiskClass::Write], Decision::Ask, false)];
        check_with(&ask, RiskClass::Read, CallSource::Native, &[], Decision::Ask);
        check_with(&ask, RiskClass::Read, CallSource::Native, &all, Decision::Allow);
        check_with(&ask, RiskClass::External, CallSource::Native, &[], Decision::Ask);
        let deny = [rule(&[], Decision::Deny, false)];
        check_with(&deny, RiskClass::Read, CallSource::Native, &all, Decision::Deny);
        check_with(&deny, RiskClass::Destructive, CallSource::Native, &exact, Decision::Deny);
        let two = [rule(&[RiskClass::Write], Decision::Ask, true)];
        check_with(&two, RiskClass::Write, CallSource::Native, &all, Decision::Ask);
        check_with(&two, RiskClass::Write, CallSource::Native, &exact, Decision::Allow);
        let data = [ToolRule { of_data: true, ..rule(&[], Decision::Ask, false) }];
        check_with(&data, RiskClass::External, CallSource::Native, &all, Decision::Ask);
        check_with(&data, RiskClass::External, CallSource::Native, &exact, Decision::Allow);
        check_with(&data, RiskClass::Write, CallSource::Native, &all, Decision::Allow);
        let allow = [rule(&[], Decision::Allow, false)];
        check_with(&allow, RiskClass::Write, CallSource::Native, &[], Decision::Ask);
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
