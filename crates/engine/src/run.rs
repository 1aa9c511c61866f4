//! One run at work: its steps, each committed to the journal before it counts.

mod approval_request;
mod budget;
pub(crate) mod context;
mod delegation;
mod finish;
pub(crate) mod journal;
mod model_call;
pub(crate) mod planning;
mod prompt_room;
mod request_dispatch;
pub(crate) mod runner;
pub(crate) mod tool_call;
mod tool_search;
