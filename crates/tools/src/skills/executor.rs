use super::template::{TemplateUse, check_argv, check_json, check_text};
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use crate::package::{NAME_CHARS, is_name};
use async_trait::async_trait;
use serde_json::Value;
use std::fmt::Display;
use steward_core::ports::{Interrupted, OpenedCredential, ToolScope};
use steward_core::schema;
use steward_core::skill::{Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, Receipt, Settled, ToolOutput};

macro_rules! spec_of {
    ($visible:vis $kind:ident, $spec:ty, $name:literal) => {
        $visible fn spec(skill: &Skill) -> Result<&$spec, ToolsError> {
            match &skill.spec {
                steward_core::skill::SkillSpec::$kind(spec) => Ok(spec),
                _ => Err(ToolsError::refused(concat!("this is no ", $name, " skill"))),
            }
        }
    };
}
pub(crate) use spec_of;

/// Prefixes what is wrong with a field of the configuration by its name.
pub(super) fn in_config<E: Display>(field: &str) -> impl Fn(E) -> String {
    move |error| format!("config.{field}: {error}")
}

/// One call of a skill. The arguments fit its schema; the credential is the one that was discovered.
#[derive(Debug, Clone, Copy)]
pub struct SkillCall<'a> {
    /// In the version of the run.
    pub skill: &'a Skill,
    pub arguments: &'a Value,
    /// The opened credential; only executors ever see it.
    pub secret: Option<&'a OpenedCredential>,
}

#[async_trait]
pub trait Executor: Send + Sync {
    fn kind(&self) -> SkillKind;

    /// Whether a configuration is valid when it is saved; the error names the field and what to do.
    fn check(&self, skill: &Skill) -> Result<(), String>;

    /// What a call would do, without secrets: the request, the command line, the rows.
    async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Result<Preview, ToolsError>;

    /// Whether [`Self::dry_run`] tells more than [`Self::preview`]. It gets the credential.
    fn has_dry_run(&self, _skill: &Skill) -> bool {
        false
    }

    /// What a call would change, found by trying it without effect. May hold secrets; the runtime scrubs them.
    async fn dry_run(&self, job: SkillCall<'_>, scope: &ToolScope) -> Result<Preview, ToolsError> {
        self.preview(job.skill, job.arguments, scope).await
    }

    /// Carries out the call. Ends soon after [`Context::halted`]. The result may hold secrets; the runtime scrubs them.
    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError>;

    /// Whether an interrupted call has happened, by its proof for [`Context::stage`]. Changes nothing.
    async fn settle(&self, job: SkillCall<'_>, _call: &Interrupted, _scope: &ToolScope) -> Settled {
        Settled::Unknown(format!("what `{}` does leaves nothing that shows it", job.skill.name))
    }

    /// Undoes an effect from the snapshot that [`Self::run`] returned.
    async fn undo(&self, job: SkillCall<'_>, _snapshot: &Value, _scope: &ToolScope) -> Result<String, ToolsError> {
        Err(refused!("what `{}` did can't be undone by Steward", job.skill.name))
    }
}

/// Checks what runs a command, here or on a server.
pub(super) fn check_command(
    command: &[String],
    stdin: Option<&str>,
    success: &[u32],
    parameters: &Value,
) -> Result<(), String> {
    check_argv(command, parameters).map_err(in_config("command"))?;
    if let Some(stdin) = stdin {
        check_text(stdin, TemplateUse::Stdin, parameters).map_err(in_config("stdin"))?;
    }
    if success.is_empty() {
        return Err("config.success: name the exit statuses that count, such as [0]".to_owned());
    }
    Ok(())
}

/// The receipt of a call, unless it only reads.
pub(super) fn receipt(
    skill: &Skill,
    action: &str,
    object: impl Into<String>,
    evidence: Option<String>,
) -> Option<Receipt> {
    (skill.effect != EffectClass::Read).then(|| Receipt::new(action, object, evidence))
}

/// Timeouts that a skill may have: up to an hour.
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 10..=3_600_000;
/// Result limits that a skill may have, characters.
const RESULT_CHARS: std::ops::RangeInclusive<usize> = 100..=200_000;

/// Checks name, schema, limits and compensation; the error says what to do.
pub(super) fn check_skill(skill: &Skill) -> Result<(), String> {
    let name = &skill.name;
    if !is_name(name, '_') {
        return Err(format!("name: `{name}` can't be the name of a skill; use 1 to {NAME_CHARS} of a-z, 0-9 and _"));
    }
    if skill.description.trim().is_empty() {
        return Err("description: say in a sentence what the skill does; models choose by it".to_owned());
    }
    check_parameters(&skill.parameters)?;
    if !TIMEOUT_MS.contains(&skill.limits.timeout_ms) {
        return Err(format!("limits.timeout_ms: give {} to {} milliseconds", TIMEOUT_MS.start(), TIMEOUT_MS.end()));
    }
    if !RESULT_CHARS.contains(&skill.limits.result_chars) {
        return Err(format!("limits.result_chars: give {} to {} characters", RESULT_CHARS.start(), RESULT_CHARS.end()));
    }
    if let Some(compensation) = &skill.compensation {
        if compensation.skill == *name {
            return Err("compensation.skill: a skill can't take its own effect back".to_owned());
        }
        check_json(&compensation.arguments, TemplateUse::Compensation, &skill.parameters)
            .map_err(|error| format!("compensation.arguments: {error}"))?;
    }
    Ok(())
}

fn check_parameters(parameters: &Value) -> Result<(), String> {
    if parameters["type"] != "object" {
        return Err(
            r#"parameters: must be a JSON Schema of an object, such as {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#
                .to_owned(),
        );
    }
    let reserved = ["credential", "result"];
    let names = parameters["properties"].as_object();
    if let Some(name) = names.and_then(|all| reserved.iter().find(|name| all.contains_key(**name))) {
        return Err(format!(
            "parameters: `{name}` stands for something else in templates; give the input another name"
        ));
    }
    schema::check(parameters).map_err(|problem| format!("parameters: {problem}"))
}
