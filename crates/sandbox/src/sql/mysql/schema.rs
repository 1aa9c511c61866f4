use sqlx::mysql::MySqlRow;
use sqlx::{MySqlConnection, Row as _};
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
    for row in sqlx::query(TABLES).persistent(false).fetch_all(&mut *connection).await? {
        let view = flag(&row, "is_view")?;
        let estimate: Option<i64> = row.try_get("estimate")?;
        tables.push(Table {
            name: row.try_get("name")?,
            view,
            columns: Vec::new(),
            foreign_keys: Vec::new(),
            row_estimate: estimate.filter(|_| !view).and_then(|rows| u64::try_from(rows).ok()),
        });
    }
    for row in sqlx::query(COLUMNS).persistent(false).fetch_all(&mut *connection).await? {
        let owner: String = row.try_get("owner")?;
        if let Some(table) = tables.iter_mut().find(|table| table.name == owner) {
            table.columns.push(Column {
                name: row.try_get("name")?,
                kind: row.try_get("kind")?,
                pk: flag(&row, "pk")?,
                not_null: flag(&row, "not_null")?,
            });
        }
    }
    for row in sqlx::query(KEYS).persistent(false).fetch_all(&mut *connection).await? {
        let owner: String = row.try_get("owner")?;
        if let Some(table) = tables.iter_mut().find(|table| table.name == owner) {
            table.foreign_keys.push(ForeignKey {
                column: row.try_get("name")?,
                table: row.try_get("other")?,
                references: row.try_get("refers")?,
            });
        }
    }
    tables.retain(|table| !table.columns.is_empty());
    Ok(Schema { tables })
}

/// The servers have no truth values: comparisons are numbers.
fn flag(row: &MySqlRow, name: &str) -> Result<bool, sqlx::Error> {
    Ok(row.try_get::<i64, _>(name)? != 0)
}
