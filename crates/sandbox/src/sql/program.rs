//! The second look at a statement: not at its text, but at the program SQLite compiled it to.
//!
//! SQLite does not ask the authorizer about columns that are only joined on: `FROM secrets JOIN g USING (value)` and
//! NATURAL JOIN compare values of `secrets` without one question, and that is enough to guess them. So every b-tree
//! the program opens is checked against the policy too, and every read or search of a denied column.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use super::known::{Names, Tree};
use super::policy::Policy;

/// One instruction, as EXPLAIN lists it.
struct Op {
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
const ROW_NUMBERS: &[&str] = &[
    "Rowid",
    "IdxRowid",
    "SeekRowid",
    "NotExists",
    "SeekLT",
    "SeekLE",
    "SeekGE",
    "SeekGT",
];

/// What of the program the policy does not allow, if anything. `virtual_reads` is how many different virtual tables
/// the authorizer allowed.
pub(super) fn forbidden(
    conn: &Connection,
    sql: &str,
    policy: &Policy,
    names: &Names,
    virtual_reads: usize,
) -> rusqlite::Result<Option<String>> {
    let program = explain(conn, sql)?;
    let mut cursors: HashMap<i64, &Tree> = HashMap::new();
    let mut virtual_tables = HashSet::new();
    for op in &program {
        match op.name.as_str() {
            "OpenRead" | "ReopenIdx" | "OpenWrite" => {
                let tree = (op.p3 == 0).then(|| names.trees.get(&op.p2)).flatten();
                let Some(tree) = tree else {
                    return Ok(Some(
                        "a table that is not one of the database's own".to_owned(),
                    ));
                };
                if !policy.allows_table(&tree.table) {
                    return Ok(Some(format!("table {}", tree.table)));
                }
                cursors.insert(op.p1, tree);
            }
            "VOpen" => {
                virtual_tables.insert(op.p4.as_str());
            }
            _ => {}
        }
    }
    if virtual_tables.len() > virtual_reads {
        return Ok(Some("a virtual table that is only joined on".to_owned()));
    }
    for op in &program {
        let Some(tree) = cursors.get(&op.p1) else {
            continue;
        };
        let column = op.name == "Column" && tree.denied.contains(&op.p2);
        let key = tree.denied_key && SEARCHES.contains(&op.name.as_str());
        let row = tree.denied_rowid && ROW_NUMBERS.contains(&op.name.as_str());
        if column || key || row {
            return Ok(Some(format!("a column of {}", tree.table)));
        }
    }
    Ok(None)
}

fn explain(conn: &Connection, sql: &str) -> rusqlite::Result<Vec<Op>> {
    let mut statement = conn.prepare(&format!("EXPLAIN {sql}"))?;
    // Raw: the statement's parameters stay unbound, since nothing of it is run.
    let mut rows = statement.raw_query();
    let mut program = Vec::new();
    while let Some(r) = rows.next()? {
        let p4 = r.get::<_, Option<String>>(5)?.unwrap_or_default();
        program.push(Op {
            name: r.get(1)?,
            p1: r.get(2)?,
            p2: r.get(3)?,
            p3: r.get(4)?,
            p4,
        });
    }
    Ok(program)
}
