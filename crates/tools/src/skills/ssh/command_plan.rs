use super::known_hosts::SshAddress;
use crate::error::{ToolsError, refused};
use crate::skills::executor::spec_of;
use crate::skills::template::{self, Values, quote, remote_line};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use steward_core::skill::{Skill, SshSpec};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::skills) struct JumpHost {
    pub user: Option<String>,
    pub place: SshAddress,
}

#[derive(Debug, Clone)]
pub(super) struct CommandPlan {
    pub place: SshAddress,
    pub jump: Option<JumpHost>,
    pub user: Option<String>,
    /// The command for the remote shell, without sudo.
    pub line: String,
    pub sudo: bool,
    pub stdin: Option<String>,
}

impl CommandPlan {
    pub fn of(spec: &SshSpec, values: &Values<'_>) -> Result<Self, ToolsError> {
        let line = remote_line(&spec.command, values)?;
        let stdin = spec.stdin.as_deref();
        let stdin = stdin.map(|text| template::text(text, values)).transpose()?;
        Ok(Self {
            place: parse_host(chosen_host(spec, values.arguments)?, spec.port)?,
            jump: spec.jump.as_deref().map(parse_jump).transpose()?,
            user: spec.user.clone(),
            line,
            sudo: spec.sudo,
            stdin: stdin.flatten(),
        })
    }

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

spec_of!(pub(super) Ssh, SshSpec, "ssh");

pub(super) fn parse_host(host: &str, port: u16) -> Result<SshAddress, ToolsError> {
    Ok(SshAddress::new(host, port)?)
}

/// `[user@]host[:port]`.
pub(in crate::skills) fn parse_jump(text: &str) -> Result<JumpHost, ToolsError> {
    let (user, host) = match text.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, text),
    };
    if let Some(user) = user {
        check_user(user).map_err(ToolsError::Refused)?;
    }
    Ok(JumpHost { user: user.map(str::to_owned), place: host.parse()? })
}

pub(super) fn check_user(user: &str) -> Result<(), String> {
    let plain = |c: char| c.is_alphanumeric() || "._-@\\+".contains(c);
    if user.is_empty() || user.starts_with('-') || !user.chars().all(plain) {
        return Err(format!("`{user}` is no login name; write it as text"));
    }
    Ok(())
}

/// The argument `host` is used only if the skill offers a choice.
fn chosen_host<'a>(spec: &'a SshSpec, arguments: &Value) -> Result<&'a str, ToolsError> {
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
        refused!(
            "host: {} is none of the hosts of this skill; choose {}",
            quote(wanted.as_str().unwrap_or(&wanted.to_string())),
            names.join(" or ")
        )
    })
}

pub(super) struct Sudo {
    /// sudo's prompt, which is random so that only sudo can write it.
    marker: String,
    password: SecretString,
    asked: u32,
    /// The last bytes, which may be the start of the marker.
    held: Vec<u8>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StderrPart {
    pub text: Vec<u8>,
    pub asked: u32,
}

/// Also returns the dialog with sudo. Without a password sudo must not ask for one, so it fails instead of waiting.
pub(super) fn line_with_sudo(
    order: &CommandPlan,
    password: Option<&SecretString>,
    marker: String,
) -> (String, Option<Sudo>) {
    match (order.sudo, password) {
        (false, _) => (order.line.clone(), None),
        (true, None) => (format!("sudo -n -- {}", order.line), None),
        (true, Some(password)) => {
            // -k forgets an earlier login, so that sudo always asks.
            let line = format!("sudo -k -S -p {marker} -- {}", order.line);
            let sudo = Sudo { marker, password: password.clone(), asked: 0, held: Vec::new() };
            (line, Some(sudo))
        }
    }
}

impl Sudo {
    pub fn strip_prompts(&mut self, bytes: &[u8]) -> StderrPart {
        let mut heard = StderrPart::default();
        let marker = self.marker.as_bytes();
        self.held.extend_from_slice(bytes);
        while let Some(at) = self.held.windows(marker.len()).position(|window| window == marker) {
            heard.text.extend(self.held.drain(..at + marker.len()).take(at));
            heard.asked += 1;
        }
        let keep = (1..marker.len()).rev().find(|&size| self.held.ends_with(&marker[..size])).unwrap_or(0);
        let ready = self.held.len() - keep;
        heard.text.extend(self.held.drain(..ready));
        self.asked += heard.asked;
        heard
    }

    /// The bytes that were held back, at the end of stderr.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// The answer to the first prompt; a second prompt means that it was wrong.
    pub fn answer(&self) -> Option<Vec<u8>> {
        (self.asked <= 1).then(|| format!("{}\n", self.password.expose_secret()).into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_found_however_it_is_cut_and_never_shown() {
        let text = b"warning: [st-1 st\n[st-12]done[st-1";
        for size in 1..text.len() {
            let mut sudo =
                Sudo { marker: "[st-12]".to_owned(), password: "p".to_owned().into(), asked: 0, held: Vec::new() };
            let (mut seen, mut asked) = (Vec::new(), 0);
            for chunk in text.chunks(size) {
                let heard = sudo.strip_prompts(chunk);
                seen.extend(heard.text);
                asked += heard.asked;
            }
            seen.extend(sudo.rest());
            assert_eq!(seen, b"warning: [st-1 st\ndone[st-1", "{size}");
            assert_eq!(asked, 1);
            assert_eq!(sudo.answer().unwrap(), b"p\n");
        }
    }

    #[test]
    fn a_second_prompt_gets_no_answer() {
        let mut sudo = Sudo { marker: "MARK".to_owned(), password: "p".to_owned().into(), asked: 0, held: Vec::new() };
        sudo.strip_prompts(b"MARK");
        assert_eq!(sudo.answer().unwrap(), b"p\n");
        sudo.strip_prompts(b"Sorry, try again.\nMARK");
        assert_eq!(sudo.answer(), None);
    }
}
