//! What is looked for is short: servers compare text with text without looking at the clock, and no time limit ends
//! that. Not a proof, since values of tables may be long, but nothing long can be made for the purpose.

use std::ops::ControlFlow::{self, Break, Continue};

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Statement, TableFactor,
    Value, Visit, Visitor,
};

use super::denied;
use super::rules::Rules;
use crate::sql::error::SqlError;

/// Bytes of a text that is looked for.
const SHORT: usize = 1000;

/// Refuses a statement that looks for something that may be long.
pub(super) fn bounded(statement: &Statement, rules: &Rules) -> Result<(), SqlError> {
    let mut growth = Growth { rules, grows: false, flows: false };
    let _ = statement.visit(&mut growth);
    let mut search = Search {
        rules,
        // A column of a table; where values can come from another query, it may be one that was made there.
        columns: !(growth.grows && growth.flows),
    };
    match statement.visit(&mut search) {
        Continue(()) => Ok(()),
        Break(what) => Err(denied(&format!("{what}, which may be long"), "Write what is looked for as a short text.")),
    }
}

struct Growth<'r> {
    rules: &'r Rules,
    /// Something makes long values.
    grows: bool,
    /// A query reads what another query, or a function that stands for a table, has made.
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

/// Which arguments of it are looked for.
fn places<'r>(rules: &'r Rules, name: &'r str) -> impl Iterator<Item = usize> + 'r {
    (1..=3).filter(move |at| rules.searching.has(&format!("{name}:{at}")))
}

/// The arguments; none for what is no expression.
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
