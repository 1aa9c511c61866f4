mod grants;
mod put_back;
mod schema;
mod table;
mod values;
mod write;

use std::any::TypeId;
use std::collections::HashSet;
use std::sync::LazyLock;

use futures_util::TryStreamExt as _;
use sqlparser::dialect::{Dialect, MySqlDialect};
use sqlx::mysql::{MySqlConnectOptions, MySqlRow};
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Connection as _, Executor as _, MySqlConnection, Row as _,
};

use steward_core::tables::Schema;

use super::change::{Snapshot, WriteState};
use super::error::{SqlError, denied};
use super::planned::{self, Planned};
use super::policy::{Limits, NameSet};
use super::query::Truncated;
use super::remote::{Answer, Collector, Job, too_much_power};
use super::server_error::no_connection;
use super::server_guard::{self, Checked, Rules};
use super::server_tables::bind;
pub(super) use table::quoted;

/// Reads statements as a server does in the mode `NO_BACKSLASH_ESCAPES`, which is set for the session: a backslash is
/// a character like any other. Comments that the server would run are refused.
#[derive(Debug)]
struct Lexer;

impl Dialect for Lexer {
    fn dialect(&self) -> TypeId {
        TypeId::of::<MySqlDialect>()
    }

    fn requires_single_line_comment_whitespace(&self) -> bool {
        true
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        MySqlDialect {}.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        MySqlDialect {}.is_identifier_part(ch)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        false
    }

    fn supports_multiline_comment_hints(&self) -> bool {
        false
    }
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    lexer: &Lexer,
    grammar: &MySqlDialect {},
    functions: NameSet::read(include_str!("../../data/mysql-functions.txt")),
    table_functions: NameSet::read(""),
    words: NameSet::read("current_role current_user"),
    searching: NameSet::read(include_str!("../../data/mysql-searching-functions.txt")),
    growing: NameSet::read(include_str!("../../data/mysql-growing-functions.txt")),
    types: NameSet::read(include_str!("../../data/mysql-types.txt")),
    closed_schemas: NameSet::read("information_schema mysql performance_schema sys"),
    closed_prefixes: &[],
    live_comments: true,
});

pub fn check(sql: &str, write: bool) -> Result<Checked, SqlError> {
    server_guard::check(sql, &RULES, write)
}

const OWN: &str = "SELECT CAST(routine_name AS CHAR) FROM information_schema.routines \
    WHERE routine_type = 'FUNCTION' AND routine_schema = DATABASE()";

/// Settings besides the time limit. The guard has read backslashes as plain characters, so the server must too.
const SETTINGS: &str = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY,NO_BACKSLASH_ESCAPES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', \
    SESSION lock_wait_timeout = 2, SESSION innodb_lock_wait_timeout = 2, SESSION net_write_timeout = 10, \
    SESSION group_concat_max_len = 1048576";

/// Times are read without a time zone, in which an hour may come twice.
const UTC: &str = "'+00:00'";

/// Connects again when the link cannot be used any more.
pub(super) struct Connection {
    wanted: MySqlConnectOptions,
    limits: Limits,
    link: Option<Link>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    pub async fn open(url: &str, limits: &Limits) -> Result<Self, SqlError> {
        let wanted: MySqlConnectOptions = url.parse().map_err(|e| no_connection(&e))?;
        let wanted = wanted
            // Statements are not closed one by one: the next one would wait for an answer that never comes.
            .statement_cache_capacity(100)
            .disable_statement_logging();
        let link = Link::open(&wanted, limits).await?;
        Ok(Self { wanted, limits: limits.clone(), link: Some(link) })
    }

    /// Takes the link out, so that it is dropped if the work with it does not finish.
    async fn with_link<T>(&mut self, work: impl AsyncFnOnce(&mut Link) -> Result<T, SqlError>) -> Result<T, SqlError> {
        let mut link = match self.link.take() {
            Some(link) => link,
            None => Link::open(&self.wanted, &self.limits).await?,
        };
        let answer = work(&mut link).await;
        let broken = matches!(answer, Err(SqlError::Connect { .. }));
        self.link = Some(link).filter(|link| !link.unread && !broken);
        answer
    }

