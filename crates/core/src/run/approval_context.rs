use super::state::{RunState, Waiting};
use crate::approval::{About, Subject};
use crate::event::Mode;
use crate::event::RequestSource;
use crate::plan::FINAL_ANSWER;
use crate::policy::{Decision, RiskClass, needs_four_eyes, strictest};
use crate::skill::SkillRef;
use crate::tool::{CallSource, ToolCall, ToolSpec};
use crate::{AgentId, UserId};
use serde_json::Value;

impl RunState {
    pub fn about(&self, subject: &Subject) -> About {
        let setup = self.setup.as_deref();
        let (skills, plan) = match subject {
            Subject::Call { tool, .. } | Subject::Uncertain { tool, .. } => {
                (self.skill_of(tool).into_iter().collect(), Vec::new())
            }
            Subject::Plan { .. } => {
                let steps = self.plan.as_ref().map(|state| state.plan.steps.clone());
                let steps = steps.unwrap_or_default();
                let skills = steps.iter().filter_map(|step| self.skill_of(&step.tool));
                (skills.collect(), steps)
            }
            Subject::Question { .. } => (Vec::new(), Vec::new()),
        };
        About {
            agent: setup.map_or(AgentId(self.run_id.0), |setup| setup.agent.id),
            workspace: setup.map_or_else(String::new, |setup| setup.workspace.clone()),
            asked_by: setup.map_or_else(String::new, |setup| setup.asked_by.clone()),
            four_eyes: self.needs_four_eyes(subject),
            parent: setup.and_then(|setup| setup.parent),
            reason: self.why(subject),
            entered: self.sources(),
            skills,
            plan,
        }
    }

    /// Whether a rule asks for somebody else than `user` to approve what it waits for.
    pub fn needs_other_than(&self, user: Option<UserId>) -> bool {
        match &self.waiting {
            Some(Waiting::Approval { subject, .. }) => {
                user.is_some_and(|user| self.askers.contains(&user)) && self.needs_four_eyes(subject)
            }
            _ => false,
        }
    }

    pub(super) fn record_asker(&mut self, source: Option<&RequestSource>) {
        self.askers.extend(source.and_then(|source| source.user));
    }

    fn needs_four_eyes(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Call { tool, arguments, .. } | Subject::Uncertain { tool, arguments, .. } => {
                self.is_under_four_eyes(tool, arguments)
            }
            // Its previews leave out what only looks, and its approval covers that too.
            Subject::Plan { .. } => self.plan.as_ref().is_some_and(|state| {
                let mut steps = state.plan.steps.iter().filter(|step| step.tool != FINAL_ANSWER);
                steps.any(|step| self.is_under_four_eyes(&step.tool, &step.args))
            }),
            Subject::Question { .. } => false,
        }
    }

    /// By the class that the policy judges just this call by.
    fn is_under_four_eyes(&self, tool: &str, arguments: &Value) -> bool {
        let call = ToolCall::new(String::new(), tool, arguments.clone(), CallSource::Direct);
        let risk = self.tool(tool).map_or(RiskClass::Destructive, |spec| spec.risk_of(&call));
        needs_four_eyes(&self.rules(), risk)
    }

    fn skill_of(&self, tool: &str) -> Option<SkillRef> {
        self.tool(tool).and_then(|spec| spec.skill.clone())
    }

    fn why(&self, subject: &Subject) -> String {
        match subject {
            Subject::Call { call_id, tool, risk, reason, .. } => {
                let policy = self.why_call(call_id, tool, *risk);
                if reason.is_empty() { policy } else { format!("{reason}. {policy}") }
            }
            Subject::Plan { .. } => match self.setup.as_ref().map(|setup| setup.mode) {
                Some(Mode::Plan | Mode::PlanOnly | Mode::DryRun) => {
                    "A plan was asked for first; nothing runs before it is approved.".to_owned()
                }
                _ => "The model can't choose tools by itself, so there is a plan, and it changes something.".to_owned(),
            },
            Subject::Uncertain { tool, .. } => format!(
                "The program was cut off in the middle of `{tool}`: nobody knows whether it happened, and it is not repeated unasked."
            ),
            Subject::Question { .. } => "The agent needs an answer to go on.".to_owned(),
        }
    }

    fn why_call(&self, call_id: &str, tool: &str, risk: RiskClass) -> String {
        if call_id.starts_with("plan-") && risk == RiskClass::Destructive {
            return "Approving a plan never covers a call that can't be taken back.".to_owned();
        }
        if let Some(setup) = self.setup.as_ref() {
            let policy = &setup.agent.policy;
            let takes_data_out = self.tool(tool).is_some_and(ToolSpec::takes_data_out);
            if let Some(rule) =
                strictest(&self.rules(), risk, takes_data_out).filter(|rule| rule.decision == Decision::Ask)
            {
                if rule.of_data {
                    return format!("The data policy “{}” asks before each call that sends something out.", rule.name);
                }
                let who = if rule.four_eyes { ", and somebody else than who asked has to approve" } else { "" };
                return format!("The rule “{}” of this installation asks before it{who}.", rule.name);
            }
            let own = policy.tools.get(tool).copied();
            if own == Some(Decision::Ask) {
                return format!("The agent's policy asks before each call of `{tool}`.");
            }
            if own.unwrap_or(policy.of_class(risk)) == Decision::Ask {
                return format!("The agent's policy asks before calls that {}.", does(risk));
            }
        }
        if self.call(call_id).is_some_and(|entry| entry.call.is_guessed()) {
            return "The call was only guessed from what the model wrote, so a person looks at it first.".to_owned();
        }
        "A person has to let this call through.".to_owned()
    }
}

fn does(risk: RiskClass) -> &'static str {
    match risk {
        RiskClass::Read => "look at something",
        RiskClass::Write => "change something",
        RiskClass::External => "send something out",
        RiskClass::Destructive => "change something for good",
    }
}
