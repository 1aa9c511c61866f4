//! A real sshd of one's own: a port of loopback, keys in a temporary folder, this user's login.

use crate::skills::world::{World, skill};
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::skill::Skill;
use steward_tools::skills::{FileHostKeys, SshExecutor, trust_host};
use tempfile::TempDir;

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
    pub folder: TempDir,
    pub port: u16,
    sshd: Child,
}

fn tool(name: &str) -> PathBuf {
    let places = [
        "/usr/sbin",
        "/usr/bin",
        "/usr/local/sbin",
        "/usr/local/bin",
        "/sbin",
    ];
    let found = places
        .iter()
        .map(|place| Path::new(place).join(name))
        .find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is not installed; run scripts/setup.sh test"))
}

pub fn user() -> String {
    let out = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

pub fn keygen(path: &Path, passphrase: &str) {
    let done = Command::new(tool("ssh-keygen"))
        .args(["-q", "-t", "ed25519", "-C", "test", "-N", passphrase, "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .status();
    assert!(done.unwrap().success());
}

impl Server {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        keygen(&at("host"), "");
        keygen(&at("user"), PASSPHRASE);
        fs::copy(at("user.pub"), at("authorized_keys")).unwrap();
        fs::create_dir(at("bin")).unwrap();
        fs::write(at("bin/sudo"), FAKE_SUDO).unwrap();
        fs::set_permissions(at("bin/sudo"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(at("password"), SUDO).unwrap();
        // sshd wants this folder when it is started by root.
        if user() == "root" {
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let show = |name: &str| at(name).display().to_string();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             AllowTcpForwarding yes\nMaxStartups 100\nSetEnv PATH={}:/usr/bin:/bin FAKE={}\n",
            show("host"),
            show("authorized_keys"),
            show("bin"),
            folder.path().display(),
        );
        fs::write(at("config"), config).unwrap();
        let mut server = Self {
            sshd: Self::spawn(folder.path()),
            folder,
            port,
        };
        server.wait();
        server
    }

    fn spawn(folder: &Path) -> Child {
        let log = fs::File::create(folder.join("log")).unwrap();
        Command::new(tool("sshd"))
            .args(["-D", "-e", "-f"])
            .arg(folder.join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    fn wait(&mut self) {
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            assert!(self.sshd.try_wait().unwrap().is_none(), "{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("sshd did not start: {}", self.log());
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Fingerprint of its host key, as ssh-keygen says.
    pub fn fingerprint(&self) -> String {
        let out = Command::new(tool("ssh-keygen"))
            .arg("-lf")
            .arg(self.path("host.pub"))
            .output();
        let text = String::from_utf8(out.unwrap().stdout).unwrap();
        text.split_whitespace().nth(1).unwrap().to_owned()
    }

    /// The same server with another host key.
    pub fn change_key(&mut self) {
        self.end();
        fs::remove_file(self.path("host")).unwrap();
        fs::remove_file(self.path("host.pub")).unwrap();
        keygen(&self.path("host"), "");
        self.sshd = Self::spawn(self.folder.path());
        self.wait();
    }

    /// Kills what serves the connections, not the listener.
    pub fn cut(&self) {
        let pid = self.sshd.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        for child in children.split_whitespace() {
            // One that has just ended by itself is as good.
            let _ = Command::new("kill").args(["-9", child]).status();
        }
    }

    fn end(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
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
        let world = World::new(vec![Arc::new(SshExecutor::new(Arc::new(
            FileHostKeys::new(self.hosts()),
        )))]);
        let key = self.text("user");
        world.credential(
            "server",
            CredentialKind::SshKey,
            &[
                ("username", &user()),
                ("private_key", &key),
                ("passphrase", PASSPHRASE),
                ("sudo_password", SUDO),
            ],
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

impl Drop for Server {
    fn drop(&mut self) {
        self.cut();
        self.end();
    }
}
