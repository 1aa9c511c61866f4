//! Fallbacks beyond one reply: what is tried when a model's words are no calls.

use super::answer::AnswerFrom;
use super::effect::Effect;
use super::state::{CallEntry, CallStatus, FallbackState, RunState};
use super::tool_selection::is_control;
use crate::event::{AboutCall, Answered, Noticed, Outcome, ToolResult};
use crate::message::Message;
use crate::model::{Purpose, Strategy};
use crate::schema;
use crate::tool::{CallSource, ToolCall};

/// What a model is told that claims an action it has not taken.
const CORRECTION: &str = include_str!("../../data/correction.txt");
/// The same where a tool was called and failed.
const CORRECTION_AFTER_FAILURE: &str = include_str!("../../data/correction_after_failure.txt");
/// Longest reason of a failure that is repeated to the model, characters.
const MAX_REASON: usize = 600;
/// Longest words quoted to the model, characters.
const MAX_QUOTE: usize = 160;
/// After so many replies in a row whose calls could not be read, the request is matched with the tools instead.
const MAX_UNREAD_REPLIES: u32 = 2;

impl FallbackState {
    pub(super) fn record_reply(&mut self, noticed: &Noticed, calls: &[ToolCall], answered: Option<&Answered>) {
        self.claim.clone_from(&noticed.claim);
        self.asked_in = answered.map(|answered| answered.strategy);
        self.broken.extend(noticed.broken.iter().cloned());
        self.guessed.extend(noticed.guessed.iter().cloned());
        // Only a model that then calls in text goes on so: what looked like a claim may have been none.
        if calls.is_empty() {
            self.strategy = None;
        }
        let unread = !calls.is_empty() && calls.len() == noticed.broken.len();
        self.unread = if unread { self.unread + 1 } else { 0 };
    }
}

