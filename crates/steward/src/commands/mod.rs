//! Commands that need the opened program itself.

pub mod bfcl;
pub mod doctor;
pub mod eval;
pub mod eval_answers;
pub mod eval_deep;
pub mod eval_kept;
pub mod pages;
pub mod sandbox;
pub mod serve;
