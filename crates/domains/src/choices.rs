//! The values that a field can take, and what people read for them.

use serde_json::Value;

use crate::model::{FieldKind, Meta};
use crate::query::Dialect;
use crate::query::lower::Sql;

/// The statement that returns the values of a list of choices with their labels, in the list's order.
pub fn statement(meta: &Meta, most: usize, dialect: Dialect) -> (String, Vec<Value>) {
    let mut sql = Sql::new(dialect);
    sql.push("SELECT ");
    sql.name(&meta.key);
    sql.push(", ");
    sql.name(&meta.label);
    sql.push(" FROM ");
    sql.table(&meta.table);
    sql.push(" ORDER BY ");
    sql.name(meta.order_by.as_deref().unwrap_or(&meta.label));
    sql.push(", ");
    sql.name(&meta.key);
    sql.push(" LIMIT ");
    sql.value(FieldKind::Int, Value::from(most));
    sql.done()
}

#[cfg(test)]
mod tests {
    use super::statement;
    use crate::model::Meta;
    use crate::query::Dialect;

    #[test]
    fn names_are_quoted_and_the_limit_is_bound() {
        let meta = Meta {
            name: "genres".to_owned(),
            table: "Genre \"x\"".to_owned(),
            key: "GenreId".to_owned(),
            label: "Name".to_owned(),
            order_by: None,
        };
        let (sql, values) = statement(&meta, 10, Dialect::Sqlite);
        assert_eq!(
            sql,
            "SELECT \"GenreId\", \"Name\" FROM \"Genre \"\"x\"\"\" ORDER BY \"Name\", \"GenreId\" LIMIT ?1"
        );
        assert_eq!(values, [10]);
    }
}
