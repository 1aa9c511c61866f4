//! A real sshd for one test.

use std::fs;
use std::io::{Error, Result};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Where sshd and its tools may be; `sbin` is not on everybody's `PATH`.
const PLACES: [&str; 6] = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/sbin", "/bin"];

/// An sshd on a loopback port, with keys in a temporary folder, for logins of the current user. Ends when dropped.
#[derive(Debug)]
pub struct Sshd {
    folder: TempDir,
    port: u16,
    child: Child,
}

impl Sshd {
    /// Starts one. The user's key is protected by `passphrase` (empty: not at all). Programs are searched in the folder
    /// `bin` of [`Self::path`] first, and `FAKE` holds the path of its parent.
    ///
    /// # Errors
    /// If OpenSSH is not installed, or it does not start.
    pub fn start(passphrase: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        keygen(&at("host"), "")?;
        keygen(&at("user"), passphrase)?;
        fs::copy(at("user.pub"), at("authorized_keys"))?;
        fs::create_dir(at("bin"))?;
        // sshd needs this folder when root starts it.
        if user()? == "root" {
            fs::create_dir_all("/run/sshd")?;
        }
        let free = TcpListener::bind("127.0.0.1:0")?;
        let port = free.local_addr()?.port();
        drop(free);
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n\
             AllowTcpForwarding yes\nMaxStartups 100\nSetEnv PATH={}:/usr/bin:/bin FAKE={}\n",
            at("host").display(),
            at("authorized_keys").display(),
            at("bin").display(),
            folder.path().display(),
        );
        fs::write(at("config"), config)?;
        let mut server = Self { child: spawn(folder.path())?, folder, port };
        server.wait()?;
        Ok(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A file of its folder: `user` and `user.pub` (the key that may log in), `host`, `host.pub`, `bin`, `log`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Fingerprint of its host key, as ssh-keygen says.
    ///
    /// # Errors
    /// If ssh-keygen can't be run.
    pub fn fingerprint(&self) -> Result<String> {
        let out = Command::new(tool("ssh-keygen")?).arg("-lf").arg(self.path("host.pub")).output()?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let word = text.split_whitespace().nth(1).map(str::to_owned);
        word.ok_or_else(|| Error::other(format!("ssh-keygen said {text:?}")))
    }

    /// Restarts the server with another host key.
    ///
    /// # Errors
    /// If it does not start again.
    pub fn change_key(&mut self) -> Result<()> {
        self.end();
        fs::remove_file(self.path("host"))?;
        fs::remove_file(self.path("host.pub"))?;
        keygen(&self.path("host"), "")?;
        self.child = spawn(self.folder.path())?;
        self.wait()
    }

    /// Kills the processes that serve connections, but not the listener.
    pub fn cut(&self) {
        let pid = self.child.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            // One that has just ended by itself is fine.
            let _ = Command::new("kill").args(["-9", child]).status();
        }
    }

    fn wait(&mut self) -> Result<()> {
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(());
            }
            if self.child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(Error::other(format!("sshd did not start: {}", self.log())))
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.cut();
        self.end();
    }
}

/// Name of the user that tests run as.
///
/// # Errors
/// If `id` can't be run.
pub fn user() -> Result<String> {
    let out = Command::new("id").arg("-un").output()?;
    Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// Makes an ed25519 key at `path` (and `path.pub`).
///
/// # Errors
/// If ssh-keygen is missing or refuses.
pub fn keygen(path: &Path, passphrase: &str) -> Result<()> {
    let status = Command::new(tool("ssh-keygen")?)
        .args(["-q", "-t", "ed25519", "-C", "test", "-N", passphrase, "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(Error::other(format!("ssh-keygen ended with {status}")))
}

fn tool(name: &str) -> Result<PathBuf> {
    let found = PLACES.iter().map(|place| Path::new(place).join(name));
    found
        .into_iter()
        .find(|path| path.exists())
        .ok_or_else(|| Error::other(format!("{name} is not installed; run scripts/setup.sh test")))
}

fn spawn(folder: &Path) -> Result<Child> {
    let log = fs::File::create(folder.join("log"))?;
    Command::new(tool("sshd")?)
        .args(["-D", "-e", "-f"])
        .arg(folder.join("config"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
}
