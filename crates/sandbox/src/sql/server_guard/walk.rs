use std::ops::ControlFlow::{self, Break, Continue};

use sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, Expr, Function, FunctionArgumentClause, FunctionArguments, ObjectName, Query,
    Select, SelectFlavor, SetExpr, Statement, TableFactor, Value, ValueWithSpan, Visit, Visitor,
};

use super::Rules;
use crate::sql::error::{SqlError, denied, limit};

const DEPTH: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub parameters: usize,
    /// The functions that it calls, in lower case.
    pub calls: Vec<String>,
}

pub(crate) fn walk(statement: &Statement, rules: &Rules, write: bool) -> Result<Walked, SqlError> {
    let mut judge = Judge { rules, write, depth: 0, outermost: true, walked: Walked::default() };
    match statement.visit(&mut judge) {
        Continue(()) => Ok(judge.walked),
        Break(error) => Err(error),
    }
}

struct Judge<'r> {
    rules: &'r Rules,
    write: bool,
    depth: usize,
    outermost: bool,
    walked: Walked,
}

type Flow = ControlFlow<SqlError>;

const ONLY_READ: &str = "Only a single SELECT, VALUES or WITH … SELECT is run.";
const PLAIN: &str = "Write it in plain SQL.";

fn deny(what: impl AsRef<str>, hint: &str) -> Flow {
    Break(denied(what.as_ref(), hint))
}

fn unless(bad: bool, what: &str, hint: &str) -> Flow {
    if bad { deny(what, hint) } else { Continue(()) }
}

