use std::collections::BTreeMap;

use sqlx::MySqlConnection;

use super::values::kept_as;
use crate::sql::change::{Column, Table};
use crate::sql::server_guard::Verb;
use crate::sql::server_tables::{TableInfo, first};

/// A table, as far as the user sees its keys and triggers.
#[derive(Debug, Clone)]
pub(crate) struct MySqlTable {
    pub info: TableInfo,
    /// Its engine, if that rolls nothing back.
    pub engine: Option<String>,
    pub sees_triggers: bool,
}

const TABLE: &str = "SELECT CAST(t.table_schema AS CHAR), CAST(t.table_name AS CHAR), CAST(t.table_type AS CHAR), \
    CAST(COALESCE(t.engine, '') AS CHAR), COALESCE(e.transactions, 'NO') = 'YES' \
    FROM information_schema.tables t LEFT JOIN information_schema.engines e ON e.engine = t.engine \
    WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ? LIMIT 1";

const COLUMNS: &str = "SELECT CAST(column_name AS CHAR), LOWER(CAST(data_type AS CHAR)), CAST(column_type AS CHAR), \
    CAST(COALESCE(character_set_name, '') AS CHAR), UPPER(CAST(extra AS CHAR)) \
    FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position LIMIT 5000";

const KEYS: &str = "SELECT CAST(index_name AS CHAR), CAST(column_name AS CHAR), sub_part IS NULL AND nullable <> 'YES' \
    FROM information_schema.statistics WHERE table_schema = ? AND table_name = ? AND non_unique = 0 \
    ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index LIMIT 5000";

const TRIGGERS: &str = "SELECT CAST(trigger_name AS CHAR), CAST(event_manipulation AS CHAR) \
    FROM information_schema.triggers WHERE event_object_schema = ? AND event_object_table = ? LIMIT 5000";

const SEES: &str = "SELECT EXISTS (SELECT 1 FROM information_schema.schema_privileges \
      WHERE privilege_type = 'TRIGGER' AND ? LIKE table_schema) \
    OR EXISTS (SELECT 1 FROM information_schema.table_privileges \
      WHERE privilege_type = 'TRIGGER' AND table_schema = ? AND table_name = ?)";

const LINKS: &str = "SELECT CAST(r.constraint_schema AS CHAR), CAST(r.table_name AS CHAR), CAST(r.constraint_name AS CHAR), \
    CAST(k.column_name AS CHAR), CAST(k.referenced_column_name AS CHAR), \
    r.delete_rule IN ('CASCADE', 'SET NULL'), r.update_rule IN ('CASCADE', 'SET NULL') \
    FROM information_schema.referential_constraints r JOIN information_schema.key_column_usage k \
    ON k.constraint_schema = r.constraint_schema AND k.constraint_name = r.constraint_name AND k.table_name = r.table_name \
    WHERE r.unique_constraint_schema = ? AND r.referenced_table_name = ? \
    ORDER BY r.constraint_schema, r.table_name, r.constraint_name, k.ordinal_position LIMIT 5000";

#[derive(Debug, Clone, Default)]
pub(crate) struct Link {
    /// Schema and name of its table.
    pub child: [String; 2],
    pub columns: Vec<(String, String)>,
    deletes: bool,
    updates: bool,
}

/// Reads the table `parts` for statements with `verbs` that set the columns `assigned`; `None`: there is no such table.
pub(crate) async fn read_table(
    connection: &mut MySqlConnection,
    parts: &[String],
    verbs: &[Verb],
    assigned: &[String],
) -> Result<Option<MySqlTable>, sqlx::Error> {
    let (schema, name) = match parts {
        [name] => (None, name),
        [schema, name] => (Some(schema), name),
        _ => return Ok(None),
    };
    let found: Option<(String, String, String, String, bool)> =
        sqlx::query_as(TABLE).bind(schema).bind(name).fetch_optional(&mut *connection).await?;
    let Some((schema, name, kind, engine, transactional)) = found else {
        return Ok(None);
    };
    let (columns, strange) = columns(connection, &schema, &name).await?;
    let keys = keys(connection, &schema, &name).await?;
    let triggers: Vec<(String, String)> = rows_of(connection, TRIGGERS, &schema, &name).await?;
    let (sees_triggers,): (bool,) =
        sqlx::query_as(SEES).bind(&schema).bind(&schema).bind(&name).fetch_one(&mut *connection).await?;
    let fires = |event: &str| verbs.iter().any(|verb| event.eq_ignore_ascii_case(verb.word()));
    let triggers: Vec<&str> =
        triggers.iter().filter(|(_, event)| fires(event)).map(|(name, _)| name.as_str()).collect();
    let is_assigned = |name: &String| assigned.iter().any(|one| one.eq_ignore_ascii_case(name));
    let dependents: Vec<String> = links(connection, &schema, &name)
        .await?
        .into_iter()
        .filter(|link| {
            let updates = link.updates && link.columns.iter().any(|(_, ours)| is_assigned(ours));
            (link.deletes && verbs.contains(&Verb::Delete)) || (updates && verbs.contains(&Verb::Update))
        })
        .map(|link| link.child[1].clone())
        .collect();
    let unreadable = unreadable(connection, &schema, &name).await;
    let base = kind == "BASE TABLE";
    let is_table = base || kind == "SYSTEM VERSIONED";
    let no_preview = first([
        (!is_table).then(|| format!("{name} is not a table but a {}", kind.to_lowercase())),
        (!transactional).then(|| format!("{engine} tables roll nothing back")),
        (!triggers.is_empty()).then(|| format!("triggers would run, which may do anything: {}", triggers.join(", "))),
    ]);
    let no_undo = first([
        no_preview.clone(),
        (!base).then(|| format!("{name} keeps a history of its own")),
        unreadable.then(|| format!("the database's user may not read all of {name}")),
        (!dependents.is_empty()).then(|| format!("rows of other tables go along: {}", dependents.join(", "))),
        strange.map(|column| format!("values of the column {column} can't be kept exactly")),
        keys.is_empty().then(|| format!("{name} has no key that names its rows")),
    ]);
    let table = Table { name: vec![schema, name], columns, key: Vec::new() };
    Ok(Some(MySqlTable {
        info: TableInfo { table, keys, no_preview, no_undo, dependents },
        engine: (base && !transactional).then_some(engine),
        sees_triggers,
    }))
}

