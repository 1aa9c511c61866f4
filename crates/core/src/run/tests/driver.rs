//! Hand-made events into the machine.

use crate::agent::{Agent, Tuning};
use crate::approval::{Answer, Subject};
use crate::budget::Preset;
use crate::event::{Event, EventBody, Mode, Noticed, Origin, Setup, ToolResult};
use crate::governance::DataRules;
use crate::model::{Capabilities, Purpose, Usage};
use crate::plan::{Candidate, Plan, PlanStep, Score};
use crate::policy::{Policy, RiskClass};
use crate::run::{AnswerFrom, Ask, Checked, Effect, RunState, answer_text, check, receipts_for};
use crate::tool::{CallSource, EffectClass, Preview, ToolCall, ToolSpec};
use crate::{AgentId, ApprovalId, ConnectionId, RunId, Timestamp, hash};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

pub(super) struct Driver {
    pub(super) state: RunState,
    pub(super) seq: u64,
    pub(super) log: Vec<Event>,
    /// What the next replies show beside their calls.
    pub(super) noticed: Noticed,
}

/// Every log of these tests replays as the same.
impl Drop for Driver {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let mut state = RunState::new(self.state.run_id);
        for event in &self.log {
            if let Checked::Differs(difference) = check(&state, event) {
                panic!("{difference:?}\n{event:?}");
            }
            state.apply(event);
        }
        assert_eq!(state, self.state, "the fold of the log");
    }
}

