//! Statements on a PostgreSQL, MariaDB or MySQL server: checked, then run in a transaction that is read-only unless
//! writing is asked for, within limits. A role that reaches files or programs of the server is refused, since the
//! server would be no boundary. Numbers that JSON's would cut short are texts.

pub use super::change::{Answer, Changes, Snapshot, WriteState};

use std::time::Duration;

use serde_json::Value;
use steward_core::tables::Schema;

use super::error::{SqlError, denied, limit, timeout};
use super::policy::Limits;
use super::query::{Rows, Truncated, fits};
use super::server_guard::Checked;

#[derive(Debug)]
pub struct HeldWrite {
    pub answer: Answer,
    /// The server's id of the transaction, where it has one.
    pub transaction: Option<String>,
}

/// Added to the time limit that the server itself enforces.
const GRACE: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoteOptions {
    /// Rows, bytes and wall time of each statement; the other limits are for `SQLite`.
    pub limits: Limits,
    pub write: bool,
}

/// For whom statements run. Only PostgreSQL is told: its policies read `current_setting('steward.user', true)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnBehalfOf {
    /// The e-mail address of who asks; `None`: nobody in particular.
    pub user: Option<String>,
    /// Whether the server is to run them as its role of that name.
    pub as_role: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Commit,
    /// Rolled back after it is recorded.
    Preview,
    /// Left open for [`Remote::commit`].
    Hold,
}

/// A statement with its values, and what is to become of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'j> {
    pub checked: &'j Checked,
    pub parameters: &'j [Value],
    pub purpose: Purpose,
}

impl Job<'_> {
    pub fn commits(&self) -> bool {
        self.checked.writes && self.purpose == Purpose::Commit
    }

    /// Whether its transaction stays open after this answer.
    pub fn holds(&self, answer: &Result<Answer, SqlError>) -> bool {
        self.checked.writes && self.purpose == Purpose::Hold && answer.is_ok()
    }
}

#[derive(Debug)]
pub struct Remote {
    server: Server,
    options: RemoteOptions,
}

#[derive(Debug)]
enum Server {
    Postgres(super::postgres::Connection),
    MySql(Box<super::mysql::Connection>),
}

impl Remote {
    pub fn is_url(text: &str) -> bool {
        ["postgres://", "postgresql://", "mysql://", "mariadb://"].iter().any(|scheme| text.starts_with(scheme))
    }

    /// Fails with [`SqlError::Connect`], also for a role with too many rights.
    pub async fn connect(url: &str, options: RemoteOptions) -> Result<Self, SqlError> {
        let connecting = async {
            if url.starts_with("postgres") {
                let connection = super::postgres::Connection::open(url, &options.limits).await?;
                Ok::<_, SqlError>(Server::Postgres(connection))
            } else {
                let url = url.replacen("mariadb://", "mysql://", 1);
                let connection = super::mysql::Connection::open(&url, &options.limits).await?;
                Ok(Server::MySql(Box::new(connection)))
            }
        };
        let server = tokio::time::timeout(CONNECT, connecting)
            .await
            .map_err(|_| SqlError::Connect { reason: format!("it did not answer within {CONNECT:?}") })??;
        Ok(Self { server, options })
    }

    /// Says for whom the next statements run. Fails where the server can't run them as wanted.
    pub fn act_for(&mut self, whom: &OnBehalfOf) -> Result<(), SqlError> {
        match &mut self.server {
            _ if whom.as_role && whom.user.is_none() => {
                Err(denied("a statement of nobody", "This database runs statements as the person who asks."))
            }
            Server::MySql(_) if whom.as_role => {
                Err(denied("statements as the person who asks", "Only PostgreSQL can do that."))
            }
            Server::MySql(_) => Ok(()),
            Server::Postgres(connection) => {
                connection.act_for(whom);
                Ok(())
            }
        }
    }

    /// Placeholders: `$1`… or `?`. After [`SqlError::Timeout`] and [`SqlError::Connect`] the connection may be broken.
    pub async fn run(&mut self, sql: &str, parameters: &[Value]) -> Result<Answer, SqlError> {
        self.carry_out(sql, parameters, Purpose::Commit).await
    }

    /// Runs the statement and rolls it back; [`SqlError::NoPreview`] where that would not undo everything.
    pub async fn preview(&mut self, sql: &str, parameters: &[Value]) -> Result<Answer, SqlError> {
        self.carry_out(sql, parameters, Purpose::Preview).await
    }

    /// Leaves a write's transaction open; all else is rolled back. [`SqlError::NoPreview`] where that can't undo all.
    pub async fn hold(&mut self, sql: &str, parameters: &[Value]) -> Result<HeldWrite, SqlError> {
        let answer = self.carry_out(sql, parameters, Purpose::Hold).await?;
        let transaction = match &mut self.server {
            Server::Postgres(connection) if matches!(answer, Answer::Changed(_)) => {
                connection.transaction().await.map_err(|error| timed(error, &self.options.limits))?
            }
            _ => None,
        };
        Ok(HeldWrite { answer, transaction })
    }

