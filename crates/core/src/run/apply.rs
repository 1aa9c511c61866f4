use super::state::{CallEntry, CallStatus, JustFailed, PlanState, RunState, Waiting};
use crate::event::{Event, EventBody, ToolResult};
use crate::message::Message;
use crate::model::Purpose;
use crate::tool::{CallSource, EffectClass, ToolCall};
use std::sync::Arc;

impl RunState {
    /// Folds one event in. Total: an event that makes no sense here changes nothing else.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of event, read as a table")]
    pub fn apply(&mut self, event: &Event) {
        self.count_time(event);
        self.last_seq = event.seq;
        self.last_at = event.at;
        let just_failed = self.just_failed.take();
        match &event.body {
            EventBody::RunStarted { setup, .. } => {
                self.messages.push(Message::user(&setup.input));
                self.fallback.begun_at = event.at;
                self.fallback.compaction = setup.carried.compaction.clone();
                self.grants.clone_from(&setup.grants);
                self.granted_before_data = self.grants.len();
                self.standing.clone_from(&setup.standing);
                self.taint.clone_from(&setup.taint);
                self.classified.clone_from(&setup.classified);
                self.askers = setup.begun_by();
                self.setup = Some(Arc::clone(setup));
            }
            EventBody::RunResumed { after_stop, .. } => {
                if *after_stop {
                    self.take_stop_back();
                }
                self.mark_interrupted();
            }
            EventBody::IntentFiltered { kept, wants_tool, .. } => {
                self.kept = Some(kept.clone());
                self.wants_tool = *wants_tool;
            }
            EventBody::ModelRequested { step, purpose, reserved, reserved_micros, .. } => {
                self.spent.model_calls += 1;
                self.spent.tokens_reserved = *reserved;
                self.spent.cost_reserved = *reserved_micros;
                self.asking = Some((*step, *purpose));
                self.reply = None;
                self.partial_text.clear();
                if *purpose == Purpose::Reply {
                    let steers = std::mem::take(&mut self.steers);
                    self.messages.extend(steers.into_iter().map(Message::user));
                }
            }
            EventBody::ModelResponded { purpose, text, calls, usage, answered, noticed, .. } => {
                self.asking = None;
                self.partial_text.clear();
                self.failures = 0;
                self.count_usage(usage);
                if *purpose == Purpose::Reply {
                    self.fallback.record_reply(noticed, calls, answered.as_deref());
                }
                self.record_reply(*purpose, text, calls);
            }
            EventBody::ModelFailed { error, retry_at, purpose, usage, .. } => {
                self.asking = None;
                self.count_usage(usage);
                self.failures += 1;
                if retry_at.is_none() && !matches!(purpose, Purpose::Fill | Purpose::Compact | Purpose::Search) {
                    self.model_error = Some(error.clone());
                }
            }
            EventBody::PlanSearched(found) => {
                let known = self.sources();
                let new = found.taint.iter().filter(|one| known.iter().all(|seen| seen.origin != one.origin));
                self.taint.extend(new.cloned());
                self.plan_search = Some(found.clone());
                self.reply = None;
            }
            EventBody::PlanProposed { candidates, .. } => {
                if let Some(best) = candidates.first() {
                    let generation = self.plan.as_ref().map_or(0, |plan| plan.generation) + 1;
                    self.plan = Some(PlanState {
                        plan: best.plan.clone(),
                        approved: false,
                        generation,
                        cut_short: false,
                        tainted: !self.taint.is_empty(),
                    });
                    self.feedback.clear();
                    self.steers.clear();
                    self.plan_replies.clear();
                    self.reply = None;
                }
            }
            EventBody::PlanFailed { message } => self.plan_error = Some(message.clone()),
            EventBody::PlanFilled { index, arguments } => {
                if let Some(plan) = &self.plan {
                    self.filled.push(((plan.generation, *index), arguments.clone()));
                }
            }
            EventBody::ApprovalRequested { approval_id, subject, .. } => {
                self.record_asked_call(subject);
                self.waiting = Some(Waiting::Approval { id: *approval_id, subject: subject.clone() });
            }
            EventBody::ApprovalDecided { approval_id, answer, source, .. } => {
                if answer.puts_words_in() {
                    self.record_asker(source.as_deref());
                }
                if let Some(Waiting::Approval { id, subject }) = self.waiting.clone()
                    && id == *approval_id
                {
                    self.waiting = None;
                    self.apply_answer(&subject, answer);
                }
            }
            EventBody::ToolRejected { call_id, tool, message } => {
                self.ensure_call(call_id, tool, &serde_json::Value::Null);
                self.set_status(call_id, CallStatus::Rejected(message.clone()));
            }
            EventBody::ToolIntent { call_id, tool, arguments, effect, idempotency_key, .. } => {
                self.spent.tool_calls += 1;
                self.ensure_call(call_id, tool, arguments);
                self.set_status(
                    call_id,
                    CallStatus::Intent { key: idempotency_key.clone(), effect: *effect, staged: None },
                );
            }
            EventBody::ToolStaged { call_id, staged, .. } => {
                if let Some(entry) = self.entry_mut(call_id)
                    && let CallStatus::Intent { staged: told, .. } = &mut entry.status
                {
                    *told = Some((event.at, staged.clone()));
                }
            }
            EventBody::ToolResult { call_id, tool, result, .. } => {
                if let ToolResult::Error { message, fatal: true, .. } = result {
                    self.fatal = Some(message.clone());
                }
                self.ensure_call(call_id, tool, &serde_json::Value::Null);
                self.note_failure(call_id, result);
                self.end_wait_for_child(call_id);
                self.record_taint(call_id, tool, result);
                self.set_status(call_id, CallStatus::Done(result.clone()));
                if self.is_inherited(event.seq) {
                    self.inherited.push(call_id.clone());
                }
            }
            EventBody::RunDelegated { call_id, child, agent, request } => {
                self.record_delegation(call_id, *child, agent, request);
            }
            EventBody::DataClassified { classified } => self.record_classified(Some(classified)),
            EventBody::RunReturned { call_id, spent, proved, taint, classified, askers, .. } => {
                self.askers.extend(askers);
                self.record_classified(classified.as_ref());
                self.record_child_end(call_id, spent, proved, taint);
            }
            EventBody::GrantsChanged { standing } => self.standing.clone_from(standing),
            EventBody::ToolUndoing { call_id, .. } => self.undoing = Some(call_id.clone()),
            EventBody::ToolUndoFailed { .. } => self.undoing = None,
            EventBody::ToolUndone { call_id, .. } => {
                self.undoing = None;
                self.undone.push(call_id.clone());
            }
            EventBody::ToolUncertain { call_id, why, .. } => {
                if let Some(entry) = self.entry_mut(call_id)
                    && let CallStatus::Intent { key, .. } | CallStatus::CutOff { key, .. } = entry.status.clone()
                {
                    entry.status = CallStatus::Uncertain { key, why: why.clone() };
                }
            }
            EventBody::TimerSet { timer_id, at, .. } => {
                self.waiting = Some(Waiting::Timer { id: *timer_id, at: *at });
            }
            EventBody::TimerFired { timer_id } => {
                if matches!(&self.waiting, Some(Waiting::Timer { id, .. }) if id == timer_id) {
                    self.waiting = None;
                }
            }
            EventBody::RunSteered { text, source, .. } => {
                self.steers.push(text.clone());
                self.record_asker(source.as_deref());
            }
            EventBody::StopRequested { by, client_left, .. } => {
                if *client_left {
                    self.cut_short(just_failed);
                }
                self.stop_by = Some(by.clone());
                self.waiting = None;
            }
            EventBody::RunFinished { outcome, answer, composed, .. } => {
                self.outcome = Some(outcome.clone());
                self.answer.clone_from(answer);
                self.composed = *composed;
                self.waiting = None;
            }
            EventBody::DeepPlanned { steps, .. } | EventBody::DeepReplanned { steps, .. } => {
                let before = self.deep.take().unwrap_or_default();
                self.deep = Some(before.replaced(steps.clone(), self.calls.len()));
                self.reply = None;
            }
            EventBody::DeepStepEnded { number, status, why, .. } => {
                if let Some(deep) = &mut self.deep {
                    deep.end(*number, *status, why);
                }
            }
            EventBody::DeepReminded { .. } => {
                if let Some(deep) = &mut self.deep {
                    deep.reminded = true;
                }
                self.reply = None;
            }
            EventBody::ModelCorrected { message, strategy, .. } => self.record_correction(message, *strategy),
            EventBody::IntentDispatched { call, note } => self.record_dispatch(call.as_ref(), note),
            EventBody::ToolsFound { call_id, found, content, .. } => {
                self.spent.tool_calls += 1;
                let names = found.iter().map(|ranked| ranked.tool.clone());
                let known = std::mem::take(&mut self.fallback.found);
                let new: Vec<String> = names.filter(|name| !known.contains(name)).collect();
                self.fallback.found = known.into_iter().chain(new).collect();
                self.set_status(call_id, CallStatus::Done(ToolResult::text(content)));
            }
            EventBody::ContextCompacted { compaction, .. } => {
                self.fallback.compaction = compaction.clone();
                if self.summary_reply().is_some() {
                    self.reply = None;
                }
            }
            EventBody::ModelDelta { purpose: Purpose::Reply | Purpose::Answer, text, retracts, .. } => {
                if *retracts {
                    self.partial_text.clear();
                }
                self.partial_text.push_str(text);
            }
            EventBody::RunQueued { .. }
            | EventBody::ModelDelta { .. }
            | EventBody::DataMasked { .. }
            | EventBody::Unknown => {}
        }
        self.drop_inherited_permissions(event.seq);
    }

