//! The real program against a scripted model server, each test with its own data and workspace.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; no test file uses all of it"
)]

pub mod receiver;
mod server;
pub mod webhooks;

pub use server::{Server, client};

use serde_json::Value;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use steward_testkit::model_server::{Behaviour, Script};
use steward_testkit::{Workspace, program};

/// Where the models and the Python client are.
pub use steward_testkit::cache;
pub use steward_testkit::program::{Done, finish, finish_within};

/// `steward` with a model server, a data directory, a workspace.
pub struct Bench(program::Bench);

impl Deref for Bench {
    type Target = program::Bench;

    fn deref(&self) -> &program::Bench {
        &self.0
    }
}

impl Bench {
    pub fn new(script: Script) -> Self {
        Self::with(script, Workspace::empty().unwrap())
    }

    pub fn with(script: Script, work: Workspace) -> Self {
        Self(program::Bench::new(env!("CARGO_BIN_EXE_steward"), script, work))
    }

    /// The only open approval's id.
    pub fn open_approval(&self) -> String {
        let list = self.run(&["approvals", "--json"]).exits(0).json();
        assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
        list[0]["id"].as_str().unwrap().to_owned()
    }

    /// Runs, newest first.
    pub fn runs(&self) -> Vec<Value> {
        let page = self.run(&["runs", "--json"]).exits(0).json();
        page["runs"].as_array().unwrap().clone()
    }
}

/// Changes a data directory's database behind the program's back.
pub fn change_database(file: &Path, statement: &str) {
    let database = rusqlite::Connection::open(file).unwrap();
    assert!(database.execute(statement, []).unwrap() > 0, "{statement}");
}

/// A file or folder beside the tests.
pub fn data_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A plan of one step as a model writes it.
pub fn plan(tool: &str, args: &Value) -> Behaviour {
    let step = serde_json::json!([{"thought": "one step", "tool": tool, "args": args}]);
    Behaviour::text(step.to_string())
}

/// Twice the same plan (two candidates are asked for), then an answer.
pub fn plan_and_answer(tool: &str, args: &Value, answer: &str) -> Script {
    Script::of([plan(tool, args), plan(tool, args), Behaviour::text(answer)])
}
