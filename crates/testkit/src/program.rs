//! A real program of ours against the scripted model server, each test with its own data and workspace.
#![allow(clippy::unwrap_used, clippy::return_self_not_must_use, reason = "tests fail here")]

use crate::model_server::{Script, ScriptedModelServer};
use crate::{Workspace, cache};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Longest a command may take.
const LIMIT: Duration = Duration::from_mins(20);

#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
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
    program: &'static str,
}

impl Bench {
    /// `program` is `env!("CARGO_BIN_EXE_…")`, which Cargo sets only for a package's own tests.
    pub fn new(program: &'static str, script: Script, work: Workspace) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let model = runtime.block_on(ScriptedModelServer::start(script)).unwrap();
        Self { runtime, model, work, data: tempfile::tempdir().unwrap(), program }
    }

    pub fn data(&self) -> PathBuf {
        self.data.path().join("data")
    }

    /// The program with a clean environment, without the caller's settings, keys or models.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.data.path())
            .env("STEWARD_CACHE", cache())
            .env("STEWARD_DATA", self.data())
            // Scripts say what is asked; an exam would answer it.
            .env("STEWARD_EXAMINE_CONNECTIONS", "false")
            // Builds fill the disk that tests run on.
            .env("STEWARD_DISK_RESERVE_MB", "16")
            .env("OPENAI_API_KEY", "test-key")
            .env("OPENAI_BASE_URL", self.model.base_url())
            .env("OPENAI_MODEL", "scripted")
            .current_dir(self.work.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args))
    }
}

/// Runs a command with the default limit.
pub fn finish(command: Command) -> Done {
    finish_within(command, LIMIT)
}

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