    /// Only time at work counts: neither parked time nor the gap before a resume.
    fn count_time(&mut self, event: &Event) {
        let resumed = matches!(event.body, EventBody::RunResumed { .. });
        if self.waiting.is_none() && !resumed && self.last_seq > 0 {
            let millis = event.at.since(self.last_at).as_millis();
            self.spent.wall_ms += u64::try_from(millis).unwrap_or(u64::MAX);
        }
    }

    fn count_usage(&mut self, usage: &crate::model::Usage) {
        self.spent.tokens_reserved = 0;
        self.spent.cost_reserved = 0;
        self.spent.tokens += usage.prompt_tokens + usage.completion_tokens;
        self.spent.cost_micros += usage.cost_micros;
        self.usage.prompt_tokens += usage.prompt_tokens;
        self.usage.cached_tokens += usage.cached_tokens;
        self.usage.completion_tokens += usage.completion_tokens;
        self.usage.cost_micros += usage.cost_micros;
    }

    fn note_failure(&mut self, call_id: &str, result: &ToolResult) {
        let status = self.call(call_id).map(|entry| &entry.status);
        if let (ToolResult::Error { .. }, Some(before @ CallStatus::Intent { .. })) = (result, status) {
            let (call_id, before) = (call_id.to_owned(), before.clone());
            self.just_failed = Some(JustFailed { call_id, before, messages: self.messages.len() });
        }
    }

