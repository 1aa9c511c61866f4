//! Changes that are proposed and that a person confirms: checked for the caller, shown as a difference, and written as
//! one statement that does nothing if somebody else was faster.

mod lower;

pub use lower::{CurrentRow, Read};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::{Field, FieldKind, Grantee};
use crate::query::error::{Problem, described, shown};
use crate::query::values;
use crate::query::{Dialect, QueryError};
use crate::registry::{Domains, Known, Right, listed, suggestion};

/// Most bytes of a text that is written.
const MOST_BYTES: usize = 100_000;

/// A change of one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase", deny_unknown_fields)]
pub enum Change {
    Insert {
        domain: String,
        set: Map<String, Value>,
    },
    Update {
        domain: String,
        /// The fields of the key, or its value if it is one field.
        key: Value,
        set: Map<String, Value>,
    },
    Delete {
        domain: String,
        key: Value,
    },
}

impl Change {
    pub fn domain(&self) -> &str {
        match self {
            Self::Insert { domain, .. } | Self::Update { domain, .. } | Self::Delete { domain, .. } => domain,
        }
    }
}

/// The values that fields with options can take, by domain and field. Fields that are missing take any value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options(BTreeMap<(String, String), Vec<Value>>);

impl Options {
    pub fn add(&mut self, domain: &str, field: &str, values: Vec<Value>) {
        self.0.insert((domain.to_owned(), field.to_owned()), values);
    }

    pub fn of(&self, domain: &str, field: &str) -> Option<&[Value]> {
        self.0.get(&(domain.to_owned(), field.to_owned())).map(Vec::as_slice)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Insert,
    Update,
    Delete,
}

#[derive(Debug, Clone, PartialEq)]
struct Cell {
    name: String,
    kind: FieldKind,
    /// What the database declares, in lower case; empty if that is not known.
    native: String,
    value: Value,
}

/// A change that its caller may make and whose values fit.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedChange {
    verb: Verb,
    domain: String,
    table: String,
    key: Vec<Cell>,
    set: Vec<Cell>,
    /// All fields, for the current row.
    fields: Vec<(String, FieldKind)>,
    /// A number that every change counts up.
    version: Option<String>,
}

/// A field before and after a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    pub field: String,
    pub kind: FieldKind,
    pub before: Value,
    pub after: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    #[error("the row as it was shown is needed to change or delete it: read it first")]
    NoCurrentRow,
    #[error("the row was read for another change; read it again")]
    OtherRow,
}

impl CheckedChange {
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The statement that reads the row as it is; `None`: there is none yet.
    pub fn read(&self, dialect: Dialect) -> Option<Read> {
        lower::read(self, dialect)
    }

    /// The statement of the change and its values. It changes no row if the row is not any more what `current` says.
    pub fn lower(&self, current: Option<&CurrentRow>, dialect: Dialect) -> Result<(String, Vec<Value>), ChangeError> {
        lower::write(self, current, dialect)
    }

    /// What would change, field by field, in the order of the domain; without what stays.
    pub fn difference(&self, current: Option<&CurrentRow>) -> Vec<Difference> {
        let before = current.map(|current| current.values.clone()).unwrap_or_default();
        let mut after = if self.verb == Verb::Delete { Map::new() } else { before.clone() };
        for cell in &self.set {
            after.insert(cell.name.clone(), cell.value.clone());
        }
        difference(&self.fields, &before, &after)
    }
}

