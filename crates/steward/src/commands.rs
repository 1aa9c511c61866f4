//! Commands that need the opened program itself.

pub mod doctor;
pub mod sandbox;
pub mod serve;
