//! Functions that somebody has made for this database, and that a statement would call under a name that is permitted.

use crate::sql::error::SqlError;
use crate::sql::parsed::{Checked, denied};

/// Prepared once for a connection. Functions of extensions are the administrator's choice, as are those that functions in
/// plain SQL with the caller's rights call. A name after a dot calls what takes a row.
pub(super) const PREPARE: &str = "PREPARE steward_own(text[], text[]) AS \
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

/// Finds such a function, if the statement could call one.
pub(super) fn look_up(checked: &Checked) -> Option<String> {
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

pub(super) fn refused(function: &str) -> SqlError {
    denied(
        &format!("the function {function}, which this database has by itself"),
        "Name columns and PostgreSQL's own functions.",
    )
}
