//! Skills of the type ansible: a playbook, in the OS sandbox, or as a guarded process where it needs the network.

use super::{Programs, exit_text, run_process, run_sandboxed, workspace_changes, write_new};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::outside_watch::{all_outside_files, take_turn};
use crate::skills::executor::{receipt, spec_of};
use crate::skills::{Executor, SkillCall};
use crate::text::printed;
use async_trait::async_trait;
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use steward_core::TenantId;
use steward_core::credential::CredentialKind;
use steward_core::live::Live;
use steward_core::ports::{OpenedCredential, ToolScope};
use steward_core::skill::{AnsibleSpec, Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, ToolOutput};
use steward_sandbox::process::{Access, CommandSpec, Exit, Helper, Output, Sandbox};
use tempfile::TempDir;

const PREVIEW: Duration = Duration::from_secs(9);

pub struct AnsibleExecutor {
    programs: Live<Programs>,
    sandbox: Sandbox,
}

impl AnsibleExecutor {
    pub fn new(programs: impl Into<Live<Programs>>, helper: Helper) -> Self {
        Self { programs: programs.into(), sandbox: Sandbox::new(helper) }
    }

    async fn run_playbook(
        &self,
        skill: &Skill,
        arguments: &Value,
        secret: Option<&OpenedCredential>,
        context: &Context,
        check: bool,
    ) -> Result<PlaybookResult, ToolsError> {
        let spec = spec(skill)?;
        // It would be Steward itself, with the files of all tenants.
        if spec.network && context.scope.tenant != TenantId::DEFAULT {
            return Err(refused!(
                "a playbook with `network` leaves the sandbox, so only the installation's own organisation may run one"
            ));
        }
        let programs = self.programs.get();
        let program = programs.find("ansible-playbook").ok_or_else(|| {
            ToolsError::refused(
                "there is no ansible-playbook on this machine; an operator must install ansible-core, or name its folder in STEWARD_PROGRAMS",
            )
        })?;
        let files = Files::write(spec, arguments, secret)?;
        let check = check || spec.check;
        let (inventory, variables) = (files.path("inventory"), format!("@{}", files.path("vars.yml")));
        let mut args = vec!["--inventory", &inventory, "--extra-vars", &variables];
        if check {
            args.extend(["--check", "--diff"]);
        }
        if !spec.network {
            args.extend(["--connection", "local"]);
        }
        let playbook = files.path("playbook.yml");
        args.push(&playbook);
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        context.check()?;
        if spec.network {
            let home = files.dir.path();
            let env = environment(&home.display().to_string());
            let ended = run_process(&programs, &program, &args, &env, home, context).await?;
            return Ok(PlaybookResult {
                succeeded: ended.code == Some(0),
                how: ended.how(),
                stdout: ended.stdout,
                stderr: ended.stderr,
                // It runs beside the sandbox, as this program's user.
                reads: all_outside_files(&context.scope).await?,
                ..PlaybookResult::default()
            });
        }
        let words = std::iter::once(program.display().to_string()).chain(args);
        let mut command = CommandSpec::new(words, &context.scope.workspace);
        command.access = if check { Access::ReadOnly } else { Access::ReadWrite };
        command.read_paths = self.programs.get().readable(&program);
        command.read_paths.push(files.dir.path().to_owned());
        // The sandbox has a temporary folder of its own.
        command.env = environment("$TMPDIR");
        let _turn = take_turn(context).await;
        let before = workspace_changes::stamps(&context.scope).await?;
        let (outcome, reads) = run_sandboxed(&self.sandbox, command, context).await?;
        let writes = workspace_changes::written_since(before, &context.scope).await?;
        Ok(PlaybookResult {
            succeeded: outcome.exit == Exit::Exited(0),
            how: exit_text(outcome.exit),
            reads,
            writes,
            stdout: outcome.stdout,
            stderr: outcome.stderr,
        })
    }
}

