//! The text of a statement, written from its beginning to its end, so that placeholders and values stay in step.

use serde_json::Value;

use super::{Dialect, is_part};
use crate::model::FieldKind;
use crate::query::Function;
use crate::query::plan::{Calculation, Column, Compared, Expr, Operand, Output, Role, Sort, Source, Summary, Test};

pub(crate) struct Sql {
    pub dialect: Dialect,
    text: String,
    values: Vec<Value>,
    /// Whether values are written into the text.
    pub(super) spelled: bool,
    /// Outputs that an inner query computes ([`once`](super::once)).
    pub(super) inner: Vec<Output>,
}

/// A value as SQLite reads it.
fn spelled(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(flag) => i32::from(*flag).to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => format!("'{}'", other.to_string().replace('\'', "''")),
    }
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

    fn operand(&mut self, operand: &Operand) {
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
    fn plain_text(&mut self, column: &Column) {
        if self.dialect == Dialect::Postgres && column.kind.is_text() {
            self.cast("TEXT", |sql| sql.column(column));
        } else {
            self.column(column);
        }
    }

    /// The expression as a text without regard to case.
    fn folded(&mut self, expr: &Expr) {
        match (self.dialect, expr) {
            (Dialect::Sqlite, _) => self.expr(expr),
            (Dialect::Postgres, Expr::Column(column)) => self.within("lower(", |sql| sql.plain_text(column)),
            _ => self.within("lower(", |sql| sql.expr(expr)),
        }
    }

    fn folded_value(&mut self, value: Value) {
        if self.dialect == Dialect::Sqlite {
            self.bind(value);
        } else {
            self.within("lower(", |sql| sql.bind(value));
        }
    }

    /// After what was folded: SQLite does it by how it compares.
    fn ignoring_case(&mut self) {
        if self.dialect == Dialect::Sqlite {
            self.push(" COLLATE NOCASE");
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
    fn fraction(&mut self, expr: &Expr) {
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
    fn bound(&mut self, source: &Source) {
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
                if kind.is_text() {
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
                self.push("NOT ");
                self.group(tests, " AND ", "(1 = 1)");
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
