//! What is sent to a model, and what its reply means. Pure functions of a run's state.

pub(crate) mod argument_from_results;
pub(crate) mod compaction_event;
pub(crate) mod instructions;
pub(crate) mod interpret_reply;
pub(crate) mod masking;
pub(crate) mod model_request;
pub(crate) mod open_arguments;
pub(crate) mod plan_replies;
pub(crate) mod raw_reply;
pub(crate) mod search_strings;
mod text_tool_messages;
