use super::state::{CallStatus, RunState};
use crate::approval::{Answer, Subject};
use crate::event::ToolResult;
use crate::hash;
use crate::plan::{FINAL_ANSWER, Plan};
use crate::policy::{Grant, GrantScope, RiskClass};
use crate::tool::EffectClass;

impl RunState {
    pub(super) fn record_asked_call(&mut self, subject: &Subject) {
        match subject {
            Subject::Call { call_id, tool, arguments, .. } | Subject::Uncertain { call_id, tool, arguments, .. } => {
                self.ensure_call(call_id, tool, arguments);
            }
            Subject::Question { call_id, text } => {
                self.ensure_call(call_id, "feedback", &serde_json::json!({"question": text}));
            }
            Subject::Plan { .. } => {}
        }
    }

    pub(super) fn apply_answer(&mut self, subject: &Subject, answer: &Answer) {
        match (subject, answer) {
            (Subject::Call { call_id, .. }, Answer::Approve { grant, until }) => {
                self.grants.extend(grant.clone().map(|scope| Grant { scope, until: *until }));
                self.set_status(call_id, CallStatus::Approved);
            }
            (Subject::Call { call_id, .. }, Answer::Deny { reason }) => {
                self.fallback.denied = true;
                let reason = reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
                self.set_status(call_id, CallStatus::Rejected(format!("a person said no{reason}")));
                self.cut_plan_short();
            }
            (Subject::Call { call_id, .. }, Answer::Feedback { text }) => {
                self.fallback.denied = true;
                self.set_status(call_id, CallStatus::Rejected(format!("a person wants it otherwise: {text}")));
                self.request_other_plan(text);
            }
            (Subject::Plan { .. }, Answer::Approve { grant, until }) => {
                self.grants.extend(grant.clone().map(|scope| Grant { scope, until: *until }));
                self.approve_plan();
            }
            (Subject::Plan { .. }, Answer::Deny { .. }) => self.refused = true,
            (Subject::Plan { .. }, Answer::Feedback { text }) => self.request_other_plan(text),
            (Subject::Uncertain { call_id, .. }, Answer::Happened) => {
                let result = ToolResult::text(
                    "A person confirmed that this happened before the interruption; its output is not known.",
                );
                self.set_status(call_id, CallStatus::Done(result));
            }
            (Subject::Uncertain { call_id, .. }, Answer::RunAgain) => {
                if let Some(entry) = self.entry_mut(call_id)
                    && let CallStatus::Uncertain { key, .. } = entry.status.clone()
                {
                    entry.status = CallStatus::Repeat { key, effect: EffectClass::Write };
                }
            }
            (Subject::Uncertain { call_id, .. }, Answer::Skip) => {
                self.set_status(
                    call_id,
                    CallStatus::Rejected("interrupted; a person chose to leave it out".to_owned()),
                );
            }
            (Subject::Question { call_id, .. }, Answer::Feedback { text }) => {
                self.set_status(call_id, CallStatus::Done(ToolResult::text(text)));
            }
            (Subject::Question { call_id, .. }, _) => {
                self.set_status(call_id, CallStatus::Rejected("the user gave no answer".to_owned()));
            }
            (Subject::Uncertain { .. } | Subject::Call { .. } | Subject::Plan { .. }, _) => {}
        }
    }

    /// Approval of a plan covers exactly its steps with exactly their arguments, and no destructive one.
    pub(super) fn approve_plan(&mut self) {
        let Some(plan) = &mut self.plan else { return };
        plan.approved = true;
        let steps = plan.plan.steps.clone();
        for step in steps {
            let covered = self.tool(&step.tool).is_some_and(|spec| spec.risk != RiskClass::Destructive);
            if covered && Plan::open_arguments(&step).is_empty() && step.tool != FINAL_ANSWER {
                self.grants.push(Grant {
                    scope: GrantScope::Call { name: step.tool.clone(), args_hash: hash::of_json(&step.args) },
                    until: None,
                });
            }
        }
    }

    fn request_other_plan(&mut self, text: &str) {
        self.feedback.push(text.to_owned());
        self.cut_plan_short();
    }

    fn cut_plan_short(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.cut_short = true;
        }
    }
}
