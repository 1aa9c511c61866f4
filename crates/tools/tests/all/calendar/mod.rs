//! The calendar through its dispatcher.

mod events;
mod files;
pub mod world;
