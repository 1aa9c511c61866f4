//! Questions to a run's state that readers ask: what can be undone, what is proved.

use super::state::{CallStatus, RunState};
use crate::event::ToolResult;
use crate::message::Message;
use crate::model::Purpose;
use crate::receipts::Evidence;
use crate::reference::{Reference, references_of};
use crate::tool::{ToolCall, Undo};
use std::borrow::Cow;

/// Tools that run commands in the folder of the run.
pub(super) const TERMINALS: [&str; 2] = ["terminal", "terminal_write"];
/// Where their results say which folder that is, relative to the workspace.
pub const FOLDER: &str = "folder";

impl RunState {
    /// The folder that commands of this run start in, relative to the workspace; empty for itself.
    pub fn folder(&self) -> &str {
        let told = self.calls.iter().rev().find_map(|entry| match &entry.status {
            CallStatus::Done(ToolResult::Ok { data: Some(data), .. })
                if TERMINALS.contains(&entry.call.name.as_str()) =>
            {
                data.get(FOLDER)?.as_str()
            }
            _ => None,
        });
        told.unwrap_or_default()
    }

    /// The folder that the paths in a call of `tool` may be relative to; empty for the workspace itself.
    pub fn folder_of(&self, tool: &str) -> &str {
        if TERMINALS.contains(&tool) { self.folder() } else { "" }
    }

    /// The run's messages for a model call; the next reply takes in what the user said meanwhile.
    pub fn messages_for(&self, purpose: Purpose) -> Cow<'_, [Message]> {
        if purpose != Purpose::Reply || self.steers.is_empty() {
            return Cow::Borrowed(&self.messages);
        }
        let said = self.steers.iter().map(Message::user);
        Cow::Owned(self.messages.iter().cloned().chain(said).collect())
    }

    /// The passages of documents that it was given: those that it began with, and those that its search before
    /// the plan and its calls found.
    pub fn references(&self) -> Vec<Reference> {
        let mut all = self.setup.as_ref().map(|setup| setup.references.clone()).unwrap_or_default();
        all.extend(self.plan_search.iter().flat_map(|found| found.references.iter().cloned()));
        for (_, result) in self.observations() {
            if let ToolResult::Ok { data: Some(data), .. } = result {
                all.extend(references_of(data));
            }
        }
        all
    }

    /// Whether event `seq` was taken over from the run that this one was forked from.
    pub fn is_inherited(&self, seq: u64) -> bool {
        self.setup.as_ref().and_then(|setup| setup.forked_from).is_some_and(|from| seq <= from.seq)
    }

    /// Effects of this run that can be taken back and are not yet, oldest first; not those that a fork took over.
    pub fn undoable(&self) -> Vec<(&ToolCall, &Undo)> {
        self.effects().filter(|(_, undo)| matches!(undo, Undo::Snapshot { .. })).collect()
    }

    /// Effects of this run that are in force, with those that can't be taken back, oldest first.
    pub fn effects(&self) -> impl Iterator<Item = (&ToolCall, &Undo)> {
        self.observations()
            .filter_map(|(call, result)| match result {
                ToolResult::Ok { undo: Some(undo), .. } => Some((call, undo)),
                ToolResult::Error { undo: Some(undo), .. } => Some((call, &**undo)),
                _ => None,
            })
            .filter(|(call, _)| !self.undone.contains(&call.id))
            .filter(|(call, _)| !self.inherited.contains(&call.id))
    }

    /// What the calls of this run and of the runs below it prove, for [`crate::receipts::check`].
    pub fn evidence(&self) -> Vec<Evidence<'_>> {
        self.calls
            .iter()
            .filter_map(|entry| {
                let (receipt, ok, content) = match &entry.status {
                    CallStatus::Done(ToolResult::Ok { content, receipt, .. }) => {
                        (receipt.as_ref(), true, content.as_str())
                    }
                    CallStatus::Done(ToolResult::Error { message, .. }) | CallStatus::Rejected(message) => {
                        (None, false, message.as_str())
                    }
                    CallStatus::Done(ToolResult::Dry { preview }) => (None, false, preview.as_str()),
                    _ => return None,
                };
                Some(Evidence {
                    call_id: &entry.call.id,
                    tool: &entry.call.name,
                    arguments: &entry.call.arguments,
                    receipt,
                    ok,
                    undone: self.undone.contains(&entry.call.id),
                    content,
                })
            })
            .chain(self.proved.iter().map(|one| Evidence {
                call_id: &one.call_id,
                tool: &one.tool,
                arguments: &one.arguments,
                receipt: Some(&one.receipt),
                ok: true,
                undone: false,
                content: "",
            }))
            .collect()
    }
}
