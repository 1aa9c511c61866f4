//! Skills of the type docker, as a guarded process; containers only compute, without network unless the skill says so.

use super::{ProcessResult, Programs, run_process, write_new};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::skills::executor::{in_config, receipt, spec_of};
use crate::skills::template::{self, TemplateUse, Values, argv, check_text, check_texts, shell_line};
use crate::skills::{Executor, SkillCall};
use crate::text::printed;
use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;
use steward_core::live::Live;
use steward_core::ports::{OpenedCredential, ToolScope};
use steward_core::skill::{DockerSpec, Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, ToolOutput, Undo};
use steward_core::{Cancellation, hash};
use tempfile::TempDir;

const PIDS: u32 = 128;
const MEMORY_MIB: std::ops::RangeInclusive<u32> = 6..=65_536;
const MAX_LOG_LINES: u32 = 10_000;
/// How long stopping a container may take.
const KILL: Duration = Duration::from_secs(10);

pub struct DockerExecutor {
    programs: Live<Programs>,
}

impl DockerExecutor {
    /// `programs` finds docker, and passes `DOCKER_HOST` on.
    pub fn new(programs: impl Into<Live<Programs>>) -> Self {
        Self { programs: programs.into() }
    }

    async fn docker(&self, args: &[String], home: &Path, context: &Context) -> Result<ProcessResult, ToolsError> {
        let programs = self.programs.get();
        let program = programs.find("docker").ok_or_else(|| {
            ToolsError::refused("there is no docker on this machine; an operator must install it, or do without")
        })?;
        run_process(&programs, &program, args, &BTreeMap::new(), home, context).await
    }

    /// Stops the container too, since it outlives the docker program.
    async fn halted(&self, spec: &DockerSpec, home: &Path, context: &Context) -> ToolsError {
        let DockerSpec::Run { .. } = spec else {
            return ToolsError::Unsettled { tool: "docker".to_owned(), why: "it was stopped".to_owned() };
        };
        let name = container_name(&context.idempotency_key);
        let mut scope = context.scope.clone();
        scope.cancellation = Cancellation::default();
        let context = Context::new(scope, context.idempotency_key.clone(), KILL);
        let killed = self.docker(&words(&["kill", &name]), home, &context).await;
        ToolsError::Refused(match killed {
            Ok(ended) if ended.code == Some(0) => {
                format!("the container {name} was stopped before its end and removed")
            }
            _ => format!("it was stopped before its end; see whether the container {name} still runs"),
        })
    }
}

/// The same when a call is repeated, so that a repeat does not run beside the first.
fn container_name(key: &str) -> String {
    format!("steward-{}", &hash::sha256(key.as_bytes())[..16])
}

spec_of!(Docker, DockerSpec, "docker");

/// What docker does for a skill of each form.
struct Action<'s> {
    /// The template of the container's name.
    container: Option<&'s String>,
    summary: &'static str,
    done: &'static str,
    changes: bool,
    /// The command that takes it back.
    undo: Option<&'static str>,
}

