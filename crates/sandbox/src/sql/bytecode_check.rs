//! Checks the program that SQLite compiled a statement to: every b-tree, and every read or search of a denied column.
//! SQLite does not ask the authorizer about columns that are only joined on (`JOIN g USING (value)`, NATURAL JOIN).

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{Connection, Row};

use super::catalog::{Names, Tree};
use super::policy::Policy;

pub(super) struct Op {
    /// Starts again at 0 for a trigger's program, which has its own cursors.
    addr: i64,
    pub name: String,
    p1: i64,
    p2: i64,
    p3: i64,
    p4: String,
}

/// Opcodes that compare the key of a cursor (p1) with values of the statement.
const SEARCHES: &[&str] = &[
    "SeekLT",
    "SeekLE",
    "SeekGE",
    "SeekGT",
    "SeekScan",
    "SeekHit",
    "IdxLE",
    "IdxGT",
    "IdxLT",
    "IdxGE",
    "Found",
    "NotFound",
    "NoConflict",
    "IfNoHope",
];

/// Opcodes that read or compare the row number of a cursor (p1).
const ROW_NUMBERS: &[&str] = &["Rowid", "IdxRowid", "SeekRowid", "NotExists", "SeekLT", "SeekLE", "SeekGE", "SeekGT"];

#[derive(Debug, Default)]
pub(super) struct ProgramCheck {
    /// What the policy forbids in it, if anything.
    pub forbidden: Option<String>,
    /// Tables that it opens for writing, including those of triggers and foreign keys.
    pub written: BTreeSet<String>,
}

/// `virtual_reads`: how many different virtual tables the authorizer allowed.
pub(super) fn check(
    conn: &Connection,
    sql: &str,
    policy: &Policy,
    names: &Names,
    virtual_reads: usize,
) -> rusqlite::Result<ProgramCheck> {
    let program = explain(conn, sql)?;
    let mut checked = ProgramCheck::default();
    let mut virtual_tables = HashSet::new();
    for part in program.chunk_by(|_, next| next.addr != 0) {
        let found = check_part(part, policy, names, &mut virtual_tables, &mut checked.written);
        checked.forbidden = checked.forbidden.or(found);
    }
    if virtual_tables.len() > virtual_reads {
        checked.forbidden.get_or_insert_with(|| "a virtual table that is only joined on".to_owned());
    }
    Ok(checked)
}

fn check_part<'p>(
    part: &'p [Op],
    policy: &Policy,
    names: &Names,
    virtual_tables: &mut HashSet<&'p str>,
    written: &mut BTreeSet<String>,
) -> Option<String> {
    let mut cursors: HashMap<i64, &Tree> = HashMap::new();
    let mut started = false;
    for op in part {
        match op.name.as_str() {
            "Transaction" => started = true,
            "OpenRead" | "ReopenIdx" | "OpenWrite" => {
                let Some(tree) = (op.p3 == 0).then(|| names.trees.get(&op.p2)).flatten() else {
                    return Some("a table that is not one of the database's own".to_owned());
                };
                let writes = op.name == "OpenWrite";
                // SQLite reads the counter of AUTOINCREMENT where the program starts, before it opens any table.
                if (writes || started) && tree.table == "sqlite_sequence" {
                    continue;
                }
                if !policy.allows_table(&tree.table) {
                    return Some(format!("table {}", tree.table));
                }
                if tree.shadow {
                    return Some(format!("table {}, where a virtual table keeps its rows", tree.table));
                }
                if writes {
                    // Its old record is copied whole; what the statement itself reads of it was asked for by name.
                    written.insert(tree.table.clone());
                    cursors.remove(&op.p1);
                } else {
                    cursors.insert(op.p1, tree);
                }
            }
            "VOpen" => {
                virtual_tables.insert(op.p4.as_str());
            }
            _ => {}
        }
    }
    part.iter().find_map(|op| {
        let tree = cursors.get(&op.p1)?;
        let column = op.name == "Column" && tree.denied.contains(&op.p2);
        let key = tree.denied_key && SEARCHES.contains(&op.name.as_str());
        let row = tree.denied_rowid && ROW_NUMBERS.contains(&op.name.as_str());
        (column || key || row).then(|| format!("a column of {}", tree.table))
    })
}

/// The program of a statement, with its parameters unbound, since nothing is run.
pub(super) fn explain(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<Op>> {
    // Empty statements before it would be explained instead.
    let sql = sql.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
    let mut statement = conn.prepare(&format!("EXPLAIN {sql}"))?;
    let read = |row: &Row<'_>| {
        let p4 = row.get::<_, Option<String>>(5)?.unwrap_or_default();
        Ok(Op { addr: row.get(0)?, name: row.get(1)?, p1: row.get(2)?, p2: row.get(3)?, p3: row.get(4)?, p4 })
    };
    statement.raw_query().mapped(read).collect()
}
