use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use steward_core::credential::CredentialKind;
use steward_core::policy::RiskClass;
use steward_core::skill::{self, Compensation, CredentialWanted, SkillKind, SkillLimits, SkillSpec};
use steward_core::tool::{EffectClass, Preview};
use steward_core::{AgentId, SkillId, Timestamp};
use utoipa::ToSchema;

/// A skill as it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillInput {
    /// Its name, unique; also the tool's.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9_]+$")]
    pub name: String,
    /// What it does, for the model and for people.
    #[schema(max_length = 4000)]
    pub description: String,
    /// What carries it out; the names of AOS such as `python_inline` are taken too.
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    pub kind: String,
    /// How; see `GET /api/skills/kinds`.
    #[schema(value_type = Object)]
    pub config: Value,
    /// JSON Schema (object) of its inputs; none: it takes none.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Option<Value>,
    /// Requests that it answers, in people's words.
    #[serde(default)]
    pub utterances: Vec<String>,
    /// How much harm it can do; by default the safe side of its type.
    pub risk: Option<RiskClass>,
    /// What a crash in mid-call means; by default the safe side of its type.
    pub effect: Option<EffectClass>,
    /// The credential it uses.
    pub credential: Option<CredentialWanted>,
    /// The skill that takes its effect back.
    pub compensation: Option<Compensation>,
    /// Limits.
    #[serde(default)]
    pub limits: SkillLimits,
    /// Whether it can be called.
    #[serde(default = "super::yes")]
    pub enabled: bool,
    /// Whether strangers may have written what it answers: a run that has seen it asks before it changes anything.
    #[serde(default)]
    pub untrusted: bool,
    /// Category of the catalogue.
    #[serde(default)]
    #[schema(max_length = 64)]
    pub category: String,
}

/// A skill, one version of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Skill {
    /// Its id, the same over all versions.
    pub id: SkillId,
    /// Its name; also the tool's.
    pub name: String,
    /// Counts from 1.
    pub version: u32,
    /// What it does.
    pub description: String,
    /// What carries it out.
    #[serde(rename = "type")]
    pub kind: SkillKind,
    /// How.
    #[schema(value_type = Object)]
    pub config: Value,
    /// JSON Schema of its inputs.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Requests that it answers.
    pub utterances: Vec<String>,
    /// How much harm it can do.
    pub risk: RiskClass,
    /// What a crash in mid-call means.
    pub effect: EffectClass,
    /// The credential it uses.
    #[schema(required)]
    pub credential: Option<CredentialWanted>,
    /// The skill that takes its effect back.
    #[schema(required)]
    pub compensation: Option<Compensation>,
    /// Limits.
    pub limits: SkillLimits,
    /// Whether it can be called.
    pub enabled: bool,
    /// Whether strangers may have written what it answers.
    pub untrusted: bool,
    /// The package it came in.
    #[schema(required)]
    pub package: Option<String>,
    /// Category of the catalogue.
    pub category: String,
    /// When this version was made, ms since 1970 UTC.
    pub at: Timestamp,
    /// Who made it.
    pub by: String,
}

/// A skill and the agents that have it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SkillDetail {
    /// The skill.
    #[serde(flatten)]
    pub skill: Skill,
    /// Ids of the agents.
    pub agents: Vec<AgentId>,
}

/// A type of skill and how it is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SkillKindInfo {
    /// The type.
    #[serde(rename = "type")]
    pub kind: SkillKind,
    /// Risk of a skill that names none.
    pub risk: RiskClass,
    /// Effect of a skill that names none.
    pub effect: EffectClass,
    /// Kinds of credential that suit it, best first.
    pub credentials: Vec<CredentialKind>,
    /// JSON Schema of `config`.
    #[schema(value_type = Object)]
    pub config: Value,
    /// A whole skill to begin with.
    #[schema(value_type = Object)]
    pub example: Value,
}

/// Which version to go back to.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rollback {
    /// The version.
    #[schema(minimum = 1)]
    pub version: u32,
}

/// A call of a skill by a person.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillTest {
    /// Its arguments.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Whether only to say what it would do.
    #[serde(default = "super::yes")]
    pub dry_run: bool,
    /// Whether it may change something: needed, and an operator, for skills that do more than look.
    #[serde(default)]
    pub confirm: bool,
    /// The agent whose credentials are used; none: only those that may be found.
    pub agent: Option<AgentId>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SkillTested {
    /// Whether it worked; a dry run always does.
    pub ok: bool,
    /// What it would do.
    pub preview: String,
    /// The same in parts, as an approval shows it.
    pub change: Preview,
    /// What came back, as a model would get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The same as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub data: Option<Value>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took, milliseconds.
    pub ms: u64,
}

/// A skill that was made or changed and attached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Attached {
    /// The skill.
    pub skill: Skill,
    /// Whether it was made; else one of this name was changed.
    pub created: bool,
}

/// A server and its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SshHost {
    /// Name or address, lower case.
    pub host: String,
    /// Port.
    pub port: u16,
    /// SHA-256 fingerprint of its host key, as OpenSSH writes it.
    pub fingerprint: String,
}

/// A key to accept.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SshHostInput {
    /// Name or address.
    #[schema(min_length = 1, max_length = 255)]
    pub host: String,
    /// Port; left out: 22.
    #[schema(minimum = 1)]
    pub port: Option<u16>,
    /// `SHA256:…`, as the refusal showed it.
    #[schema(pattern = "^SHA256:[A-Za-z0-9+/]{43}$")]
    pub fingerprint: String,
}

impl SkillInput {
    pub fn skill(self, id: SkillId, at: Timestamp, by: String) -> Result<skill::Skill, (&'static str, String)> {
        let kind: SkillKind = self.kind.parse().map_err(|why| ("type", why))?;
        let spec: SkillSpec = serde_json::from_value(json!({"type": kind.as_str(), "config": self.config}))
            .map_err(|error| ("config", error.to_string()))?;
        let (risk, effect) = kind.defaults();
        Ok(skill::Skill {
            id,
            name: self.name,
            version: 1,
            description: self.description.trim().to_owned(),
            utterances: self.utterances,
            parameters: self
                .parameters
                .unwrap_or_else(|| json!({"type": "object", "properties": {}, "additionalProperties": false})),
            spec,
            risk: self.risk.unwrap_or(risk),
            effect: self.effect.unwrap_or(effect),
            credential: self.credential,
            compensation: self.compensation,
            limits: self.limits,
            enabled: self.enabled,
            untrusted: self.untrusted,
            package: None,
            category: self.category,
            at,
            by,
        })
    }
}

impl From<skill::Skill> for Skill {
    fn from(skill: skill::Skill) -> Self {
        let kind = skill.kind();
        let config = serde_json::to_value(&skill.spec)
            .ok()
            .and_then(|mut spec| spec.get_mut("config").map(Value::take))
            .unwrap_or_default();
        Self {
            id: skill.id,
            name: skill.name,
            version: skill.version,
            description: skill.description,
            kind,
            config,
            parameters: skill.parameters,
            utterances: skill.utterances,
            risk: skill.risk,
            effect: skill.effect,
            credential: skill.credential,
            compensation: skill.compensation,
            limits: skill.limits,
            enabled: skill.enabled,
            untrusted: skill.untrusted,
            package: skill.package,
            category: skill.category,
            at: skill.at,
            by: skill.by,
        }
    }
}
