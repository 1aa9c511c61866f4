//! The browser's tools on a real Chromium, against servers on the loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::similar_names, reason = "tests")]

mod bench;
mod ends;
mod forms;
mod guard;
mod pages;
#[path = "../all/server.rs"]
#[allow(dead_code, reason = "shared with the other tests")]
mod server;
