//! Allow-listed commands in the OS sandbox, never through a shell: `terminal` reads, `terminal_write` can be undone.

mod command_list;
mod execution;

pub use command_list::{Command, Risk, TerminalConfig};
pub use execution::{SplitError, split_command_line};

use crate::error::ToolsError;
use crate::files::{blocking, resolve_folder};
use crate::handler::{Context, ToolHandler};
use crate::outside_watch::take_turn;
use crate::skills::workspace_changes::{self, Changed};
use command_list::CommandList;
use execution::{CommandRunner, TerminalArgs};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use steward_core::ports::{Blobs, ToolScope};
use steward_core::run::FOLDER;
use steward_core::tool::{Preview, ToolOutput};
use steward_sandbox::process::Helper;

pub(crate) fn is_known_command(name: &str) -> bool {
    static KNOWN: LazyLock<CommandList> =
        LazyLock::new(|| command_list::load_commands(TerminalConfig::default()).unwrap_or_default());
    KNOWN.contains_key(name)
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
        if is_cd(&words) {
            return change_folder(&words[1..], &context.scope).await;
        }
        let command = self.0.check(&words, Risk::Read)?;
        let _turn = take_turn(context).await;
        let (outcome, reads) = self.0.run(&words, Risk::Read, context).await?;
        let failed = |why: String| ToolOutput { failed: true, ..ToolOutput::text(why) };
        let done = execution::command_output(&words, command, &outcome, &context.scope).unwrap_or_else(failed);
        Ok(ToolOutput { reads, ..done })
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
        let reversible = workspace_changes::can_be_undone(scope).await;
        let limit = if reversible { "" } else { ", which holds too much to be undone" };
        let line = execution::shell_line(&words);
        let detail = match scope.folder.as_str() {
            "" => line,
            folder => format!("{line}\n\nin {folder}/"),
        };
        Ok(Preview {
            summary: format!("runs a command that may change files of the workspace{limit}; no network"),
            detail: Some(detail),
            count: None,
            reversible,
        })
    }

    async fn run(&self, args: TerminalArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let words = args.words()?;
        if is_cd(&words) {
            return change_folder(&words[1..], scope).await;
        }
        let command = self.commands.check(&words, Risk::Write)?;
        let _turn = take_turn(context).await;
        let before = workspace_changes::capture(scope).await?;
        context.check()?;
        let (outcome, reads) = self.commands.run(&words, Risk::Write, context).await?;
        let Changed { undo, writes } = workspace_changes::changes_since(before, Self::NAME, scope, &self.blobs).await?;
        let paths = json!(writes);
        let done = match execution::command_output(&words, command, &outcome, scope) {
            Ok(mut output) => {
                if let Some(data) = &mut output.data {
                    data["paths"] = paths;
                }
                ToolOutput { undo: Some(undo), ..output }
            }
            Err(why) => workspace_changes::failed_output(why, json!({"argv": words, "paths": paths}), undo),
        };
        Ok(ToolOutput { reads, writes, ..done })
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        workspace_changes::restore(snapshot, scope, &self.blobs).await
    }
}

fn is_cd(words: &[String]) -> bool {
    words.first().is_some_and(|name| name == "cd")
}

/// Carries out a `cd` with these arguments.
async fn change_folder(arguments: &[String], scope: &ToolScope) -> Result<ToolOutput, ToolsError> {
    let to = match arguments {
        [] => ".".to_owned(),
        [home] if home == "~" => ".".to_owned(),
        [absolute] if absolute.starts_with('/') => absolute.clone(),
        [below] if scope.folder.is_empty() => below.clone(),
        [below] => format!("{}/{below}", scope.folder),
        _ => return Err(ToolsError::refused("cd takes one folder, such as cd reports; quote a name with blanks")),
    };
    let scope = scope.clone();
    blocking(move || {
        let folder = resolve_folder(&scope, &to)?;
        let said = match folder.as_str() {
            "" => "commands now start in the workspace itself".to_owned(),
            folder => format!("commands now start in {folder}/ (other tools still take paths from the workspace)"),
        };
        Ok(ToolOutput { data: Some(json!({FOLDER: folder})), ..ToolOutput::text(said) })
    })
    .await
}