fn action(spec: &DockerSpec) -> Action<'_> {
    let (container, summary, done, changes, undo) = match spec {
        DockerSpec::Run { network: true, .. } => {
            let summary = "runs a container with network access, also to this machine's services and its local network";
            (None, summary, "ran", true, None)
        }
        DockerSpec::Run { .. } => (None, "runs a container without network or rights", "ran", true, None),
        DockerSpec::List => (None, "lists the containers", "read", false, None),
        DockerSpec::Logs { container, .. } => (Some(container), "reads the log of a container", "read", false, None),
        DockerSpec::Restart { container } => (Some(container), "restarts a container", "restarted", true, None),
        DockerSpec::Stop { container } => (Some(container), "stops a container", "stopped", true, Some("start")),
        DockerSpec::Start { container } => (Some(container), "starts a container", "started", true, Some("stop")),
    };
    Action { container, summary, done, changes, undo }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn args(spec: &DockerSpec, values: &Values<'_>, name: &str) -> Result<Vec<String>, ToolsError> {
    let of = |command: &[&str], container: &str| {
        let container = template::text(container, values)?.unwrap_or_default();
        if !is_container(&container) {
            return Err(refused!(
                "`{container}` is no name of a container; the skill that lists them shows their names"
            ));
        }
        let mut args = words(command);
        args.push(container);
        Ok(args)
    };
    match spec {
        DockerSpec::Run { image, command, network, memory_mib } => {
            let network = if *network { "bridge" } else { "none" };
            let line = format!(
                "run --rm --name {name} --network {network} --read-only --tmpfs /tmp:rw,noexec,nosuid,nodev,size=64m \
                 --cap-drop ALL --security-opt no-new-privileges --pids-limit {PIDS} --memory {memory_mib}m \
                 --memory-swap {memory_mib}m --"
            );
            let mut args: Vec<String> = line.split(' ').map(str::to_owned).collect();
            args.push(image.clone());
            args.extend(argv(command, values)?);
            Ok(args)
        }
        DockerSpec::List => Ok(words(&["ps", "--all", "--format", "{{json .}}"])),
        DockerSpec::Logs { container, lines } => {
            let lines = (*lines).min(MAX_LOG_LINES).to_string();
            of(&["logs", "--tail", &lines, "--"], container)
        }
        DockerSpec::Restart { container } => of(&["restart", "--"], container),
        DockerSpec::Stop { container } => of(&["stop", "--"], container),
        DockerSpec::Start { container } => of(&["start", "--"], container),
    }
}

fn is_container(name: &str) -> bool {
    name.len() <= 128 && is_plain(name, "_.-")
}

fn is_image(name: &str) -> bool {
    name.len() <= 512 && is_plain(name, "_.-/:@")
}

/// Letters, digits and `signs`, which it doesn't begin with.
fn is_plain(name: &str, signs: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || signs.contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain)
}

/// A folder for docker's configuration, with the registry's login if there is one.
fn config_home(spec: &DockerSpec, secret: Option<&OpenedCredential>) -> Result<TempDir, ToolsError> {
    let trouble = |error: std::io::Error| refused!("no folder for docker's configuration: {error}");
    let home = tempfile::tempdir().map_err(trouble)?;
    if let (DockerSpec::Run { image, .. }, Some(opened)) = (spec, secret) {
        let field = |name: &str| opened.fields.get(name).map(ExposeSecret::expose_secret);
        let user = field("username").unwrap_or("token");
        let password = field("password").or(field("token")).unwrap_or("");
        let auth = BASE64_STANDARD.encode(format!("{user}:{password}"));
        let config = json!({"auths": {registry(image): {"auth": auth}}});
        let folder = home.path().join(".docker");
        fs::create_dir(&folder).map_err(trouble)?;
        write_new(&folder.join("config.json"), &config.to_string(), 0o600).map_err(trouble)?;
    }
    Ok(home)
}

/// The registry of an image: its first part, if that looks like a host.
fn registry(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => "https://index.docker.io/v1/",
    }
}

fn failure(args: &[String], ended: &ProcessResult) -> ToolsError {
    let how = if ended.code == Some(125) { "docker could not start it".to_owned() } else { ended.how() };
    let action = args.first().map_or("", String::as_str);
    let text = printed(&ended.stdout, &ended.stderr);
    ToolsError::Refused(format!("docker {action}: {how}\n{text}").trim_end().to_owned())
}

