//! Servers, accounts and a dispatcher over them.

use super::dovecot::Dovecot;
use crate::fakes::Bench;
use crate::search::credential;
use crate::skills::world::Rows;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::ports::Tools as _;
use steward_tools::mail::{MailConfig, MailPorts, with_mail};
use tempfile::TempDir;
use tokio::net::TcpStream;

pub const PASSWORD: &str = "canary-mail-4d81c07e";

fn run(program: &str, arguments: &[&str], folder: &Path) {
    let done = Command::new(program).args(arguments).current_dir(folder).output();
    let done = done.unwrap_or_else(|_| panic!("{program} is not installed: run scripts/setup.sh test"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// An authority, and a certificate of it for this machine.
fn certificates(folder: &Path) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority =
        ["req", "-x509", "-subj", "/CN=test authority", "-days", "30", "-keyout", "ca.key", "-out", "ca.pem"];
    let request = ["req", "-subj", "/CN=localhost", "-keyout", "leaf.key", "-out", "leaf.csr"];
    run("openssl", &[&authority[..], &key].concat(), folder);
    run("openssl", &[&request[..], &key].concat(), folder);
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n").unwrap();
    let sign = [
        "x509",
        "-req",
        "-in",
        "leaf.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "30",
        "-extfile",
        "names",
        "-out",
        "leaf.pem",
    ];
    run("openssl", &sign, folder);
}

/// Servers of mail.
pub struct Servers {
    pub folder: TempDir,
    pub imap: Dovecot,
    smtp: Child,
    ports: Value,
}

impl Servers {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        certificates(folder.path());
        for name in ["mail", "run", "state"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("passwd"), format!("ann:{{PLAIN}}{PASSWORD}::::::\n")).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(at("mail"), Some(65534), Some(65534)).unwrap();
        }
        let python = steward_testkit::set_up("venv-mail/bin/python3");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/post/smtp_server.py");
        let mut smtp = Command::new(python)
            .arg(script)
            .args([at("mail"), at("leaf.pem"), at("leaf.key")])
            .arg(PASSWORD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(smtp.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ports = serde_json::from_str(&line).expect("the SMTP server starts");
        let imap = Dovecot::start(folder.path());
        let servers = Self { folder, imap, smtp, ports };
        servers.wait().await;
        servers
    }

    async fn wait(&self) {
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", self.imap.secure)).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        panic!("Dovecot does not start: {log}");
    }

    pub fn smtp(&self, kind: &str) -> String {
        let port = self.ports[kind].as_u64().unwrap();
        let scheme = match kind {
            "tls" => "smtps",
            "starttls" => "smtp",
            _ => "smtp+plain",
        };
        format!("{scheme}://localhost:{port}")
    }

    /// The settings of an account of this name.
    pub fn account(&self, name: &str, rest: &str) -> String {
        let folder = self.folder.path().display();
        format!(
            "[accounts.{name}]\nfrom = 'Ann Lée <ann@example.org>'\ncredential = 'post'\nca = '{folder}/ca.pem'\n{rest}\n"
        )
    }

    /// The usual account.
    pub fn usual(&self) -> String {
        let rest = format!("smtp = '{}'\nimap = 'imaps://localhost:{}'", self.smtp("starttls"), self.imap.secure);
        self.account("work", &rest)
    }

    /// Puts a message into ann's mailbox, as it is.
    pub fn put(&self, mailbox: &str, name: &str, text: &[u8]) {
        let folder = self.folder.path().join("mail/ann").join(mailbox);
        for name in ["cur", "new", "tmp"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("new").join(name), text).unwrap();
        if rustix::process::geteuid().is_root() {
            let all = folder.ancestors().take_while(|one| !one.ends_with("mail"));
            let inner = ["cur", "new", "tmp"].map(|name| folder.join(name));
            for path in all.map(Path::to_owned).chain(inner).chain([folder.join("new").join(name)]) {
                chown(path, Some(65534), Some(65534)).unwrap();
            }
        }
    }

    /// How many messages were delivered to someone.
    pub fn delivered(&self, user: &str) -> usize {
        let folder = self.folder.path().join("mail").join(user).join("new");
        fs::read_dir(folder).map_or(0, Iterator::count)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        drop(self.smtp.stdin.take());
        let _ = self.smtp.wait();
    }
}

/// A dispatcher with the accounts of these settings.
pub fn bench(settings: &str) -> (Bench, Arc<Rows>) {
    let config = MailConfig::parse(settings, |path| fs::read(path)).unwrap();
    let rows = Arc::new(Rows::default());
    credential(&rows, "post", CredentialKind::Password, &[("username", "ann"), ("password", PASSWORD)]);
    credential(&rows, "wrong", CredentialKind::Password, &[("username", "ann"), ("password", "canary-wrong-99")]);
    credential(&rows, "token", CredentialKind::Token, &[("token", "t")]);
    let mut bench = Bench::new();
    let ports = MailPorts { vault: rows.clone(), users: rows.clone() };
    bench.tools = with_mail(bench.builder(), config, ports).build().unwrap();
    (bench, rows)
}

pub fn names(bench: &Bench) -> Vec<String> {
    let all = bench.tools.catalogue().into_iter().map(|spec| spec.name);
    all.filter(|name| name.starts_with("mail_")).collect()
}

pub fn letter(subject: &str) -> Value {
    json!({"to": "bob@example.net", "subject": subject, "body": "Hello\n.\nBye"})
}
