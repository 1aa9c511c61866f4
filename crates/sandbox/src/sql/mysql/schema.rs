use sqlx::{MySqlConnection, query_as};
use steward_core::tables::{Column, ForeignKey, Schema, Table};

/// The servers show only what the user may read. Names are cast, since some servers give them as bytes.
const TABLES: &str = "SELECT CAST(table_name AS CHAR) AS name, table_type LIKE '%VIEW%' AS is_view, \
      CAST(table_rows AS SIGNED) AS estimate \
    FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1";

const COLUMNS: &str = "SELECT CAST(table_name AS CHAR) AS owner, CAST(column_name AS CHAR) AS name, \
      CAST(column_type AS CHAR) AS kind, is_nullable = 'NO' AS not_null, column_key = 'PRI' AS pk \
    FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position";

const KEYS: &str = "SELECT CAST(table_name AS CHAR) AS owner, CAST(column_name AS CHAR) AS name, \
      CAST(referenced_table_name AS CHAR) AS other, CAST(referenced_column_name AS CHAR) AS refers \
    FROM information_schema.key_column_usage \
    WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE() AND referenced_table_name IS NOT NULL \
    ORDER BY table_name, constraint_name, ordinal_position";

pub(super) async fn read(connection: &mut MySqlConnection) -> Result<Schema, sqlx::Error> {
    let mut tables = Vec::new();
    let found: Vec<(String, i64, Option<i64>)> = query_as(TABLES).persistent(false).fetch_all(&mut *connection).await?;
    for (name, view, estimate) in found {
        // The servers have no truth values: comparisons are numbers.
        let view = view != 0;
        let row_estimate = estimate.filter(|_| !view).and_then(|rows| u64::try_from(rows).ok());
        tables.push(Table { name, view, columns: Vec::new(), foreign_keys: Vec::new(), row_estimate });
    }
    let found: Vec<(String, String, String, i64, i64)> =
        query_as(COLUMNS).persistent(false).fetch_all(&mut *connection).await?;
    for (owner, name, kind, not_null, pk) in found {
        if let Some(table) = tables.iter_mut().find(|table| table.name == owner) {
            table.columns.push(Column { name, kind, pk: pk != 0, not_null: not_null != 0 });
        }
    }
    let found: Vec<(String, String, String, String)> =
        query_as(KEYS).persistent(false).fetch_all(&mut *connection).await?;
    for (owner, column, other, references) in found {
        if let Some(table) = tables.iter_mut().find(|table| table.name == owner) {
            table.foreign_keys.push(ForeignKey { column, table: other, references });
        }
    }
    tables.retain(|table| !table.columns.is_empty());
    Ok(Schema { tables })
}