    pub async fn run(&mut self, job: Job<'_>) -> Result<Answer, SqlError> {
        self.with_link(async |link| link.run(job).await).await
    }

    pub async fn schema(&mut self) -> Result<Schema, SqlError> {
        self.with_link(async |link| Ok(schema::read(&mut link.connection).await?)).await
    }

    pub async fn commit(&mut self) -> Result<(), SqlError> {
        if self.link.is_none() {
            let reason = "the connection was lost before the commit; nothing was changed".to_owned();
            return Err(SqlError::Connect { reason });
        }
        self.with_link(async |link| link.end(true, Ok(())).await).await
    }

    pub async fn settle(&mut self, snapshot: &Snapshot, later: &[Snapshot]) -> Result<WriteState, SqlError> {
        self.with_link(async |link| {
            link.begin(true).await?;
            let answer = put_back::settle_rows(&mut link.connection, snapshot, later).await;
            link.end(false, answer).await
        })
        .await
    }

    pub async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        self.with_link(async |link| {
            link.begin(true).await?;
            let answer = put_back::restore(&mut link.connection, snapshot).await;
            link.end(true, answer).await
        })
        .await
    }

    pub async fn close(self) {
        if let Some(link) = self.link {
            let _ = link.connection.close().await;
        }
    }
}

struct Link {
    connection: MySqlConnection,
    limits: Limits,
    mariadb: bool,
    /// Functions of the database's own, which servers call where they have none of that name.
    own: HashSet<String>,
    written: bool,
    /// Whether rows were left unread, perhaps too many to read.
    unread: bool,
    planned: Planned,
}

impl Link {
    async fn open(wanted: &MySqlConnectOptions, limits: &Limits) -> Result<Self, SqlError> {
        let failed = |e| no_connection(&e);
        let mut connection = wanted.connect().await.map_err(failed)?;
        connection.execute(SETTINGS).await.map_err(failed)?;
        let (version, database): (String, Option<String>) =
            sqlx::query_as("SELECT version(), DATABASE()").fetch_one(&mut connection).await.map_err(failed)?;
        if let Some(name) = database.filter(|name| closed(name)) {
            let reason =
                format!("its URL names {name}, a database of the server's own; name the one that has your tables");
            return Err(SqlError::Connect { reason });
        }
        let mariadb = version.to_lowercase().contains("mariadb");
        let powers = grants::excess_rights(&mut connection, mariadb).await.map_err(failed)?;
        if !powers.is_empty() {
            return Err(too_much_power(&powers));
        }
        let wall = limits.wall;
        let limit = if mariadb {
            format!("SET SESSION max_statement_time = {}", wall.as_secs_f64())
        } else {
            format!("SET SESSION max_execution_time = {}", wall.as_millis())
        };
        let limit = format!("{limit}, SESSION sql_select_limit = {}", limits.rows + 1);
        connection.execute(AssertSqlSafe(limit)).await.map_err(failed)?;
        let own: Vec<String> = sqlx::query_scalar(OWN).fetch_all(&mut connection).await.map_err(failed)?;
        Ok(Self {
            connection,
            limits: limits.clone(),
            mariadb,
            own: own.into_iter().map(|name| name.to_lowercase()).collect(),
            written: false,
            unread: false,
            planned: Planned::default(),
        })
    }

    async fn run(&mut self, job: Job<'_>) -> Result<Answer, SqlError> {
        if let Some(name) = job.checked.calls.iter().find(|name| self.own.contains(*name)) {
            let what = format!("the function {name}, which this database has by itself");
            return Err(denied(&what, "Use the server's own functions."));
        }
        self.begin(job.checked.writes).await?;
        let answer = self.inside(job).await;
        if self.unread || job.holds(&answer) { answer } else { self.end(job.commits(), answer).await }
    }

