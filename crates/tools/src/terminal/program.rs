//! Running a command of the list, and what it says.

use super::allow::{self, Allowed, Command, Risk};
use super::config::TerminalConfig;
use super::words::{Unsplit, split};
use crate::error::ToolsError;
use crate::handler::Context;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;
use steward_core::ports::ToolScope;
use steward_core::run::FOLDER;
use steward_core::tool::{Receipt, ToolOutput};
use steward_sandbox::process::{
    Access, CommandSpec, Exit, Helper, Limits, Outcome, Output, Sandbox, SandboxError, Tripwire,
};
use tokio_util::sync::CancellationToken;

/// Longest run.
const WALL: Duration = Duration::from_secs(30);
/// Memory of a command.
const MEMORY: u64 = 512 << 20;
/// Bytes kept of each output stream.
const OUTPUT: usize = 64 << 10;
/// Words that only a shell understands.
const SHELL: &[&str] = &["|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "<<"];

/// Arguments of both tools: a line, or its words.
#[derive(Debug, Clone, Deserialize)]
pub struct TerminalArgs {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    argv: Option<Vec<String>>,
}

/// The JSON Schema of [`TerminalArgs`]. Which of the two is given is looked at later, since providers
/// refuse a choice at the top of a schema.
pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "maxLength": 20_000,
                "description": "The command line, such as \"grep -n 'to do' notes.txt\"; there is no shell, so no pipes, no redirection, no wildcards"
            },
            "argv": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 100,
                "description": "Instead of `command`: its words, each its own element"
            }
        },
        "required": [],
        "additionalProperties": false
    })
}

impl TerminalArgs {
    pub fn words(&self) -> Result<Vec<String>, ToolsError> {
        let refused = |error: Unsplit| ToolsError::Refused(error.to_string());
        let words = match (&self.command, &self.argv) {
            (None, Some(argv)) => argv.clone(),
            (Some(line), None) => match serde_json::from_str::<Vec<String>>(line) {
                Ok(words) if !words.is_empty() => words,
                _ => split(line).map_err(refused)?,
            },
            (Some(name), Some(rest)) if !name.trim().contains(char::is_whitespace) => {
                let mut words = vec![name.trim().to_owned()];
                words.extend(rest.iter().cloned());
                words
            }
            (Some(_), Some(_)) => {
                return Err(ToolsError::refused("give `command` or `argv`, not both"));
            }
            (None, None) => {
                return Err(ToolsError::refused("say which command to run, such as {\"command\": \"ls -l\"}"));
            }
        };
        match &words[..] {
            // What models write who are used to a shell.
            [shell, flag, line] if matches!(shell.as_str(), "bash" | "sh") && matches!(flag.as_str(), "-c" | "-lc") => {
                split(line).map_err(refused)
            }
            _ => Ok(words),
        }
    }
}

pub(super) struct Commands {
    allowed: Allowed,
    sandbox: Sandbox,
}

impl Commands {
    pub fn new(config: TerminalConfig, helper: Helper) -> Result<Self, ToolsError> {
        Ok(Self { allowed: allow::list(config)?, sandbox: Sandbox::new(helper) })
    }

    /// The list's entry for a command that may do `may`.
    pub fn check(&self, argv: &[String], may: Risk) -> Result<&Command, ToolsError> {
        allow::check(&self.allowed, argv, may)
    }

    /// Runs it in the folder of the run.
    pub async fn run(&self, argv: &[String], may: Risk, context: &Context) -> Result<Outcome, ToolsError> {
        let scope = &context.scope;
        let mut spec = CommandSpec::new(argv.iter().cloned(), &scope.workspace);
        spec.cwd = scope.folder.clone().into();
        spec.access = match may {
            Risk::Read => Access::ReadOnly,
            Risk::Write => Access::ReadWrite,
        };
        spec.limits = Limits {
            wall: WALL.min(Duration::from_millis(scope.timeout_ms)),
            cpu_s: WALL.as_secs(),
            memory_bytes: MEMORY,
            output_bytes: OUTPUT,
            ..Limits::default()
        };
        let cancel = CancellationToken::new();
        let work = self.sandbox.run(spec, &cancel);
        tokio::pin!(work);
        let done = tokio::select! {
            done = &mut work => done,
            () = context.halt() => {
                cancel.cancel();
                work.await
            }
        };
        done.map_err(|error| explain(&error, scope))
    }
}

