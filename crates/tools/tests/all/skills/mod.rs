//! Skills through the dispatcher, with their ports in memory.

mod http;
mod runtime;
mod template;
mod world;
