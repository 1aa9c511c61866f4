//! The real program against a scripted model server, each test with its own data and workspace.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests; no test file uses all of it"
)]

mod server;

pub use server::Server;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};
use steward_testkit::{ScriptedModelServer, Workspace};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Longest a command may take.
const LIMIT: Duration = Duration::from_secs(150);

/// What a command left behind.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// Asserts the exit code.
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard error holds each of these.
    pub fn tells(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "no `{part}` in {self:#?}");
        }
        self
    }

    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }
}

/// A model server, a data directory, a workspace.
pub struct Bench {
    pub runtime: Runtime,
    pub model: ScriptedModelServer,
    pub work: Workspace,
    data: TempDir,
}

impl Bench {
    pub fn new(script: Script) -> Self {
        Self::with(script, Workspace::empty().unwrap())
    }

    pub fn with(script: Script, work: Workspace) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let model = runtime.block_on(ScriptedModelServer::start(script)).unwrap();
        Self { runtime, model, work, data: tempfile::tempdir().unwrap() }
    }

    pub fn data(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// The program with a clean environment: nothing of the caller's settings, keys or models.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steward"));
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.data.path())
            .env("STEWARD_CACHE", cache())
            .env("STEWARD_DATA", self.data())
            .env("OPENAI_API_KEY", "test-key")
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_MODEL", "scripted")
            .current_dir(self.work.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args))
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

/// Runs a command to its end, with a limit.
pub fn finish(command: Command) -> Done {
    finish_within(command, LIMIT)
}

/// The same, with a limit of its own.
pub fn finish_within(mut command: Command, limit: Duration) -> Done {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let out = std::thread::spawn(move || std::io::read_to_string(&mut out).unwrap());
    let err = std::thread::spawn(move || std::io::read_to_string(&mut err).unwrap());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > limit {
            child.kill().unwrap();
            panic!("no end after {limit:?}: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    Done { code: status.code(), out: out.join().unwrap(), err: err.join().unwrap() }
}

/// Where the models and the Python client are.
pub use steward_testkit::cache;

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