impl Driver {
    pub(super) fn start(mode: Mode, edit: impl FnOnce(&mut Setup)) -> (Self, Vec<Effect>) {
        let spec = |name: &str, risk, effect| ToolSpec {
            name: name.into(),
            description: name.into(),
            parameters:
                json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": true}).into(),
            effect,
            risk,
            sends_out: false,
            utterances: Arc::default(),
            result_limit: 1000,
            skill: None,
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
                deep: crate::agent::Deep::default(),
                routing: crate::routing::Routing::default(),
                credentials: std::collections::BTreeMap::new(),
                metadata: serde_json::Map::new(),
                own_data: crate::agent::OwnData::default(),
                auto_link_uploads: false,
                skills: Vec::new(),
            },
            tools: Arc::new([
                spec("look", RiskClass::Read, EffectClass::Read),
                spec("put", RiskClass::Write, EffectClass::Write),
                spec("wipe", RiskClass::Destructive, EffectClass::Write),
                spec("feedback", RiskClass::Read, EffectClass::Read),
            ]),
            conversation: None,
            history: vec![],
            memory: String::new(),
            own_sections: crate::prompt::OwnSections::default(),
            input: "do it".into(),
            mode,
            origin: Origin::Cli,
            asked_by: "t".into(),
            source: None,
            budget: Preset::Agent.budget(),
            grants: vec![],
            connection: ConnectionId(Uuid::nil()),
            names_connection: false,
            model: "m".into(),
            capabilities: Capabilities { trusted: false, ..Capabilities::default() },
            intent_filter: false,
            workspace: "/".into(),
            utc_offset_minutes: 0,
            started_by: None,
            parent: None,
            above: Vec::new(),
            user: None,
            askers: std::collections::BTreeSet::new(),
            forked_from: None,
            client_retries: false,
            key: None,
            deep: None,
            route: None,
            standing: Vec::new(),
            rules: Vec::new(),
            data_rules: DataRules::default(),
            classified: None,
            carried: crate::prompt::Carried::default(),
            hint: None,
            planner: None,
            redirected: None,
            taint: Vec::new(),
            depth: 0,
            skills: Vec::new(),
            documents: Vec::new(),
            references: Vec::new(),
            looked_through: crate::reference::LookedThrough::default(),
        };
        edit(&mut setup);
        let mut driver =
            Self { state: RunState::new(RunId(Uuid::nil())), seq: 0, log: Vec::new(), noticed: Noticed::default() };
        let effects = driver.on(EventBody::RunStarted { v: 1, setup: Arc::new(setup) });
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
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        self.log.push(event.clone());
        self.state.on(&event)
    }

    pub(super) fn asked(&mut self) {
        let effects = self.on(EventBody::ModelRequested {
            step: self.state.spent.model_calls + 1,
            purpose: Purpose::Reply,
            model: "m".into(),
            prompt_hash: String::new(),
            prompt: vec![],
            reserved: 10,
            reserved_micros: 0,
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
                signature: None,
            })
            .collect();
        self.on(EventBody::ModelResponded {
            step: 1,
            purpose: Purpose::Reply,
            text: text.into(),
            raw: String::new(),
            reasoning: String::new(),
            calls,
            diagnostics: vec![],
            finish: "stop".into(),
            usage: Usage { prompt_tokens: 5, completion_tokens: 5, ..Usage::default() },
            answered: None,
            noticed: self.noticed.clone(),
        })
    }

    /// The intent of the call that is wanted now.
    pub(super) fn intent(&mut self, id: &str) -> Vec<Effect> {
        let wanted = self.state.next(self.state.last_at);
        let [
            Effect::RunTool { call, idempotency_key, effect } | Effect::Delegate { call, idempotency_key, effect, .. },
        ] = &wanted[..]
        else {
            panic!("{wanted:?}");
        };
        assert_eq!(call.id, id);
        self.on(EventBody::ToolIntent {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            args_hash: hash::of_json(&call.arguments),
            effect: *effect,
            idempotency_key: idempotency_key.clone(),
            evidence: None,
        })
    }

    /// The refusal that is wanted now.
    pub(super) fn rejected(&mut self) -> Vec<Effect> {
        let wanted = self.state.next(self.state.last_at);
        let [Effect::Reject { call, message }] = &wanted[..] else {
            panic!("{wanted:?}");
        };
        self.on(EventBody::ToolRejected { call_id: call.id.clone(), tool: call.name.clone(), message: message.clone() })
    }

    pub(super) fn result(&mut self, id: &str, tool: &str, result: ToolResult) -> Vec<Effect> {
        self.on(EventBody::ToolResult { call_id: id.into(), tool: tool.into(), result, ms: 1, evidence: None })
    }

    /// The question that is wanted now.
    pub(super) fn ask(&mut self) -> ApprovalId {
        let wanted = self.state.next(self.state.last_at);
        let [Effect::Ask(ask)] = &wanted[..] else {
            panic!("{wanted:?}");
        };
        let subject = match ask.clone() {
            Ask::Call { call, reason } => Subject::Call {
                reason,
                taint: self.state.taint_of(self.state.tool(&call.name).unwrap(), &call),
                args_hash: hash::of_json(&call.arguments),
                risk: self.state.tool(&call.name).unwrap().risk,
                call_id: call.id,
                tool: call.name,
                arguments: call.arguments,
                preview: Preview::default(),
            },
            Ask::Plan => Subject::Plan {
                plan_hash: self.state.plan.as_ref().unwrap().plan.hash(),
                previews: vec![],
                taint: Vec::new(),
            },
            Ask::Uncertain { call, why } => {
                Subject::Uncertain { why, call_id: call.id, tool: call.name, arguments: call.arguments }
            }
            Ask::Question { call, text } => Subject::Question { call_id: call.id, text },
        };
        let id = ApprovalId(Uuid::from_u128(u128::from(self.seq) + 100));
        let effects = self.on(EventBody::ApprovalRequested {
            approval_id: id,
            about: Box::new(self.state.about(&subject)),
            subject: Box::new(subject),
        });
        assert!(effects.is_empty(), "a parked run wants nothing");
        id
    }

    /// The end that is wanted now.
    pub(super) fn finished(&mut self) {
        let wanted = self.state.next(self.state.last_at);
        let [Effect::Finish { outcome, answer }] = &wanted[..] else {
            panic!("{wanted:?}");
        };
        let text = answer_text(&self.state, answer);
        let receipts = receipts_for(&self.state, answer, &text);
        let effects = self.on(EventBody::RunFinished {
            outcome: outcome.clone(),
            composed: *answer == AnswerFrom::Observations,
            answer: text,
            usage: self.state.usage,
            receipts: Some(receipts),
        });
        assert!(effects.is_empty());
    }

    pub(super) fn decide(&mut self, id: ApprovalId, answer: Answer) -> Vec<Effect> {
        self.on(EventBody::ApprovalDecided { approval_id: id, answer, by: "p".into(), source: None })
    }

    pub(super) fn plan(&mut self, steps: &[(&str, Value)]) -> Vec<Effect> {
        let steps = steps
            .iter()
            .map(|(tool, args)| PlanStep { tool: (*tool).into(), args: args.clone(), thought: String::new() })
            .collect();
        self.on(EventBody::PlanProposed {
            candidates: vec![Candidate { plan: Plan { steps }, score: Score::default() }],
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
        origins: std::collections::BTreeSet::new(),
    }
}

/// A result that came from `origin`.
pub(super) fn from_outside(text: &str, origin: &str) -> ToolResult {
    ToolResult::Ok {
        content: text.into(),
        data: None,
        truncated: false,
        receipt: None,
        undo: None,
        origins: std::collections::BTreeSet::from([origin.to_owned()]),
    }
}
