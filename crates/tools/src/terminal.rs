//! Allow-listed commands in the OS sandbox, never through a shell: `terminal` reads, `terminal_write` can be undone.

mod command_list;
mod execution;

pub use command_list::{Command, Risk, TerminalConfig};
pub use execution::{SplitError, split_command_line};

use crate::error::{ToolsError, refused};
use crate::files::{blocking, resolve_folder};
use crate::handler::{Context, ToolHandler};
use crate::skills::workspace_changes;
use execution::{CommandRunner, TerminalArgs};
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::run::FOLDER;
use steward_core::tool::{Preview, ToolOutput, Undo};
use steward_sandbox::process::Helper;

pub(crate) fn is_known_command(name: &str) -> bool {
    static KNOWN: std::sync::OnceLock<Option<command_list::CommandList>> = std::sync::OnceLock::new();
    KNOWN
        .get_or_init(|| command_list::load_commands(TerminalConfig::default()).ok())
        .as_ref()
        .is_some_and(|known| known.contains_key(name))
}

pub struct Terminal(CommandRunner);

impl Terminal {
    pub fn new(config: TerminalConfig, helper: Helper) -> Result<Self, ToolsError> {
        Ok(Self(CommandRunner::new(config, helper)?))
    }
}

impl ToolHandler for Terminal {
    type Args = TerminalArgs;
    const NAME: &'static str = "terminal";

    async fn preview(&self, args: TerminalArgs, _: &ToolScope) -> Result<Preview, ToolsError> {
        let words = args.words()?;
        if !is_cd(&words) {
            self.0.check(&words, Risk::Read)?;
        }
        Ok(Preview {
            summary: "runs a command that only looks".to_owned(),
            detail: Some(execution::shell_line(&words)),
            count: None,
            reversible: true,
        })
    }

    async fn run(&self, args: TerminalArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let words = args.words()?;
        if let Some(moved) = change_folder(&words, &context.scope).await {
            return moved;
        }
        let command = self.0.check(&words, Risk::Read)?;
        let outcome = self.0.run(&words, Risk::Read, context).await?;
        let code = execution::exit_code(&outcome, command, &words).map_err(ToolsError::Refused)?;
        Ok(execution::command_output(&words, code, &outcome, &context.scope))
    }
}

pub struct TerminalWrite {
    commands: CommandRunner,
    blobs: Arc<dyn Blobs>,
}

impl TerminalWrite {
    pub fn new(config: TerminalConfig, helper: Helper, blobs: Arc<dyn Blobs>) -> Result<Self, ToolsError> {
        Ok(Self { commands: CommandRunner::new(config, helper)?, blobs })
    }
}

impl ToolHandler for TerminalWrite {
    type Args = TerminalArgs;
    const NAME: &'static str = "terminal_write";

    async fn preview(&self, args: TerminalArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let words = args.words()?;
        if !is_cd(&words) {
            self.commands.check(&words, Risk::Write)?;
        }
        let reversible = matches!(workspace_changes::capture(scope).await, Ok(Ok(_)));
        let line = execution::shell_line(&words);
        let place = match scope.folder.as_str() {
            "" => line,
            folder => format!("{line}\n\nin {folder}/"),
        };
        Ok(Preview {
            summary: if reversible {
                "runs a command that may change files of the workspace; no network".to_owned()
            } else {
                "runs a command that may change files of the workspace, which holds too much to be undone; no network"
                    .to_owned()
            },
            detail: Some(place),
            count: None,
            reversible,
        })
    }

    async fn run(&self, args: TerminalArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let words = args.words()?;
        if let Some(moved) = change_folder(&words, scope).await {
            return moved;
        }
        let command = self.commands.check(&words, Risk::Write)?;
        let before = workspace_changes::capture(scope).await?;
        context.check()?;
        let outcome = self.commands.run(&words, Risk::Write, context).await?;
        let undo = workspace_changes::undo_record(before, Self::NAME, scope, &self.blobs).await?;
        match execution::exit_code(&outcome, command, &words) {
            Ok(code) => Ok(ToolOutput { undo: Some(undo), ..execution::command_output(&words, code, &outcome, scope) }),
            Err(why) => {
                let after = self.put_back(&undo, scope).await;
                Err(refused!("{why}\n{after}"))
            }
        }
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        workspace_changes::restore(snapshot, scope, &self.blobs).await
    }
}

impl TerminalWrite {
    /// Undoes what a failed command has changed, and says so.
    async fn put_back(&self, undo: &Undo, scope: &ToolScope) -> String {
        match undo {
            Undo::Snapshot { snapshot, .. } => match workspace_changes::restore(snapshot, scope, &self.blobs).await {
                Ok(said) => format!("[{said}]"),
                Err(error) => format!("[it may have changed files before that: {error}]"),
            },
            Undo::Impossible { reason } => {
                format!("[it may have changed files before that, which can't be put back: {reason}]")
            }
        }
    }
}

fn is_cd(words: &[String]) -> bool {
    words.first().is_some_and(|name| name == "cd")
}

/// The folder that a `cd` names; `None` for other commands.
fn cd_target(words: &[String]) -> Option<Result<&str, ToolsError>> {
    let rest = match words {
        [name, rest @ ..] if name == "cd" => rest,
        _ => return None,
    };
    Some(match rest {
        [] => Ok("~"),
        [only] => Ok(only),
        _ => Err(ToolsError::refused("cd takes one folder, such as cd reports; quote a name with blanks")),
    })
}

/// Carries out a `cd`; `None` for other commands.
async fn change_folder(words: &[String], scope: &ToolScope) -> Option<Result<ToolOutput, ToolsError>> {
    let to = match cd_target(words)? {
        Ok(to) => to,
        Err(error) => return Some(Err(error)),
    };
    let to = match to {
        "~" => ".".to_owned(),
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        below if scope.folder.is_empty() => below.to_owned(),
        below => format!("{}/{below}", scope.folder),
    };
    let scope = scope.clone();
    Some(
        blocking(move || {
            let folder = resolve_folder(&scope, &to)?;
            let said = match folder.as_str() {
                "" => "commands now start in the workspace itself".to_owned(),
                folder => format!("commands now start in {folder}/ (other tools still take paths from the workspace)"),
            };
            Ok(ToolOutput { data: Some(json!({FOLDER: folder})), ..ToolOutput::text(said) })
        })
        .await,
    )
}
