//! What led to a question: read from the run's log up to where it was asked. Pure.

use std::collections::HashMap;
use std::ops::ControlFlow;
use steward_core::approval::Subject;
use steward_core::event::{Event, EventBody, Mode, Setup, ToolResult};
use steward_core::plan::PlanStep;
use steward_core::policy::{Decision, RiskClass};
use steward_core::tool::CallSource;
use steward_core::{ApprovalId, RunId};

/// The part of a log that a question stands on.
pub(super) struct Story {
    wanted: ApprovalId,
    setup: Option<Box<Setup>>,
    sources: HashMap<String, CallSource>,
    /// The plan in force.
    pub plan: Option<Vec<PlanStep>>,
    /// Whether something from outside was read before.
    pub tainted: bool,
}

impl Story {
    pub fn of(wanted: ApprovalId) -> Self {
        Self {
            wanted,
            setup: None,
            sources: HashMap::new(),
            plan: None,
            tainted: false,
        }
    }

    /// Takes the next event in; ends at the question.
    pub fn see(&mut self, event: &Event) -> ControlFlow<()> {
        match &event.body {
            EventBody::RunStarted { setup, .. } => {
                self.tainted |= !setup.taint.is_empty();
                self.setup = Some(setup.clone());
            }
            EventBody::RunReturned { taint, .. } => self.tainted |= !taint.is_empty(),
            EventBody::ModelResponded { calls, .. } => {
                let sources = calls.iter().map(|call| (call.id.clone(), call.source));
                self.sources.extend(sources);
            }
            EventBody::PlanProposed { candidates, .. } => {
                self.plan = candidates.first().map(|best| best.plan.steps.clone());
            }
            EventBody::ToolResult {
                result: ToolResult::Ok { tainted: true, .. },
                ..
            } => self.tainted = true,
            EventBody::ApprovalRequested { approval_id, .. } if *approval_id == self.wanted => {
                return ControlFlow::Break(());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// The run that delegated to this one.
    pub fn parent(&self) -> Option<RunId> {
        self.setup.as_ref().and_then(|setup| setup.parent)
    }

    /// Who asked the agent.
    pub fn asked_by(&self) -> String {
        self.setup
            .as_ref()
            .map(|setup| setup.asked_by.clone())
            .unwrap_or_default()
    }

    /// Why a person is asked.
    pub fn reason(&self, subject: &Subject) -> String {
        match subject {
            Subject::Call {
                call_id,
                tool,
                risk,
                reason,
                ..
            } => {
                let policy = self.reason_of_call(call_id, tool, *risk);
                if reason.is_empty() {
                    policy
                } else {
                    format!("{reason}. {policy}")
                }
            }
            Subject::Plan { .. } => match self.setup.as_ref().map(|setup| setup.mode) {
                Some(Mode::Plan | Mode::PlanOnly | Mode::DryRun) => {
                    "A plan was asked for first; nothing runs before it is approved.".to_owned()
                }
                _ => "The model can't choose tools by itself, so there is a plan, and it changes something."
                    .to_owned(),
            },
            Subject::Uncertain { tool, .. } => format!(
                "The program was cut off in the middle of `{tool}`: nobody knows whether it happened, and it is not repeated unasked."
            ),
            Subject::Question { .. } => "The agent needs an answer to go on.".to_owned(),
        }
    }

    fn reason_of_call(&self, call_id: &str, tool: &str, risk: RiskClass) -> String {
        let planned = call_id.starts_with("plan-");
        if planned && risk == RiskClass::Destructive {
            return "Approving a plan never covers a call that can't be taken back.".to_owned();
        }
        let policy = self.setup.as_ref().map(|setup| &setup.agent.policy);
        if let Some(policy) = policy {
            if policy.tools.get(tool) == Some(&Decision::Ask) {
                return format!("The agent's policy asks before each call of `{tool}`.");
            }
            let by_class = match risk {
                RiskClass::Read => policy.read,
                RiskClass::Write => policy.write,
                RiskClass::External => policy.external,
                RiskClass::Destructive => policy.destructive,
            };
            let decision = policy.tools.get(tool).copied().unwrap_or(by_class);
            if decision == Decision::Ask {
                return format!("The agent's policy asks before calls that {}.", does(risk));
            }
        }
        if self.sources.get(call_id).is_some_and(|one| one.is_weak()) {
            return "The call was only guessed from what the model wrote, so a person looks at it first."
                .to_owned();
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

/// What happens if the answer is no.
pub(super) fn if_denied(subject: &Subject) -> String {
    match subject {
        Subject::Call { call_id, tool, .. } if call_id.starts_with("plan-") => format!(
            "`{tool}` does not run, nor do the steps after it; the agent answers with what it has so far."
        ),
        Subject::Call { tool, .. } => format!(
            "`{tool}` does not run; the agent is told so, with your reason, and goes on without it."
        ),
        Subject::Plan { .. } => {
            "Nothing of the plan runs, and the run ends. To have another plan, say what to change instead."
                .to_owned()
        }
        Subject::Uncertain { tool, .. } => format!(
            "If it is left out, `{tool}` counts as not done and is not repeated; the agent goes on without it."
        ),
        Subject::Question { .. } => {
            "The agent gets no answer and goes on without one.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Story, if_denied};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;
    use steward_core::agent::{Agent, Tuning};
    use steward_core::approval::Subject;
    use steward_core::budget::Preset;
    use steward_core::event::{Event, EventBody, Mode, Origin, Setup};
    use steward_core::model::Capabilities;
    use steward_core::policy::{Decision, Policy};
    use steward_core::{AgentId, ApprovalId, ConnectionId, RunId, Timestamp};
    use uuid::Uuid;

    const ID: ApprovalId = ApprovalId(Uuid::from_u128(4));

    fn event(body: EventBody) -> Event {
        Event {
            run_id: RunId(Uuid::from_u128(1)),
            seq: 1,
            at: Timestamp(0),
            epoch: 1,
            body,
        }
    }

    fn parsed(body: Value) -> Event {
        event(serde_json::from_value(body).unwrap())
    }

    fn started(policy: Policy, mode: Mode) -> Event {
        let agent = Agent {
            id: AgentId(Uuid::from_u128(2)),
            name: "a".to_owned(),
            instructions: String::new(),
            tools: Vec::new(),
            connection: None,
            policy,
            budget: Preset::Agent,
            tuning: Tuning::default(),
            deep: steward_core::agent::Deep::default(),
            routing: steward_core::routing::Routing::default(),
            credentials: std::collections::BTreeMap::new(),
            metadata: serde_json::Map::new(),
            skills: Vec::new(),
        };
        event(EventBody::RunStarted {
            v: 1,
            setup: Box::new(Setup {
                budget: agent.budget.budget(),
                agent,
                tools: Vec::new(),
                conversation: None,
                history: Vec::new(),
                memory: String::new(),
                input: "go".to_owned(),
                mode,
                origin: Origin::Chat,
                asked_by: "ann".to_owned(),
                grants: Vec::new(),
                connection: ConnectionId(Uuid::from_u128(3)),
                model: "m".to_owned(),
                capabilities: Capabilities::default(),
                intent_filter: false,
                workspace: "/w".to_owned(),
                utc_offset_minutes: 0,
                parent: None,
                user: None,
                forked_from: None,
                key: None,
                deep: None,
                reading: steward_core::event::ReadingKind::default(),
                route: None,
                taint: Vec::new(),
                depth: 0,
                skills: Vec::new(),
            }),
        })
    }

    fn subject(call_id: &str, tool: &str, risk: &str) -> Subject {
        serde_json::from_value(json!({
            "kind": "call", "call_id": call_id, "tool": tool, "arguments": {}, "args_hash": "0", "risk": risk,
            "preview": {"summary": "", "reversible": true},
        }))
        .unwrap()
    }

    fn reason(policy: Policy, sources: &[(&str, &str)], subject: &Subject) -> String {
        let mut story = Story::of(ID);
        let _ = story.see(&started(policy, Mode::Loop));
        let calls: Vec<Value> = sources
            .iter()
            .map(|(id, source)| json!({"id": id, "name": "t", "arguments": {}, "source": source, "confidence": 1.0}))
            .collect();
        let _ = story.see(&parsed(json!({
            "type": "model.responded", "step": 1, "purpose": "reply", "text": "", "calls": calls, "finish": "stop",
            "usage": {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0},
        })));
        story.reason(subject)
    }

    #[test]
    fn the_reason_is_the_rule_that_asked() {
        let exception = Policy {
            tools: BTreeMap::from([("write".to_owned(), Decision::Ask)]),
            ..Policy::default()
        };
        let open = Policy {
            write: Decision::Allow,
            ..Policy::default()
        };
        let write = subject("s1-0", "write", "write");
        for (policy, sources, subject, part) in [
            (
                Policy::default(),
                vec![],
                &write,
                "calls that change something.",
            ),
            (exception, vec![], &write, "each call of `write`"),
            (
                open.clone(),
                vec![("s1-0", "fuzzy")],
                &write,
                "only guessed",
            ),
            (
                open,
                vec![("s1-0", "native")],
                &write,
                "let this call through",
            ),
            (
                Policy::default(),
                vec![],
                &subject("plan-1-2", "rm", "destructive"),
                "Approving a plan never",
            ),
        ] {
            let text = reason(policy, &sources, subject);
            assert!(text.contains(part), "{text}");
        }
        assert!(
            if_denied(&subject("plan-1-2", "write", "write")).contains("nor do the steps after")
        );
        assert!(if_denied(&write).contains("goes on without it"));
    }

    #[test]
    fn only_what_came_before_the_question_counts() {
        let mut story = Story::of(ID);
        let _ = story.see(&started(Policy::default(), Mode::Plan));
        let result = |tainted: bool| {
            parsed(
                json!({"type": "tool.result", "call_id": "c", "tool": "web", "outcome": "ok", "content": "", "tainted": tainted, "ms": 1}),
            )
        };
        let plan = json!([{"tool": "write", "args": {"path": "a"}, "thought": "t"}]);
        let score = json!({"length": 1.0, "known_tools": 1.0, "valid_arguments": 1.0, "effects_late": 1.0, "ends": 1.0, "fit": 1.0, "total": 1.0});
        let _ = story.see(&result(false));
        let _ = story.see(&parsed(json!({"type": "plan.proposed", "candidates": [{"plan": plan, "score": score}], "by": "model"})));
        let asked = parsed(
            json!({"type": "approval.requested", "approval_id": ID, "subject": {"kind": "plan", "plan_hash": "h", "previews": []}}),
        );
        assert_eq!(story.see(&asked), ControlFlow::Break(()));
        assert!(!story.tainted);
        assert_eq!(story.plan.as_ref().map(Vec::len), Some(1));
        assert_eq!(story.asked_by(), "ann");
        let _ = story.see(&result(true));
        assert!(story.tainted);
    }
}