impl Visitor for Judge<'_> {
    type Break = SqlError;

    fn pre_visit_statement(&mut self, statement: &Statement) -> Flow {
        let outermost = std::mem::replace(&mut self.outermost, false);
        match statement {
            Statement::Query(_) => Continue(()),
            Statement::Insert(insert) if self.write && outermost => unless(
                insert.overwrite || insert.replace_into || insert.table_alias.is_some(),
                "this form of INSERT",
                PLAIN,
            ),
            Statement::Update(_) if self.write && outermost => Continue(()),
            Statement::Delete(delete) if self.write && outermost => unless(
                // Words before FROM can be instructions to the server, which the grammar takes for tables.
                !delete.tables.is_empty(),
                "DELETE with words before FROM",
                "Write DELETE FROM table WHERE …",
            ),
            _ => deny("a statement that does more than read", ONLY_READ),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        unless(!query.locks.is_empty(), "locking rows", "Leave FOR UPDATE and FOR SHARE out.")?;
        unless(
            query.for_clause.is_some()
                || query.settings.is_some()
                || query.format_clause.is_some()
                || !query.pipe_operators.is_empty(),
            "a clause that is not known here",
            PLAIN,
        )?;
        check_body(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        unless(select.into.is_some(), "SELECT … INTO", ONLY_READ)?;
        unless(!select.optimizer_hints.is_empty(), "a hint to the planner", "Leave it out.")?;
        unless(
            select.top.is_some()
                || select.exclude.is_some()
                || !select.lateral_views.is_empty()
                || select.prewhere.is_some()
                || !select.connect_by.is_empty()
                || !select.cluster_by.is_empty()
                || !select.distribute_by.is_empty()
                || !select.sort_by.is_empty()
                || select.qualify.is_some()
                || select.value_table_mode.is_some()
                || select.select_modifiers.is_some()
                || !matches!(select.flavor, SelectFlavor::Standard),
            "a clause that is not known here",
            PLAIN,
        )
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> Flow {
        let Some(parts) = parts(relation) else {
            return deny(format!("the name {relation}"), PLAIN);
        };
        let closed = match parts.as_slice() {
            [table] => self.rules.closes(table),
            [schema, table] => {
                self.rules.closed_schemas.has(schema) || self.rules.closes(schema) || self.rules.closes(table)
            }
            _ => true,
        };
        unless(closed, &format!("table {relation}"), "Query the tables of the database.")
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table {
                name, args, with_hints, version, sample, index_hints, json_path, partitions, ..
            } => {
                unless(
                    !with_hints.is_empty()
                        || version.is_some()
                        || sample.is_some()
                        || !index_hints.is_empty()
                        || !partitions.is_empty()
                        || json_path.is_some(),
                    "a clause of a table that is not known here",
                    PLAIN,
                )?;
                match args {
                    None => Continue(()),
                    Some(args) if args.settings.is_none() => self.table_function(name),
                    Some(_) => deny("a table function with settings", PLAIN),
                }
            }
            TableFactor::Function { name, .. } => self.table_function(name),
            TableFactor::Derived { sample, .. } => unless(sample.is_some(), "TABLESAMPLE", PLAIN),
            TableFactor::NestedJoin { .. } => Continue(()),
            TableFactor::UNNEST { .. } => {
                self.call("unnest");
                Continue(())
            }
            _ => deny("a kind of table that is not known here", PLAIN),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        self.depth += 1;
        if self.depth > DEPTH {
            return Break(limit(format!("an expression of more than {DEPTH} levels")));
        }
        for name in grammatical(expr) {
            self.call(name);
        }
        match expr {
            Expr::Function(function) => self.function(function),
            Expr::Cast { data_type, format, .. } => {
                unless(format.is_some(), "CAST … FORMAT", PLAIN)?;
                self.data_type(data_type)
            }
            Expr::Convert { data_type, styles, .. } => {
                unless(!styles.is_empty(), "CONVERT with a style", PLAIN)?;
                data_type.as_ref().map_or(Continue(()), |t| self.data_type(t))
            }
            Expr::TypedString(typed) => self.data_type(&typed.data_type),
            Expr::BinaryOp { op, .. } => unless(
                matches!(
                    op,
                    BinaryOperator::Assignment
                        | BinaryOperator::Custom(_)
                        | BinaryOperator::PGCustomBinaryOperator(_)
                        | BinaryOperator::Glob
                        | BinaryOperator::Match
                        | BinaryOperator::DuckIntegerDivide
                ),
                "this operator",
                PLAIN,
            ),
            // To PostgreSQL, `(x).f` and `x.f` are `f(x)` where x has no field f.
            Expr::CompoundFieldAccess { access_chain, .. } => unless(
                access_chain.iter().any(|access| matches!(access, AccessExpr::Dot(_))),
                "a field of an expression",
                "Name columns as table.column, and use functions for JSON.",
            ),
            Expr::Identifier(name) => {
                let word = name.quote_style.is_none() && self.rules.words.has(&name.value);
                unless(word, &format!("the word {name}"), "Leave it out.")
            }
            Expr::Prefixed { .. }
            | Expr::InUnnest { .. }
            | Expr::Struct { .. }
            | Expr::Named { .. }
            | Expr::Dictionary(_)
            | Expr::Map(_)
            | Expr::OuterJoin(_)
            | Expr::Prior(_)
            | Expr::Lambda(_) => deny("an expression that is not known here", PLAIN),
            _ => Continue(()),
        }
    }

    fn post_visit_expr(&mut self, _: &Expr) -> Flow {
        self.depth = self.depth.saturating_sub(1);
        Continue(())
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> Flow {
        match &value.value {
            Value::Number(..)
            | Value::SingleQuotedString(_)
            | Value::HexStringLiteral(_)
            | Value::SingleQuotedByteStringLiteral(_)
            | Value::Boolean(_)
            | Value::Null => Continue(()),
            Value::Placeholder(name) => {
                // `?` is counted, `$n` has its place in its name.
                let place = match name.strip_prefix('$') {
                    Some(number) => number.parse().unwrap_or(usize::MAX),
                    None if name == "?" => self.walked.parameters + 1,
                    None => usize::MAX,
                };
                if (1..=500).contains(&place) {
                    self.walked.parameters = self.walked.parameters.max(place);
                    Continue(())
                } else {
                    deny(format!("the placeholder {name}"), "Number them from $1, or use ?.")
                }
            }
            _ => deny("a literal of a special form", "Use plain '…' text and numbers."),
        }
    }
}

impl Judge<'_> {
    fn function(&mut self, function: &Function) -> Flow {
        match plain(&function.name) {
            Some(name) if self.rules.functions.has(name) => self.call(name),
            _ => return deny(format!("function {}", function.name), "Use the standard SQL functions."),
        }
        let clauses = match &function.args {
            FunctionArguments::List(list) => list.clauses.as_slice(),
            FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
        };
        unless(
            function.uses_odbc_syntax
                || !matches!(function.parameters, FunctionArguments::None)
                || clauses.iter().any(|clause| {
                    !matches!(
                        clause,
                        FunctionArgumentClause::OrderBy(_)
                            | FunctionArgumentClause::Separator(_)
                            | FunctionArgumentClause::IgnoreOrRespectNulls(_)
                            | FunctionArgumentClause::Limit(_)
                    )
                }),
            "this form of a call",
            PLAIN,
        )
    }

    fn table_function(&mut self, name: &ObjectName) -> Flow {
        match plain(name) {
            Some(single) if self.rules.table_functions.has(single) => {
                self.call(single);
                Continue(())
            }
            _ => deny(format!("table function {name}"), "Query the tables of the database."),
        }
    }

    fn call(&mut self, name: &str) {
        self.walked.calls.push(name.to_ascii_lowercase());
    }

    fn data_type(&self, data_type: &DataType) -> Flow {
        let text = data_type.to_string();
        let head: &str = text.split(['(', '[']).next().unwrap_or_default().trim();
        // The list has underscores in names of several words.
        let known = self.rules.types.has(&head.replace(' ', "_"));
        unless(!known, &format!("type {text}"), "Cast to text, numbers, dates or JSON.")
    }
}

fn grammatical(expr: &Expr) -> &'static [&'static str] {
    match expr {
        Expr::Ceil { .. } => &["ceil", "ceiling"],
        Expr::Floor { .. } => &["floor"],
        Expr::Substring { .. } => &["substring", "substr", "mid"],
        Expr::Position { .. } => &["position"],
        Expr::Overlay { .. } => &["overlay"],
        Expr::Trim { .. } => &["trim", "btrim", "ltrim", "rtrim"],
        Expr::Extract { .. } => &["extract", "date_part"],
        Expr::AtTimeZone { .. } => &["timezone"],
        _ => &[],
    }
}

/// Checks the kind only; the parts are visited by themselves.
fn check_body(body: &SetExpr) -> Flow {
    match body {
        SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => Continue(()),
        SetExpr::SetOperation { left, right, .. } => {
            check_body(left)?;
            check_body(right)
        }
        _ => deny("a statement that does more than read", ONLY_READ),
    }
}

/// A name of one part without quotes.
fn plain(name: &ObjectName) -> Option<&str> {
    let [single] = name.0.as_slice() else { return None };
    let ident = single.as_ident().filter(|ident| ident.quote_style.is_none())?;
    Some(&ident.value)
}

fn parts(name: &ObjectName) -> Option<Vec<&str>> {
    name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.as_str())).collect()
}
