//! Which rows: the conditions of a statement.

use serde_json::Value;

use super::Dialect;
use super::sql::Sql;
use crate::model::FieldKind;
use crate::query::plan::{Compared, Expr, Output, Test};

/// The function of guarded connections that makes small letters of capitals beyond ASCII too.
const UNICODE: &str = "unicode_lower(";

impl Sql {
    /// Whether a value has letters whose case SQLite does not know by itself: `É`.
    fn has_foreign_case(&self, value: &Value) -> bool {
        self.dialect == Dialect::Sqlite && value.as_str().is_some_and(|text| !text.is_ascii())
    }

    pub(super) fn folded_value(&mut self, value: Value) {
        if self.dialect == Dialect::Sqlite {
            self.bind(value);
        } else {
            self.within("lower(", |sql| sql.bind(value));
        }
    }

    /// After what was folded: SQLite does it by how it compares.
    pub(super) fn ignoring_case(&mut self) {
        if self.dialect == Dialect::Sqlite {
            self.push(" COLLATE NOCASE");
        }
    }

    /// Tests that must all hold, after a word; nothing if there are none.
    pub fn tests(&mut self, word: &str, tests: &[Test]) {
        if !tests.is_empty() {
            self.push(word);
            self.joined(" AND ", tests, Self::test);
        }
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Compare { expr, kind, sign, with } => self.compare(expr, *kind, sign, with),
            Test::Like { expr, pattern } if self.has_foreign_case(&Value::from(pattern.as_str())) => {
                self.within(UNICODE, |sql| sql.expr(expr));
                self.push(" LIKE ");
                self.within(UNICODE, |sql| sql.bind(Value::from(pattern.as_str())));
                self.push(" ESCAPE '!'");
            }
            Test::Like { expr, pattern } => {
                match (self.dialect, expr) {
                    (Dialect::MySql, _) => self.folded(expr),
                    (_, Expr::Column(column)) => self.plain_text(column),
                    _ => self.expr(expr),
                }
                self.push(if self.dialect == Dialect::Postgres { " ILIKE " } else { " LIKE " });
                if self.dialect == Dialect::MySql {
                    self.folded_value(Value::from(pattern.as_str()));
                } else {
                    self.bind(Value::from(pattern.as_str()));
                }
                self.push(" ESCAPE '!'");
            }
            Test::In { expr, kind, values } => {
                if kind.is_text() && values.iter().any(|value| self.has_foreign_case(value)) {
                    self.within(UNICODE, |sql| sql.expr(expr));
                    self.within(" IN (", |sql| {
                        sql.list(values, |sql, value| sql.within(UNICODE, |sql| sql.bind(value.clone())));
                    });
                } else if kind.is_text() {
                    self.folded(expr);
                    self.ignoring_case();
                    self.within(" IN (", |sql| sql.list(values, |sql, value| sql.folded_value(value.clone())));
                } else {
                    self.expr(expr);
                    self.within(" IN (", |sql| sql.list(values, |sql, value| sql.value(*kind, value.clone())));
                }
            }
            Test::Null { expr, negated } => {
                self.expr(expr);
                self.push(if *negated { " IS NOT NULL" } else { " IS NULL" });
            }
            Test::All(tests) => self.group(tests, " AND ", "1 = 1"),
            Test::Any(tests) => self.group(tests, " OR ", "1 = 0"),
            Test::Not(tests) => {
                self.group(tests, " AND ", "(1 = 1)");
                self.push(" IS NOT TRUE");
            }
            Test::Exists { sources, tests, negated } => {
                self.push(if *negated { "NOT " } else { "" });
                self.within("EXISTS (SELECT 1 FROM ", |sql| {
                    sql.sources(sources);
                    sql.push(" WHERE ");
                    if let Some(first) = sources.first() {
                        sql.bound(first);
                    }
                    sql.tests(" AND ", tests);
                });
            }
        }
    }

    fn group(&mut self, tests: &[Test], word: &str, empty: &str) {
        if tests.is_empty() {
            self.push(empty);
        } else {
            self.within("(", |sql| sql.joined(word, tests, Self::test));
        }
    }

    fn compare(&mut self, left: &Expr, kind: FieldKind, sign: &str, right: &Compared) {
        if let Compared::Value(value) = right
            && kind.is_text()
            && self.has_foreign_case(value)
        {
            self.within(UNICODE, |sql| sql.expr(left));
            self.push(&format!(" {sign} "));
            self.within(UNICODE, |sql| sql.bind(value.clone()));
            return;
        }
        if kind.is_text() {
            self.folded(left);
            self.push(&format!(" {sign} "));
            match right {
                Compared::Value(value) => self.folded_value(value.clone()),
                Compared::Column(column) => self.folded(column),
            }
            self.ignoring_case();
            return;
        }
        // The times of SQLite are texts, with a blank or a T between day and time.
        let is_time = match right {
            Compared::Value(value) => kind == FieldKind::Datetime && value.as_str().is_some_and(|text| text.len() > 10),
            Compared::Column(_) => kind.is_time(),
        };
        let (open, close) = if is_time && self.dialect == Dialect::Sqlite { ("datetime(", ")") } else { ("", "") };
        self.push(open);
        self.expr(left);
        self.push(&format!("{close} {sign} {open}"));
        match right {
            Compared::Value(value) => self.value(kind, value.clone()),
            Compared::Column(column) => self.expr(column),
        }
        self.push(close);
    }

    /// Whether the columns hold one of the keys.
    pub fn keys(&mut self, columns: &[&Output], keys: &[Vec<Value>]) {
        let exact = |sql: &mut Self, output: &Output| match &output.expr {
            Expr::Column(column) => sql.plain_text(column),
            other => sql.expr(other),
        };
        if let [column] = columns {
            exact(self, column);
            self.within(" IN (", |sql| {
                sql.list(keys, |sql, key| sql.value(column.kind, key.first().cloned().unwrap_or_default()));
            });
            return;
        }
        self.within("(", |sql| {
            sql.joined(" OR ", keys, |sql, key| {
                sql.within("(", |sql| {
                    sql.joined(" AND ", columns.iter().zip(key), |sql, (column, value)| {
                        exact(sql, column);
                        sql.push(" = ");
                        sql.value(column.kind, value.clone());
                    });
                });
            });
        });
    }
}