    fn mark_interrupted(&mut self) {
        if self.asking.take().is_some() {
            self.spent.cut_off += 1;
        }
        self.spent.tokens_reserved = 0;
        self.spent.cost_reserved = 0;
        let child = self.child_call().map(str::to_owned);
        for entry in &mut self.calls {
            if child.as_deref() == Some(entry.call.id.as_str()) {
                continue;
            }
            if let CallStatus::Intent { key, effect, staged } = &entry.status {
                let (key, effect, staged) = (key.clone(), *effect, staged.clone());
                entry.status = match effect {
                    EffectClass::Read | EffectClass::Idempotent | EffectClass::Keyed => {
                        CallStatus::Repeat { key, effect }
                    }
                    EffectClass::Write => CallStatus::CutOff { key, staged },
                };
            }
        }
    }

    fn record_reply(&mut self, purpose: Purpose, text: &str, calls: &[ToolCall]) {
        self.reply = Some((purpose, text.to_owned()));
        if purpose == Purpose::Plan {
            self.plan_replies.push(text.to_owned());
        }
        if purpose != Purpose::Reply {
            return;
        }
        self.messages.push(Message::assistant(text).with_calls(calls.to_vec()));
        self.calls.extend(calls.iter().map(|call| CallEntry { call: call.clone(), status: CallStatus::Proposed }));
    }

    pub(super) fn entry_mut(&mut self, call_id: &str) -> Option<&mut CallEntry> {
        self.calls.iter_mut().find(|entry| entry.call.id == call_id)
    }

    pub(super) fn ensure_call(&mut self, call_id: &str, tool: &str, arguments: &serde_json::Value) {
        if self.entry_mut(call_id).is_none() {
            let call = ToolCall::new(call_id, tool, arguments.clone(), CallSource::Plan);
            self.calls.push(CallEntry { call, status: CallStatus::Proposed });
        }
    }

    /// A settled call also becomes a message, so that the model sees its result.
    pub(super) fn set_status(&mut self, call_id: &str, status: CallStatus) {
        let Some(entry) = self.entry_mut(call_id) else {
            return;
        };
        if entry.status.is_settled() {
            return;
        }
        let text = match &status {
            CallStatus::Done(ToolResult::Ok { content, .. }) => Some(content.clone()),
            CallStatus::Done(ToolResult::Dry { preview }) => Some(preview.clone()),
            CallStatus::Done(ToolResult::Error { message, .. }) | CallStatus::Rejected(message) => {
                Some(serde_json::json!({"error": message}).to_string())
            }
            _ => None,
        };
        entry.status = status;
        if let Some(text) = text {
            let call = entry.call.clone();
            let announced =
                self.messages.iter().any(|message| message.tool_calls.iter().any(|made| made.id == call.id));
            if !announced {
                self.messages.push(Message::assistant("").with_calls(vec![call.clone()]));
            }
            self.messages.push(Message::tool(call.id, text));
        }
    }
}
