mod put_back;
mod schema;
mod table;
mod values;
mod write;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use serde_json::Value;
use sqlparser::dialect::PostgreSqlDialect;
use sqlx::postgres::PgConnectOptions;
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Connection as _, Executor as _, PgConnection, Row as _,
    Statement as _,
};

use steward_core::tables::Schema;

use super::catalog::quoted;
use super::change::{Snapshot, WriteState};
use super::error::{SqlError, denied, shorten, syntax};
use super::planned::{self, Planned};
use super::policy::{Limits, NameSet};
use super::remote::{Answer, Collector, Job, OnBehalfOf, Purpose, first_row, too_much_power};
use super::server_error::no_connection;
use super::server_guard::{self, Checked, Rules};
use super::server_tables::bind;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    lexer: &PostgreSqlDialect {},
    grammar: &PostgreSqlDialect {},
    functions: NameSet::read(include_str!("../../data/postgres-functions.txt")),
    table_functions: NameSet::read(include_str!("../../data/postgres-table-functions.txt")),
    words: NameSet::read("current_role current_user session_user system_user user current_catalog current_schema"),
    searching: NameSet::read(include_str!("../../data/postgres-searching-functions.txt")),
    growing: NameSet::read(include_str!("../../data/postgres-growing-functions.txt")),
    types: NameSet::read(include_str!("../../data/postgres-types.txt")),
    closed_schemas: NameSet::read("information_schema pg_catalog pg_toast"),
    closed_prefixes: &["pg_"],
    live_comments: false,
});

pub fn check(sql: &str, write: bool) -> Result<Checked, SqlError> {
    server_guard::check(sql, &RULES, write)
}

/// How long and how often [`Connection::became`] waits for a transaction that is still running.
const WAIT: Duration = Duration::from_millis(200);
const WAITS: u32 = 50;

/// Rows of tables by their statistics.
const SIZES: &str = "SELECT n.nspname || '.' || c.relname, GREATEST(c.reltuples, 0)::float8 FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname || '.' || c.relname = ANY($1)";

#[derive(Debug)]
pub(super) struct Connection {
    open: PgConnection,
    limits: Limits,
    planned: Planned,
    whom: OnBehalfOf,
}

impl Connection {
    pub async fn open(url: &str, limits: &Limits) -> Result<Self, SqlError> {
        let failed = |error| no_connection(&error);
        let wanted: PgConnectOptions = url.parse().map_err(failed)?;
        let wanted = wanted.application_name("steward").statement_cache_capacity(0).disable_statement_logging();
        let mut connection = wanted.connect().await.map_err(failed)?;
        // The server must read texts as the guard has, and names must not depend on the session.
        let settings = "SET standard_conforming_strings = on; SET client_encoding = 'UTF8'; \
             SET search_path = \"$user\", public; SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '60s'; \
             SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601'; SET extra_float_digits = 3";
        let settings = format!("{settings}; {PREPARE}");
        connection.execute(AssertSqlSafe(settings)).await.map_err(failed)?;
        // Rights that the role should not have, the worst first.
        let powers: Vec<String> = sqlx::query_scalar(POWERS).fetch_all(&mut connection).await.map_err(failed)?;
        if !powers.is_empty() {
            return Err(too_much_power(&powers));
        }
        let (planned, whom) = (Planned::default(), OnBehalfOf::default());
        Ok(Self { open: connection, limits: limits.clone(), planned, whom })
    }

    pub fn act_for(&mut self, whom: &OnBehalfOf) {
        self.whom.clone_from(whom);
    }

    pub async fn run(&mut self, job: Job<'_>) -> Result<Answer, SqlError> {
        let answer = match self.begin(job.checked.writes, Some(job.checked)).await {
            Ok(None) => self.inside(job).await,
            Ok(Some(function)) => Err(denied(
                &format!("the function {function}, which this database has by itself"),
                "Name columns and PostgreSQL's own functions.",
            )),
            Err(error) => Err(error),
        };
        if job.holds(&answer) { answer } else { self.end(job.commits(), answer).await }
    }

