use std::ops::ControlFlow;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, FunctionArguments, Insert, ObjectName, OnConflictAction,
    OnInsert, OrderByExpr, Statement, TableFactor, TableObject, TableWithJoins, Update, Value, Visit,
    visit_expressions,
};

use super::VOLATILE;
use crate::sql::error::SqlError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Insert,
    Update,
    Delete,
}

impl Verb {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub verb: Verb,
    pub table: String,
    /// The parts of the name, without quotes.
    pub parts: Vec<String>,
    /// The table's name within the statement: its alias or its own name.
    pub qualifier: String,
    /// The statement without its RETURNING.
    pub body: String,
    /// Columns that an UPDATE, or an INSERT of an existing row, assigns; in lower case unless quoted.
    pub assigned: Vec<String>,
    /// An INSERT that changes existing rows.
    pub upsert: bool,
    /// An INSERT that leaves out rows that don't fit.
    pub ignore: bool,
    /// Which rows an UPDATE or DELETE changes; `None`: other tables decide that too.
    pub rows: Option<Matched>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// What follows the columns of a SELECT: `FROM t WHERE … ORDER BY … LIMIT …`.
    pub tail: String,
    /// How many `?` stand before `tail` in the statement.
    pub skip: usize,
    pub limited: bool,
    /// Why the SELECT may find other rows than the statement, if it may.
    pub unsteady: Option<String>,
}

/// Puts texts and quoted names back into what the grammar has written.
type Fill<'f> = &'f dyn Fn(&str) -> Result<String, SqlError>;

/// `None`: it is no write to a single table. `skeleton` is the statement without its texts and quoted names.
pub(crate) fn of(statement: &Statement, skeleton: &Statement, fill: Fill<'_>) -> Result<Option<Write>, SqlError> {
    let (Some(named), Some(mut write)) = (read(statement), read(skeleton)) else {
        return Ok(None);
    };
    (write.parts, write.assigned) = (named.parts, named.assigned);
    for text in [&mut write.table, &mut write.qualifier, &mut write.body] {
        *text = fill(text)?;
    }
    if let Some(rows) = &mut write.rows {
        rows.tail = fill(&rows.tail)?;
    }
    Ok(Some(write))
}

fn read(statement: &Statement) -> Option<Write> {
    match statement {
        Statement::Insert(insert) => of_insert(insert),
        Statement::Update(update) => of_update(update),
        Statement::Delete(delete) => of_delete(delete),
        _ => None,
    }
}

fn of_insert(insert: &Insert) -> Option<Write> {
    let TableObject::TableName(name) = &insert.table else {
        return None;
    };
    // Those of existing rows.
    let assignments = match &insert.on {
        None => None,
        Some(OnInsert::DuplicateKeyUpdate(assignments)) => Some(assignments),
        Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
            OnConflictAction::DoNothing => None,
            OnConflictAction::DoUpdate(update) => Some(&update.assignments),
        },
        Some(_) => return None,
    };
    Some(Write {
        verb: Verb::Insert,
        table: name.to_string(),
        parts: parts(name)?,
        qualifier: name.0.last()?.to_string(),
        body: Statement::Insert(Insert { returning: None, ..insert.clone() }).to_string(),
        assigned: assigned(assignments.map_or(&[], Vec::as_slice))?,
        upsert: assignments.is_some(),
        ignore: insert.ignore,
        rows: None,
    })
}

fn of_update(update: &Update) -> Option<Write> {
    let (name, qualifier) = single(&update.table)?;
    let alone = update.table.joins.is_empty() && update.from.is_none();
    let mut rows = matched(&update.table, update.selection.as_ref(), &update.order_by, update.limit.as_ref());
    rows.skip = marks(&update.assignments);
    if rows.limited {
        rows.unsteady = Some("LIMIT may take other rows each time".to_owned());
    }
    Some(Write {
        verb: Verb::Update,
        table: name.to_string(),
        parts: parts(name)?,
        qualifier,
        body: Statement::Update(Update { returning: None, ..update.clone() }).to_string(),
        assigned: assigned(&update.assignments)?,
        upsert: false,
        ignore: false,
        rows: alone.then_some(rows),
    })
}

fn of_delete(delete: &Delete) -> Option<Write> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [table] = from.as_slice() else {
        return None;
    };
    let (name, qualifier) = single(table)?;
    if !delete.tables.is_empty() || !table.joins.is_empty() {
        return None;
    }
    // With a LIMIT, whether the same rows went shows afterwards: they are gone.
    let rows = matched(table, delete.selection.as_ref(), &delete.order_by, delete.limit.as_ref());
    Some(Write {
        verb: Verb::Delete,
        table: name.to_string(),
        parts: parts(name)?,
        qualifier,
        body: Statement::Delete(Delete { returning: None, ..delete.clone() }).to_string(),
        assigned: Vec::new(),
        upsert: false,
        ignore: false,
        rows: delete.using.is_none().then_some(rows),
    })
}

fn matched(
    table: &TableWithJoins,
    selection: Option<&Expr>,
    order_by: &[OrderByExpr],
    limit: Option<&Expr>,
) -> Matched {
    let mut tail = format!("FROM {table}");
    let order: Vec<String> = order_by.iter().map(ToString::to_string).collect();
    let order = (!order.is_empty()).then(|| order.join(", "));
    let clauses =
        [("WHERE", selection.map(Expr::to_string)), ("ORDER BY", order), ("LIMIT", limit.map(Expr::to_string))];
    for (word, clause) in clauses {
        if let Some(clause) = clause {
            tail = format!("{tail} {word} {clause}");
        }
    }
    Matched { tail, skip: 0, limited: limit.is_some(), unsteady: moody(selection) }
}

fn single(table: &TableWithJoins) -> Option<(&ObjectName, String)> {
    let TableFactor::Table { name, alias, args: None, .. } = &table.relation else {
        return None;
    };
    let qualifier = match alias {
        Some(alias) => alias.name.to_string(),
        None => name.0.last()?.to_string(),
    };
    Some((name, qualifier))
}

fn parts(name: &ObjectName) -> Option<Vec<String>> {
    name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.clone())).collect()
}

/// All names on the left sides, parts of records included.
fn assigned(assignments: &[Assignment]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for assignment in assignments {
        let targets = match &assignment.target {
            AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
            AssignmentTarget::Tuple(all) => all.as_slice(),
        };
        for part in targets.iter().flat_map(|name| &name.0) {
            let ident = part.as_ident()?;
            names.push(match ident.quote_style {
                None => ident.value.to_lowercase(),
                Some(_) => ident.value.clone(),
            });
        }
    }
    Some(names)
}

fn marks<V: Visit>(what: &V) -> usize {
    let mut count = 0;
    let _ = visit_expressions(what, |expr| {
        if let Expr::Value(value) = expr
            && matches!(value.value, Value::Placeholder(_))
        {
            count += 1;
        }
        ControlFlow::<()>::Continue(())
    });
    count
}

/// The first function in the condition that gives another result each time.
fn moody(selection: Option<&Expr>) -> Option<String> {
    let found = visit_expressions(selection?, |expr| match expr {
        Expr::Function(function) if VOLATILE.has(&function.name.to_string()) => {
            let parentheses = match function.args {
                FunctionArguments::None => "",
                _ => "()",
            };
            ControlFlow::Break(format!("{}{parentheses} may find other rows each time", function.name))
        }
        _ => ControlFlow::Continue(()),
    });
    found.break_value()
}
