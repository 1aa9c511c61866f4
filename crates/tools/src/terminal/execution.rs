use super::command_list::{self, Command, CommandList, Risk, TerminalConfig};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::outside_watch::OutsideWatch;
use crate::text::{exit_text, printed};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use steward_core::ports::ToolScope;
use steward_core::run::FOLDER;
use steward_core::tool::{Receipt, ToolOutput};
use steward_sandbox::process::{Access, CommandSpec, Exit, Helper, Limits, Outcome, Sandbox, SandboxError};
use tokio_util::sync::CancellationToken;

const TIMEOUT: Duration = Duration::from_secs(30);
const MEMORY: u64 = 512 << 20;
const OUTPUT: usize = 64 << 10;
const SHELL: &[&str] = &["|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1", "<<"];

/// Arguments of both tools: a line, or its words.
#[derive(Debug, Clone, Deserialize)]
pub struct TerminalArgs {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    argv: Option<Vec<String>>,
}

impl TerminalArgs {
    pub fn words(&self) -> Result<Vec<String>, ToolsError> {
        let refused = |error: SplitError| ToolsError::Refused(error.to_string());
        let words = match (&self.command, &self.argv) {
            (None, Some(argv)) => argv.clone(),
            (Some(line), None) => match serde_json::from_str::<Vec<String>>(line) {
                Ok(words) if !words.is_empty() => words,
                _ => split_command_line(line).map_err(refused)?,
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
            // Models often wrap the command in a shell.
            [shell, flag, line] if matches!(shell.as_str(), "bash" | "sh") && matches!(flag.as_str(), "-c" | "-lc") => {
                split_command_line(line).map_err(refused)
            }
            _ => Ok(words),
        }
    }
}

pub(super) struct CommandRunner {
    allowed: CommandList,
    sandbox: Sandbox,
}

impl CommandRunner {
    pub fn new(config: TerminalConfig, helper: Helper) -> Result<Self, ToolsError> {
        Ok(Self { allowed: command_list::load_commands(config)?, sandbox: Sandbox::new(helper) })
    }

    pub fn check(&self, argv: &[String], may: Risk) -> Result<&Command, ToolsError> {
        command_list::find_allowed(&self.allowed, argv, may)
    }

    /// How it ended, and what it read of the files from outside.
    pub async fn run(
        &self,
        argv: &[String],
        may: Risk,
        context: &Context,
    ) -> Result<(Outcome, Vec<String>), ToolsError> {
        let scope = &context.scope;
        let mut spec = CommandSpec::new(argv.iter().cloned(), &scope.workspace);
        spec.cwd = scope.folder.clone().into();
        spec.access = match may {
            Risk::Read => Access::ReadOnly,
            Risk::Write => Access::ReadWrite,
        };
        spec.limits = Limits {
            wall: TIMEOUT.min(Duration::from_millis(scope.timeout_ms)),
            cpu_s: TIMEOUT.as_secs(),
            memory_bytes: MEMORY,
            output_bytes: OUTPUT,
            ..Limits::default()
        };
        let watch = OutsideWatch::begin(scope).await?;
        let cancel = CancellationToken::new();
        let work = self.sandbox.run(spec, &cancel);
        let done = context.or_cancel(&cancel, work).await;
        let outcome = done.map_err(|error| sandbox_error(&error, scope))?;
        watch.end(outcome).await
    }
}

fn sandbox_error(error: &SandboxError, scope: &ToolScope) -> ToolsError {
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

/// What the command printed if it succeeded, else what went wrong.
pub(super) fn command_output(
    argv: &[String],
    command: &Command,
    outcome: &Outcome,
    scope: &ToolScope,
) -> Result<ToolOutput, String> {
    let text = printed(&outcome.stdout, &outcome.stderr);
    let code = match outcome.exit {
        Exit::Exited(code) if code == 0 || command.quiet.contains(&code) => code,
        other => return Err(failure_text(other, argv, &text)),
    };
    let shown = match (text.is_empty(), code) {
        (true, 0) => "(the command printed nothing)".to_owned(),
        (true, code) => format!("(the command printed nothing, exit code {code})"),
        (false, _) => text,
    };
    let receipt = Receipt::new("ran", shell_line(argv), Some(format!("exit code {code}")));
    Ok(ToolOutput {
        data: Some(json!({
            "argv": argv,
            "exit": code,
            "stdout": outcome.stdout.text(),
            "wall_ms": outcome.wall_ms,
            FOLDER: scope.folder,
        })),
        receipt: Some(receipt),
        ..ToolOutput::text(shown)
    })
}

fn failure_text(exit: Exit, argv: &[String], text: &str) -> String {
    let how = exit_text(exit, "exit code", MEMORY);
    let shell = argv.iter().any(|word| SHELL.contains(&word.as_str()));
    let hint = if shell {
        "\nthere is no shell: pipes, redirection and lists of commands don't work; run one command at a time"
    } else if argv.iter().skip(1).any(|word| word.contains('*')) {
        "\nthere is no shell: wildcards stay as they are; use the tool `list` with a pattern to find files"
    } else {
        ""
    };
    format!("{} {how}\n{text}{hint}", shell_line(argv)).trim_end().to_owned()
}

pub(super) fn shell_line(argv: &[String]) -> String {
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A quotation mark stays open, or a backslash ends the line.
    #[error(
        "a quotation mark in the command stays open; close it, or give the words as `argv`, such as [\"grep\", \"it's\", \"notes.txt\"]"
    )]
    Open,
    #[error(
        "there is no shell, so `{0}` means nothing here: run one command at a time. Instead of a pipe, give the file to the command itself (awk, sed, grep, sort, jq read files) or look at the result and go on from there; instead of `cd DIR && …`, run `cd DIR` first, it is kept; instead of `>`, keep text with the tool `write`. As plain text, put it in quotes"
    )]
    Shell(String),
    #[error("the command is blank; give one such as \"ls -l\"")]
    Blank,
}

