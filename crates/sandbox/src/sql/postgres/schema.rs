use std::collections::BTreeMap;

use sqlx::{PgConnection, query_as};
use steward_core::tables::{Column, ForeignKey, Schema, Table};

/// Tables and views that the role may read, outside of the server's own schemas. One that a bare name doesn't find has its
/// schema before its name. A server counts the rows of small tables seldom or never: then a row is taken to have 80 bytes.
const TABLES: &str = "SELECT c.oid::pg_catalog.int8 AS id, \
      CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END::text AS name, \
      c.relkind IN ('v', 'm') AS is_view, (CASE WHEN c.reltuples < 0 AND c.relkind = 'r' \
        THEN pg_catalog.pg_relation_size(c.oid) / 82 ELSE c.reltuples END)::pg_catalog.float8 AS estimate \
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
      AND n.nspname <> 'information_schema' AND pg_catalog.left(n.nspname::text, 3) <> 'pg_' \
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
      AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))";

const COLUMNS: &str = "SELECT a.attrelid::pg_catalog.int8 AS id, a.attname::text AS name, \
      pg_catalog.format_type(a.atttypid, a.atttypmod)::text AS kind, a.attnotnull AS not_null, \
      EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'p' \
        AND a.attnum = ANY(k.conkey)) AS pk \
    FROM pg_catalog.pg_attribute a \
    WHERE a.attrelid = ANY($1::pg_catalog.int8[]::pg_catalog.oid[]) AND a.attnum > 0 AND NOT a.attisdropped \
      AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') \
    ORDER BY a.attrelid, a.attnum";

const KEYS: &str = "SELECT k.conrelid::pg_catalog.int8 AS id, k.confrelid::pg_catalog.int8 AS other, \
      here.attname::text AS name, there.attname::text AS refers \
    FROM pg_catalog.pg_constraint k \
    CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) \
      WITH ORDINALITY AS pair(mine, theirs, place) \
    JOIN pg_catalog.pg_attribute here ON here.attrelid = k.conrelid AND here.attnum = pair.mine \
    JOIN pg_catalog.pg_attribute there ON there.attrelid = k.confrelid AND there.attnum = pair.theirs \
    WHERE k.contype = 'f' AND k.conrelid = ANY($1::pg_catalog.int8[]::pg_catalog.oid[]) \
    ORDER BY k.conrelid, k.conname, pair.place";

pub(super) async fn read(connection: &mut PgConnection) -> Result<Schema, sqlx::Error> {
    let mut tables = BTreeMap::new();
    let found: Vec<(i64, String, bool, f64)> = query_as(TABLES).persistent(false).fetch_all(&mut *connection).await?;
    for (id, name, view, estimate) in found {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate that is not negative")]
        let row_estimate = (!view && estimate >= 0.0).then_some(estimate as u64);
        tables.insert(id, Table { name, view, columns: Vec::new(), foreign_keys: Vec::new(), row_estimate });
    }
    let ids: Vec<i64> = tables.keys().copied().collect();
    let found: Vec<(i64, String, String, bool, bool)> =
        query_as(COLUMNS).persistent(false).bind(&ids).fetch_all(&mut *connection).await?;
    for (id, name, kind, not_null, pk) in found {
        if let Some(table) = tables.get_mut(&id) {
            table.columns.push(Column { name, kind, pk, not_null });
        }
    }
    let found: Vec<(i64, i64, String, String)> =
        query_as(KEYS).persistent(false).bind(&ids).fetch_all(&mut *connection).await?;
    for (id, other, column, references) in found {
        let other = tables.get(&other).map(|table| table.name.clone());
        if let (Some(table), Some(other)) = (tables.get_mut(&id), other) {
            table.foreign_keys.push(ForeignKey { column, table: other, references });
        }
    }
    let mut tables: Vec<Table> = tables.into_values().filter(|table| !table.columns.is_empty()).collect();
    tables.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Schema { tables })
}
