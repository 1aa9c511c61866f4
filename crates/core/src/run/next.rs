//! The decision: what a run wants done, given what has happened.

use super::answer::AnswerFrom;
use super::delegate;
use super::effect::{Ask, Effect};
use super::state::{CallEntry, CallStatus, PlanState, RunState, step_call_id};
use super::tool_selection::{FEEDBACK, has_too_many_tools};
use crate::budget::{self, Limit};
use crate::event::{Event, Mode, Outcome, Setup, ToolResult};
use crate::model::Purpose;
use crate::plan::{FINAL_ANSWER, Plan, PlanStep, step_problem};
use crate::policy::{Decision, GrantScope};
use crate::schema;
use crate::tool::{CallSource, EffectClass, TOOL_SEARCH, ToolCall, ToolSpec};
use crate::{RunId, Timestamp};

impl RunState {
    pub fn on(&mut self, event: &Event) -> Vec<Effect> {
        self.apply(event);
        self.next(event.at)
    }

    /// What is wanted now; empty where the run waits for something already under way, for a
    /// person or an alarm, or has ended.
    pub fn next(&self, now: Timestamp) -> Vec<Effect> {
        let Some(setup) = &self.setup else {
            return Vec::new();
        };
        if self.is_finished() {
            return Vec::new();
        }
        if let Some(by) = &self.stop_by {
            return finish(Outcome::Stopped { by: by.clone() }, self.answer_when_stopped());
        }
        if self.waiting.is_some() || self.asking.is_some() {
            return Vec::new();
        }
        if let Some(message) = &self.fatal {
            return finish(Outcome::Failed { message: message.clone() }, self.partial_answer());
        }
        if let Some(entry) = self.calls.iter().find(|entry| !entry.status.is_settled()) {
            return self.next_for_call(setup, entry, now);
        }
        if let Some(error) = &self.model_error {
            return finish(Outcome::Failed { message: error.to_string() }, self.partial_answer());
        }
        if self.refused {
            return finish(Outcome::Rejected, AnswerFrom::Nothing);
        }
        if self.plans_first() { self.next_of_plan(setup, now) } else { self.next_of_loop(setup) }
    }

    fn next_for_call(&self, setup: &Setup, entry: &CallEntry, now: Timestamp) -> Vec<Effect> {
        let call = &entry.call;
        match &entry.status {
            CallStatus::Proposed => self.judge_call(setup, call, now),
            CallStatus::Approved => self.run(call),
            CallStatus::Repeat { key, effect } => vec![self.run_effect(call, key.clone(), *effect)],
            CallStatus::CutOff { key, .. } => vec![Effect::Settle { call: call.clone(), idempotency_key: key.clone() }],
            CallStatus::Uncertain { why, .. } => {
                vec![Effect::Ask(Ask::Uncertain { call: call.clone(), why: why.clone() })]
            }
            CallStatus::Intent { .. } | CallStatus::Done(_) | CallStatus::Rejected(_) => Vec::new(),
        }
    }

    fn judge_call(&self, setup: &Setup, call: &ToolCall, now: Timestamp) -> Vec<Effect> {
        let reject = |message: String| vec![Effect::Reject { call: call.clone(), message }];
        if let Some(message) = self.unreadable_reason(call) {
            return reject(message);
        }
        if let Some(effects) = Self::own_plan(setup, call) {
            return effects;
        }
        if call.name == TOOL_SEARCH && self.defers() {
            return self.search_tools(setup, call);
        }
        let Some(spec) = self.tool(&call.name) else {
            let names: Vec<_> = setup.tools.iter().map(|tool| tool.name.as_str()).collect();
            return reject(format!("there is no tool `{}`; there are: {}", call.name, names.join(", ")));
        };
        if let Err(problem) = schema::validate(&spec.parameters, &call.arguments) {
            return reject(Self::invalid_arguments(spec, &problem));
        }
        if call.name == FINAL_ANSWER {
            let text = call.arguments["text"].as_str().unwrap_or_default();
            return finish(Outcome::Completed, AnswerFrom::Text(text.to_owned()));
        }
        if call.name == FEEDBACK {
            let text = call.arguments["question"].as_str().unwrap_or_default().to_owned();
            return vec![Effect::Ask(Ask::Question { call: call.clone(), text })];
        }
        if let Err(limit) = budget::tool_call_fits(&setup.budget, &self.spent) {
            return limited(limit, self.partial_answer());
        }
        if setup.mode == Mode::DryRun {
            return vec![Effect::DryRun { call: call.clone() }];
        }
        if delegate::delegate_of(spec).is_some()
            && let Some(message) = delegate::refusal(setup, &self.spent)
        {
            return reject(message);
        }
        let verdict = self.verdict(setup, spec, call, now);
        match verdict.decision {
            Decision::Allow => self.run(call),
            Decision::Ask => vec![Effect::Ask(Ask::Call { call: call.clone(), reason: verdict.reason })],
            Decision::Deny => reject(format!("{} denies `{}`", verdict.reason, call.name)),
        }
    }

