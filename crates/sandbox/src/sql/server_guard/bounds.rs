//! Refuses searches for long texts: servers compare texts without looking at the clock, so no time limit stops that.
//! Also finds the names that PostgreSQL may take for calls.

use std::collections::HashMap;
use std::ops::ControlFlow::{self, Break, Continue};

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query,
    Statement, TableAlias, TableFactor, Value, Visit, Visitor,
};

use super::Rules;
use crate::sql::error::{SqlError, denied};

/// Most bytes of a text that is searched for.
const SHORT: usize = 1000;

pub(crate) fn bounded(statement: &Statement, rules: &Rules) -> Result<(), SqlError> {
    let mut growth = Growth { rules, grows: false, flows: false };
    let _ = statement.visit(&mut growth);
    let mut search = Search {
        rules,
        // A column of a table. Where values can come from another query, it may be one that was made there.
        columns: !(growth.grows && growth.flows),
    };
    match statement.visit(&mut search) {
        Continue(()) => Ok(()),
        Break(what) => Err(denied(&format!("{what}, which may be long"), "Write what is looked for as a short text.")),
    }
}

struct Growth<'r> {
    rules: &'r Rules,
    grows: bool,
    /// A query reads what another query, or a function in place of a table, has made.
    flows: bool,
}

impl Visitor for Growth<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.flows |= query.with.is_some();
        Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let plain = matches!(factor, TableFactor::Table { args: None, .. } | TableFactor::NestedJoin { .. });
        self.flows |= !plain;
        Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.grows |= match expr {
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                let queried = matches!(function.args, FunctionArguments::Subquery(_));
                queried || self.rules.growing.has(&name) || name.starts_with("concat")
            }
            Expr::BinaryOp { op, .. } => matches!(op, BinaryOperator::StringConcat),
            _ => false,
        };
        Continue(())
    }
}

struct Search<'r> {
    rules: &'r Rules,
    columns: bool,
}

impl Visitor for Search<'_> {
    type Break = String;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        let long = |what: &str, long: bool| {
            if long { Break(what.to_owned()) } else { Continue(()) }
        };
        match expr {
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                let arguments = arguments(function);
                let mut places = places(self.rules, &name);
                let found = places.any(|at| {
                    let argument = arguments.get(at - 1);
                    argument.is_some_and(|argument| !argument.is_some_and(|one| self.short(one)))
                });
                long(&format!("what {name} looks for"), found)
            }
            Expr::Position { expr, .. } => long("what position looks for", !self.short(expr)),
            Expr::Trim { trim_what: Some(what), .. } => long("what trim takes away", !self.short(what)),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::PGOverlap | BinaryOperator::AtArrow | BinaryOperator::ArrowAt,
                right,
            } => long("what is looked for", !self.short(left) && !self.short(right)),
            _ => Continue(()),
        }
    }
}

impl Search<'_> {
    fn short(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => text.len() <= SHORT,
                _ => true,
            },
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.columns,
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => {
                self.short(inner)
            }
            Expr::TypedString(_) => true,
            Expr::BinaryOp { left, right, .. } => self.short(left) && self.short(right),
            Expr::Array(array) => array.elem.iter().all(|one| self.short(one)),
            Expr::Function(function) => {
                let grows = self.rules.growing.has(&function.name.to_string());
                let arguments = arguments(function);
                let all = |one: Option<&Expr>| one.is_some_and(|one| self.short(one));
                !grows && arguments.into_iter().all(all)
            }
            _ => false,
        }
    }
}

/// Which of its arguments the function searches for.
fn places<'r>(rules: &'r Rules, name: &'r str) -> impl Iterator<Item = usize> + 'r {
    (1..=3).filter(move |at| rules.searching.has(&format!("{name}:{at}")))
}

/// `None` stands for an argument that is no expression.
fn arguments(function: &Function) -> Vec<Option<&Expr>> {
    let FunctionArguments::List(list) = &function.args else {
        return Vec::new();
    };
    let expression = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(expression).collect()
}

/// PostgreSQL cuts longer names off.
const NAME: usize = 63;

/// Names after a dot: to PostgreSQL `x.f` is `f(x)` where x has no column f.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub of_rows: Vec<String>,
    /// May be called with any value: columns of functions that stand for tables.
    pub of_values: Vec<String>,
}

/// Collects them; refuses names that no column can have.
pub(crate) fn fields(statement: &Statement, rules: &Rules) -> Result<Fields, SqlError> {
    let mut tables = Tables::default();
    let _ = statement.visit(&mut tables);
    let mut dots = Dots { rules, tables: &tables, fields: Fields::default() };
    match statement.visit(&mut dots) {
        Continue(()) => Ok(dots.fields),
        Break(error) => Err(error),
    }
}

fn looked_up(name: &Ident) -> String {
    let text = match name.quote_style {
        None => name.value.to_ascii_lowercase(),
        Some(_) => name.value.clone(),
    };
    text[..text.floor_char_boundary(NAME)].to_owned()
}

/// Functions that stand for tables, by their alias, and their columns.
#[derive(Default)]
struct Tables(HashMap<String, Vec<String>>);

impl Tables {
    fn add(&mut self, function: &str, alias: Option<&TableAlias>) {
        let function = function.to_ascii_lowercase();
        let name = alias.map_or_else(|| function.clone(), |alias| looked_up(&alias.name));
        let columns = self.0.entry(name.clone()).or_default();
        match alias {
            Some(alias) if !alias.columns.is_empty() => {
                columns.extend(alias.columns.iter().map(|column| looked_up(&column.name)));
            }
            _ => columns.extend([name, function, "key".to_owned(), "value".to_owned()]),
        }
        columns.push("ordinality".to_owned());
    }
}

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { name, alias, args: Some(_), .. } | TableFactor::Function { name, alias, .. } => {
                self.add(&last(name), alias.as_ref());
            }
            TableFactor::UNNEST { alias, .. } => self.add("unnest", alias.as_ref()),
            _ => {}
        }
        Continue(())
    }
}

fn last(name: &ObjectName) -> String {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.map(looked_up).unwrap_or_default()
}

struct Dots<'r> {
    rules: &'r Rules,
    tables: &'r Tables,
    fields: Fields,
}

impl Visitor for Dots<'_> {
    type Break = SqlError;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<SqlError> {
        let Expr::CompoundIdentifier(names) = expr else {
            return Continue(());
        };
        let [.., qualifier, last] = names.as_slice() else {
            return Continue(());
        };
        let name = looked_up(last);
        let columns = self.tables.0.get(&looked_up(qualifier));
        if self.rules.closes(&name) || columns.is_some_and(|columns| !columns.contains(&name)) {
            return Break(denied(
                &format!("the name {qualifier}.{last}"),
                "Ask for columns; name those of a function as in unnest(…) AS t(x).",
            ));
        }
        if columns.is_some() {
            self.fields.of_values.push(name);
        } else {
            self.fields.of_rows.push(name);
        }
        Continue(())
    }
}
