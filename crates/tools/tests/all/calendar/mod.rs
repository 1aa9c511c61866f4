//! The calendar through its dispatcher.

mod events;
mod files;
mod world;
