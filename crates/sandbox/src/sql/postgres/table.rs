use sqlx::PgConnection;

use crate::sql::catalog::quoted;
use crate::sql::change::{Column, Table};
use crate::sql::server_guard::{Verb, Write};
use crate::sql::server_tables::{Reference, TableInfo, first};

const TABLE: &str = "SELECT c.oid::int8, c.relkind::text, n.nspname::text, c.relname::text, \
    pg_catalog.has_table_privilege(c.oid, 'SELECT') \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.oid = pg_catalog.to_regclass($1)";

/// Generated columns follow from the others.
const COLUMNS: &str = "SELECT a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) \
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = $1::int8::oid AND a.attnum > 0 AND NOT a.attisdropped \
    AND a.attgenerated = '' ORDER BY a.attnum";

const KEYS: &str = "SELECT pg_catalog.array_agg(a.attname::text ORDER BY k.n) \
    FROM pg_catalog.pg_index i \
    CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n) \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum \
    WHERE i.indrelid = $1::int8::oid AND i.indisunique AND i.indimmediate AND i.indisvalid \
    AND i.indpred IS NULL AND i.indexprs IS NULL AND k.n <= i.indnkeyatts \
    GROUP BY i.indexrelid, i.indisprimary HAVING pg_catalog.bool_and(a.attnotnull) \
    ORDER BY i.indisprimary DESC, i.indexrelid";

/// The table, its partitions, and the tables whose rows change too when its rows are deleted ($2 = 'delete') or when
/// its columns $3 change ('update'), with their triggers, rules and kinds.
const REACH: &str = "WITH RECURSIVE goes(parent, child, how) AS ( \
      SELECT inhparent, inhrelid, 'part' FROM pg_catalog.pg_inherits \
      UNION ALL SELECT confrelid, conrelid, 'key' FROM pg_catalog.pg_constraint WHERE contype = 'f' AND CASE $2 \
        WHEN 'delete' THEN confdeltype IN ('c', 'n', 'd') \
        WHEN 'update' THEN confupdtype IN ('c', 'n', 'd') AND (confrelid <> $1::int8::oid OR EXISTS ( \
          SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = confrelid AND a.attnum = ANY (confkey) \
          AND a.attname::text = ANY ($3))) \
        ELSE false END), \
    reach(oid, how) AS (SELECT $1::int8::oid, 'self' UNION SELECT g.child, g.how FROM reach r JOIN goes g ON g.parent = r.oid) \
    SELECT (SELECT pg_catalog.array_agg(DISTINCT t.tgname::text) FROM pg_catalog.pg_trigger t \
        WHERE t.tgrelid IN (SELECT oid FROM reach) AND NOT t.tgisinternal AND t.tgenabled <> 'D'), \
      (SELECT pg_catalog.array_agg(DISTINCT w.rulename::text) FROM pg_catalog.pg_rewrite w \
        WHERE w.ev_class IN (SELECT oid FROM reach) AND w.ev_type <> '1' AND w.ev_enabled <> 'D'), \
      (SELECT pg_catalog.array_agg(DISTINCT c.relname::text) FROM reach r JOIN pg_catalog.pg_class c ON c.oid = r.oid \
        WHERE r.how = 'key'), \
      EXISTS (SELECT 1 FROM reach r JOIN pg_catalog.pg_class c ON c.oid = r.oid WHERE c.relkind = 'f'), \
      EXISTS (SELECT 1 FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhparent \
        WHERE i.inhparent = $1::int8::oid AND c.relkind = 'r')";

type Reach = (Option<Vec<String>>, Option<Vec<String>>, Option<Vec<String>>, bool, bool);

/// `None`: there is no such table.
pub(crate) async fn table_of(connection: &mut PgConnection, write: &Write) -> Result<Option<TableInfo>, sqlx::Error> {
    let verb = if write.upsert { Verb::Update } else { write.verb };
    read_table(connection, &write.table, verb.word(), &write.assigned).await
}

/// Reads the table `name`, which is SQL text.
pub(crate) async fn read_table(
    connection: &mut PgConnection,
    name: &str,
    verb: &str,
    assigned: &[String],
) -> Result<Option<TableInfo>, sqlx::Error> {
    let found: Option<(i64, String, String, String, bool)> =
        sqlx::query_as(TABLE).bind(name).fetch_optional(&mut *connection).await?;
    let Some((oid, kind, schema, name, readable)) = found else {
        return Ok(None);
    };
    let columns: Vec<(String, String)> = sqlx::query_as(COLUMNS).bind(oid).fetch_all(&mut *connection).await?;
    let keys: Vec<(Vec<String>,)> = sqlx::query_as(KEYS).bind(oid).fetch_all(&mut *connection).await?;
    let (triggers, rules, dependents, foreign, parent): Reach =
        sqlx::query_as(REACH).bind(oid).bind(verb).bind(assigned).fetch_one(&mut *connection).await?;
    let dependents = dependents.unwrap_or_default();
    let alone = matches!(kind.as_str(), "r" | "p") && !foreign;
    let no_preview = first([
        (!alone).then(|| format!("{name} is not a table of this server alone")),
        triggers.map(|triggers| format!("triggers would run, which may do anything: {}", triggers.join(", "))),
        rules.map(|rules| format!("rules turn it into other statements: {}", rules.join(", "))),
    ]);
    let no_undo = first([
        no_preview.clone(),
        (!readable).then(|| format!("the database's user may not read all of {name}")),
        (!dependents.is_empty()).then(|| format!("rows of other tables go along: {}", dependents.join(", "))),
        parent.then(|| format!("other tables inherit from {name}")),
        keys.is_empty().then(|| format!("{name} has no key that names its rows")),
    ]);
    let columns = columns.into_iter().map(|(name, kind)| Column { name, kind }).collect();
    Ok(Some(TableInfo {
        table: Table { name: vec![schema, name], columns, key: Vec::new() },
        keys: keys.into_iter().map(|(key,)| key).collect(),
        no_preview,
        no_undo,
        dependents,
    }))
}

/// The foreign keys whose rows would go, or lose their link, together with a row of the table `name`.
pub(crate) async fn references(connection: &mut PgConnection, name: &str) -> Result<Vec<Reference>, sqlx::Error> {
    let sql = "SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), \
        ARRAY(SELECT pg_catalog.quote_ident(a.attname) FROM pg_catalog.unnest(f.conkey) WITH ORDINALITY k(at, n) \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.at ORDER BY k.n), \
        ARRAY(SELECT pg_catalog.quote_ident(a.attname) FROM pg_catalog.unnest(f.confkey) WITH ORDINALITY k(at, n) \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.at ORDER BY k.n) \
        FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.conrelid \
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
        WHERE f.contype = 'f' AND f.confrelid = pg_catalog.to_regclass($1) AND f.confdeltype IN ('c', 'n', 'd')";
    let found: Vec<(String, Vec<String>, Vec<String>)> = sqlx::query_as(sql).bind(name).fetch_all(connection).await?;
    let reference = |(child, theirs, ours): (String, Vec<String>, Vec<String>)| Reference {
        shown: child.clone(),
        child,
        columns: theirs.into_iter().zip(ours).collect(),
    };
    Ok(found.into_iter().map(reference).collect())
}

/// All values of a row as texts. `row` names its table, with a dot, or is empty.
pub(crate) fn texts(table: &Table, row: &str) -> String {
    let columns = table.columns.iter();
    let parts: Vec<String> = columns.map(|column| format!("{row}{}::text", quoted(&column.name))).collect();
    format!("ARRAY[{}]::text[]", parts.join(", "))
}
