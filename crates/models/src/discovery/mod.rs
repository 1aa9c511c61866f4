//! Finds the models that are there: keys in the environment, Ollama, a llama.cpp server, and else
//! the local one. Asks only this machine.

mod environment;
mod guess;
mod keys;
mod llama_cpp;
mod ollama;
mod search;

pub use environment::Environment;
pub use guess::{capabilities, is_known_as_trusted};
pub use search::{Found, discover};