    fn search_tools(&self, setup: &Setup, call: &ToolCall) -> Vec<Effect> {
        let spec = crate::tool::tool_search();
        if let Err(problem) = schema::validate(&spec.parameters, &call.arguments) {
            return vec![Effect::Reject { call: call.clone(), message: Self::invalid_arguments(&spec, &problem) }];
        }
        match budget::tool_call_fits(&setup.budget, &self.spent) {
            Ok(()) => vec![Effect::SearchTools { call: call.clone() }],
            Err(limit) => limited(limit, self.partial_answer()),
        }
    }

    pub(super) fn invalid_arguments(spec: &ToolSpec, problem: &str) -> String {
        let takes = schema::in_short(&spec.parameters);
        format!(
            "invalid arguments for `{}`: {problem}. It takes {takes}; repeat the call with arguments that fit",
            spec.name
        )
    }

    fn run(&self, call: &ToolCall) -> Vec<Effect> {
        let effect = self.tool(&call.name).map(|spec| spec.effect).unwrap_or_default();
        vec![self.run_effect(call, idempotency_key(self.run_id, &call.id), effect)]
    }

    fn run_effect(&self, call: &ToolCall, idempotency_key: String, effect: EffectClass) -> Effect {
        let call = call.clone();
        match self.tool(&call.name).and_then(delegate::delegate_of) {
            Some(agent) => Effect::Delegate { agent: agent.to_owned(), call, idempotency_key, effect },
            None => Effect::RunTool { call, idempotency_key, effect },
        }
    }

    fn next_of_loop(&self, setup: &Setup) -> Vec<Effect> {
        if setup.intent_filter && self.kept.is_none() && has_too_many_tools(setup) {
            return vec![Effect::FilterIntent];
        }
        let answered = match (&self.reply, self.messages.last()) {
            (Some((Purpose::Reply, text)), Some(last)) if last.tool_calls.is_empty() && last.tool_call_id.is_none() => {
                Some(text)
            }
            _ => None,
        };
        if let Some(effects) = self.next_of_deep(setup) {
            return effects;
        }
        if let Some(text) = answered
            && self.steers.is_empty()
        {
            if let Some(effects) = self.correct_false_claim() {
                return effects;
            }
            if let Some(effects) = self.end_of_deep(setup) {
                return effects;
            }
            if !setup.capabilities.summarises && self.has_acted() {
                return finish(Outcome::Completed, AnswerFrom::Observations);
            }
            return finish(Outcome::Completed, AnswerFrom::Text(text.clone()));
        }
        if let Some(effects) = self.handle_unreadable_calls() {
            return effects;
        }
        self.ask_model(setup, Purpose::Reply)
    }

    fn next_of_plan(&self, setup: &Setup, now: Timestamp) -> Vec<Effect> {
        if let Some(message) = &self.plan_error {
            return finish(Outcome::Failed { message: message.clone() }, self.partial_answer());
        }
        let Some(state) = &self.plan else {
            return self.begin_plan(setup);
        };
        if !self.feedback.is_empty() || !self.steers.is_empty() {
            return self.begin_plan(setup);
        }
        let has_steps = state.plan.steps.iter().any(|step| step.tool != FINAL_ANSWER);
        if setup.mode == Mode::PlanOnly {
            return finish(Outcome::Completed, AnswerFrom::Text(super::plan_as_text(&state.plan)));
        }
        if has_steps && !state.approved && self.plan_needs_person(setup, now) {
            return vec![Effect::Ask(Ask::Plan)];
        }
        if let Some(effects) = self.deep_of_plan(setup, state) {
            return effects;
        }
        if !state.cut_short
            && let Some(effects) = self.next_step(setup, state, now)
        {
            return effects;
        }
        self.answer_of_plan(setup, state, has_steps)
    }

    fn begin_plan(&self, setup: &Setup) -> Vec<Effect> {
        // Without a planning model, the filter is part of making the plan: the tools have their say.
        if setup.intent_filter && setup.planning().plans && self.kept.is_none() {
            return vec![Effect::FilterIntent];
        }
        if let Err(limit) = budget::model_call_fits(&setup.budget, &self.spent, 0, 0) {
            return limited(limit, self.partial_answer());
        }
        // Only where there are documents, and a model that can make something of them.
        if self.plan_search.is_none() && setup.planning().plans && setup.looked_through.documents > 0 {
            return vec![Effect::SearchForPlan];
        }
        vec![Effect::MakePlan]
    }