/// Splits a command line into arguments by the rules of quoting; nothing is expanded.
pub fn split_command_line(line: &str) -> Result<Vec<String>, SplitError> {
    let mut out = Vec::new();
    let mut current = String::new();
    let mut begun = false;
    let mut mark = None;
    // Standard error is shown anyway.
    let line = line.replace("2>&1", " ").replace("2>/dev/null", " ");
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match (mark, c) {
            (Some(open), c) if c == open => mark = None,
            (None, '\\') => {
                current.push(chars.next().ok_or(SplitError::Open)?);
                begun = true;
            }
            (Some('"'), '\\') => match chars.next().ok_or(SplitError::Open)? {
                c @ ('"' | '\\' | '$' | '`') => current.push(c),
                c => current.extend(['\\', c]),
            },
            (Some(_), c) => current.push(c),
            (None, '\'' | '"') => {
                mark = Some(c);
                begun = true;
            }
            (None, '|' | ';' | '&' | '>' | '<' | '`' | '\n') => {
                let twice = chars.peek() == Some(&c);
                return Err(SplitError::Shell(match c {
                    '\n' => "a second line".to_owned(),
                    c if twice => format!("{c}{c}"),
                    c => c.to_string(),
                }));
            }
            (None, '$') => return Err(SplitError::Shell("$".to_owned())),
            (None, c) if c.is_whitespace() => {
                if begun {
                    out.push(std::mem::take(&mut current));
                    begun = false;
                }
            }
            (None, c) => {
                current.push(c);
                begun = true;
            }
        }
    }
    if mark.is_some() {
        return Err(SplitError::Open);
    }
    if begun {
        out.push(current);
    }
    if out.is_empty() { Err(SplitError::Blank) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{SplitError, split_command_line};

    #[test]
    fn quotes_group_and_nothing_expands() {
        for (line, expect) in [
            ("date -u", &["date", "-u"][..]),
            ("grep 'a b' \"c d\"", &["grep", "a b", "c d"]),
            ("echo ''", &["echo", ""]),
            ("grep \"a|b\" x.txt", &["grep", "a|b", "x.txt"]),
            ("awk '{print $2}' t.csv", &["awk", "{print $2}", "t.csv"]),
            (r#"grep "\bfoo\"" x"#, &["grep", r#"\bfoo""#, "x"]),
            ("cat my\\ file.txt", &["cat", "my file.txt"]),
            ("ls nowhere 2>/dev/null", &["ls", "nowhere"]),
            ("find . -name x 2>&1", &["find", ".", "-name", "x"]),
        ] {
            assert_eq!(split_command_line(line).unwrap(), expect, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_does_is_refused_with_the_way_out() {
        for (line, sign) in [
            ("cat x | wc", "`|`"),
            ("a; b", "`;`"),
            ("cd x && ls", "`&&`"),
            ("echo hi > x.txt", "`>`"),
            ("echo hi >> x.txt", "`>>`"),
            ("echo $HOME", "`$`"),
            ("echo `id`", "``` "),
            ("ls\npwd", "a second line"),
        ] {
            let error = split_command_line(line).unwrap_err().to_string();
            assert!(error.contains(sign.trim()) && error.contains("one command at a time"), "{line}: {error}");
        }
        assert_eq!(split_command_line("echo 'x"), Err(SplitError::Open));
        assert_eq!(split_command_line("  "), Err(SplitError::Blank));
    }
}
