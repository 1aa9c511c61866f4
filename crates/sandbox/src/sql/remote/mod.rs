//! Statements on a PostgreSQL, MariaDB or MySQL server: checked ([`super::postgres`], [`super::mysql`]), then run in a
//! transaction that is read-only unless writing is asked for, with a time limit that the server enforces, and caps on
//! what comes back. A role that could reach files or programs of the server is refused: there the server would be no
//! boundary.
//!
//! Values are JSON, and a text where JSON's numbers would lose digits: decimals of `MariaDB` and `MySQL` always, numbers
//! of PostgreSQL where no `f64` has all their digits.

mod json;
mod mysql;
mod postgres;

use std::time::Duration;

use serde_json::Value;

use super::error::SqlError;
use super::parsed::Checked;
use super::policy::Limits;
use super::query::Rows;

pub use super::change::{Answer, Changes, Found, Snapshot};

/// A write that waits in an open transaction.
#[derive(Debug)]
pub struct Held {
    /// What it does.
    pub answer: Answer,
    /// By what the server knows it afterwards, where it does.
    pub transaction: Option<String>,
}

/// After the server's own limit.
const GRACE: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_secs(10);

/// How a connection is used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteOptions {
    /// Rows, bytes and wall time of each statement; the rest is for `SQLite`.
    pub limits: Limits,
    /// INSERT, UPDATE and DELETE too.
    pub write: bool,
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It is committed.
    Keep,
    /// It is rolled back, and told.
    Look,
    /// It is told, and waits for [`Remote::commit`].
    Hold,
}

/// A connection to a server under guard.
#[derive(Debug)]
pub struct Remote {
    server: Server,
    options: RemoteOptions,
}

#[derive(Debug)]
enum Server {
    Postgres(postgres::Connection),
    MySql(Box<mysql::Connection>),
}

impl Remote {
    /// Whether `text` is the URL of a server rather than a file.
    pub fn is_url(text: &str) -> bool {
        ["postgres://", "postgresql://", "mysql://", "mariadb://"].iter().any(|scheme| text.starts_with(scheme))
    }

    /// Connects to `postgres://…`, `mysql://…` or `mariadb://…`.
    ///
    /// # Errors
    /// [`SqlError::Connect`], also for a role with too much power.
    pub async fn connect(url: &str, options: RemoteOptions) -> Result<Self, SqlError> {
        let connecting = async {
            if url.starts_with("postgres") {
                let connection = postgres::Connection::open(url).await;
                connection.map(Server::Postgres)
            } else {
                let url = url.replacen("mariadb://", "mysql://", 1);
                let connection = mysql::Connection::open(&url, &options).await;
                connection.map(|open| Server::MySql(Box::new(open)))
            }
        };
        let server = tokio::time::timeout(CONNECT, connecting)
            .await
            .map_err(|_| SqlError::Connect { reason: format!("it did not answer within {CONNECT:?}") })??;
        Ok(Self { server, options })
    }

    /// Checks and runs one statement with values for its placeholders (`$1`… or `?`).
    ///
    /// # Errors
    /// [`SqlError`]. After [`SqlError::Timeout`] and [`SqlError::Connect`] the connection may be unusable.
    pub async fn run(&mut self, sql: &str, parameters: &[Value]) -> Result<Answer, SqlError> {
        self.carry_out(sql, parameters, Purpose::Keep).await
    }

    /// What the statement would do: it is run in a transaction that is rolled back.
    ///
    /// # Errors
    /// As [`Remote::run`]; [`SqlError::Untold`] where a rollback would not take everything back.
    pub async fn look(&mut self, sql: &str, parameters: &[Value]) -> Result<Answer, SqlError> {
        self.carry_out(sql, parameters, Purpose::Look).await
    }

    /// Runs a write and leaves its transaction open: [`Remote::commit`] makes it stay, anything else takes it back.
    ///
    /// # Errors
    /// As [`Remote::run`]; [`SqlError::Untold`] where a transaction would not hold it back.
    pub async fn hold(&mut self, sql: &str, parameters: &[Value]) -> Result<Held, SqlError> {
        let answer = self.carry_out(sql, parameters, Purpose::Hold).await?;
        let transaction = match &mut self.server {
            Server::Postgres(connection) if matches!(answer, Answer::Changed(_)) => {
                connection.transaction(&self.options.limits).await?
            }
            _ => None,
        };
        Ok(Held { answer, transaction })
    }