/// The fields whose values differ.
pub fn difference(
    fields: &[(String, FieldKind)],
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Vec<Difference> {
    let changed = fields.iter().filter_map(|(field, kind)| {
        let value = |row: &Map<String, Value>| row.get(field).cloned().unwrap_or_default();
        let (before, after) = (value(before), value(after));
        let same = before == after || as_stored(*kind, &before) == as_stored(*kind, &after);
        (!same).then(|| Difference { field: field.clone(), kind: *kind, before, after })
    });
    changed.collect()
}

/// A value in a form in which equal ones are equal: databases return `1.0` for `1`, and times with a T.
fn as_stored(kind: FieldKind, value: &Value) -> Value {
    match (kind, value) {
        (FieldKind::Int | FieldKind::Float, value) => values::float(value)
            .and_then(|number| number.as_f64())
            .map_or_else(|| value.clone(), |number| json!(number)),
        (FieldKind::Bool, value) => values::flag(value).unwrap_or_else(|| value.clone()),
        (FieldKind::Datetime, Value::String(text)) => Value::from(text.replacen('T', " ", 1)),
        _ => value.clone(),
    }
}

/// Checks a change for a caller with these roles; what the caller may not read does not exist.
pub fn validate(
    change: &Change,
    domains: &Domains,
    roles: &[Grantee],
    options: &Options,
) -> Result<CheckedChange, Vec<QueryError>> {
    let visible = domains.seen_by(roles);
    let Some(known) = visible.domain(change.domain()) else {
        let names = visible.iter().map(|known| known.domain.name.as_str());
        let hint = suggestion(change.domain(), names);
        return Err(vec![QueryError::new("domain", Problem::Domain { name: shown(change.domain()), hint })]);
    };
    let (verb, key, set, right, doing) = match change {
        Change::Insert { set, .. } => (Verb::Insert, None, Some(set), Right::Write, "add rows to"),
        Change::Update { key, set, .. } => (Verb::Update, Some(key), Some(set), Right::Write, "change rows of"),
        Change::Delete { key, .. } => (Verb::Delete, Some(key), None, Right::Delete, "delete rows of"),
    };
    if !visible.allows(known.domain, right) {
        let problem = format!("your roles may not {doing} `{}`; ask somebody who may", known.domain.name);
        return Err(vec![QueryError::new("change", Problem::Other(problem))]);
    }
    let mut errors = Vec::new();
    let key = key.map(|key| key_of(known, key, &mut errors)).unwrap_or_default();
    let set = set.map(|set| set_of(known, set, verb, options, &mut errors)).unwrap_or_default();
    if !errors.is_empty() {
        return Err(errors);
    }
    let version = known.domain.fields.iter().find(|field| {
        field.readonly
            && field.kind == FieldKind::Int
            && ["version", "row_version", "lock_version"].contains(&&*field.name)
    });
    Ok(CheckedChange {
        verb,
        domain: known.domain.name.clone(),
        table: known.domain.table.clone(),
        key,
        set,
        fields: known.domain.fields.iter().map(|field| (field.name.clone(), field.kind)).collect(),
        version: version.map(|field| field.name.clone()),
    })
}

fn cell(known: Known<'_>, field: &Field, value: Value) -> Cell {
    let native = known.facts.types.get(&field.name).map(|native| native.to_lowercase()).unwrap_or_default();
    Cell { name: field.name.clone(), kind: field.kind, native, value }
}

fn key_of(known: Known<'_>, key: &Value, errors: &mut Vec<QueryError>) -> Vec<Cell> {
    let names = &known.facts.key;
    let mut wrong = |path: String, problem| errors.push(QueryError::new(path, problem));
    if names.is_empty() {
        let problem = format!("no key of `{}` is known, so no row of it can be named", known.domain.name);
        wrong("key".to_owned(), Problem::Other(problem));
        return Vec::new();
    }
    let given = match key {
        Value::Object(map) => map.clone(),
        single if names.len() == 1 => Map::from_iter([(names[0].clone(), single.clone())]),
        other => {
            let expected = format!("an object with {}", names.join(", "));
            wrong("key".to_owned(), Problem::Form { expected, found: described(other) });
            return Vec::new();
        }
    };
    for name in given.keys().filter(|name| !names.contains(name)) {
        let hint = format!("the key is {}", names.join(", "));
        wrong("key".to_owned(), Problem::Key { name: shown(name), hint });
    }
    let mut cells = Vec::new();
    for field in names.iter().filter_map(|name| known.field(name)) {
        let value = given.get(&field.name).unwrap_or(&Value::Null);
        let fitted = match value {
            Value::Null => Err(Problem::NoValue { field: field.name.clone(), example: values::example(field) }),
            value => values::stored(field, value, MOST_BYTES),
        };
        match fitted {
            Ok(value) => cells.push(cell(known, field, value)),
            Err(problem) => wrong(format!("key.{}", field.name), problem),
        }
    }
    cells
}

fn set_of(
    known: Known<'_>,
    set: &Map<String, Value>,
    verb: Verb,
    options: &Options,
    errors: &mut Vec<QueryError>,
) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    if set.is_empty() {
        let problem = "no field is set; give those that change".to_owned();
        errors.push(QueryError::new("set", Problem::Other(problem)));
    }
    for (name, value) in set {
        let path = format!("set.{}", shown(name));
        match one_of(known, name, value, verb, options) {
            Ok(cell) if cells.iter().any(|other| other.name == cell.name) => {
                let problem = format!("`{}` is given twice; leave one out", cell.name);
                errors.push(QueryError::new(path, Problem::Other(problem)));
            }
            Ok(cell) => cells.push(cell),
            Err(problem) => errors.push(QueryError::new(path, problem)),
        }
    }
    cells
}

fn one_of(known: Known<'_>, name: &str, value: &Value, verb: Verb, options: &Options) -> Result<Cell, Problem> {
    let Some(field) = known.field(name) else {
        let hint = suggestion(name, known.domain.fields.iter().map(|field| field.name.as_str()));
        return Err(Problem::Field { domain: known.domain.name.clone(), name: shown(name), hint });
    };
    if field.readonly || (verb == Verb::Update && known.facts.key.contains(&field.name)) {
        let problem = format!("`{}` can't be set; leave it out", field.name);
        return Err(Problem::Other(problem));
    }
    if value.is_null() && known.is_required(&field.name) {
        return Err(Problem::NoValue { field: field.name.clone(), example: values::example(field) });
    }
    let value = values::stored(field, value, MOST_BYTES)?;
    let choices = options.of(&known.domain.name, &field.name).filter(|_| field.options.is_some() && !value.is_null());
    if let Some(choices) = choices
        && !choices.iter().any(|choice| *choice == value || text(choice) == text(&value))
    {
        return Err(Problem::Other(format!(
            "{} is no choice for `{}`; use {}",
            described(&value),
            field.name,
            listed(choices.iter().map(text))
        )));
    }
    Ok(cell(known, field, value))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
