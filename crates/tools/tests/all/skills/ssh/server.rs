//! A real sshd of one's own: a port of loopback, keys in a temporary folder, this user's login.

use crate::skills::world::{World, skill};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steward_core::credential::CredentialKind;
use steward_core::skill::Skill;
use steward_testkit::sshd::{self, Sshd};
use steward_tools::skills::{FileHostKeys, SshExecutor, trust_host};

pub const PASSPHRASE: &str = "canary-passphrase-7f3a";
pub const SUDO: &str = "canary-sudo-91bd";

/// sudo as seen by its caller: a prompt on stderr, an answer on stdin, then the program.
const FAKE_SUDO: &str = r#"#!/bin/sh
[ "$1" = -n ] && { echo 'sudo: a password is required' >&2; exit 1; }
prompt=
while [ $# -gt 0 ]; do
  case $1 in
    -k | -S) shift ;;
    -p) prompt=$2; shift 2 ;;
    --) shift; break ;;
    *) exit 64 ;;
  esac
done
[ -e "$FAKE/free" ] && exec "$@"
for _ in 1 2 3; do
  printf %s "$prompt" >&2
  IFS= read -r word || exit 1
  [ "$word" = "$(cat "$FAKE/password")" ] && exec "$@"
  echo 'Sorry, try again.' >&2
done
exit 1
"#;

pub struct Server {
    sshd: Sshd,
    pub port: u16,
}

pub fn user() -> String {
    sshd::user().unwrap()
}

pub fn keygen(path: &Path, passphrase: &str) {
    sshd::keygen(path, passphrase).unwrap();
}

impl Server {
    pub fn start() -> Self {
        let sshd = Sshd::start(PASSPHRASE).unwrap();
        let sudo = sshd.path("bin/sudo");
        fs::write(&sudo, FAKE_SUDO).unwrap();
        fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(sshd.path("password"), SUDO).unwrap();
        let port = sshd.port();
        Self { sshd, port }
    }

    pub fn log(&self) -> String {
        self.sshd.log()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.sshd.path(name)
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Fingerprint of its host key, as ssh-keygen says.
    pub fn fingerprint(&self) -> String {
        self.sshd.fingerprint().unwrap()
    }

    /// The same server with another host key.
    pub fn change_key(&mut self) {
        self.sshd.change_key().unwrap();
    }

    /// Kills what serves the connections, not the listener.
    pub fn cut(&self) {
        self.sshd.cut();
    }

    pub fn hosts(&self) -> PathBuf {
        self.path("ssh_known_hosts.json")
    }

    /// A world that may log in, with the host key accepted already.
    pub fn world(&self) -> World {
        trust_host(&self.hosts(), "127.0.0.1", self.port, &self.fingerprint()).unwrap();
        self.stranger()
    }

    /// A world that may log in and knows no host key.
    pub fn stranger(&self) -> World {
        let world = World::new(vec![Arc::new(SshExecutor::new(Arc::new(FileHostKeys::new(self.hosts()))))]);
        let key = self.text("user");
        world.credential(
            "server",
            CredentialKind::SshKey,
            &[("username", &user()), ("private_key", &key), ("passphrase", PASSPHRASE), ("sudo_password", SUDO)],
        );
        world
    }

    /// A skill that runs `command` with the inputs `a`, `b`, `c`.
    pub fn skill(&self, command: &Value, config: Value, rest: &Value) -> Skill {
        let mut all = json!({"host": "127.0.0.1", "port": self.port, "command": command});
        for (key, value) in config.as_object().unwrap() {
            all[key] = value.clone();
        }
        let text = json!({"type": "string"});
        let mut outer = json!({
            "type": "ssh", "config": all, "effect": "write", "risk": "destructive",
            "credential": {"name": "server"},
            "parameters": {"type": "object", "properties": {"a": text, "b": text, "c": text, "host": text}},
        });
        for (key, value) in rest.as_object().unwrap() {
            outer[key] = value.clone();
        }
        skill(1, "remote", outer)
    }
}
