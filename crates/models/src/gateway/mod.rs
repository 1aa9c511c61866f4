//! Other programs' requests of the OpenAI dialect, passed straight through the router.

mod answer;
mod headers;
mod pass;
mod relay;
mod signs;
