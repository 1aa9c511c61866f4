//! `terminal_write`: commands that may change files of the workspace. What they change is kept, so that
//! it can be put back; what one that failed has changed is put back at once.

use super::allow::Risk;
use super::config::TerminalConfig;
use super::folder;
use super::program::{self, Commands, TerminalArgs};
use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use crate::skills::tree;
use serde_json::Value;
use std::sync::Arc;
use steward_core::policy::RiskClass;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{EffectClass, Preview, ToolError, ToolOutput, ToolSpec, Undo};
use steward_sandbox::process::Helper;

/// Its name.
const NAME: &str = "terminal_write";

/// Runs commands that may change files.
pub struct TerminalWrite {
    commands: Commands,
    blobs: Arc<dyn Blobs>,
}

impl TerminalWrite {
    /// `helper` starts the sandbox's other half; `blobs` keep what files held before.
    pub fn new(config: TerminalConfig, helper: Helper, blobs: Arc<dyn Blobs>) -> Result<Self, ToolsError> {
        Ok(Self { commands: Commands::new(config, helper)?, blobs })
    }
}

impl ToolHandler for TerminalWrite {
    type Args = TerminalArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(NAME, RiskClass::Write, EffectClass::Write, program::parameters())
    }

    async fn preview(&self, args: TerminalArgs, scope: &ToolScope) -> Preview {
        let words = args.words().and_then(|words| {
            if !folder::is_change(&words) {
                self.commands.check(&words, Risk::Write)?;
            }
            Ok(words)
        });
        let words = match words {
            Ok(words) => words,
            Err(error) => {
                return Preview { summary: format!("would fail: {error}"), ..Preview::default() };
            }
        };
        let reversible = matches!(tree::kept(scope).await, Ok(Ok(_)));
        let line = program::line(&words);
        let place = match scope.folder.as_str() {
            "" => line,
            folder => format!("{line}\n\nin {folder}/"),
        };
        Preview {
            summary: if reversible {
                "runs a command that may change files of the workspace; no network".to_owned()
            } else {
                "runs a command that may change files of the workspace, which holds too much to be undone; no network"
                    .to_owned()
            },
            detail: Some(place),
            count: None,
            reversible,
        }
    }

    async fn run(&self, args: TerminalArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let scope = &context.scope;
        let words = args.words()?;
        if let Some(moved) = folder::change(&words, scope).await {
            return Ok(moved?);
        }
        let command = self.commands.check(&words, Risk::Write)?;
        let before = tree::kept(scope).await?;
        context.check()?;
        let outcome = self.commands.run(&words, Risk::Write, context).await?;
        let undo = tree::undo(before, NAME, scope, &self.blobs).await?;
        match program::code(&outcome, command, &words) {
            Ok(code) => Ok(ToolOutput { undo: Some(undo), ..program::output(&words, code, &outcome, scope) }),
            Err(why) => {
                let after = self.put_back(&undo, scope).await;
                Err(ToolsError::Refused(format!("{why}\n{after}")).into())
            }
        }
    }

    async fn undo(&self, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        Ok(tree::restore(snapshot, scope, &self.blobs).await?)
    }
}

impl TerminalWrite {
    /// Takes back what a failed command has done, and says so.
    async fn put_back(&self, undo: &Undo, scope: &ToolScope) -> String {
        match undo {
            Undo::Snapshot { snapshot, .. } => match tree::restore(snapshot, scope, &self.blobs).await {
                Ok(said) => format!("[{said}]"),
                Err(error) => format!("[it may have changed files before that: {error}]"),
            },
            Undo::Impossible { reason } => {
                format!("[it may have changed files before that, which can't be put back: {reason}]")
            }
        }
    }
}
