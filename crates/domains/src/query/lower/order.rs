//! In which order, and where the next rows begin.

use serde_json::Value;

use super::sql::Sql;
use super::{Dialect, is_part};
use crate::model::FieldKind;
use crate::query::plan::{Expr, Sort};

impl Sql {
    /// What rows are ordered by.
    fn sorted(&mut self, sort: &Sort) {
        match (sort.kind, &sort.expr) {
            (kind, Expr::Column(column)) if kind.is_text() && sort.exact => self.plain_text(column),
            (kind, expr) if kind.is_text() && !is_part(expr) => {
                self.folded(expr);
                self.ignoring_case();
            }
            (FieldKind::Float, expr) => self.fraction(expr),
            (_, expr) => self.expr(expr),
        }
    }

    /// A value that rows are ordered by.
    fn sorted_value(&mut self, sort: &Sort, value: Value) {
        match (self.dialect, sort.kind) {
            (_, kind) if kind.is_text() && !sort.exact => self.folded_value(value),
            (Dialect::Postgres | Dialect::MySql, FieldKind::Float) => {
                self.cast(self.dialect.double(), |sql| sql.bind(value));
            }
            // A day in a column of times has a time too.
            (_, FieldKind::Date) => self.value(FieldKind::Datetime, value),
            (_, kind) => self.value(kind, value),
        }
    }

    /// Nulls come last.
    pub fn order(&mut self, order: &[Sort]) {
        self.list(order, |sql, sort| {
            let mysql = sql.dialect == Dialect::MySql;
            if sort.nullable && mysql {
                sql.sorted(sort);
                sql.push(" IS NULL, ");
            }
            sql.sorted(sort);
            sql.direction(sort);
        });
    }

    fn direction(&mut self, sort: &Sort) {
        if sort.desc {
            self.push(" DESC");
        }
        if sort.nullable && self.dialect != Dialect::MySql {
            self.push(" NULLS LAST");
        }
    }

    /// Groups are ordered by the columns that show them: an expression that is written again is another one to some.
    pub fn order_of_groups(&mut self, order: &[Sort]) {
        self.list(order, |sql, sort| {
            let shown = format!("c{}", sort.output + 1);
            let text = sort.kind.is_text() && matches!(sort.expr, Expr::Column(_));
            if sort.nullable && sql.dialect == Dialect::MySql {
                // In an expression it does not know the name of a number.
                match sort.expr {
                    Expr::Aggregate { .. } | Expr::Summed { .. } => sql.within("(", |sql| sql.expr(&sort.expr)),
                    Expr::Column(_) | Expr::Part(..) => sql.push(&shown),
                }
                sql.push(" IS NULL, ");
            }
            if text {
                sql.sorted(sort);
                sql.direction(sort);
                sql.push(", ");
            }
            sql.push(&shown);
            sql.direction(sort);
        });
    }

    /// Rows that come after one with these values.
    pub fn after(&mut self, order: &[Sort], values: &[Value]) {
        let level = order.iter().all(|sort| !sort.nullable && sort.desc == order[0].desc);
        let pairs: Vec<(&Sort, &Value)> = order.iter().zip(values).collect();
        if level && (order.len() == 1 || self.dialect != Dialect::MySql) {
            let (open, close) = if order.len() == 1 { ("", "") } else { ("(", ")") };
            self.push(open);
            self.list(order, Self::sorted);
            self.push(close);
            self.push(if order[0].desc { " < " } else { " > " });
            self.push(open);
            self.list(&pairs, |sql, (sort, value)| sql.sorted_value(sort, (*value).clone()));
            self.push(close);
            return;
        }
        // The first value alone bounds what an index has to look at.
        if let Some((sort, value)) = pairs.first().filter(|(sort, value)| !sort.nullable && !value.is_null()) {
            self.sorted(sort);
            self.push(if sort.desc { " <= " } else { " >= " });
            self.sorted_value(sort, (*value).clone());
            self.push(" AND ");
        }
        self.push("(");
        let mut word = "";
        for (at, (sort, value)) in pairs.iter().enumerate() {
            // Nothing comes after null but another row with null.
            if value.is_null() {
                continue;
            }
            self.push(word);
            word = " OR ";
            self.push("(");
            for (sort, value) in &pairs[..at] {
                self.sorted(sort);
                if value.is_null() {
                    self.push(" IS NULL");
                } else {
                    self.push(" = ");
                    self.sorted_value(sort, (*value).clone());
                }
                self.push(" AND ");
            }
            self.push(if sort.nullable { "(" } else { "" });
            self.sorted(sort);
            self.push(if sort.desc { " < " } else { " > " });
            self.sorted_value(sort, (*value).clone());
            if sort.nullable {
                self.push(" OR ");
                self.sorted(sort);
                self.push(" IS NULL)");
            }
            self.push(")");
        }
        // The key, which is never null, is always among them.
        self.push(if word.is_empty() { "1 = 0)" } else { ")" });
    }
}
