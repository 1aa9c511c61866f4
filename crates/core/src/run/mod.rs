//! The run state machine: a fold over events, and what to do next. Pure.

mod apply;
mod compose;
mod effect;
mod next;
mod state;
#[cfg(test)]
mod tests;

pub use compose::{compose_answer, plan_as_text};
pub use effect::{AnswerFrom, Ask, Effect};
pub use state::{CallEntry, CallStatus, PlanState, RunState, Waiting};