    /// Commits what is held.
    ///
    /// # Errors
    /// [`SqlError`].
    pub async fn commit(&mut self) -> Result<(), SqlError> {
        let limits = &self.options.limits;
        let committing = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.commit(limits).await,
                Server::MySql(connection) => connection.commit(limits).await,
            }
        };
        tokio::time::timeout(limits.wall + GRACE, committing).await.unwrap_or_else(|_| Err(timeout(limits)))
    }

    /// What became of a transaction that [`Remote::hold`] told; none where the server does not know it any more.
    ///
    /// # Errors
    /// [`SqlError`].
    pub async fn transaction(&mut self, id: &str) -> Result<Option<Found>, SqlError> {
        match &mut self.server {
            Server::Postgres(connection) => connection.became(id, &self.options.limits).await,
            Server::MySql(_) => Ok(None),
        }
    }

    /// Whether the write that `snapshot` was recorded of is done, by its rows. `later`: what was recorded of writes to
    /// the same database since, oldest first.
    ///
    /// # Errors
    /// [`SqlError`].
    pub async fn settle(&mut self, snapshot: &Snapshot, later: &[Snapshot]) -> Result<Found, SqlError> {
        let limits = &self.options.limits;
        let looking = async {
            match &mut self.server {
                // The server knows what became of the transaction, and that is more than rows can say.
                Server::Postgres(_) => Ok(Found::Mixed),
                Server::MySql(connection) => connection.settle(snapshot, later, limits).await,
            }
        };
        tokio::time::timeout(limits.wall + GRACE, looking).await.unwrap_or_else(|_| Err(timeout(limits)))
    }

    /// Puts rows back as they were before the write that left `snapshot`, all or none; how many changes were undone.
    ///
    /// # Errors
    /// [`SqlError::Conflict`] where rows have changed since, [`SqlError::NoUndo`]; nothing was changed then.
    pub async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let limits = &self.options.limits;
        let restoring = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.put_back(snapshot, limits).await,
                Server::MySql(connection) => connection.put_back(snapshot, limits).await,
            }
        };
        tokio::time::timeout(limits.wall + GRACE, restoring).await.unwrap_or_else(|_| Err(timeout(limits)))
    }

    async fn carry_out(&mut self, sql: &str, parameters: &[Value], purpose: Purpose) -> Result<Answer, SqlError> {
        let write = self.options.write;
        let checked = match &self.server {
            Server::Postgres(_) => super::postgres::check(sql, write)?,
            Server::MySql(_) => super::mysql::check(sql, write)?,
        };
        fits(&checked, parameters)?;
        let limits = &self.options.limits;
        let running = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.run(&checked, parameters, limits, purpose).await,
                Server::MySql(connection) => connection.run(&checked, parameters, limits, purpose).await,
            }
        };
        tokio::time::timeout(limits.wall + GRACE, running).await.unwrap_or_else(|_| Err(timeout(limits)))
    }

    /// Ends the connection; dropping it does so less politely.
    pub async fn close(self) {
        match self.server {
            Server::Postgres(connection) => connection.close().await,
            Server::MySql(connection) => connection.close().await,
        }
    }
}

fn fits(checked: &Checked, parameters: &[Value]) -> Result<(), SqlError> {
    if checked.parameters == parameters.len() {
        return Ok(());
    }
    Err(SqlError::Parameter {
        index: checked.parameters.min(parameters.len()) + 1,
        reason: format!("the statement takes {} values, {} were given", checked.parameters, parameters.len()),
    })
}

fn timeout(limits: &Limits) -> SqlError {
    SqlError::Timeout { ms: u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX) }
}

fn too_much_power(powers: &[String]) -> SqlError {
    SqlError::Connect {
        reason: format!(
            "its user has too much power over the server, which would not hold it back: {}; make a user of its own that may only read the tables it needs",
            powers.join(", ")
        ),
    }
}

fn no_connection(error: &sqlx::Error) -> SqlError {
    SqlError::Connect { reason: error.to_string() }
}

fn unbindable(index: usize) -> SqlError {
    SqlError::Parameter { index, reason: "use a text, number, boolean or null".to_owned() }
}