    /// `-y` goes for a plan without destructive steps; a dry run does nothing to ask about; a
    /// model that can't plan gets its calls judged one by one instead.
    fn plan_needs_person(&self, setup: &Setup, now: Timestamp) -> bool {
        setup.mode == Mode::Plan
            && !self
                .permissions()
                .iter()
                .filter(|grant| grant.until.is_none_or(|until| now < until))
                .any(|grant| grant.scope == GrantScope::AllButDestructive)
    }

    /// Effects of the first step that is not settled; `None` when all are.
    fn next_step(&self, setup: &Setup, state: &PlanState, now: Timestamp) -> Option<Vec<Effect>> {
        for (index, step) in state.plan.steps.iter().enumerate() {
            if step.tool == FINAL_ANSWER {
                break;
            }
            let id = step_call_id(state.generation, index);
            match self.call(&id).map(|entry| &entry.status) {
                Some(CallStatus::Done(ToolResult::Ok { .. } | ToolResult::Dry { .. }) | CallStatus::Rejected(_)) => {
                    continue;
                }
                Some(CallStatus::Done(ToolResult::Error { .. })) => return None,
                _ => {}
            }
            return Some(self.start_step(setup, state, index, step, now));
        }
        None
    }

    fn start_step(
        &self,
        setup: &Setup,
        state: &PlanState,
        index: usize,
        step: &PlanStep,
        now: Timestamp,
    ) -> Vec<Effect> {
        let id = step_call_id(state.generation, index);
        let mut call = ToolCall::new(id, &step.tool, step.args.clone(), CallSource::Plan);
        if let Some(problem) = step_problem(step, &setup.tools) {
            return vec![Effect::Reject { call, message: problem }];
        }
        if !Plan::open_arguments(step).is_empty() {
            let filled = self.filled.iter().rev().find(|(key, _)| *key == (state.generation, index));
            match filled {
                None if setup.mode == Mode::DryRun => return vec![Effect::DryRun { call }],
                None => return vec![Effect::Fill { index }],
                Some((_, Err(why))) => return vec![Effect::Reject { call, message: why.clone() }],
                Some((_, Ok(arguments))) => call.arguments = arguments.clone(),
            }
        }
        self.judge_call(setup, &call, now)
    }

    fn answer_of_plan(&self, setup: &Setup, state: &PlanState, has_steps: bool) -> Vec<Effect> {
        let own = state.plan.steps.iter().find(|step| step.tool == FINAL_ANSWER);
        let text = own.and_then(|step| step.args["text"].as_str()).unwrap_or_default();
        if setup.mode == Mode::DryRun || (has_steps && !setup.capabilities.summarises) {
            return finish(Outcome::Completed, AnswerFrom::Observations);
        }
        if !has_steps && !text.trim().is_empty() {
            return finish(Outcome::Completed, AnswerFrom::Text(text.to_owned()));
        }
        match &self.reply {
            Some((Purpose::Answer, text)) => finish(Outcome::Completed, AnswerFrom::Text(text.clone())),
            _ => self.ask_model(setup, Purpose::Answer),
        }
    }

    fn ask_model(&self, setup: &Setup, purpose: Purpose) -> Vec<Effect> {
        match budget::model_call_fits(&setup.budget, &self.spent, 0, 0) {
            Ok(()) => vec![Effect::CallModel(purpose)],
            Err(limit) => limited(limit, self.partial_answer()),
        }
    }

    /// What a person who stops the run keeps: what the model was just saying, which they have read.
    fn answer_when_stopped(&self) -> AnswerFrom {
        if self.partial_text.trim().is_empty() {
            self.partial_answer()
        } else {
            AnswerFrom::Text(self.partial_text.clone())
        }
    }

    fn partial_answer(&self) -> AnswerFrom {
        let anything = self.observations().any(|(_, result)| matches!(result, ToolResult::Ok { .. }));
        if anything { AnswerFrom::Observations } else { AnswerFrom::Nothing }
    }
}

fn finish(outcome: Outcome, answer: AnswerFrom) -> Vec<Effect> {
    vec![Effect::Finish { outcome, answer }]
}

fn limited(limit: Limit, answer: AnswerFrom) -> Vec<Effect> {
    finish(Outcome::Limited { limit, message: String::new() }, answer)
}

/// Stable over restarts and takeovers: the run and the call name the effect.
fn idempotency_key(run: RunId, call_id: &str) -> String {
    format!("{run}:{call_id}")
}
