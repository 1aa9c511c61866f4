//! `web_search`: the web by way of an engine that the operator has chosen.

mod brave;
mod config;
mod duckduckgo;
mod engine;
mod searxng;
mod tool;

pub use config::{SearchConfig, SearchEngine, SearchKey};
pub use tool::{SearchPorts, WebSearch, with_search};
