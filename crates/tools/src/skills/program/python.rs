use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::skills::executor::{receipt, spec_of};
use crate::skills::{Executor, SkillCall};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::ToolScope;
use steward_core::skill::{PythonSpec, Skill, SkillKind};
use steward_core::tool::{Preview, ToolOutput};
use steward_sandbox::python::{PythonLimits, PythonPool};
use tokio_util::sync::CancellationToken;

const CODE_BYTES: usize = 256 << 10;
const LONGEST_MS: u64 = 60_000;
const MEMORY_MIB: std::ops::RangeInclusive<u32> = 16..=2048;

#[derive(Debug, Clone)]
pub struct PythonReply {
    pub result: Result<Value, String>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs Python in a process that can do nothing but compute.
#[async_trait]
pub trait PythonRunner: Send + Sync {
    /// One call, within its limits; ends soon after `cancel`. The error: why this machine can't make it.
    async fn run(&self, program: &PythonProgram<'_>, cancel: &CancellationToken) -> Result<PythonReply, String>;
}

#[async_trait]
impl PythonRunner for PythonPool {
    async fn run(&self, program: &PythonProgram<'_>, cancel: &CancellationToken) -> Result<PythonReply, String> {
        let PythonProgram { code, payload, wall, memory_mib } = *program;
        let limits = PythonLimits { wall, memory_bytes: u64::from(memory_mib) << 20, ..PythonLimits::default() };
        let outcome = PythonPool::run(self, code, payload, &limits, cancel).await;
        let outcome = outcome.map_err(|error| error.to_string())?;
        Ok(PythonReply {
            result: outcome.result.map_err(|fault| fault.to_string()),
            stdout: outcome.stdout,
            stderr: outcome.stderr,
        })
    }
}

pub struct PythonExecutor {
    runner: Arc<dyn PythonRunner>,
}

impl PythonExecutor {
    pub fn new(runner: Arc<dyn PythonRunner>) -> Self {
        Self { runner }
    }
}

spec_of!(Python, PythonSpec, "python");

#[derive(Debug, Clone, Copy)]
pub struct PythonProgram<'a> {
    pub code: &'a str,
    pub payload: &'a Value,
    pub wall: Duration,
    pub memory_mib: u32,
}

/// Returns the value of `run` and what the program printed. Stopping the run ends it.
pub(crate) async fn compute(
    runner: &dyn PythonRunner,
    program: PythonProgram<'_>,
    context: &Context,
) -> Result<(Value, String), ToolsError> {
    let program = PythonProgram { wall: program.wall.min(context.left()), ..program };
    let cancel = CancellationToken::new();
    let done = context.or_cancel(&cancel, runner.run(&program, &cancel)).await;
    let reply = done.map_err(ToolsError::Refused)?;
    let printed = [reply.stdout.trim_end(), reply.stderr.trim_end()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    match reply.result {
        Ok(value) => Ok((value, printed)),
        Err(why) if printed.is_empty() => Err(ToolsError::Refused(why)),
        Err(why) => Err(refused!("{why}\n[printed] {printed}")),
    }
}

pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}

#[async_trait]
impl Executor for PythonExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Python
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        if spec.code.len() > CODE_BYTES {
            return Err(format!("config.code: longer than {CODE_BYTES} bytes"));
        }
        let entry = |line: &str| line.starts_with("def run(") || line.starts_with("def run (");
        if !spec.code.lines().any(entry) {
            return Err("config.code: there is no function `def run(payload):`".to_owned());
        }
        if !(1..=LONGEST_MS).contains(&spec.timeout_ms) {
            return Err(format!("config.timeout_ms: give 1 to {LONGEST_MS} milliseconds"));
        }
        if !MEMORY_MIB.contains(&spec.memory_mib) {
            return Err(format!("config.memory_mib: give {} to {}", MEMORY_MIB.start(), MEMORY_MIB.end()));
        }
        if skill.credential.is_some() {
            return Err("credential: Python code never sees a secret; leave it out".to_owned());
        }
        Ok(())
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let code = spec(skill).map_or("", |spec| spec.code.as_str());
        Ok(Preview {
            summary: "computes in Python; it can reach no file and no network".to_owned(),
            detail: Some(format!("payload: {arguments}\n\n{code}")),
            count: None,
            reversible: true,
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let wall = Duration::from_millis(spec.timeout_ms);
        let program = PythonProgram { code: &spec.code, payload: job.arguments, wall, memory_mib: spec.memory_mib };
        let (value, printed) = compute(self.runner.as_ref(), program, context).await?;
        let mut text = value_text(&value);
        if !printed.is_empty() {
            text = format!("{text}\n[printed] {printed}");
        }
        let receipt = receipt(job.skill, "computed", job.skill.name.as_str(), None);
        Ok(ToolOutput { data: Some(value), receipt, ..ToolOutput::text(text) })
    }
}
