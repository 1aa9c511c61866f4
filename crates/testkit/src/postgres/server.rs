use super::install::{Install, USER};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::io::{Error, Result};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// Starts the server, waits for its standard input to end, stops the server and removes the folder. However the test
/// ends, its end of the pipe is closed, so nothing is left behind.
const KEEPER: &str = r#"
folder=$1; shift
"$@" >"$folder/log" 2>&1 &
server=$!
read -r _
kill -QUIT $server 2>/dev/null
wait $server
rm -rf "$folder"
"#;
/// Longest wait for a start.
const PATIENCE: Duration = Duration::from_mins(5);

/// A server that stops when this is dropped or the process ends.
#[derive(Debug)]
pub struct TestPostgres {
    keeper: Child,
    folder: TempDir,
    port: u16,
    databases: AtomicU32,
}

impl TestPostgres {
    /// The server of this process, started at the first call.
    pub async fn shared() -> Result<&'static Self> {
        static SHARED: OnceCell<TestPostgres> = OnceCell::const_new();
        SHARED.get_or_try_init(Self::start).await
    }

    /// A separate server.
    pub async fn start() -> Result<Self> {
        let this = tokio::task::spawn_blocking(Self::launch).await.map_err(Error::other)??;
        this.wait_until_ready().await?;
        Ok(this)
    }

    pub async fn fresh_database(&self) -> Result<String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let mut admin = PgConnection::connect(&self.url("postgres")).await.map_err(Error::other)?;
        admin.execute(AssertSqlSafe(format!("create database {name}"))).await.map_err(Error::other)?;
        admin.close().await.map_err(Error::other)?;
        Ok(self.url(&name))
    }

    /// URL of a new, empty database for a user of its own, who may do there what any user may.
    pub async fn fresh_database_of(&self, user: &str, password: &str) -> Result<String> {
        let url = self.fresh_database().await?;
        let mut admin = PgConnection::connect(&url).await.map_err(Error::other)?;
        let quoted = password.replace('\'', "''");
        let make = format!("create role {user} login password '{quoted}'");
        admin.execute(AssertSqlSafe(make)).await.map_err(Error::other)?;
        admin.close().await.map_err(Error::other)?;
        Ok(url.replacen(USER, &format!("{user}:{password}"), 1))
    }

    /// Runs statements as the owner of the server.
    pub async fn execute(&self, url: &str, statements: &str) -> Result<()> {
        let mut admin = PgConnection::connect(url).await.map_err(Error::other)?;
        sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut admin).await.map_err(Error::other)?;
        admin.close().await.map_err(Error::other)
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// The same database for another user without a password.
    pub fn as_user(url: &str, user: &str) -> String {
        url.replacen(USER, user, 1)
    }

    /// Process id of the server, for tests that stop it.
    pub fn pid(&self) -> Result<u32> {
        let text = std::fs::read_to_string(self.folder.path().join("data/postmaster.pid"))?;
        let first = text.lines().next().unwrap_or_default();
        first.trim().parse().map_err(Error::other)
    }

    fn launch() -> Result<Self> {
        let install = Install::find()?;
        let folder = tempfile::Builder::new().prefix("steward-pg").tempdir()?;
        let data = folder.path().join("data");
        install.copy_cluster(&data)?;
        install.hand_over(folder.path())?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(folder.path())
            .args(install.command("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-h", "127.0.0.1", "-p", &port.to_string()])
            .args(["-c", "max_connections=200", "-c", "shared_buffers=128MB"])
            .args(["-c", "max_wal_size=1GB"])
            .env("LD_LIBRARY_PATH", install.libraries())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { keeper, folder, port, databases: AtomicU32::new(0) })
    }

    async fn wait_until_ready(&self) -> Result<()> {
        let begin = Instant::now();
        loop {
            let error = match PgConnection::connect(&self.url("postgres")).await {
                Ok(connection) => return connection.close().await.map_err(Error::other),
                Err(error) => error,
            };
            if begin.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(self.folder.path().join("log"));
                return Err(Error::other(format!(
                    "PostgreSQL does not answer: {error}; its log: {}",
                    log.unwrap_or_default()
                )));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for TestPostgres {
    fn drop(&mut self) {
        // Closes the pipe, on which the keeper stops the server.
        drop(self.keeper.stdin.take());
        drop(self.keeper.wait());
    }
}
