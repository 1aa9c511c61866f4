use super::{Programs, exit_text, printed_or_status, run_sandboxed, workspace_changes};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::outside_watch::take_turn;
use crate::skills::executor::{check_command, spec_of};
use crate::skills::template::{self, Values, argv, shell_line};
use crate::skills::{Executor, SkillCall};
use crate::text::printed;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::live::Live;
use steward_core::policy::RiskClass;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::skill::{ShellSpec, Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, Receipt, ToolOutput};
use steward_sandbox::process::{Access, CommandSpec, Exit, Helper, Sandbox};

pub struct ShellExecutor {
    sandbox: Sandbox,
    blobs: Arc<dyn Blobs>,
    programs: Live<Programs>,
}

impl ShellExecutor {
    /// Looks for `programs` in the operator's own folders before those of the system.
    pub fn new(programs: impl Into<Live<Programs>>, helper: Helper, blobs: Arc<dyn Blobs>) -> Self {
        Self { sandbox: Sandbox::new(helper), blobs, programs: programs.into() }
    }
}

spec_of!(Shell, ShellSpec, "shell");

#[async_trait]
impl Executor for ShellExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Shell
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        check_command(&spec.command, spec.stdin.as_deref(), &spec.success, &skill.parameters)?;
        if spec.writes && (skill.risk == RiskClass::Read || skill.effect == EffectClass::Read) {
            return Err("risk and effect: what writes files is no read; use write".to_owned());
        }
        Ok(())
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let values = Values::shown(skill, arguments);
        let spec = spec(skill)?;
        let stdin = spec.stdin.as_deref().map(|text| template::text(text, &values)).transpose()?.flatten();
        let mut detail = shell_line(&argv(&spec.command, &values)?);
        if let Some(stdin) = stdin {
            detail = format!("{detail}\n\n[stdin]\n{stdin}");
        }
        let kept = !spec.writes || workspace_changes::can_be_undone(scope).await;
        Ok(Preview {
            summary: match (spec.writes, kept) {
                (false, _) => "runs a program that can only look",
                (true, true) => "runs a program that may change files of the workspace",
                (true, false) => {
                    "runs a program that may change files of the workspace, which holds too much to be undone"
                }
            }
            .to_owned(),
            detail: Some(detail),
            count: None,
            reversible: kept,
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let values = Values::of(job);
        let words = argv(&spec.command, &values)?;
        let mut started = words.clone();
        let programs = self.programs.get();
        let own = words.first().and_then(|name| programs.own(name));
        if let (Some(program), Some(first)) = (&own, started.first_mut()) {
            *first = program.display().to_string();
        }
        let mut command = CommandSpec::new(started, &context.scope.workspace);
        if let Some(program) = &own {
            command.read_paths = programs.readable(program);
        }
        command.access = if spec.writes { Access::ReadWrite } else { Access::ReadOnly };
        if let Some(stdin) = &spec.stdin {
            command.stdin = template::text(stdin, &values)?.unwrap_or_default().into_bytes();
        }
        let _turn = take_turn(context).await;
        let before = if spec.writes { Some(workspace_changes::capture(&context.scope).await?) } else { None };
        context.check()?;
        let (outcome, reads) = run_sandboxed(&self.sandbox, command, context).await?;
        let text = printed(&outcome.stdout, &outcome.stderr);
        let line = shell_line(&words);
        let fine = |code: i32| u32::try_from(code).is_ok_and(|code| spec.success.contains(&code));
        let changed = match before {
            Some(before) => {
                Some(workspace_changes::changes_since(before, &job.skill.name, &context.scope, &self.blobs).await?)
            }
            None => None,
        };
        let (undo, writes) = changed.map(|changed| (changed.undo, changed.writes)).unzip();
        let writes = writes.unwrap_or_default();
        let code = match outcome.exit {
            Exit::Exited(code) if fine(code) => code,
            other => {
                let why = format!("{line} {}\n{text}", exit_text(other)).trim_end().to_owned();
                let failed = match undo {
                    Some(undo) => workspace_changes::failed_output(why, json!({"argv": words, "paths": writes}), undo),
                    None => ToolOutput { failed: true, ..ToolOutput::text(why) },
                };
                return Ok(ToolOutput { reads, writes, ..failed });
            }
        };
        Ok(ToolOutput {
            data: Some(json!({
                "argv": words,
                "paths": writes,
                "exit": code,
                "stdout": outcome.stdout.text(),
                "stderr": outcome.stderr.text(),
            })),
            receipt: Some(Receipt::new("ran", line, Some(format!("exit status {code}")))),
            undo,
            reads,
            writes,
            ..ToolOutput::text(printed_or_status("program", text, code.into()))
        })
    }

    async fn undo(&self, _: SkillCall<'_>, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        workspace_changes::restore(snapshot, scope, &self.blobs).await
    }
}
