//! Numbers over rows that a statement repeats: an inner query gives each value once in its group, and null besides.

use super::Sql;
use crate::query::plan::{Checked, Column, Expr, Output};

impl Sql {
    /// The number of the output that the inner query computes, where this is one.
    pub(super) fn inner_place(&self, is_it: impl Fn(&Expr) -> bool) -> Option<usize> {
        self.inner.iter().position(|output| is_it(&output.expr)).map(|at| at + 1)
    }

    /// What is read from: the sources with their tests, or the inner query over them as `q`.
    pub(super) fn rows_of(&mut self, checked: &Checked) {
        let rows = &checked.rows;
        let inner = std::mem::take(&mut self.inner);
        if inner.is_empty() {
            self.sources(&rows.sources);
            self.tests(" WHERE ", &rows.tests);
            return;
        }
        let groups: Vec<&Output> = checked.groups.iter().filter_map(|at| rows.outputs.get(*at)).collect();
        self.push("(SELECT ");
        self.list((1..).zip(&inner), |sql, (number, output)| match &output.expr {
            Expr::Column(_) | Expr::Part(..) => {
                sql.expr(&output.expr);
                sql.push(&format!(" AS g{number}"));
            }
            Expr::Aggregate { function, of, once, .. } => {
                sql.once(once, &groups, |sql| match of {
                    Some(operand) => sql.applied(*function, operand),
                    None => sql.push("1"),
                });
                sql.push(&format!(" AS v{number}"));
            }
            Expr::Summed { source, measure, count, once, .. } => {
                sql.once(once, &groups, |sql| sql.push(&format!("t{source}.m{}", measure + 1)));
                sql.push(&format!(" AS v{number}, "));
                sql.once(once, &groups, |sql| sql.push(&format!("t{source}.m{}", count + 1)));
                sql.push(&format!(" AS w{number}"));
            }
        });
        self.push(" FROM ");
        self.sources(&rows.sources);
        self.tests(" WHERE ", &rows.tests);
        self.push(") AS q");
        self.inner = inner;
    }

    /// A value in the first of the rows of a group that are the same by these columns.
    fn once(&mut self, by: &[Column], groups: &[&Output], value: impl FnOnce(&mut Self)) {
        if by.is_empty() {
            return value(self);
        }
        self.push("CASE WHEN row_number() OVER (PARTITION BY ");
        self.list(groups, |sql, group| sql.expr(&group.expr));
        self.push(if groups.is_empty() { "" } else { ", " });
        self.list(by, Self::column);
        self.push(" ORDER BY ");
        self.list(by, Self::column);
        self.push(") = 1 THEN ");
        value(self);
        self.push(" END");
    }
}
