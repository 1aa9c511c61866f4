//! Commands that need the opened program itself.

pub mod doctor;
pub mod retrieval;
pub mod sandbox;
pub mod serve;