async fn rows_of<T>(
    connection: &mut MySqlConnection,
    sql: &'static str,
    schema: &str,
    name: &str,
) -> Result<Vec<T>, sqlx::Error>
where
    T: for<'r> sqlx::FromRow<'r, sqlx::mysql::MySqlRow> + Send + Unpin,
{
    sqlx::query_as(sql).bind(schema).bind(name).fetch_all(connection).await
}

/// The columns whose values can be kept exactly, and one whose values can't.
async fn columns(
    connection: &mut MySqlConnection,
    schema: &str,
    name: &str,
) -> Result<(Vec<Column>, Option<String>), sqlx::Error> {
    let rows: Vec<(String, String, String, String, String)> = rows_of(connection, COLUMNS, schema, name).await?;
    let mut strange = None;
    let mut columns = Vec::new();
    for (name, data, kind, charset, extra) in rows {
        // Generated columns follow from the others.
        if ["VIRTUAL GENERATED", "STORED GENERATED", "PERSISTENT"].iter().any(|word| extra.contains(word)) {
            continue;
        }
        match kept_as(&data, &charset) {
            Some(way) => columns.push(Column { name, kind: format!("{way} {kind} {charset}").trim_end().to_owned() }),
            None => strange = Some(name),
        }
    }
    Ok((columns, strange))
}

async fn keys(connection: &mut MySqlConnection, schema: &str, name: &str) -> Result<Vec<Vec<String>>, sqlx::Error> {
    let rows: Vec<(String, String, bool)> = rows_of(connection, KEYS, schema, name).await?;
    let mut indexes: Vec<(String, Vec<String>, bool)> = Vec::new();
    for (index, column, whole) in rows {
        match indexes.last_mut().filter(|(last, ..)| *last == index) {
            Some((_, columns, all)) => {
                columns.push(column);
                *all &= whole;
            }
            None => indexes.push((index, vec![column], whole)),
        }
    }
    let whole = indexes.into_iter().filter(|(.., whole)| *whole);
    Ok(whole.map(|(_, columns, _)| columns).collect())
}

/// Foreign keys that refer to the table, as far as the user sees them.
async fn links(connection: &mut MySqlConnection, schema: &str, name: &str) -> Result<Vec<Link>, sqlx::Error> {
    type Row = (String, String, String, String, String, bool, bool);
    let rows: Vec<Row> = rows_of(connection, LINKS, schema, name).await?;
    let mut links: BTreeMap<(String, String), Link> = BTreeMap::new();
    for (schema, child, constraint, column, referenced, deletes, updates) in rows {
        let link = links.entry((schema.clone(), constraint)).or_default();
        link.child = [schema, child];
        link.columns.push((column, referenced));
        link.deletes = deletes;
        link.updates = updates;
    }
    Ok(links.into_values().collect())
}

pub(crate) async fn deleting_links(connection: &mut MySqlConnection, table: &Table) -> Result<Vec<Link>, sqlx::Error> {
    let [schema, name] = table.name.as_slice() else {
        return Ok(Vec::new());
    };
    let mut links = links(connection, schema, name).await?;
    links.retain(|link| link.deletes);
    Ok(links)
}

/// Whether the user may not read every column; such columns are not even listed for it.
async fn unreadable(connection: &mut MySqlConnection, schema: &str, name: &str) -> bool {
    let sql = format!("SELECT * FROM {}.{} LIMIT 0", quoted(schema), quoted(name));
    sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_optional(connection).await.is_err()
}

impl MySqlTable {
    /// The table with its first key of plain values none of which is `assigned`.
    pub fn with_key(&self, assigned: &[String]) -> Option<Table> {
        self.info.with_key(|column| {
            let plain = column.kind.starts_with("text ") || column.kind.starts_with("blob ");
            let assigned = assigned.iter().any(|one| one.eq_ignore_ascii_case(&column.name));
            plain && !column.kind.starts_with("text timestamp") && !assigned
        })
    }
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