fn explain(error: &SandboxError, scope: &ToolScope) -> ToolsError {
    ToolsError::Refused(match error {
        SandboxError::NotExecutable { program, reason } => {
            format!("{program} can't be run on this machine ({reason}); use another command")
        }
        other if !scope.folder.is_empty() => {
            format!("{other}; commands start in {}/, `cd` alone leads back to the workspace", scope.folder)
        }
        other => other.to_string(),
    })
}

/// The exit code, if it is an answer, else what went wrong.
pub(super) fn code(outcome: &Outcome, command: &Command, argv: &[String]) -> Result<i32, String> {
    match outcome.exit {
        Exit::Exited(code) if code == 0 || command.quiet.contains(&code) => Ok(code),
        other => Err(failure(other, argv, &report(outcome))),
    }
}

/// What a model and a person get of a command that ended as it should.
pub(super) fn output(argv: &[String], code: i32, outcome: &Outcome, scope: &ToolScope) -> ToolOutput {
    let text = report(outcome);
    let shown = match (text.is_empty(), code) {
        (true, 0) => "(the command printed nothing)".to_owned(),
        (true, code) => format!("(the command printed nothing, exit code {code})"),
        (false, _) => text,
    };
    let receipt = Receipt { action: "ran".to_owned(), object: line(argv), evidence: Some(format!("exit code {code}")) };
    ToolOutput {
        data: Some(json!({
            "argv": argv,
            "exit": code,
            "stdout": outcome.stdout.text(),
            "wall_ms": outcome.wall_ms,
            FOLDER: scope.folder,
        })),
        receipt: Some(receipt),
        ..ToolOutput::text(shown)
    }
}

fn report(outcome: &Outcome) -> String {
    let mut text = stream(&outcome.stdout);
    let errors = stream(&outcome.stderr);
    if !errors.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "[stderr] {errors}");
    }
    text
}

fn stream(output: &Output) -> String {
    let mut text = output.text().trim_end().to_owned();
    if output.truncated() {
        let left = output.total.saturating_sub(output.bytes.len() as u64);
        let _ = write!(text, "\n[{left} more bytes were not kept]");
    }
    text
}

fn failure(exit: Exit, argv: &[String], text: &str) -> String {
    let how = match exit {
        Exit::Exited(code) => format!("ended with exit code {code}"),
        Exit::Signaled(signal) => format!("was ended by signal {signal}"),
        Exit::TimedOut => "was stopped since it took too long; ask for less".to_owned(),
        Exit::Cancelled => "was stopped".to_owned(),
        Exit::LimitExceeded(Tripwire::Memory) => {
            format!("was stopped at {} MB of memory; ask for less", MEMORY >> 20)
        }
        Exit::LimitExceeded(limit) => format!("was stopped at a limit ({limit:?}); ask for less"),
    };
    let shell = argv.iter().any(|word| SHELL.contains(&word.as_str()));
    let hint = if shell {
        "\nthere is no shell: pipes, redirection and lists of commands don't work; run one command at a time"
    } else if argv.iter().skip(1).any(|word| word.contains('*')) {
        "\nthere is no shell: wildcards stay as they are; use the tool `list` with a pattern to find files"
    } else {
        ""
    };
    format!("{} {how}\n{text}{hint}", line(argv)).trim_end().to_owned()
}

/// The command as one would type it into a shell, for people to read.
pub(super) fn line(argv: &[String]) -> String {
    let quoted: Vec<String> = argv
        .iter()
        .map(|word| {
            let plain = |c: char| c.is_alphanumeric() || "-_./:=,+%@".contains(c);
            if !word.is_empty() && word.chars().all(plain) {
                word.clone()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        })
        .collect();
    quoted.join(" ")
}
