//! Provider clients, the router and the local model, against real and scripted servers.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

mod answers;
mod discovery;
mod embed_minilm;
mod faults;
#[cfg(feature = "local-model")]
mod local_refusals;
#[cfg(feature = "local-model")]
mod local_server;
mod local_supervisor;
mod local_support;
mod registry;
mod router_faults;
mod router_open;
mod router_support;
mod support;
mod wires;
