//! A MariaDB server of one's own, thrown away afterwards. The programs are the system's (package `mariadb-server`).

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, MySqlConnection};

/// Starts the server, waits for its standard input to end and stops the server. However the test ends, its end of the
/// pipe is closed, and nothing is left behind.
const KEEPER: &str = r#"
folder=$1; shift
"$@" >"$folder/log" 2>&1 &
server=$!
read -r _
kill -KILL $server 2>/dev/null
wait $server
rm -rf "$folder"
"#;

pub struct MariaDb {
    keeper: Child,
    port: u16,
}

fn program(name: &str) -> std::path::PathBuf {
    ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{name} is not installed: run `scripts/setup.sh test` (package mariadb-server)"))
}

impl MariaDb {
    pub async fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("mariadb-").tempdir().unwrap().keep();
        let at = |name: &str| folder.join(name).display().to_string();
        std::fs::create_dir(folder.join("tmp")).unwrap();
        let user = if rustix::process::geteuid().is_root() { "--user=root" } else { "--skip-symbolic-links" };
        // A server that starts clears what others have in a folder that it shares; this starts one too.
        let made = Command::new(program("mariadb-install-db"))
            .env("TMPDIR", at("tmp"))
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg(format!("--datadir={}", at("data")))
            .arg(user)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&folder)
            .arg(program("mariadbd"))
            .args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-buffer-pool-size=32M"])
            .arg(format!("--datadir={}", at("data")))
            .arg(format!("--tmpdir={}", at("tmp")))
            .arg(format!("--socket={}", at("socket")))
            .arg(format!("--pid-file={}", at("pid")))
            .arg(format!("--port={port}"))
            .arg(user)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let this = Self { keeper, port };
        let until = Instant::now() + Duration::from_mins(5);
        while MySqlConnection::connect(&this.url("root", "mysql")).await.is_err() {
            let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "MariaDB does not start: {log}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        this
    }

    pub fn url(&self, user: &str, database: &str) -> String {
        format!("mysql://{user}@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
