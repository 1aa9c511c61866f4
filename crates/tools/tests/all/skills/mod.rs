//! Skills through the dispatcher, with their ports in memory.

mod auth;
mod docker;
mod http;
mod inference;
mod programs;
mod runtime;
mod scrape;
mod shell;
mod sql;
mod ssh;
mod template;
pub mod world;
