//! Hand-made events into the machine.

use crate::agent::{Agent, Tuning};
use crate::approval::{Answer, Subject};
use crate::budget::Preset;
use crate::event::{Event, EventBody, Mode, Origin, Setup, ToolResult};
use crate::model::{Capabilities, Purpose, Usage};
use crate::plan::{Candidate, Plan, PlanStep, Score};
use crate::policy::{Policy, RiskClass};
use crate::run::{Effect, RunState};
use crate::tool::{CallSource, EffectClass, Preview, ToolCall, ToolSpec};
use crate::{AgentId, ApprovalId, ConnectionId, RunId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

pub(super) struct Driver {
    pub(super) state: RunState,
    pub(super) seq: u64,
}

impl Driver {
    pub(super) fn start(mode: Mode, edit: impl FnOnce(&mut Setup)) -> (Self, Vec<Effect>) {
        let spec = |name: &str, risk, effect| ToolSpec {
            name: name.into(),
            description: name.into(),
            parameters: json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": true}),
            effect,
            risk,
            utterances: vec![],
            result_limit: 1000,
        };
        let mut setup = Setup {
            agent: Agent {
                id: AgentId(Uuid::nil()),
                name: "a".into(),
                instructions: String::new(),
                tools: vec![],
                connection: None,
                policy: Policy::default(),
                budget: Preset::Agent,
                tuning: Tuning::default(),
            },
            tools: vec![
                spec("look", RiskClass::Read, EffectClass::Read),
                spec("put", RiskClass::Write, EffectClass::Write),
                spec("wipe", RiskClass::Destructive, EffectClass::Write),
                spec("feedback", RiskClass::Read, EffectClass::Read),
            ],
            conversation: None,
            history: vec![],
            memory: String::new(),
            input: "do it".into(),
            mode,
            origin: Origin::Cli,
            asked_by: "t".into(),
            budget: Preset::Agent.budget(),
            grants: vec![],
            connection: ConnectionId(Uuid::nil()),
            model: "m".into(),
            capabilities: Capabilities::default(),
            intent_filter: false,
            workspace: "/".into(),
            utc_offset_minutes: 0,
            parent: None,
        };
        edit(&mut setup);
        let mut driver = Self {
            state: RunState::new(RunId(Uuid::nil())),
            seq: 0,
        };
        let effects = driver.on(EventBody::RunStarted {
            v: 1,
            setup: Box::new(setup),
        });
        (driver, effects)
    }

    pub(super) fn on(&mut self, body: EventBody) -> Vec<Effect> {
        self.seq += 1;
        let event = Event {
            run_id: self.state.run_id,
            seq: self.seq,
            at: Timestamp(i64::try_from(self.seq).unwrap() * 10),
            epoch: 1,
            body,
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(
            serde_json::from_str::<Event>(&text).unwrap(),
            event,
            "{text}"
        );
        self.state.on(&event)
    }

    pub(super) fn asked(&mut self) {
        let effects = self.on(EventBody::ModelRequested {
            step: 1,
            purpose: Purpose::Reply,
            model: "m".into(),
            prompt_hash: String::new(),
            prompt: vec![],
            reserved: 10,
        });
        assert!(effects.is_empty(), "a model call is in flight");
    }

    pub(super) fn replied(&mut self, text: &str, calls: &[(&str, &str)]) -> Vec<Effect> {
        self.asked();
        let calls = calls
            .iter()
            .map(|(id, name)| ToolCall {
                id: (*id).into(),
                name: (*name).into(),
                arguments: json!({"x": id}),
                source: CallSource::Native,
                confidence: 1.0,
            })
            .collect();
        self.on(EventBody::ModelResponded {
            step: 1,
            purpose: Purpose::Reply,
            text: text.into(),
            reasoning: String::new(),
            calls,
            diagnostics: vec![],
            finish: "stop".into(),
            usage: Usage {
                prompt_tokens: 5,
                completion_tokens: 5,
                ..Usage::default()
            },
        })
    }

    pub(super) fn intent(&mut self, id: &str, tool: &str, effect: EffectClass) -> Vec<Effect> {
        self.on(EventBody::ToolIntent {
            call_id: id.into(),
            tool: tool.into(),
            arguments: json!({"x": id}),
            args_hash: String::new(),
            effect,
            idempotency_key: format!("key-{id}"),
        })
    }

    pub(super) fn result(&mut self, id: &str, tool: &str, result: ToolResult) -> Vec<Effect> {
        self.on(EventBody::ToolResult {
            call_id: id.into(),
            tool: tool.into(),
            result,
            ms: 1,
        })
    }

    pub(super) fn ask(&mut self, subject: Subject) -> ApprovalId {
        let id = ApprovalId(Uuid::from_u128(u128::from(self.seq) + 100));
        let effects = self.on(EventBody::ApprovalRequested {
            approval_id: id,
            subject: Box::new(subject),
        });
        assert!(effects.is_empty(), "a parked run wants nothing");
        id
    }

    pub(super) fn decide(&mut self, id: ApprovalId, answer: Answer) -> Vec<Effect> {
        self.on(EventBody::ApprovalDecided {
            approval_id: id,
            answer,
            by: "p".into(),
        })
    }

    pub(super) fn plan(&mut self, steps: &[(&str, Value)]) -> Vec<Effect> {
        let steps = steps
            .iter()
            .map(|(tool, args)| PlanStep {
                tool: (*tool).into(),
                args: args.clone(),
                thought: String::new(),
            })
            .collect();
        self.on(EventBody::PlanProposed {
            candidates: vec![Candidate {
                plan: Plan { steps },
                score: Score::default(),
            }],
            by: "model".into(),
            notes: vec![],
        })
    }
}

pub(super) fn ok(text: &str) -> ToolResult {
    ToolResult::Ok {
        content: text.into(),
        data: None,
        truncated: false,
        receipt: None,
        undo: None,
        tainted: false,
    }
}

pub(super) fn call_subject(id: &str, tool: &str) -> Subject {
    Subject::Call {
        call_id: id.into(),
        tool: tool.into(),
        arguments: json!({"x": id}),
        args_hash: String::new(),
        risk: RiskClass::Write,
        preview: Preview::default(),
    }
}
