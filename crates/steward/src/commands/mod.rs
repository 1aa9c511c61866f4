//! One module per command.

pub mod agents;
pub mod approvals;
pub mod ask;
pub mod bfcl;
pub mod budget;
pub mod chat;
pub mod connections;
pub mod conversations;
pub mod decide;
pub mod doctor;
pub mod eval;
pub mod eval_deep;
pub mod eval_kept;
pub mod follow;
pub mod grants;
pub mod key;
pub mod model;
pub mod model_card;
pub mod pages;
pub mod render;
pub mod report;
pub mod resume;
pub mod runs;
pub mod sandbox;
pub mod serve;
pub mod usage;
