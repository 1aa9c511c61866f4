//! The run state machine: a fold over events, and what to do next. Pure.

mod apply;
mod compose;
mod effect;
mod fork;
mod look;
mod next;
mod replay;
mod state;
#[cfg(test)]
mod tests;

pub use compose::{compose_answer, plan_as_text, receipts_for};
pub use effect::{AnswerFrom, Ask, Effect};
pub use fork::{ForkPoint, ForkPoints};
pub use replay::{Checked, Difference, answer_text, check};
pub use state::{CallEntry, CallStatus, PlanState, RunState, Waiting};