fn output(spec: &DockerSpec, args: &[String], ended: &ProcessResult, skill: &Skill) -> Result<ToolOutput, ToolsError> {
    let last = args.last().cloned().unwrap_or_default();
    if let DockerSpec::List = spec {
        let stdout = ended.stdout.text();
        let lines = stdout.lines().filter(|line| !line.trim().is_empty());
        let rows: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
        let rows = rows.map_err(|error| refused!("docker gave a list that can't be read: {error}"))?;
        let mut content =
            if rows.is_empty() { "(there are no containers)" } else { "name | image | status" }.to_owned();
        for row in &rows {
            let [name, image, status] = ["Names", "Image", "Status"].map(|name| row[name].as_str().unwrap_or("-"));
            let _ = write!(content, "\n{name} | {image} | {status}");
        }
        return Ok(ToolOutput { data: Some(Value::Array(rows)), ..ToolOutput::text(content) });
    }
    let Action { done, undo, .. } = action(spec);
    let undo = undo.map(|action| Undo::Snapshot {
        tool: skill.name.clone(),
        snapshot: json!({"action": action, "container": last}),
    });
    let object = if let DockerSpec::Run { image, .. } = spec { image } else { &last };
    let mut content = printed(&ended.stdout, &ended.stderr);
    if content.is_empty() {
        content.push_str("(docker printed nothing)");
    }
    let receipt = receipt(skill, done, object, Some("exit status 0".to_owned()));
    let outside = match spec {
        DockerSpec::Logs { .. } => Some(format!("the log of {last}")),
        DockerSpec::Run { network: true, .. } => Some(format!("the container {last}, which has the network")),
        _ => None,
    };
    Ok(ToolOutput {
        data: Some(json!({"exit": 0, "stdout": ended.stdout.text(), "stderr": ended.stderr.text()})),
        receipt,
        undo,
        // Output of a container is untrusted, and so is what one with network access fetches.
        provenance: outside.iter().map(String::as_str).collect(),
        ..ToolOutput::text(content)
    })
}

#[async_trait]
impl Executor for DockerExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Docker
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        if let DockerSpec::Run { image, command, memory_mib, .. } = spec {
            if !is_image(image) {
                return Err(format!("config.image: `{image}` is no image; write it as alpine:3.22 (fixed text)"));
            }
            if !MEMORY_MIB.contains(memory_mib) {
                return Err(format!("config.memory_mib: give {} to {}", MEMORY_MIB.start(), MEMORY_MIB.end()));
            }
            check_texts(command, TemplateUse::Argv, &skill.parameters).map_err(in_config("command"))?;
        }
        let Action { container, changes, .. } = action(spec);
        if let Some(container) = container {
            check_text(container, TemplateUse::Argv, &skill.parameters).map_err(in_config("container"))?;
        }
        if changes && skill.effect == EffectClass::Read {
            return Err("effect: this changes something; use write".to_owned());
        }
        Ok(())
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let spec = spec(skill)?;
        let args = args(spec, &Values::shown(skill, arguments), "steward-…")?;
        let line: Vec<String> = std::iter::once("docker".to_owned()).chain(args).collect();
        let Action { summary, changes, undo, .. } = action(spec);
        Ok(Preview {
            summary: summary.to_owned(),
            detail: Some(shell_line(&line)),
            count: None,
            reversible: !changes || undo.is_some(),
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let args = args(spec, &Values::of(job), &container_name(&context.idempotency_key))?;
        let home = config_home(spec, job.secret)?;
        context.check()?;
        let ended = self.docker(&args, home.path(), context).await?;
        if ended.halted {
            return Err(self.halted(spec, home.path(), context).await);
        }
        if ended.code != Some(0) {
            return Err(failure(&args, &ended));
        }
        output(spec, &args, &ended, job.skill)
    }

    async fn undo(&self, job: SkillCall<'_>, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let (action, container) = (&snapshot["action"], &snapshot["container"]);
        let args = match (action.as_str(), container.as_str()) {
            (Some(action @ ("start" | "stop")), Some(container)) if is_container(container) => {
                words(&[action, "--", container])
            }
            _ => return Err(ToolsError::NoUndo("the snapshot can't be read".to_owned())),
        };
        let limit = Duration::from_millis(job.skill.limits.timeout_ms);
        let context = Context::new(scope.clone(), String::new(), limit);
        let home = config_home(&DockerSpec::List, None)?;
        let ended = self.docker(&args, home.path(), &context).await?;
        if ended.code != Some(0) {
            return Err(failure(&args, &ended));
        }
        let done = if args[0] == "start" { "started" } else { "stopped" };
        Ok(format!("{done} {} again", args[2]))
    }
}
