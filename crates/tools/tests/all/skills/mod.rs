//! Skills through the dispatcher, with their ports in memory.

mod http;
mod runtime;
mod ssh;
mod template;
mod world;
