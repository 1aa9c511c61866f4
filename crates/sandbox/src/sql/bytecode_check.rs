//! Checks the program that SQLite compiled a statement to: every b-tree, and every read or search of a denied column.
//! SQLite does not ask the authorizer about columns that are only joined on (`JOIN g USING (value)`, NATURAL JOIN).

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::Connection;

use super::catalog::{Names, Tree};
use super::policy::Policy;

struct Op {
    /// Starts again at 0 for a trigger's program, which has its own cursors.
    addr: i64,
    name: String,
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
    for part in parts(&program) {
        let found = check_part(part, policy, names, &mut virtual_tables, &mut checked.written);
        checked.forbidden = checked.forbidden.or(found);
    }
    if virtual_tables.len() > virtual_reads {
        let what = "a virtual table that is only joined on".to_owned();
        checked.forbidden.get_or_insert(what);
    }
    Ok(checked)
}

fn parts(program: &[Op]) -> impl Iterator<Item = &[Op]> {
    program.chunk_by(|_, next| next.addr != 0)
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

fn explain(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<Op>> {
    let mut statement = conn.prepare(&format!("EXPLAIN {sql}"))?;
    // Raw: the parameters stay unbound, since nothing is run.
    let mut rows = statement.raw_query();
    let mut program = Vec::new();
    while let Some(r) = rows.next()? {
        let p4 = r.get::<_, Option<String>>(5)?.unwrap_or_default();
        program.push(Op { addr: r.get(0)?, name: r.get(1)?, p1: r.get(2)?, p2: r.get(3)?, p3: r.get(4)?, p4 });
    }
    Ok(program)
}