#[derive(Default)]
struct PlaybookResult {
    succeeded: bool,
    how: String,
    stdout: Output,
    stderr: Output,
    reads: Vec<String>,
    writes: Vec<String>,
}

spec_of!(Ansible, AnsibleSpec, "ansible");

/// Ansible's settings: own files only in a temporary folder, no colours, a machine-readable recap.
fn environment(temporary: &str) -> BTreeMap<String, String> {
    [
        ("ANSIBLE_HOME", format!("{temporary}/home")),
        ("ANSIBLE_LOCAL_TEMP", format!("{temporary}/local")),
        ("ANSIBLE_REMOTE_TEMP", format!("{temporary}/remote")),
        ("ANSIBLE_NOCOLOR", "1".to_owned()),
        ("ANSIBLE_RETRY_FILES_ENABLED", "0".to_owned()),
        ("ANSIBLE_LOCALHOST_WARNING", "0".to_owned()),
        ("ANSIBLE_INVENTORY_UNPARSED_FAILED", "1".to_owned()),
        ("ANSIBLE_HOST_KEY_CHECKING", "1".to_owned()),
        ("ANSIBLE_DEPRECATION_WARNINGS", "0".to_owned()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The playbook, its inventory and its variables, in a folder that only this call sees.
struct Files {
    dir: TempDir,
}

impl Files {
    fn write(spec: &AnsibleSpec, arguments: &Value, secret: Option<&OpenedCredential>) -> Result<Self, ToolsError> {
        let trouble = |error: std::io::Error| refused!("no folder for the playbook: {error}");
        let files = Self { dir: tempfile::tempdir().map_err(trouble)? };
        // In the sandbox another user must read them; without a credential they hold no secret.
        let (folder, file) = if secret.is_some() { (0o700, 0o600) } else { (0o755, 0o644) };
        let permissions = fs::Permissions::from_mode(folder);
        fs::set_permissions(files.dir.path(), permissions).map_err(trouble)?;
        let put = |name: &str, text: &str| write_new(&files.dir.path().join(name), text, file).map_err(trouble);
        put("playbook.yml", &spec.playbook)?;
        put("inventory", &spec.inventory)?;
        let mut variables = arguments.as_object().cloned().unwrap_or_default();
        if let Some(opened) = secret {
            let key = files.path("key");
            let field = |name: &str| opened.fields.get(name).map(ExposeSecret::expose_secret);
            if let Some(text) = field("private_key") {
                put("key", &format!("{}\n", text.trim_end()))?;
            }
            login_variables(&mut variables, opened.credential.kind, &key, field);
        }
        put("vars.yml", &unsafe_yaml(&Value::Object(variables)))?;
        Ok(files)
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }
}

fn login_variables<'a>(
    variables: &mut Map<String, Value>,
    kind: CredentialKind,
    key: &str,
    field: impl Fn(&str) -> Option<&'a str>,
) {
    let mut set = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            variables.insert(name.to_owned(), value.into());
        }
    };
    set("ansible_user", field("username"));
    set("ansible_password", field("password"));
    set("ansible_become_password", field("sudo_password").or(field("password")));
    if kind == CredentialKind::SshKey {
        set("ansible_ssh_private_key_file", Some(key));
    }
}

