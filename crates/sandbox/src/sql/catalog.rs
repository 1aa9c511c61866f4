use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Params, Row};

use super::policy::Policy;

/// All names in lower case.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub tables: HashSet<String>,
    pub virtual_tables: HashSet<String>,
    pub modules: HashSet<String>,
    pub trees: HashMap<i64, Tree>,
    /// Denied columns by table, in lower case.
    pub closed: HashMap<String, HashSet<String>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    /// The table it belongs to, in the database's spelling.
    pub table: String,
    /// Positions of denied columns in its records.
    pub denied: HashSet<i64>,
    /// Searching it compares a denied column.
    pub denied_key: bool,
    /// Its row number is a denied column.
    pub denied_rowid: bool,
    /// A virtual table stores its rows in it, under names that do not say what they are.
    pub shadow: bool,
}

impl Names {
    /// Reads the names through the trusted connection, before the authorizer is in force.
    pub fn load(conn: &Connection, policy: &Policy) -> rusqlite::Result<Self> {
        let mut names =
            Self { modules: column(conn, "SELECT lower(name) FROM pragma_module_list", [])?, ..Self::default() };
        let shadows = "SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'";
        let shadows = column(conn, shadows, [])?;
        names.closed = closed(conn, policy)?;
        let nothing = HashSet::new();
        for Object { kind, name, table, root } in objects(conn)? {
            if kind == "table" || kind == "view" {
                names.tables.insert(name.to_ascii_lowercase());
            }
            if kind == "table" && root == 0 {
                names.virtual_tables.insert(name.to_ascii_lowercase());
            }
            if root > 0 {
                let lower = table.to_ascii_lowercase();
                let denied = names.closed.get(&lower).unwrap_or(&nothing);
                let tree = layout(conn, denied, kind == "table", &name, &table)?;
                names.trees.insert(root, Tree { shadow: shadows.contains(&lower), ..tree });
            }
        }
        Ok(names)
    }
}

pub(super) struct Object {
    pub kind: String,
    pub name: String,
    pub table: String,
    /// 0 for a view and for a virtual table.
    pub root: i64,
}

pub(super) fn objects(conn: &Connection) -> rusqlite::Result<Vec<Object>> {
    let found = rows(conn, "SELECT type, name, tbl_name, coalesce(rootpage, 0) FROM main.sqlite_schema", [])?;
    Ok(found.into_iter().map(|(kind, name, table, root)| Object { kind, name, table, root }).collect())
}

fn closed(conn: &Connection, policy: &Policy) -> rusqlite::Result<HashMap<String, HashSet<String>>> {
    let mut closed: HashMap<String, HashSet<String>> = HashMap::new();
    if policy.deny_columns.is_empty() && !policy.deny_sensitive {
        return Ok(closed);
    }
    let sql = "SELECT t.name, c.name, c.hidden FROM pragma_table_list t, pragma_table_xinfo(t.name) c \
               WHERE t.schema = 'main' AND t.type IN ('table', 'shadow')";
    let mut stored = Vec::new();
    for (table, column, hidden) in rows::<(String, String, i64)>(conn, sql, [])? {
        let lower = (table.to_ascii_lowercase(), column.to_ascii_lowercase());
        if !policy.allows_column(&table, &column) {
            closed.entry(lower.0).or_default().insert(lower.1);
        } else if hidden == 3 {
            stored.push(lower);
        }
    }
    // A stored generated column could be computed from a denied one.
    for (table, column) in stored {
        if let Some(denied) = closed.get_mut(&table) {
            denied.insert(column);
        }
    }
    Ok(closed)
}

fn layout(
    conn: &Connection,
    closed: &HashSet<String>,
    is_table: bool,
    name: &str,
    table: &str,
) -> rusqlite::Result<Tree> {
    let mut tree = Tree { table: table.to_owned(), ..Tree::default() };
    if closed.is_empty() {
        return Ok(tree);
    }
    let denied = |column: &str| closed.contains(&column.to_ascii_lowercase());
    let without_rowid = "SELECT name FROM pragma_table_list(?1) WHERE schema = 'main' AND wr = 1";
    if is_table && column(conn, without_rowid, [table])?.is_empty() {
        // Virtual generated columns are not stored, so they take no position.
        let sql = "SELECT name, type, pk FROM pragma_table_xinfo(?1) WHERE hidden <> 2 ORDER BY cid";
        let mut keys = 0;
        let mut integer_key = None;
        for (position, (column, kind, pk)) in (0..).zip(rows::<(String, String, i64)>(conn, sql, [table])?) {
            if denied(&column) {
                tree.denied.insert(position);
            }
            if pk > 0 {
                keys += 1;
                integer_key = kind.eq_ignore_ascii_case("integer").then_some(column);
            }
        }
        tree.denied_rowid = keys == 1 && integer_key.is_some_and(|c| denied(&c));
        return Ok(tree);
    }
    // An index, or a table that is its own primary key. Expressions could compute anything from a denied column.
    let index = if is_table { "(SELECT name FROM pragma_index_list(?1) WHERE origin = 'pk')" } else { "?1" };
    let sql = format!("SELECT seqno, cid, name, key FROM pragma_index_xinfo({index}) ORDER BY seqno");
    for (position, cid, column, key) in rows::<(i64, i64, Option<String>, bool)>(conn, &sql, [name])? {
        let is_denied = column.map_or(cid == -2, |column| denied(&column));
        if is_denied {
            tree.denied.insert(position);
            tree.denied_key |= key;
        }
    }
    Ok(tree)
}

/// The first column of the rows.
fn column(conn: &Connection, sql: &str, parameters: impl Params) -> rusqlite::Result<HashSet<String>> {
    Ok(rows::<(String,)>(conn, sql, parameters)?.into_iter().map(|(name,)| name).collect())
}

/// All rows, each as a tuple of its columns.
pub(super) fn rows<T>(conn: &Connection, sql: &str, parameters: impl Params) -> rusqlite::Result<Vec<T>>
where
    T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>,
{
    conn.prepare_cached(sql)?.query_map(parameters, |row| T::try_from(row))?.collect()
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
