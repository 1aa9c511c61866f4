//! Skills through the dispatcher, with their ports in memory.

mod runtime;
mod template;
mod world;
