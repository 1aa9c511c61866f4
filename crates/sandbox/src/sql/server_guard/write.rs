use std::ops::ControlFlow;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, FunctionArguments, Insert, ObjectName, OnConflictAction,
    OnInsert, Statement, TableFactor, TableObject, TableWithJoins, Update, Value, Visit, visit_expressions,
};

use super::NameSet;
use crate::sql::error::SqlError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Insert,
    Update,
    Delete,
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
pub(crate) fn of(
    statement: &Statement,
    skeleton: &Statement,
    fill: Fill<'_>,
    volatile: &NameSet,
) -> Result<Option<Write>, SqlError> {
    let write = match skeleton {
        Statement::Insert(insert) => of_insert(insert),
        Statement::Update(update) => of_update(update, volatile),
        Statement::Delete(delete) => of_delete(delete, volatile),
        _ => None,
    };
    let Some(mut write) = write else {
        return Ok(None);
    };
    let Some((parts, assigned)) = names(statement) else {
        return Ok(None);
    };
    (write.parts, write.assigned) = (parts, assigned);
    for text in [&mut write.table, &mut write.qualifier, &mut write.body] {
        *text = fill(text)?;
    }
    if let Some(rows) = &mut write.rows {
        rows.tail = fill(&rows.tail)?;
    }
    Ok(Some(write))
}

fn names(statement: &Statement) -> Option<(Vec<String>, Vec<String>)> {
    match statement {
        Statement::Insert(insert) => {
            let TableObject::TableName(name) = &insert.table else {
                return None;
            };
            let (_, assigned) = conflict(insert)?;
            Some((parts(name)?, assigned))
        }
        Statement::Update(update) => {
            let (name, _) = single(&update.table)?;
            Some((parts(name)?, assigned(&update.assignments)?))
        }
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            let (name, _) = single(from.first()?)?;
            Some((parts(name)?, Vec::new()))
        }
        _ => None,
    }
}

/// Whether an INSERT changes existing rows, and which columns of them.
fn conflict(insert: &Insert) -> Option<(bool, Vec<String>)> {
    Some(match &insert.on {
        None => (false, Vec::new()),
        Some(OnInsert::DuplicateKeyUpdate(assignments)) => (true, assigned(assignments)?),
        Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
            OnConflictAction::DoNothing => (false, Vec::new()),
            OnConflictAction::DoUpdate(update) => (true, assigned(&update.assignments)?),
        },
        Some(_) => return None,
    })
}

fn of_insert(insert: &Insert) -> Option<Write> {
    let TableObject::TableName(name) = &insert.table else {
        return None;
    };
    let (upsert, _) = conflict(insert)?;
    let mut body = insert.clone();
    body.returning = None;
    Some(Write {
        verb: Verb::Insert,
        table: name.to_string(),
        parts: Vec::new(),
        qualifier: name.0.last()?.to_string(),
        body: Statement::Insert(body).to_string(),
        assigned: Vec::new(),
        upsert,
        ignore: insert.ignore,
        rows: None,
    })
}

fn of_update(update: &Update, volatile: &NameSet) -> Option<Write> {
    let (name, qualifier) = single(&update.table)?;
    let mut body = update.clone();
    body.returning = None;
    let alone = update.table.joins.is_empty() && update.from.is_none();
    let mut tail = format!("FROM {}", update.table);
    add(&mut tail, " WHERE ", update.selection.as_ref());
    let order: Vec<String> = update.order_by.iter().map(ToString::to_string).collect();
    add(&mut tail, " ORDER BY ", one(&order).as_ref());
    add(&mut tail, " LIMIT ", update.limit.as_ref());
    let unsteady = update
        .limit
        .as_ref()
        .map(|_| "LIMIT may take other rows each time".to_owned())
        .or_else(|| moody(update.selection.as_ref(), volatile));
    Some(Write {
        verb: Verb::Update,
        table: name.to_string(),
        parts: Vec::new(),
        qualifier,
        body: Statement::Update(body).to_string(),
        assigned: Vec::new(),
        upsert: false,
        ignore: false,
        rows: alone.then(|| Matched {
            tail,
            skip: marks(&update.assignments),
            limited: update.limit.is_some(),
            unsteady,
        }),
    })
}

fn of_delete(delete: &Delete, volatile: &NameSet) -> Option<Write> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let [table] = from.as_slice() else {
        return None;
    };
    let (name, qualifier) = single(table)?;
    let alone = table.joins.is_empty() && delete.using.is_none() && delete.tables.is_empty();
    if !delete.tables.is_empty() || !table.joins.is_empty() {
        return None;
    }
    let mut body = delete.clone();
    body.returning = None;
    let mut tail = format!("FROM {table}");
    add(&mut tail, " WHERE ", delete.selection.as_ref());
    let order: Vec<String> = delete.order_by.iter().map(ToString::to_string).collect();
    add(&mut tail, " ORDER BY ", one(&order).as_ref());
    add(&mut tail, " LIMIT ", delete.limit.as_ref());
    Some(Write {
        verb: Verb::Delete,
        table: name.to_string(),
        parts: Vec::new(),
        qualifier,
        body: Statement::Delete(body).to_string(),
        assigned: Vec::new(),
        upsert: false,
        ignore: false,
        rows: alone.then(|| Matched {
            tail,
            skip: 0,
            limited: delete.limit.is_some(),
            // Whether the same rows went shows afterwards: they are gone.
            unsteady: moody(delete.selection.as_ref(), volatile),
        }),
    })
}

fn add(tail: &mut String, word: &str, what: Option<&impl ToString>) {
    if let Some(what) = what {
        tail.push_str(word);
        tail.push_str(&what.to_string());
    }
}

fn one(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(", "))
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
    let parts = name.0.iter();
    parts.map(|part| part.as_ident().map(|ident| ident.value.clone())).collect()
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
fn moody(selection: Option<&Expr>, volatile: &NameSet) -> Option<String> {
    let found = visit_expressions(selection?, |expr| match expr {
        Expr::Function(function) if volatile.has(&function.name.to_string()) => {
            let parentheses = match function.args {
                FunctionArguments::None => "",
                _ => "()",
            };
            ControlFlow::Break(format!("{}{parentheses} may find other rows each time", function.name))
        }
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(why) => Some(why),
        ControlFlow::Continue(()) => None,
    }
}
