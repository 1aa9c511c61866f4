#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod bed;
mod connection;
mod crash;
mod discover;
mod keys;
mod service;
