//! Writes a checked query as SQL. Names come from domains only and are quoted; everything from the query is bound.

mod conditions;
mod dialect;
mod once;
mod order;
mod sql;

pub use dialect::Dialect;
pub(crate) use sql::Sql;

use serde::Serialize;
use serde_json::Value;

use super::cursor;
use super::plan::{Checked, Expr, Nested, Role, Rows, Sort};
use super::{MOST_ROWS, plan};
use crate::model::FieldKind;

/// A statement with the values for its placeholders: `?1`… for SQLite, `$1`… for PostgreSQL, `?` for MySQL.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    pub sql: String,
    pub values: Vec<Value>,
    /// As the statement returns them; those with [`Role::Hidden`] are at the end and not for showing.
    pub columns: Vec<OutColumn>,
    /// Statements for the relations that are embedded.
    pub relations: Vec<Embedded>,
    pub limit: u32,
    page: Option<Page>,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutColumn {
    pub name: String,
    pub kind: FieldKind,
    pub role: Role,
    /// Whether the house alone writes what it shows, as its domain says.
    #[serde(skip)]
    pub trusted: Option<bool>,
}

impl OutColumn {
    pub fn is_hidden(&self) -> bool {
        self.role == Role::Hidden
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Page {
    mark: String,
    order: Vec<Sort>,
}

impl Lowered {
    /// Where the page with these rows ended, as the statement returned them; `None`: it was the last one.
    pub fn next_page(&self, rows: &[Vec<Value>]) -> Option<String> {
        let page = self.page.as_ref()?;
        let full = u32::try_from(rows.len()).is_ok_and(|count| count >= self.limit);
        let last = rows.last().filter(|_| full)?;
        // What a server shows of a binary value does not find it again.
        let values = super::validate::order_values(&page.order, last)?;
        values.iter().all(|value| !value.is_object()).then(|| cursor::encode(&page.mark, &values))
    }
}

/// A relation whose rows are read after those that they belong to.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    pub name: String,
    /// Whether each row has a list of them.
    pub many: bool,
    pub columns: Vec<OutColumn>,
    /// The columns of the query, and those of this one, that must be equal.
    pub parents: Vec<usize>,
    pub children: Vec<usize>,
    rows: Rows,
    dialect: Dialect,
}

impl Embedded {
    fn keys(&self, parents: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let mut keys: Vec<Vec<Value>> = Vec::new();
        for row in parents {
            let key: Vec<Value> = self.parents.iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect();
            if key.iter().all(|value| !value.is_null() && !value.is_object()) && !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// Most rows that each of `parents` gets.
    pub fn most(&self, parents: &[Vec<Value>]) -> usize {
        self.most_of(self.keys(parents).len()) as usize
    }

    /// What is returned together is limited too: no row is left without its share.
    fn most_of(&self, keys: usize) -> u32 {
        let share = MOST_ROWS / u32::try_from(keys).unwrap_or(MOST_ROWS).max(1);
        self.rows.limit.min(share.saturating_sub(u32::from(self.many)).max(1))
    }

    /// The statement for the rows that belong to `parents`, and its values; `None`: no row can. With many parents each
    /// gets fewer rows than were asked for, so that all of them fit into a result.
    pub fn lower(&self, parents: &[Vec<Value>]) -> Option<(String, Vec<Value>)> {
        let keys = self.keys(parents);
        if keys.is_empty() {
            return None;
        }
        let mut sql = Sql::new(self.dialect);
        let outputs = self.rows.outputs.len();
        let shown: Vec<String> = (1..=outputs).map(|at| format!("q.c{at}")).collect();
        sql.push(&format!("SELECT {} FROM (SELECT ", shown.join(", ")));
        sql.outputs(&self.rows.outputs);
        let bound: Vec<&plan::Output> = self.children.iter().filter_map(|at| self.rows.outputs.get(*at)).collect();
        sql.push(", row_number() OVER (PARTITION BY ");
        sql.list(&bound, |sql, output| sql.expr(&output.expr));
        sql.push(" ORDER BY ");
        sql.order(&self.rows.order);
        sql.push(") AS rn FROM ");
        sql.sources(&self.rows.sources);
        sql.push(" WHERE ");
        sql.keys(&bound, &keys);
        sql.tests(" AND ", &self.rows.tests);
        sql.push(") AS q WHERE q.rn <= ");
        // One more in a list: it says that there are more.
        sql.value(FieldKind::Int, Value::from(self.most_of(keys.len()) + u32::from(self.many)));
        let bound: Vec<String> = self.children.iter().map(|at| format!("q.c{}", at + 1)).collect();
        sql.push(&format!(" ORDER BY {}, q.rn LIMIT ", bound.join(", ")));
        sql.value(FieldKind::Int, Value::from(MOST_ROWS));
        Some(sql.done())
    }
}

/// The statement of a query for SQLite with its values in it and the names of its columns, for who can't bind values.
pub fn spelled_out(checked: &Checked) -> String {
    let mut sql = Sql::new(Dialect::Sqlite);
    sql.spelled = true;
    let shown = (1..).zip(&checked.rows.outputs).filter(|(_, output)| output.role != Role::Hidden);
    let names: Vec<String> =
        shown.map(|(number, output)| format!("c{number} AS {}", Dialect::Sqlite.quote(&output.name))).collect();
    write(&mut sql, checked);
    format!("SELECT {} FROM ({})", names.join(", "), sql.done().0)
}

/// Writes the statement of a query.
pub fn lower(checked: &Checked, dialect: Dialect) -> Lowered {
    let rows = &checked.rows;
    let mut sql = Sql::new(dialect);
    write(&mut sql, checked);
    let (sql, values) = sql.done();
    Lowered {
        sql,
        values,
        columns: columns(&rows.outputs),
        relations: checked.nested.iter().map(|nested| embedded(nested, dialect)).collect(),
        limit: rows.limit,
        page: checked.pages.then(|| Page { mark: checked.mark.clone(), order: rows.order.clone() }),
    }
}

fn write(sql: &mut Sql, checked: &Checked) {
    let rows = &checked.rows;
    if rows.outputs.iter().any(|output| !output.expr.once().is_empty()) {
        sql.inner.clone_from(&rows.outputs);
    }
    sql.push("SELECT ");
    sql.outputs(&rows.outputs);
    sql.push(" FROM ");
    sql.rows_of(checked);
    if let Some(after) = &checked.after {
        sql.push(if rows.tests.is_empty() { " WHERE " } else { " AND " });
        sql.after(&rows.order, after);
    }
    if !checked.groups.is_empty() {
        sql.push(" GROUP BY ");
        let groups = checked.groups.iter().filter_map(|at| rows.outputs.get(*at));
        sql.list(groups, |sql, output| sql.expr(&output.expr));
    }
    sql.tests(" HAVING ", &checked.having);
    if !rows.order.is_empty() {
        sql.push(" ORDER BY ");
        if checked.grouped { sql.order_of_groups(&rows.order) } else { sql.order(&rows.order) }
    }
    sql.push(" LIMIT ");
    sql.value(FieldKind::Int, Value::from(rows.limit));
}

fn columns(outputs: &[plan::Output]) -> Vec<OutColumn> {
    let column = |output: &plan::Output| OutColumn {
        name: output.name.clone(),
        kind: output.kind,
        role: output.role,
        trusted: output.expr.shown_column().and_then(|column| column.trusted),
    };
    outputs.iter().map(column).collect()
}

fn embedded(nested: &Nested, dialect: Dialect) -> Embedded {
    Embedded {
        name: nested.name.clone(),
        many: nested.many,
        columns: columns(&nested.rows.outputs),
        parents: nested.parents.clone(),
        children: nested.children.clone(),
        rows: nested.rows.clone(),
        dialect,
    }
}

/// Whether the expression is a part of a date, which is a text.
fn is_part(expr: &Expr) -> bool {
    matches!(expr, Expr::Part(..))
}