    /// The server's id of the open transaction; `None`: a server before version 13.
    pub async fn transaction(&mut self) -> Result<Option<String>, SqlError> {
        let known = "SELECT to_regprocedure('pg_catalog.pg_current_xact_id()') IS NOT NULL";
        let known: Option<bool> = sqlx::query_scalar(known).fetch_one(&mut self.open).await?;
        if known != Some(true) {
            return Ok(None);
        }
        let id = sqlx::query_scalar("SELECT pg_catalog.pg_current_xact_id()::text");
        Ok(Some(id.fetch_one(&mut self.open).await?))
    }

    pub async fn commit(&mut self) -> Result<(), SqlError> {
        self.end(true, Ok(())).await
    }

    /// What became of a transaction. If it is still running, its connection has ended, so it is waited for.
    pub async fn became(&mut self, id: &str) -> Result<Option<WriteState>, SqlError> {
        for _ in 0..WAITS {
            let status = sqlx::query_scalar("SELECT pg_catalog.pg_xact_status($1::text::xid8)").bind(id);
            let status: Option<String> = status.fetch_one(&mut self.open).await?;
            match status.as_deref() {
                Some("committed") => return Ok(Some(WriteState::Done)),
                Some("aborted") => return Ok(Some(WriteState::NotDone)),
                Some(_) => tokio::time::sleep(WAIT).await,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    pub async fn put_back(&mut self, snapshot: &Snapshot) -> Result<u64, SqlError> {
        self.begin(true, None).await?;
        let answer = put_back::restore(&mut self.open, snapshot).await;
        self.end(true, answer).await
    }

    pub async fn schema(&mut self) -> Result<Schema, SqlError> {
        self.begin(false, None).await?;
        let answer = schema::read(&mut self.open).await.map_err(SqlError::from);
        self.end(false, answer).await
    }

    /// Opens a transaction. Returns a function of the database's own that the statement could call, if there is one.
    async fn begin(&mut self, write: bool, checked: Option<&Checked>) -> Result<Option<String>, SqlError> {
        // What a write found at its beginning must not change until it is done.
        let mode = if write { "ISOLATION LEVEL REPEATABLE READ READ WRITE" } else { "READ ONLY" };
        let ms = self.limits.wall.as_millis().clamp(1, 3_600_000);
        let own = checked.and_then(look_up).unwrap_or_default();
        let whom = self.for_whom();
        let begin = format!("BEGIN TRANSACTION {mode}; SET LOCAL statement_timeout = {ms}; {whom}{own}");
        let query = sqlx::raw_sql(AssertSqlSafe(begin));
        let found = query.fetch_optional(&mut self.open).await;
        let found = found.and_then(|row| row.map(|row| row.try_get(0)).transpose());
        if found.is_err() {
            let _ = self.open.execute("ROLLBACK").await;
        }
        found.map_err(|e| self.no_role(&e).unwrap_or_else(|| e.into()))
    }

    /// What tells the server for whom a transaction is, until it ends.
    fn for_whom(&self) -> String {
        let Some(user) = &self.whom.user else { return String::new() };
        let mut told = format!("SET LOCAL steward.\"user\" = '{}'; ", user.replace('\'', "''"));
        if self.whom.as_role {
            let _ = write!(told, "SET LOCAL ROLE {}; ", quoted(user));
        }
        told
    }

    /// Why the server does not act as the person who asks, if it is that.
    fn no_role(&self, error: &sqlx::Error) -> Option<SqlError> {
        let sqlx::Error::Database(server) = error else { return None };
        let user = self.whom.user.as_deref().filter(|_| self.whom.as_role)?;
        matches!(server.code().as_deref(), Some("22023" | "42501" | "42704")).then(|| SqlError::Denied {
            what: format!("acting as {user} ({})", shorten(server.message())),
            hint: format!(
                "Have somebody make the role {0} in the database and grant it to the user of the datasource.",
                quoted(user)
            ),
        })
    }

    /// Commits if the answer is no error and `keep` is set.
    async fn end<T>(&mut self, keep: bool, answer: Result<T, SqlError>) -> Result<T, SqlError> {
        let end = if keep && answer.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.open.execute(end).await;
        let answer = answer?;
        ended?;
        Ok(answer)
    }

    async fn inside(&mut self, job: Job<'_>) -> Result<Answer, SqlError> {
        let (limits, checked) = (&self.limits, job.checked);
        if checked.writes {
            let changes = write::change(&mut self.open, job, limits).await?;
            if job.purpose == Purpose::Preview {
                // Finds errors that would otherwise show only at the commit.
                self.open.execute("SET CONSTRAINTS ALL IMMEDIATE").await?;
            }
            return Ok(Answer::Changed(Box::new(changes.within(limits)?)));
        }
        let sql = sqlx::SqlSafeStr::into_sql_str(AssertSqlSafe(checked.sql.clone()));
        let prepared = (&mut self.open).prepare(sql).await?;
        let columns: Vec<String> = prepared.columns().iter().map(|c| c.name().to_owned()).collect();
        if columns.is_empty() {
            return Err(syntax("the query has no columns"));
        }
        self.plan(job).await?;
        let limits = &self.limits;
        // Each row as JSON, NULL if it is too large; an object, since a function takes at most 100 arguments.
        let names: Vec<String> = (1..=columns.len()).map(|i| format!("c{i}")).collect();
        let names = names.join(", ");
        let wrapped = format!(
            "SELECT CASE WHEN pg_catalog.octet_length(j) <= {} THEN j END \
             FROM (SELECT pg_catalog.row_to_json(q)::text AS j FROM ({}) AS q({names})) AS r LIMIT {}",
            limits.bytes + names.len() + 4 * columns.len(),
            checked.sql,
            limits.rows + 1
        );
        let query = bind(sqlx::query(AssertSqlSafe(wrapped)), job.parameters)?.persistent(false);
        let mut rows = query.fetch(&mut self.open);
        let mut collector = Collector::new(columns, limits);
        while let Some(row) = rows.try_next().await? {
            let text: Option<String> = row.try_get(0)?;
            let text = text.ok_or_else(|| first_row(limits))?;
            let (values, bytes) = values::row(&text).map_err(|e| SqlError::Server(e.to_string()))?;
            if !collector.take(values, bytes)? {
                break;
            }
        }
        Ok(Answer::Rows(collector.rows))
    }

    /// Refuses a query for which the server expects to look at more rows than are allowed.
    async fn plan(&mut self, job: Job<'_>) -> Result<(), SqlError> {
        let sql = &job.checked.sql;
        let Some(most) = self.limits.planned.filter(|_| !self.planned.is_known(sql)) else { return Ok(()) };
        let explain = format!("EXPLAIN (VERBOSE, FORMAT JSON) {sql}");
        let query = bind(sqlx::query(AssertSqlSafe(explain)), job.parameters)?.persistent(false);
        let row = query.fetch_one(&mut self.open).await?;
        let plans: Value = row.try_get(0)?;
        let plan = &plans[0]["Plan"];
        let tables = planned::scanned(plan);
        let mut sizes = HashMap::new();
        if !tables.is_empty() {
            let rows: Vec<(String, f64)> = sqlx::query_as(SIZES).bind(&tables).fetch_all(&mut self.open).await?;
            sizes.extend(rows);
        }
        self.planned.check(sql, planned::of_postgres(plan, &sizes, 1.0), most)
    }

    pub async fn close(self) {
        let _ = self.open.close().await;
    }
}

/// The role's rights beyond the tables of the database. A role counts with all roles that it is a member of, whether
/// it inherits them or must switch to them. The server's own roles count unless they only read, and its own functions
/// count if they were granted beyond what a new server grants.
const POWERS: &str = "WITH me AS (SELECT oid, rolsuper FROM pg_catalog.pg_roles WHERE rolname IN (current_user, session_user)), \
    ours AS (SELECT r.* FROM pg_catalog.pg_roles r WHERE EXISTS (SELECT 1 FROM me \
      WHERE me.oid = r.oid OR NOT me.rolsuper AND pg_catalog.pg_has_role(me.oid, r.oid, 'MEMBER'))), \
    powers AS (SELECT 1 AS rank, pg_catalog.concat_ws(' and ', CASE WHEN rolsuper THEN 'SUPERUSER' END, \
        CASE WHEN rolreplication THEN 'REPLICATION' END, CASE WHEN rolcreaterole THEN 'CREATEROLE' END) \
        || ' by the role ' || pg_catalog.quote_ident(rolname) AS what \
      FROM ours WHERE rolsuper OR rolreplication OR rolcreaterole \
    UNION ALL SELECT 2, 'the role ' || rolname FROM ours \
      WHERE pg_catalog.left(rolname::text, 3) = 'pg_' AND rolname NOT IN ('pg_monitor', 'pg_read_all_settings', \
        'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_read_all_data', 'pg_database_owner') \
    UNION ALL SELECT 3, 'EXECUTE on ' || p.oid::pg_catalog.regprocedure::text || ' by the role ' \
        || (SELECT pg_catalog.min(pg_catalog.quote_ident(o.rolname)) FROM ours o WHERE NOT o.rolsuper \
          AND pg_catalog.has_function_privilege(o.oid, p.oid, 'EXECUTE')) \
      FROM pg_catalog.pg_init_privs i JOIN pg_catalog.pg_proc p ON p.oid = i.objoid \
      WHERE i.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace \
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.aclexplode(i.initprivs) a \
          WHERE a.privilege_type = 'EXECUTE' AND (a.grantee = 0 OR a.grantee IN (SELECT oid FROM ours)))) \
    SELECT what FROM powers WHERE what IS NOT NULL ORDER BY rank, what LIMIT 4";

/// Finds functions that somebody has made in this database and that a statement would call under a name that is
/// permitted; prepared once for a connection. Functions of extensions are the administrator's choice, and so is what
/// plain SQL functions with the caller's rights call. A name after a dot may call a function that takes a row.
const PREPARE: &str = "PREPARE steward_own(text[], text[]) AS \
    SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text FROM pg_catalog.pg_proc p \
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang LEFT JOIN pg_catalog.pg_type t ON t.oid = p.proargtypes[0] \
    WHERE p.proname = ANY($1 || $2) AND p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace \
    AND pg_catalog.pg_function_is_visible(p.oid) \
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass \
      AND d.objid = p.oid AND d.deptype = 'e') \
    AND ((p.proname = ANY($1) AND (p.prosecdef OR p.prokind <> 'f' OR l.lanname <> 'sql')) \
      OR (p.proname = ANY($2) AND p.pronargs > 0 \
        AND p.pronargs - p.pronargdefaults - CASE WHEN p.provariadic <> 0 THEN 1 ELSE 0 END <= 1 \
        AND (t.typtype IN ('c', 'd', 'p') OR p.provariadic <> 0))) \
    LIMIT 1";

fn look_up(checked: &Checked) -> Option<String> {
    let list = |names: &[String]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("'{}'", name.replace('\'', "''"))).collect();
        format!("ARRAY[{}]::text[]", quoted.join(", "))
    };
    let names = !checked.calls.is_empty() || !checked.fields.is_empty();
    names.then(|| {
        format!(
            "SET LOCAL plan_cache_mode = force_generic_plan; EXECUTE steward_own({}, {}); \
             SET LOCAL plan_cache_mode = auto",
            list(&checked.calls),
            list(&checked.fields)
        )
    })
}
