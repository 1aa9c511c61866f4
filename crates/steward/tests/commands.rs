//! `steward agents`, `skill`, `credential`, `mcp`, `user`, `group` and `access`, each with a running server and without one:
//! both must do the same.

mod agents;
mod audit;
mod backup;
use crate::common;
mod config;
mod credential;
mod data;
mod doc_blocks;
mod every;
mod files;
mod group;
mod hook;
mod limits;
mod mcp;
mod own_data;
mod page;
mod phrases;
mod reminders;
mod retrieval;
mod sandbox;
mod schedule;
mod skill;
mod subscription;
mod tenant;
mod user;

use common::{Bench, Done, Server, finish};
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
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

/// A command on a terminal: each answer is typed once its question is shown.
fn on_terminal(bench: &Bench, args: &[&str], answers: &[(&str, &str)]) -> Done {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/terminal.py");
    let program = bench.command(args);
    let mut command = Command::new(steward_testkit::set_up("venv-mcp/bin/python3"));
    command
        .arg(script)
        .arg(serde_json::to_string(answers).unwrap())
        .arg(program.get_program())
        .args(program.get_args())
        .env_clear()
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(bench.work.path())
        .stdin(Stdio::null());
    finish(command)
}
