//! The run state machine: a fold over events, and what to do next. Pure.

mod after_stop;
mod answer;
mod apply;
mod approval_answer;
mod approval_context;
mod classified;
mod deep;
mod delegate;
mod effect;
mod fallback_parsing;
mod file_provenance;
mod fork;
mod guard_guessed_and_tainted;
mod next;
mod queries;
mod replay;
mod state;
#[cfg(test)]
mod tests;
mod tool_selection;

pub use answer::{AnswerFrom, answer_text, compose_answer, plan_as_text, receipts_for, receipts_without};
pub use delegate::{MAX_DEPTH, delegate_of};
pub use effect::{Ask, Effect};
pub use file_provenance::{
    FileProvenance, MAX_FILE_ENTRIES, UPLOADS, collapse_to_folders, is_in, provenance_of_files, written_paths,
};
pub use fork::{ForkPoint, ForkPoints};
pub use queries::FOLDER;
pub use replay::{Checked, Difference, check};
pub use state::{CallEntry, CallStatus, ChildRun, FallbackState, PlanState, RunState, Waiting};
pub use tool_selection::{is_control, plan_tool, room_for_tools};
