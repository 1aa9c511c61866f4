//! `terminal`: commands that only look.

use super::allow::Risk;
use super::config::TerminalConfig;
use super::folder;
use super::program::{self, Commands, TerminalArgs};
use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::tool::{EffectClass, Preview, ToolError, ToolOutput, ToolSpec};
use steward_sandbox::process::Helper;

pub struct Terminal(Commands);

impl Terminal {
    /// `helper` starts the sandbox's other half.
    pub fn new(config: TerminalConfig, helper: Helper) -> Result<Self, ToolsError> {
        Ok(Self(Commands::new(config, helper)?))
    }
}

impl ToolHandler for Terminal {
    type Args = TerminalArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec("terminal", RiskClass::Read, EffectClass::Read, program::parameters())
    }

    async fn preview(&self, args: TerminalArgs, _: &ToolScope) -> Preview {
        let words = args.words().and_then(|words| {
            if !folder::is_change(&words) {
                self.0.check(&words, Risk::Read)?;
            }
            Ok(words)
        });
        match words {
            Ok(words) => Preview {
                summary: "runs a command that only looks".to_owned(),
                detail: Some(program::line(&words)),
                count: None,
                reversible: true,
            },
            Err(error) => Preview { summary: format!("would fail: {error}"), ..Preview::default() },
        }
    }

    async fn run(&self, args: TerminalArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let words = args.words()?;
        if let Some(moved) = folder::change(&words, &context.scope).await {
            return Ok(moved?);
        }
        let command = self.0.check(&words, Risk::Read)?;
        let outcome = self.0.run(&words, Risk::Read, context).await?;
        let code = program::code(&outcome, command, &words).map_err(ToolsError::Refused)?;
        Ok(program::output(&words, code, &outcome, &context.scope))
    }
}