    pub async fn commit(&mut self) -> Result<(), SqlError> {
        let work = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.commit().await,
                Server::MySql(connection) => connection.commit().await,
            }
        };
        within(&self.options.limits, work).await
    }

    /// What became of a transaction of [`Remote::hold`]; `None`: the server does not know it any more.
    pub async fn transaction(&mut self, id: &str) -> Result<Option<WriteState>, SqlError> {
        match &mut self.server {
            Server::Postgres(connection) => {
                connection.became(id).await.map_err(|error| timed(error, &self.options.limits))
            }
            Server::MySql(_) => Ok(None),
        }
    }

    /// Whether a write was done, by its rows. `later`: records of later writes to the same database, oldest first.
    pub async fn settle(&mut self, snapshot: &Snapshot, later: &[Snapshot]) -> Result<WriteState, SqlError> {
        match &mut self.server {
            // The server knows what became of the transaction, which says more than the rows.
            Server::Postgres(_) => Ok(WriteState::Mixed),
            Server::MySql(connection) => within(&self.options.limits, connection.settle(snapshot, later)).await,
        }
    }

    /// Puts rows back as they were before the write, all or none; returns how many changes were undone. Fails with
    /// [`SqlError::Conflict`] if rows have changed since, or [`SqlError::NoUndo`]; then nothing was changed.
    pub async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        let work = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.put_back(snapshot).await,
                Server::MySql(connection) => connection.put_back(snapshot).await,
            }
        };
        within(&self.options.limits, work).await
    }

    async fn carry_out(&mut self, sql: &str, parameters: &[Value], purpose: Purpose) -> Result<Answer, SqlError> {
        let write = self.options.write;
        let checked = match &self.server {
            Server::Postgres(_) => super::postgres::check(sql, write)?,
            Server::MySql(_) => super::mysql::check(sql, write)?,
        };
        fits(checked.parameters, parameters.len())?;
        let job = Job { checked: &checked, parameters, purpose };
        let work = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.run(job).await,
                Server::MySql(connection) => connection.run(job).await,
            }
        };
        within(&self.options.limits, work).await
    }

    /// What the user of the connection may read.
    pub async fn schema(&mut self) -> Result<Schema, SqlError> {
        let work = async {
            match &mut self.server {
                Server::Postgres(connection) => connection.schema().await,
                Server::MySql(connection) => connection.schema().await,
            }
        };
        within(&self.options.limits, work).await
    }

    /// Up to `most` different values of a column that are not null, in no order.
    pub async fn distinct_values(&mut self, table: &str, column: &str, most: usize) -> Result<Vec<Value>, SqlError> {
        let quoted = match &self.server {
            Server::Postgres(_) => super::catalog::quoted,
            Server::MySql(_) => super::mysql::quoted,
        };
        let table: Vec<String> = table.splitn(2, '.').map(quoted).collect();
        let (table, column) = (table.join("."), quoted(column));
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {most}");
        let Answer::Rows(rows) = self.run(&sql, &[]).await? else { return Ok(Vec::new()) };
        Ok(rows.rows.into_iter().filter_map(|row| row.into_iter().next()).collect())
    }

    /// Ends the connection properly, which dropping it does not.
    pub async fn close(self) {
        match self.server {
            Server::Postgres(connection) => connection.close().await,
            Server::MySql(connection) => connection.close().await,
        }
    }
}

async fn within<T>(limits: &Limits, running: impl Future<Output = Result<T, SqlError>>) -> Result<T, SqlError> {
    let done = tokio::time::timeout(limits.wall + GRACE, running).await.unwrap_or_else(|_| Err(timeout(limits)));
    done.map_err(|error| timed(error, limits))
}

/// The error of a server does not know which time was allowed.
fn timed(error: SqlError, limits: &Limits) -> SqlError {
    if matches!(error, SqlError::Timeout { .. }) { timeout(limits) } else { error }
}

pub(super) fn too_much_power(powers: &[String]) -> SqlError {
    SqlError::Connect {
        reason: format!(
            "its user has too much power over the server, which would not hold it back: {}; make a user of its own that may only read the tables it needs",
            powers.join(", ")
        ),
    }
}

pub(crate) struct Collector<'l> {
    limits: &'l Limits,
    bytes: usize,
    pub rows: Rows,
}

impl<'l> Collector<'l> {
    pub fn new(columns: Vec<String>, limits: &'l Limits) -> Self {
        Self { limits, bytes: 0, rows: Rows { columns, rows: Vec::new(), truncated: None } }
    }

    /// Takes a row of about `bytes`. `false`: no more rows fit.
    pub fn take(&mut self, row: Vec<Value>, bytes: usize) -> Result<bool, SqlError> {
        if self.rows.rows.len() >= self.limits.rows {
            self.rows.truncated = Some(Truncated::Rows);
            return Ok(false);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes {
            if self.rows.rows.is_empty() {
                return Err(first_row(self.limits));
            }
            self.rows.truncated = Some(Truncated::Bytes);
            return Ok(false);
        }
        self.rows.rows.push(row);
        Ok(true)
    }
}

pub(crate) fn first_row(limits: &Limits) -> SqlError {
    limit(format!("a row is larger than {} bytes", limits.bytes))
}
