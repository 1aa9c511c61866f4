//! The tool itself.

use super::allow::{self, Allowed, Command, Risk};
use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::tool::{EffectClass, Preview, Receipt, ToolError, ToolOutput, ToolSpec, Undo};
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
/// Between two looks at the stop flag.
const POLL: Duration = Duration::from_millis(50);
/// Words that only a shell understands.
const SHELL: &[&str] = &[
    "|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "<<",
];

/// What an operator can change.
#[derive(Debug, Clone, Default)]
pub struct TerminalConfig {
    /// Commands beside those of the data file, or instead of an entry of it. One that writes makes
    /// the whole tool destructive, since what it does can't be undone.
    pub extra: BTreeMap<String, Command>,
}

/// Runs commands.
pub struct Terminal {
    allowed: Allowed,
    sandbox: Sandbox,
}

impl Terminal {
    /// `helper` starts the sandbox's other half.
    pub fn new(config: TerminalConfig, helper: Helper) -> Result<Self, ToolsError> {
        let mut allowed = allow::standard()?;
        allowed.extend(config.extra);
        Ok(Self {
            allowed,
            sandbox: Sandbox::new(helper),
        })
    }

    async fn execute(
        &self,
        argv: &[String],
        command: &Command,
        context: &Context,
    ) -> Result<Outcome, ToolsError> {
        let mut spec = CommandSpec::new(argv.iter().cloned(), &context.scope.workspace);
        spec.access = match command.risk {
            Risk::Read => Access::ReadOnly,
            Risk::Write => Access::ReadWrite,
        };
        spec.limits = Limits {
            wall: WALL.min(Duration::from_millis(context.scope.timeout_ms)),
            cpu_s: WALL.as_secs(),
            memory_bytes: MEMORY,
            output_bytes: OUTPUT,
            ..Limits::default()
        };
        let cancel = CancellationToken::new();
        let halted = async {
            while !context.halted() {
                tokio::time::sleep(POLL).await;
            }
            cancel.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = self.sandbox.run(spec, &cancel) => done.map_err(|error| explain(&error)),
            () = halted => Err(ToolsError::Stopped("terminal".to_owned())),
        }
    }
}

fn explain(error: &SandboxError) -> ToolsError {
    ToolsError::Refused(match error {
        SandboxError::NotExecutable { program, reason } => {
            format!("{program} can't be run on this machine ({reason}); use another command")
        }
        other => other.to_string(),
    })
}

/// Arguments of [`Terminal`].
#[derive(Debug, Clone, Deserialize)]
pub struct TerminalArgs {
    argv: Vec<String>,
}

impl ToolHandler for Terminal {
    type Args = TerminalArgs;

    fn spec(&self) -> ToolSpec {
        let writes = self
            .allowed
            .values()
            .any(|command| command.risk == Risk::Write);
        let (risk, effect) = if writes {
            (RiskClass::Destructive, EffectClass::Write)
        } else {
            (RiskClass::Read, EffectClass::Read)
        };
        catalogue::spec(
            "terminal",
            risk,
            effect,
            json!({
                "type": "object",
                "properties": {
                    "argv": {
                        "type": "array",
                        "items": {"type": "string"},
                        "minItems": 1,
                        "maxItems": 100,
                        "description": "Command and arguments, each its own element; there is no shell, so no pipes, no redirection, no wildcards"
                    }
                },
                "required": ["argv"],
                "additionalProperties": false
            }),
        )
    }

    async fn preview(&self, args: TerminalArgs, _: &ToolScope) -> Preview {
        match allow::check(&self.allowed, &args.argv) {
            Ok(command) => Preview {
                summary: match command.risk {
                    Risk::Read => "runs a command that only looks".to_owned(),
                    Risk::Write => "runs a command that may change files; not undoable".to_owned(),
                },
                detail: Some(line(&args.argv)),
                count: None,
                reversible: command.risk == Risk::Read,
            },
            Err(error) => Preview {
                summary: format!("would fail: {error}"),
                ..Preview::default()
            },
        }
    }

    async fn run(&self, args: TerminalArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let command = allow::check(&self.allowed, &args.argv)?;
        let outcome = self.execute(&args.argv, command, context).await?;
        let text = report(&outcome);
        let line = line(&args.argv);
        let code = match outcome.exit {
            Exit::Exited(code) if code == 0 || command.quiet.contains(&code) => code,
            other => {
                return Err(ToolsError::Refused(failure(other, &line, &args.argv, &text)).into());
            }
        };
        let output = match (text.is_empty(), code) {
            (true, 0) => "(the command printed nothing)".to_owned(),
            (true, code) => format!("(the command printed nothing, exit code {code})"),
            (false, _) => text,
        };
        let undo = (command.risk == Risk::Write).then(|| Undo::Impossible {
            reason: "what a command has changed is not recorded".to_owned(),
        });
        Ok(ToolOutput {
            data: Some(json!({
                "argv": args.argv,
                "exit": code,
                "stdout": outcome.stdout.text(),
                "wall_ms": outcome.wall_ms,
            })),
            receipt: Some(Receipt {
                action: "ran".to_owned(),
                object: line,
                evidence: Some(format!("exit code {code}")),
            }),
            undo,
            ..ToolOutput::text(output)
        })
    }
}

/// What it printed, errors last.
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

fn failure(exit: Exit, line: &str, argv: &[String], text: &str) -> String {
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
    format!("{line} {how}\n{text}{hint}").trim_end().to_owned()
}

/// The command as one would type it into a shell, for people to read.
fn line(argv: &[String]) -> String {
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
