//! One module per command.

pub mod agents;
pub mod approvals;
pub mod ask;
pub mod budget;
pub mod chat;
mod connection_auth;
pub mod connections;
pub mod conversations;
pub mod credential;
mod decide;
pub mod eval_kept;
mod follow;
pub mod grants;
pub mod key;
pub mod mcp;
pub mod model;
pub mod model_card;
mod picked;
mod plan_steps;
pub mod reminders;
mod render;
mod report;
pub mod resume;
pub mod runs;
pub mod sample;
pub mod skill;
pub mod usage;
