//! A Dovecot of one's own: ports of loopback, everything else in a folder.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts the server, waits for its standard input to end and stops it. However the test ends, its end of
/// the pipe is closed, and nothing is left behind.
const KEEPER: &str = r#"
"$@" &
server=$!
read -r _
kill -TERM $server 2>/dev/null
wait $server
"#;

/// What is to be told to the server that is no number or path.
const SETTINGS: &str = "
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_min_protocol = TLSv1.2
disable_plaintext_auth = yes
auth_mechanisms = plain
auth_failure_delay = 0
first_valid_uid = 1
first_valid_gid = 1
passdb {
  driver = passwd-file
  args = scheme=PLAIN FOLDER/passwd
}
userdb {
  driver = static
  args = uid=UID gid=GID home=FOLDER/mail/%u
}
mail_location = maildir:FOLDER/mail/%u
base_dir = FOLDER/run
state_dir = FOLDER/state
log_path = FOLDER/log
ssl_cert = <FOLDER/leaf.pem
ssl_key = <FOLDER/leaf.key
default_client_limit = 400
default_process_limit = 50
namespace inbox {
  inbox = yes
  separator = /
}
service imap-login {
  chroot =
  inet_listener imap {
    port = PLAIN
  }
  inet_listener imaps {
    port = SECURE
    ssl = yes
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
";

pub struct Dovecot {
    keeper: Child,
    /// With STARTTLS.
    pub port: u16,
    /// With TLS.
    pub secure: u16,
}

fn program() -> &'static str {
    let places = ["/usr/sbin/dovecot", "/usr/local/sbin/dovecot"];
    let found = places.into_iter().find(|path| Path::new(path).exists());
    found.unwrap_or_else(|| panic!("dovecot is not installed: run scripts/setup.sh test"))
}

fn free() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn id(flag: &str) -> String {
    let out = Command::new("id").arg(flag).output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

impl Dovecot {
    /// Serves `folder/mail`; the certificate and `passwd` are there.
    pub fn start(folder: &Path) -> Self {
        let (port, secure) = (free(), free());
        let root = id("-u") == "0";
        let (uid, gid) = if root { ("65534".to_owned(), "65534".to_owned()) } else { (id("-u"), id("-g")) };
        let mut settings = SETTINGS
            .replace("FOLDER", &folder.display().to_string())
            .replace("UID", &uid)
            .replace("GID", &gid)
            .replace("PLAIN\n", &format!("{port}\n"))
            .replace("SECURE", &secure.to_string());
        if !root {
            let (user, group) = (id("-un"), id("-gn"));
            let _ = write!(
                settings,
                "default_login_user = {user}\ndefault_internal_user = {user}\ndefault_internal_group = {group}\n"
            );
        }
        let config = folder.join("dovecot.conf");
        fs::write(&config, settings).unwrap();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper", program(), "-F", "-c"])
            .arg(&config)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { keeper, port, secure }
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
