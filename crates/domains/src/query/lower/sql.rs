//! The text of a statement, written from its beginning to its end, so that placeholders and values stay in step.

use serde_json::Value;

use super::Dialect;
use super::dialect::spelled;
use crate::model::FieldKind;
use crate::query::Function;
use crate::query::plan::{Calculation, Column, Expr, Operand, Output, Role, Source, Summary};

pub(crate) struct Sql {
    pub dialect: Dialect,
    text: String,
    values: Vec<Value>,
    /// Whether values are written into the text.
    pub(super) spelled: bool,
    /// Outputs that an inner query computes ([`once`](super::once)).
    pub(super) inner: Vec<Output>,
}

/// What a function is applied to.
enum Applied<'o> {
    Rows,
    Operand(&'o Operand),
    /// A column of the inner query, which has the operand's values.
    Inner(String, &'o Operand),
}

impl Sql {
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::new(), values: Vec::new(), spelled: false, inner: Vec::new() }
    }

    pub fn done(self) -> (String, Vec<Value>) {
        (self.text, self.values)
    }

    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub fn name(&mut self, name: &str) {
        let quoted = self.dialect.quote(name);
        self.push(&quoted);
    }

    pub fn table(&mut self, name: &str) {
        let quoted = self.dialect.table(name);
        self.push(&quoted);
    }

    pub fn joined<T>(&mut self, by: &str, items: impl IntoIterator<Item = T>, mut one: impl FnMut(&mut Self, T)) {
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.push(by);
            }
            one(self, item);
        }
    }

    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, one: impl FnMut(&mut Self, T)) {
        self.joined(", ", items, one);
    }

    /// A bracket, which may be that of a function, what is in it, and its end.
    pub fn within(&mut self, open: &str, inner: impl FnOnce(&mut Self)) {
        self.push(open);
        inner(self);
        self.push(")");
    }

    /// A placeholder as it is.
    pub fn bind(&mut self, value: Value) {
        if self.spelled {
            self.push(&spelled(&value));
            return;
        }
        self.values.push(value);
        let placeholder = self.dialect.placeholder(self.values.len());
        self.push(&placeholder);
    }

    pub fn cast(&mut self, kind: &str, inner: impl FnOnce(&mut Self)) {
        self.within("CAST(", |sql| {
            inner(sql);
            sql.push(&format!(" AS {kind}"));
        });
    }

    /// A placeholder that is compared with something of the kind.
    pub fn value(&mut self, kind: FieldKind, value: Value) {
        match self.dialect.cast_of(kind) {
            Some(to) => self.cast(to, |sql| sql.bind(value)),
            None => self.bind(value),
        }
    }

    pub(super) fn column(&mut self, column: &Column) {
        let is_it = |expr: &Expr| matches!(expr, Expr::Column(known) if known == column);
        let text = match self.inner_place(is_it) {
            Some(number) => format!("q.g{number}"),
            None => format!("t{}.{}", column.source, self.dialect.quote(&column.name)),
        };
        self.push(&text);
    }

    pub fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(column) => self.column(column),
            Expr::Part(column, part) => {
                let quoted = format!("t{}.{}", column.source, self.dialect.quote(&column.name));
                let text = match self.inner_place(|known| known == expr) {
                    Some(number) => format!("q.g{number}"),
                    None => self.dialect.part(&quoted, *part),
                };
                self.push(&text);
            }
            Expr::Aggregate { function, of, distinct, .. } => {
                let inner = self.inner_place(|known| known == expr).map(|number| format!("q.v{number}"));
                let of = match (inner, of) {
                    (Some(name), Some(operand)) => Applied::Inner(name, operand),
                    (_, Some(operand)) => Applied::Operand(operand),
                    (_, None) => Applied::Rows,
                };
                self.aggregate(*function, &of, *distinct);
            }
            Expr::Summed { source, function, measure, count, kind, .. } => {
                let (sum, count) = match self.inner_place(|known| known == expr) {
                    Some(number) => (format!("q.v{number}"), format!("q.w{number}")),
                    None => (format!("t{source}.m{}", measure + 1), format!("t{source}.m{}", count + 1)),
                };
                match function {
                    Function::Count => self.cast(self.dialect.integer(), |sql| {
                        sql.push(&format!("coalesce(sum({sum}), 0)"));
                    }),
                    Function::Sum => self.cast(self.number(*kind), |sql| sql.push(&format!("sum({sum})"))),
                    Function::Avg => {
                        self.cast(self.dialect.double(), |sql| sql.push(&format!("sum({sum})")));
                        self.push(&format!(" / nullif(sum({count}), 0)"));
                    }
                    Function::Min | Function::Max => self.push(&format!("{}({sum})", function.name())),
                }
            }
        }
    }

    fn number(&self, kind: FieldKind) -> &'static str {
        if kind == FieldKind::Int { self.dialect.integer() } else { self.dialect.double() }
    }

    /// Sums and averages have the same types everywhere: servers would return decimals of their own.
    fn aggregate(&mut self, function: Function, of: &Applied<'_>, distinct: bool) {
        match (function, of) {
            (Function::Sum, Applied::Operand(operand) | Applied::Inner(_, operand)) => {
                let kind = if operand.is_whole() { FieldKind::Int } else { FieldKind::Float };
                self.cast(self.number(kind), |sql| sql.call(function, of, distinct));
            }
            (Function::Avg, _) if self.dialect != Dialect::MySql => {
                self.cast(self.dialect.double(), |sql| sql.call(function, of, distinct));
            }
            _ => self.call(function, of, distinct),
        }
    }

    fn call(&mut self, function: Function, of: &Applied<'_>, distinct: bool) {
        self.push(function.name());
        self.within(if distinct { "(DISTINCT " } else { "(" }, |sql| match of {
            Applied::Rows => sql.push("*"),
            Applied::Inner(name, _) => sql.push(name),
            Applied::Operand(operand) => sql.applied(function, operand),
        });
    }

    /// What a function is applied to, in the form that it needs.
    pub(super) fn applied(&mut self, function: Function, operand: &Operand) {
        match operand {
            // Its averages have only four more digits than what they are made of.
            operand if self.dialect == Dialect::MySql && function == Function::Avg => {
                self.cast(self.dialect.double(), |sql| sql.operand(operand));
            }
            Operand::Column(column) if matches!(function, Function::Min | Function::Max) => self.plain_text(column),
            operand => self.operand(operand),
        }
    }

    pub(super) fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Column(column) => self.column(column),
            Operand::Number(number) if self.dialect == Dialect::Sqlite => self.bind(number.clone()),
            Operand::Number(number) => {
                let kind = if number.is_i64() { self.dialect.integer() } else { self.dialect.double() };
                self.cast(kind, |sql| sql.bind(number.clone()));
            }
            Operand::Calculated(left, Calculation::Divide, right) => {
                self.cast(self.dialect.double(), |sql| sql.operand(left));
                self.push(" / nullif(");
                self.operand(right);
                self.push(", 0)");
            }
            Operand::Calculated(left, calculation, right) => self.within("(", |sql| {
                sql.factor(left);
                sql.push(&format!(" {} ", calculation.sign()));
                sql.factor(right);
            }),
        }
    }

    /// Whole numbers of PostgreSQL may be too short for what is made of them.
    fn factor(&mut self, operand: &Operand) {
        match operand {
            Operand::Column(column) if self.dialect == Dialect::Postgres && column.kind == FieldKind::Int => {
                self.cast(self.dialect.integer(), |sql| sql.column(column));
            }
            _ => self.operand(operand),
        }
    }

    /// For PostgreSQL, texts can be of types that have no order and no case.
    pub(super) fn plain_text(&mut self, column: &Column) {
        if self.dialect == Dialect::Postgres && column.kind.is_text() {
            self.cast("TEXT", |sql| sql.column(column));
        } else {
            self.column(column);
        }
    }

    /// The expression as a text without regard to case.
    pub(super) fn folded(&mut self, expr: &Expr) {
        match (self.dialect, expr) {
            (Dialect::Sqlite, _) => self.expr(expr),
            (Dialect::Postgres, Expr::Column(column)) => self.within("lower(", |sql| sql.plain_text(column)),
            _ => self.within("lower(", |sql| sql.expr(expr)),
        }
    }

    /// The columns `c1`, `c2`… of a result.
    pub fn outputs(&mut self, outputs: &[Output]) {
        self.list((1..).zip(outputs), |sql, (number, output)| {
            if output.role == Role::Hidden && output.kind == FieldKind::Float {
                sql.fraction(&output.expr);
            } else {
                sql.expr(&output.expr);
            }
            sql.push(&format!(" AS c{number}"));
        });
    }

    /// A number as exactly as it can be read and compared again.
    pub(super) fn fraction(&mut self, expr: &Expr) {
        if self.dialect == Dialect::Sqlite {
            self.expr(expr);
        } else {
            self.cast(self.dialect.double(), |sql| sql.expr(expr));
        }
    }

    pub fn sources(&mut self, sources: &[Source]) {
        for (at, source) in sources.iter().enumerate() {
            if at == 0 {
                self.table(&source.table);
                self.push(&format!(" AS t{}", source.id));
                continue;
            }
            self.push(if source.outer { " LEFT JOIN " } else { " JOIN " });
            match &source.summary {
                Some(summary) => self.summary(summary),
                None => self.table(&source.table),
            }
            self.push(&format!(" AS t{} ON ", source.id));
            self.bound(source);
        }
    }

    /// How a source belongs to the one that it is joined to.
    pub(super) fn bound(&mut self, source: &Source) {
        let Some((to, pairs)) = &source.joined else {
            return;
        };
        self.joined(" AND ", (1..).zip(pairs), |sql, (number, (there, here))| {
            let here = match source.summary {
                Some(_) => format!("k{number}"),
                None => sql.dialect.quote(here),
            };
            let there = sql.dialect.quote(there);
            sql.push(&format!("t{}.{here} = t{to}.{there}", source.id));
        });
    }

    fn summary(&mut self, summary: &Summary) {
        let first = summary.sources.first();
        let (id, pairs) = first.map_or((0, [].as_slice()), |first| {
            (first.id, first.joined.as_ref().map_or([].as_slice(), |(_, pairs)| pairs.as_slice()))
        });
        let keys: Vec<String> = pairs.iter().map(|(_, here)| format!("t{id}.{}", self.dialect.quote(here))).collect();
        self.push("(SELECT ");
        for (at, key) in keys.iter().enumerate() {
            self.push(&format!("{key} AS k{}, ", at + 1));
        }
        self.list((1..).zip(&summary.measures), |sql, (number, measure)| {
            let of = measure.of.as_ref().map_or(Applied::Rows, Applied::Operand);
            sql.call(measure.function, &of, false);
            sql.push(&format!(" AS m{number}"));
        });
        self.push(" FROM ");
        self.sources(&summary.sources);
        self.tests(" WHERE ", &summary.tests);
        self.push(&format!(" GROUP BY {})", keys.join(", ")));
    }
}
