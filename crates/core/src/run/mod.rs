//! The run state machine: a fold over events, and what to do next. Pure.

mod apply;
mod cascade;
mod compose;
mod decide;
mod deep;
mod delegate;
mod effect;
mod fork;
mod gate;
mod look;
mod next;
mod offer;
mod outside;
mod question;
mod replay;
mod state;
mod taint;
#[cfg(test)]
mod tests;
mod words;

pub use cascade::Cascade;
pub use compose::{compose_answer, plan_as_text, receipts_for, receipts_without};
pub use delegate::{MAX_DEPTH, delegate_of};
pub use effect::{AnswerFrom, Ask, Effect};
pub use fork::{ForkPoint, ForkPoints};
pub use look::FOLDER;
pub use offer::{is_control, plan_tool, room_for_tools};
pub use outside::{OutsideFile, UPLOADS, quoted_file, written_files};
pub use replay::{Checked, Difference, answer_text, check};
pub use state::{CallEntry, CallStatus, ChildRun, PlanState, RunState, Waiting};
