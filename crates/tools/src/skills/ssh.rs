//! Skills of the type ssh: a command on a server, over a connection whose host key is pinned.

mod command_plan;
mod connection;
mod known_hosts;
mod session;

pub use known_hosts::{FileHostKeys, HostKeysError, SshAddress, trust_host};

use super::executor::{check_command, in_config};
use super::program::printed_or_status;
use super::template::Values;
use super::{Executor, SkillCall};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use async_trait::async_trait;
pub(super) use command_plan::parse_jump;
use command_plan::{CommandPlan, check_user, parse_host, spec};
use connection::Login;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use session::{CommandResult, Failure, output_text};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::ToolScope;
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, Receipt, ToolOutput};
use tokio_util::sync::CancellationToken;

/// The command is ended this much before the call, so that its outcome is known.
const END_MARGIN: Duration = Duration::from_millis(300);

/// Runs commands on servers whose host keys a person has accepted.
pub struct SshExecutor {
    keys: Arc<FileHostKeys>,
}

impl SshExecutor {
    pub fn new(keys: Arc<FileHostKeys>) -> Self {
        Self { keys }
    }
}

/// Registers each line of the key, since programs print parts of a key as easily as all of it.
fn register_key_lines(job: SkillCall<'_>, context: &Context) {
    let key = job.secret.and_then(|opened| opened.fields.get("private_key"));
    let lines = key.into_iter().flat_map(|key| key.expose_secret().lines());
    for line in lines.filter(|line| line.len() >= 16 && !line.starts_with("-----")) {
        context.learned("private_key", line.trim().to_owned().into());
    }
}

struct CallSummary {
    line: String,
    host: String,
    user: String,
    effect: EffectClass,
    limit: usize,
    stopped_by_run: bool,
}

impl CallSummary {
    fn text(&self, done: &CommandResult) -> String {
        output_text(&done.stdout.text(), &done.stderr.text(), self.limit)
    }

    /// `note`, unless the call only reads.
    fn if_it_changes(&self, note: &'static str) -> &'static str {
        if self.effect == EffectClass::Read { "" } else { note }
    }

    fn refuse(&self, how: &str, done: &CommandResult) -> ToolsError {
        let mut text = format!("{} on {} {how}", self.line, self.host);
        let printed = self.text(done);
        if !printed.is_empty() {
            let _ = write!(text, "\n{printed}");
        }
        ToolsError::Refused(text)
    }

    fn failure(&self, failure: &Failure) -> ToolsError {
        match failure {
            Failure::Refused(reason) => refused!("nothing was run on {}: {reason}", self.host),
            Failure::Sudo(reason) => refused!("{} was not run on {}: {reason}", self.line, self.host),
            Failure::Broken(done) => self.refuse(
                "was sent, then the connection broke: it may or may not have taken effect, look before trying again",
                done,
            ),
            Failure::Stopped { done, ended } => {
                let why = if self.stopped_by_run { "was stopped" } else { "took too long and was stopped" };
                let how = if *ended { "and has ended there" } else { "but may still be running there" };
                let unsure = self.if_it_changes("; it may or may not have taken effect, look before trying again");
                self.refuse(&format!("{why} {how}{unsure}"), done)
            }
        }
    }

    fn output(&self, success: &[u32], done: &CommandResult) -> Result<ToolOutput, ToolsError> {
        let changed = self.if_it_changes("; it may have changed something before that");
        let how = match (done.status, &done.signal) {
            (Some(status), None) => format!("ended with exit status {status}"),
            (_, signal) => format!("was ended by signal {}", signal.as_deref().unwrap_or("unknown")),
        };
        let Some(status) = done.status.filter(|status| done.signal.is_none() && success.contains(status)) else {
            return Err(self.refuse(&format!("{how}{changed}"), done));
        };
        let content = printed_or_status("command", self.text(done), status.into());
        let object = format!("{} on {}", self.line, self.host);
        Ok(ToolOutput {
            data: Some(json!({
                "host": self.host,
                "user": self.user,
                "command": self.line,
                "exit": status,
                "stdout": done.stdout.text(),
                "stderr": done.stderr.text(),
                "stdout_bytes": done.stdout.total,
                "stderr_bytes": done.stderr.total,
            })),
            receipt: Some(Receipt::new("ran", object, Some(format!("exit status {status}")))),
            ..ToolOutput::text(content)
        })
    }
}

#[async_trait]
impl Executor for SshExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Ssh
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        parse_host(&spec.host, spec.port).map_err(in_config("host"))?;
        for host in &spec.hosts {
            parse_host(host, spec.port).map_err(in_config("hosts"))?;
        }
        if !spec.hosts.is_empty() && skill.parameters["properties"]["host"].is_null() {
            return Err(
                "config.hosts: add an input `host` to the parameters, by which one of them is chosen".to_owned()
            );
        }
        if let Some(user) = &spec.user {
            check_user(user).map_err(in_config("user"))?;
        }
        if let Some(text) = &spec.jump {
            parse_jump(text).map_err(in_config("jump"))?;
        }
        check_command(&spec.command, spec.stdin.as_deref(), &spec.success, &skill.parameters)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let order = CommandPlan::of(spec(skill)?, &Values::shown(skill, arguments))?;
        let reads = skill.effect == EffectClass::Read;
        let user = order.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let how = match (reads, order.sudo) {
            (true, false) => "runs a command that only looks, on",
            (true, true) => "runs a command that only looks, by sudo, on",
            (false, false) => "runs a command on",
            (false, true) => "runs a command by sudo on",
        };
        let mut detail = order.shown();
        if let Some(jump) = &order.jump {
            let _ = write!(detail, "\n[through] {}", jump.place);
        }
        if let Some(stdin) = &order.stdin {
            let _ = write!(detail, "\n\n[stdin]\n{stdin}");
        }
        Ok(Preview {
            summary: format!("{how} {user}{}", order.host()),
            detail: Some(detail),
            count: None,
            reversible: reads,
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let order = CommandPlan::of(spec(job.skill)?, &Values::of(job))?;
        let login = Login::of(job.secret, order.user.as_deref()).await?;
        let mut what = CallSummary {
            line: order.shown(),
            host: order.host(),
            user: login.user.clone(),
            effect: job.skill.effect,
            limit: job.skill.limits.result_chars,
            stopped_by_run: false,
        };
        register_key_lines(job, context);
        context.check()?;
        let end = CancellationToken::new();
        // The dispatcher drops a reading call at its timeout; the command must end on the server too.
        let _guard = end.clone().drop_guard();
        let work = tokio::spawn(session::run(self.keys.clone(), order, login, end.clone()));
        tokio::pin!(work);
        let left = context.left();
        let wall = left.checked_sub(END_MARGIN).unwrap_or(left / 2);
        let done = tokio::select! {
            done = &mut work => done,
            () = tokio::time::sleep(wall) => {
                end.cancel();
                work.await
            }
            () = context.halt() => {
                what.stopped_by_run = true;
                end.cancel();
                work.await
            }
        };
        let done = done.map_err(|error| {
            refused!("the ssh session failed inside: {error}; this is a bug in Steward, please report it")
        })?;
        match done {
            Ok(done) => what.output(&spec(job.skill)?.success, &done),
            Err(failure) => Err(what.failure(&failure)),
        }
    }
}