    async fn begin(&mut self, write: bool) -> Result<(), SqlError> {
        if write && std::mem::replace(&mut self.written, true) {
            // Servers fail on some statements that are run a second time.
            self.connection.clear_cached_statements().await?;
        }
        // The rows that a write's condition finds must not change until it is done.
        let level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        let begin: &[&'static str] =
            if write { &[level, "START TRANSACTION READ WRITE"] } else { &["START TRANSACTION READ ONLY"] };
        // By the text protocol, since servers do not prepare these.
        for sql in begin.iter().copied() {
            sqlx::raw_sql(sql).execute(&mut self.connection).await?;
        }
        Ok(())
    }

    /// Commits if the answer is no error and `keep` is set.
    async fn end<T>(&mut self, keep: bool, answer: Result<T, SqlError>) -> Result<T, SqlError> {
        let end = if keep && answer.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = sqlx::raw_sql(end).execute(&mut self.connection).await;
        let answer = answer?;
        ended?;
        Ok(answer)
    }

    /// Refuses a query for which the server expects to look at more rows than are allowed.
    async fn plan(&mut self, job: Job<'_>) -> Result<(), SqlError> {
        let sql = &job.checked.sql;
        let Some(most) = self.limits.planned.filter(|_| !self.planned.is_known(sql)) else { return Ok(()) };
        let query = bind(sqlx::query(AssertSqlSafe(format!("EXPLAIN {sql}"))), job.parameters)?.persistent(false);
        let rows = query.fetch_all(&mut self.connection).await?;
        let number = |row: &MySqlRow, name: &str| {
            let signed = row.try_get_unchecked::<Option<i64>, _>(name).ok().flatten();
            signed.or_else(|| row.try_get::<Option<String>, _>(name).ok().flatten()?.parse().ok())
        };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let steps: Vec<(i64, f64)> =
            rows.iter().map(|row| (number(row, "id").unwrap_or(0), number(row, "rows").unwrap_or(0) as f64)).collect();
        self.planned.check(sql, planned::of_mysql(&steps), most)
    }

    async fn inside(&mut self, job: Job<'_>) -> Result<Answer, SqlError> {
        if job.checked.writes {
            let changes = write::change(&mut self.connection, job, &self.limits, self.mariadb).await?;
            return Ok(Answer::Changed(Box::new(changes.within(&self.limits)?)));
        }
        self.plan(job).await?;
        let query = bind(sqlx::query(AssertSqlSafe(job.checked.sql.clone())), job.parameters)?;
        let mut collector = Collector::new(Vec::new(), &self.limits);
        let mut rows = query.fetch(&mut self.connection);
        while let Some(row) = rows.try_next().await? {
            if collector.rows.columns.is_empty() {
                collector.rows.columns = row.columns().iter().map(|column| column.name().to_owned()).collect();
            }
            let values = values::values(&row).map_err(SqlError::from);
            let taken = values.and_then(|(values, bytes)| collector.take(values, bytes));
            if matches!(taken, Ok(true)) {
                continue;
            }
            // The statement's own LIMIT may be higher than the session's, and rows may be large.
            let rows_only = collector.rows.truncated == Some(Truncated::Rows);
            self.unread = !(rows_only && matches!(rows.try_next().await, Ok(None)));
            taken?;
            break;
        }
        drop(rows);
        Ok(Answer::Rows(collector.rows))
    }
}

/// Whether the guard refuses tables of this database because of its name.
fn closed(database: &str) -> bool {
    let table = format!("SELECT 1 FROM {}.x", quoted(database));
    matches!(check(&table, false), Err(SqlError::Denied { .. }))
}

/// Sets a variable of the session; `None`: to its default.
async fn set_variable(connection: &mut MySqlConnection, name: &str, value: Option<&str>) -> Result<(), SqlError> {
    let sql = format!("SET SESSION {name} = {}", value.unwrap_or("DEFAULT"));
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

/// How many triggers the session has run; `None`: the server does not tell.
async fn executed_triggers(connection: &mut MySqlConnection) -> Result<Option<u64>, SqlError> {
    let row = sqlx::raw_sql("SHOW SESSION STATUS LIKE 'Executed_triggers'").fetch_optional(connection).await?;
    Ok(row.and_then(|row| row.try_get_unchecked::<String, _>(1).ok()?.parse().ok()))
}
