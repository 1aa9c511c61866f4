//! A run whose client left is stopped, and goes on from its log if the client comes back: as after a crash at that moment.
//! So does one that its model failed in passing, if its client asks again.

use super::state::{CallStatus, CutShort, JustFailed, RunState, Waiting};
use crate::RunId;
use crate::event::Outcome;

impl RunState {
    /// Whether it ended because its client left.
    pub fn was_left(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Stopped { .. })) && self.cut_short.is_some()
    }

    /// Whether it ended because its model failed in a way that may pass, and nothing of it was taken back since.
    pub fn failed_in_passing(&self) -> bool {
        let passing = self.model_error.as_ref().is_some_and(|error| error.class.is_transient());
        let failed = matches!(self.outcome, Some(Outcome::Failed { .. })) && self.fatal.is_none();
        failed && passing && self.undone.is_empty() && self.undoing.is_none()
    }

    /// Whether it may go on from its log for a client that asks again.
    pub fn may_go_on(&self) -> bool {
        self.was_left() || self.failed_in_passing()
    }

    /// The run below it that was stopped with it.
    pub fn child_left(&self) -> Option<RunId> {
        self.cut_short.as_ref()?.child.as_ref().map(|child| child.run)
    }

    pub(super) fn cut_short(&mut self, failed: Option<JustFailed>) {
        let under_way = |status: &CallStatus| matches!(status, CallStatus::Intent { .. });
        let calls = self.calls.iter().filter(|entry| under_way(&entry.status));
        let mut calls: Vec<_> = calls.map(|entry| (entry.call.id.clone(), entry.status.clone())).collect();
        let mut messages = self.messages.len();
        if let Some(failed) = failed {
            messages = failed.messages;
            calls.push((failed.call_id, failed.before));
        }
        let child = match &self.waiting {
            Some(Waiting::Child(child)) => Some(child.clone()),
            _ => None,
        };
        self.cut_short = Some(CutShort { calls, child, messages });
    }

    /// As if the end had been a crash.
    pub(super) fn take_stop_back(&mut self) {
        let failed = self.failed_in_passing();
        let Some(cut) = self.cut_short.take() else {
            if failed {
                self.take_failure_back();
            }
            return;
        };
        self.outcome = None;
        self.stop_by = None;
        self.answer.clear();
        self.composed = false;
        self.model_error = None;
        self.fatal = None;
        self.failures = 0;
        self.messages.truncate(cut.messages);
        for (call_id, status) in cut.calls {
            if let Some(entry) = self.entry_mut(&call_id) {
                entry.status = status;
            }
        }
        self.waiting = cut.child.map(Waiting::Child);
    }

    fn take_failure_back(&mut self) {
        self.outcome = None;
        self.answer.clear();
        self.composed = false;
        self.model_error = None;
        self.failures = 0;
        self.asked_again = true;
    }
}
