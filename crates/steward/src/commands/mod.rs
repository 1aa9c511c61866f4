//! One module per command.

pub mod approvals;
pub mod ask;
pub mod chat;
pub mod connections;
pub mod decide;
pub mod doctor;
pub mod eval;
pub mod pages;
pub mod render;
pub mod resume;
pub mod runs;
pub mod serve;
