//! Names after a dot. To PostgreSQL `x.f` is `f(x)` where x has no column f, so what they may call has to be known.

use std::collections::HashMap;
use std::ops::ControlFlow::{self, Break, Continue};

use sqlparser::ast::{Expr, Ident, ObjectName, Statement, TableAlias, TableFactor, Visit, Visitor};

use super::denied;
use super::rules::Rules;
use crate::sql::error::SqlError;

/// Bytes of a name that count; the server cuts the rest off.
const NAME: usize = 63;

/// What names after a dot may call.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// With a row.
    pub of_rows: Vec<String>,
    /// With any value: those of functions that stand for tables.
    pub of_values: Vec<String>,
}

/// Collects them; refuses those that no column can have.
pub(super) fn fields(statement: &Statement, rules: &Rules) -> Result<Fields, SqlError> {
    let mut tables = Tables::default();
    let _ = statement.visit(&mut tables);
    let mut dots = Dots { rules, tables: &tables, fields: Fields::default() };
    match statement.visit(&mut dots) {
        Continue(()) => Ok(dots.fields),
        Break(error) => Err(error),
    }
}

/// A name as the server looks it up.
pub(super) fn looked_up(name: &Ident) -> String {
    let text = match name.quote_style {
        None => name.value.to_ascii_lowercase(),
        Some(_) => name.value.clone(),
    };
    text[..text.floor_char_boundary(NAME)].to_owned()
}

/// Functions that stand for tables, by the name that they have there, and their columns.
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
