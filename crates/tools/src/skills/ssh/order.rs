//! What a call asks for, as fixed text and bytes, before anything is sent.

use super::known::Place;
use crate::error::ToolsError;
use crate::skills::template::{self, Values, quote, remote};
use serde_json::Value;
use steward_core::skill::{Skill, SkillSpec, SshSpec};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jump {
    pub user: Option<String>,
    pub place: Place,
}

/// Where to, and the command there.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub place: Place,
    pub jump: Option<Jump>,
    /// Login name, where the skill says it.
    pub user: Option<String>,
    /// The command as the remote shell reads it, without sudo.
    pub line: String,
    pub sudo: bool,
    pub stdin: Option<String>,
}

impl Order {
    /// What `values` make of the skill.
    pub fn of(spec: &SshSpec, values: &Values<'_>) -> Result<Self, ToolsError> {
        let line = remote(&spec.command, values)?;
        let stdin = spec.stdin.as_deref();
        let stdin = stdin.map(|text| template::text(text, values)).transpose()?;
        Ok(Self {
            place: place(chosen(spec, values.arguments)?, spec.port)?,
            jump: spec.jump.as_deref().map(jump).transpose()?,
            user: spec.user.clone(),
            line,
            sudo: spec.sudo,
            stdin: stdin.flatten(),
        })
    }

    /// The command for people, as it runs apart from the prompt.
    pub fn shown(&self) -> String {
        if self.sudo { format!("sudo -- {}", self.line) } else { self.line.clone() }
    }

    pub fn host(&self) -> String {
        match self.place.port {
            22 => self.place.host.clone(),
            _ => self.place.to_string(),
        }
    }
}

pub(super) fn spec(skill: &Skill) -> Result<&SshSpec, ToolsError> {
    match &skill.spec {
        SkillSpec::Ssh(spec) => Ok(spec),
        _ => Err(ToolsError::refused("this is no ssh skill")),
    }
}

pub(super) fn place(host: &str, port: u16) -> Result<Place, ToolsError> {
    Place::new(host, port).map_err(|error| ToolsError::Refused(error.to_string()))
}

/// `[user@]host[:port]`.
pub(super) fn jump(text: &str) -> Result<Jump, ToolsError> {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, text),
    };
    if let Some(user) = user {
        check_user(user).map_err(ToolsError::Refused)?;
    }
    Ok(Jump {
        user: user.map(str::to_owned),
        place: host.parse().map_err(|error: super::HostKeysError| ToolsError::Refused(error.to_string()))?,
    })
}

/// Login names, and nothing that could be read as something else.
pub(super) fn check_user(user: &str) -> Result<(), String> {
    let plain = |c: char| c.is_alphanumeric() || "._-@\\+".contains(c);
    if user.is_empty() || user.starts_with('-') || !user.chars().all(plain) {
        return Err(format!("`{user}` is no login name; write it as text"));
    }
    Ok(())
}

/// The argument `host` chooses only where the skill offers a choice.
fn chosen<'a>(spec: &'a SshSpec, arguments: &Value) -> Result<&'a str, ToolsError> {
    if spec.hosts.is_empty() {
        return Ok(&spec.host);
    }
    let Some(wanted) = arguments.get("host").filter(|value| !value.is_null()) else {
        return Ok(&spec.host);
    };
    let all = || std::iter::once(&spec.host).chain(&spec.hosts);
    all().find(|host| wanted.as_str() == Some(host)).map(String::as_str).ok_or_else(|| {
        let mut names: Vec<&str> = all().map(String::as_str).collect();
        names.dedup();
        ToolsError::Refused(format!(
            "host: {} is none of the hosts of this skill; choose {}",
            quote(wanted.as_str().unwrap_or(&wanted.to_string())),
            names.join(" or ")
        ))
    })
}