impl RunState {
    /// Whether the model of this run is trusted: nothing is done in its place.
    pub fn is_trusted(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| setup.capabilities.trusted)
    }

    /// Whether a tool has done something in this run; tools that only steer it don't count.
    pub fn has_acted(&self) -> bool {
        self.observations().any(|(call, result)| {
            matches!(result, ToolResult::Ok { .. } | ToolResult::Dry { .. }) && !is_control(&call.name)
        })
    }

    /// Whether there is a tool by which something could be done or looked up.
    pub fn can_act(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| setup.tools.iter().any(|tool| !is_control(&tool.name)))
    }

    /// The words of the last reply that claim or promise an action although none was taken.
    pub fn false_claim(&self) -> Option<&str> {
        let words = self.fallback.claim.as_deref()?;
        (!self.is_trusted() && !self.has_acted()).then_some(words)
    }

    /// Instead of ending with an unfounded claim: tells the model so once, then matches the request with the tools.
    pub(super) fn correct_false_claim(&self) -> Option<Vec<Effect>> {
        let words = self.false_claim()?;
        if !self.can_act() || self.fallback.denied {
            return None;
        }
        if !self.fallback.corrected {
            return Some(vec![Effect::Correct {
                message: self.correction(words),
                words: words.to_owned(),
                strategy: self.text_strategy(),
            }]);
        }
        // What has failed already isn't proposed again.
        let mut observed = self.observations();
        let failed =
            observed.any(|(call, result)| matches!(result, ToolResult::Error { .. }) && !is_control(&call.name));
        (!self.fallback.dispatched && !failed).then(|| vec![Effect::Dispatch])
    }

    fn correction(&self, words: &str) -> String {
        let quoted: String = words.chars().take(MAX_QUOTE).collect();
        let Some((call, why)) = self.failed_call() else {
            return CORRECTION.trim_end().replace("{words}", &quoted);
        };
        let why: String = why.trim().chars().take(MAX_REASON).collect();
        let end = if why.ends_with(['.', '!', '?']) { "" } else { "." };
        let text = CORRECTION_AFTER_FAILURE.trim_end().replace("{words}", &quoted).replace("{tool}", &call.name);
        text.replace("{why}", &format!("{why}{end}"))
    }

    /// The last call that failed, and why; tools that only steer the run don't count.
    fn failed_call(&self) -> Option<(&ToolCall, &str)> {
        self.calls.iter().rev().filter(|entry| !is_control(&entry.call.name)).find_map(|entry| match &entry.status {
            CallStatus::Done(ToolResult::Error { message, .. }) | CallStatus::Rejected(message) => {
                Some((&entry.call, message.as_str()))
            }
            _ => None,
        })
    }

    /// A model that was offered its provider's own field and never used it is asked in text.
    fn text_strategy(&self) -> Option<Strategy> {
        let native = self.fallback.asked_in == Some(Strategy::Native);
        let never = !self.calls.iter().any(|entry| entry.call.source == CallSource::Native);
        (native && never).then_some(Strategy::React)
    }

    pub(super) fn handle_unreadable_calls(&self) -> Option<Vec<Effect>> {
        if self.fallback.unread < MAX_UNREAD_REPLIES {
            return None;
        }
        if !self.fallback.dispatched && !self.is_trusted() {
            return Some(vec![Effect::Dispatch]);
        }
        if self.fallback.unread == MAX_UNREAD_REPLIES {
            return None;
        }
        let why = self.fallback.broken.last().map_or("", |broken| broken.text.as_str());
        Some(vec![Effect::Finish {
            outcome: Outcome::Failed {
                message: format!(
                    "the model's calls can't be read, {} times in a row: {why}; examine the connection (`steward model exam`) or choose another model",
                    self.fallback.unread
                ),
            },
            answer: if self.has_acted() { AnswerFrom::Observations } else { AnswerFrom::Nothing },
        }])
    }

    /// Why a call is refused before it is looked at: it could not be read. The model is told how to write it.
    pub(super) fn unreadable_reason(&self, call: &ToolCall) -> Option<String> {
        let broken = self.fallback.broken.iter().find(|broken| broken.call_id == call.id)?;
        let arguments = self
            .tool(&call.name)
            .map_or_else(String::new, |spec| format!(". `{}` takes {}", spec.name, schema::in_short(&spec.parameters)));
        Some(format!("{}{arguments}", broken.text))
    }

    pub(super) fn guess_reason(&self, call: &ToolCall) -> String {
        let from = match call.source {
            CallSource::Fuzzy => "a phrase of the model's text",
            CallSource::Reasoning => "the model's reasoning",
            CallSource::Intent => "the request, as the model made no call itself",
            _ => "a doubtful reply",
        };
        let words = self
            .fallback
            .guessed
            .iter()
            .find(|guess| guess.call_id == call.id)
            .map_or_else(String::new, |guess| format!(": “{}”", guess.text));
        format!("The call was guessed from {from} (confidence {:.0} %){words}", call.confidence * 100.0)
    }

    pub(super) fn record_correction(&mut self, message: &str, strategy: Option<Strategy>) {
        self.fallback.corrected = true;
        self.fallback.strategy = strategy.or(self.fallback.strategy);
        self.fallback.claim = None;
        self.reply = None;
        self.messages.push(Message::user(message));
    }

    pub(super) fn record_dispatch(&mut self, call: Option<&ToolCall>, note: &str) {
        self.fallback.dispatched = true;
        let Some(call) = call else { return };
        self.fallback.claim = None;
        self.reply = None;
        self.fallback.guessed.push(AboutCall { call_id: call.id.clone(), text: note.to_owned() });
        self.messages.push(Message::assistant("").with_calls(vec![call.clone()]));
        self.calls.push(CallEntry { call: call.clone(), status: CallStatus::Proposed });
    }

    /// Whether the last reply to `purpose` is a summary that has not been put to use.
    pub fn summary_reply(&self) -> Option<&str> {
        match &self.reply {
            Some((Purpose::Compact, text)) => Some(text),
            _ => None,
        }
    }
}