/// `!unsafe` keeps ansible from evaluating arguments such as `{{ lookup('pipe', 'id') }}`, which would run a program.
fn unsafe_yaml(value: &Value) -> String {
    match value {
        Value::String(text) => format!("!unsafe {}", yaml_string(text)),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(unsafe_yaml).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}: {}", yaml_string(name), unsafe_yaml(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// A JSON string that is valid in YAML too, which allows fewer unescaped characters.
fn yaml_string(text: &str) -> String {
    let json = Value::from(text).to_string();
    json.chars().fold(String::new(), |mut out, c| {
        let odd = matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
        if odd {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
        out
    })
}

/// The recap's counts, such as `ok=2 changed=1 …`, summed over all hosts.
fn recap_sums(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().skip_while(|line| !line.starts_with("PLAY RECAP"));
    let mut sums = BTreeMap::new();
    for word in lines.skip(1).flat_map(str::split_whitespace) {
        if let Some((name, Ok(count))) = word.split_once('=').map(|(name, n)| (name, n.parse::<u64>())) {
            *sums.entry(name.to_owned()).or_default() += count;
        }
    }
    sums
}

#[async_trait]
impl Executor for AnsibleExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Ansible
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        if spec.playbook.trim().is_empty() {
            return Err("config.playbook: give the YAML of the playbook".to_owned());
        }
        if spec.inventory.trim().is_empty() {
            return Err("config.inventory: name the hosts, such as `localhost`".to_owned());
        }
        if skill.credential.is_some() && !spec.network {
            return Err("credential: a playbook for this machine needs none; set network for other hosts".to_owned());
        }
        let names = skill.parameters["properties"].as_object();
        let reserved = |name: &&String| name.starts_with("ansible_");
        if let Some(name) = names.and_then(|names| names.keys().find(reserved)) {
            return Err(format!(
                "parameters: `{name}` is one of ansible's own variables, which decide where it goes and as whom; use another name"
            ));
        }
        if skill.parameters["additionalProperties"] != false {
            return Err(
                "parameters: set additionalProperties to false, since every argument becomes a variable".to_owned()
            );
        }
        if !spec.check && skill.effect == EffectClass::Read {
            return Err("effect: a playbook changes something; use write, or set check".to_owned());
        }
        Ok(())
    }

    /// Runs the playbook in check mode if it stays on this machine.
    async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let spec = spec(skill)?;
        let shown = Preview {
            summary: if spec.network {
                "runs a playbook with this machine's network, local services included"
            } else {
                "runs a playbook"
            }
            .to_owned(),
            detail: Some(format!("{}\nvariables: {arguments}", spec.playbook)),
            count: None,
            reversible: spec.check,
        };
        // Other hosts need the credential, which a preview doesn't open.
        if spec.network {
            return Ok(shown);
        }
        let context = Context::new(scope.clone(), String::new(), PREVIEW);
        Ok(match self.run_playbook(skill, arguments, None, &context, true).await {
            Ok(played) if played.succeeded => {
                let text = printed(&played.stdout, &Output::default());
                let changed = recap_sums(&text).get("changed").copied().unwrap_or(0);
                Preview {
                    summary: format!("runs a playbook that would change {changed} things"),
                    detail: Some(text),
                    count: Some(changed),
                    ..shown
                }
            }
            Ok(played) => Preview {
                summary: format!("runs a playbook; its check {}", played.how),
                detail: Some(printed(&played.stdout, &played.stderr)),
                ..shown
            },
            Err(error) => Preview { summary: format!("would fail: {error}"), ..shown },
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let played = self.run_playbook(job.skill, job.arguments, job.secret, context, false).await?;
        let text = printed(&played.stdout, &played.stderr);
        let sums = recap_sums(&played.stdout.text());
        let (reads, writes) = (played.reads, played.writes);
        if !played.succeeded {
            let how = played.how;
            let text = format!("ansible-playbook {how}; look at what it has done before trying again\n{text}");
            return Ok(ToolOutput { failed: true, reads, writes, ..ToolOutput::text(text) });
        }
        let count = |name: &str| sums.get(name).copied().unwrap_or(0);
        let evidence = format!("ok={} changed={}", count("ok"), count("changed"));
        Ok(ToolOutput {
            data: Some(json!({"exit": 0, "recap": sums, "stdout": played.stdout.text()})),
            receipt: receipt(job.skill, "played", job.skill.name.as_str(), Some(evidence)),
            reads,
            writes,
            ..ToolOutput::text(text)
        })
    }
}
