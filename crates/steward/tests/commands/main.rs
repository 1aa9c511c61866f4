//! `steward skill`, `credential` and `mcp`, each with a running server and without one: both must do the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "../common/mod.rs"]
mod common;
mod credential;
mod mcp;
mod phrases;
mod skill;

use common::{Bench, Done, Server, finish};
use std::io::{Seek as _, Write as _};
use steward_testkit::model_server::Script;

/// The same without a server and with one.
fn both(test: impl Fn(&Bench, bool)) {
    test(&Bench::new(Script::default()), false);
    let bench = Bench::new(Script::default());
    let _server = Server::start(&bench);
    test(&bench, true);
}

/// A command with this on its standard input.
fn with_input(bench: &Bench, args: &[&str], input: &str) -> Done {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    file.rewind().unwrap();
    let mut command = bench.command(args);
    command.stdin(file);
    finish(command)
}
