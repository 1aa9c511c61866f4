//! The tools through their dispatcher, as the engine calls them.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod catalogue;
mod dispatcher;
mod facts;
mod fakes;
mod files;
mod mail;
mod outbound;
mod package;
mod server;
mod skills;
mod terminal;
mod web;
mod write;
