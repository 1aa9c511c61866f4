//! Skills through the dispatcher, with their ports in memory.

mod http;
mod programs;
mod runtime;
mod scrape;
mod shell;
mod ssh;
mod template;
mod world;
