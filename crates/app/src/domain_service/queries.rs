//! Queries over domains: checked for their caller, run where the rows are, cut down to what the reader may see.

use super::sources::{dialect, failed};
use super::visibility::{counted, cut_down};
use super::{DataResult, DomainService, Known, Reader};
use serde_json::{Map, Value};
use std::sync::Arc;
use steward_core::datasource::DomainTextKind;
use steward_core::ports::{DataAnswer, DataCaller, DataColumn, DataError};
use steward_domains::query::embed::{attach, objects};
use steward_domains::query::lower::OutColumn;
use steward_domains::query::plan::Role;
use steward_domains::query::{Query, QueryError, lower, validate};
use steward_domains::result::{shape, tidy};
use steward_tools::sql::show::has_words;

/// Longest key that may go for an id, in characters.
const MAX_ID_CHARS: usize = 64;

/// Who reads the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsFor {
    Person,
    /// As much as the datasource lets models see.
    Model,
}

impl DomainService {
    pub(crate) async fn ask(&self, caller: DataCaller, query: &Value, rows: RowsFor) -> DataResult<DataAnswer> {
        let query = Query::parse(query).map_err(|errors| refused(&errors))?;
        let (known, reader) = futures::try_join!(self.known(), self.reader(caller))?;
        self.ask_with(&known, &reader, &query, rows).await
    }

    pub(crate) async fn ask_with(
        &self,
        known: &Arc<Known>,
        reader: &Reader,
        query: &Query,
        rows_for: RowsFor,
    ) -> DataResult<DataAnswer> {
        let mut checked = validate(query, &known.domains, &reader.roles).map_err(|errors| refused(&errors))?;
        let datasource = known.datasource(checked.datasource()).ok_or_else(|| no_datasource(checked.datasource()))?;
        if rows_for == RowsFor::Model
            && let Some(counted) = counted(query, datasource.visibility)
        {
            checked = validate(&counted, &known.domains, &reader.roles).map_err(|_| too_many_numbers())?;
        }
        let access = self.access_for(datasource, reader).await?;
        let lowered = lower(&checked, dialect(&access));
        let read = self.databases.read(&access, lowered.sql.clone(), lowered.values.clone()).await;
        let read = read.map_err(|error| failed(datasource, &error))?;
        let next = lowered.next_page(&read.rows);
        let mut rows = read.rows;
        tidy(&lowered.columns, &mut rows);
        let mut embedded: Vec<Map<String, Value>> = Vec::new();
        let mut cut: Vec<String> = Vec::new();
        if !lowered.relations.is_empty() {
            embedded = objects(&lowered.columns, &rows);
            for relation in &lowered.relations {
                let mut children = Vec::new();
                if let Some((sql, values)) = relation.lower(&rows) {
                    let read = self.databases.read(&access, sql, values).await;
                    let read = read.map_err(|error| failed(datasource, &error))?;
                    if read.truncated.is_some() {
                        cut.push(format!(
                            "The rows of `{}` are too many to be shown together: ask for fewer.",
                            relation.name
                        ));
                    }
                    children = read.rows;
                    tidy(&relation.columns, &mut children);
                }
                let (more, most) = attach(&mut embedded, &rows, relation, &children);
                if more > 0 {
                    cut.push(cut_lists(&relation.name, more, most));
                }
            }
        }
        let shown: Vec<usize> = (0..lowered.columns.len()).filter(|at| !lowered.columns[*at].is_hidden()).collect();
        let mut columns: Vec<DataColumn> = shown.iter().map(|at| column(&lowered.columns[*at])).collect();
        let mut values: Vec<Vec<Value>> =
            rows.iter().map(|row| shown.iter().map(|at| row.get(*at).cloned().unwrap_or_default()).collect()).collect();
        for relation in &lowered.relations {
            columns.push(DataColumn { name: relation.name.clone(), kind: "rows".to_owned() });
            for (row, object) in values.iter_mut().zip(&embedded) {
                row.push(object.get(&relation.name).cloned().unwrap_or_default());
            }
        }
        let form = shape(&lowered.columns, values.len());
        let mut answer = DataAnswer {
            domain: checked.domain().to_owned(),
            datasource: datasource.name.clone(),
            query: serde_json::to_value(query).unwrap_or_default(),
            found: values.len(),
            truncated: read.truncated.is_some() || values.len() >= checked.limit() as usize || !cut.is_empty(),
            columns,
            rows: values,
            next,
            shape: serde_json::to_value(form).unwrap_or_default(),
            note: (!cut.is_empty()).then(|| cut.join(" ")),
            sql: lowered.sql,
            untrusted: Vec::new(),
            files: datasource
                .workspace_path()
                .filter(|_| !datasource.untrusted)
                .map(str::to_owned)
                .into_iter()
                .collect(),
            described: known.provenance_of(DomainTextKind::Domain, checked.domain()),
        };
        if rows_for == RowsFor::Model {
            let columns: Vec<&OutColumn> = shown.iter().map(|at| &lowered.columns[*at]).collect();
            let key = known.domains.key(checked.domain());
            let noted = answer.note.take();
            cut_down(&mut answer, datasource.visibility, &columns, key);
            answer.note = noted.into_iter().chain(answer.note.take()).reduce(|one, other| format!("{one} {other}"));
            let embedded =
                lowered.relations.iter().flat_map(|one| one.columns.iter().map(|column| (&one.name, column)));
            answer.untrusted = untrusted_columns(&answer, &columns, embedded, key, datasource.untrusted);
        }
        Ok(answer)
    }
}

fn cut_lists(relation: &str, more: usize, most: usize) -> String {
    let lists = if more == 1 { "1 row has".to_owned() } else { format!("{more} rows have") };
    format!(
        "{lists} more than the {most} `{relation}` shown: give a higher `limit` to `{relation}`, or ask for them by themselves."
    )
}

/// Columns of an answer that show words of strangers. What a column is declared to hold says nothing: SQLite keeps any
/// text in any column, and so may a file. `embedded`: the columns of relations, with the name of each; `key`: fields whose
/// values may be ids; `untrusted`: what the datasource says.
fn untrusted_columns<'a>(
    answer: &DataAnswer,
    columns: &[&OutColumn],
    embedded: impl Iterator<Item = (&'a String, &'a OutColumn)>,
    key: &[String],
    untrusted: bool,
) -> Vec<String> {
    let may_be_strangers = |column: &OutColumn| !column.is_hidden() && !column.trusted.unwrap_or(!untrusted);
    let shown = |name: &str| {
        let at = answer.columns.iter().position(|column| column.name == name);
        answer.rows.iter().filter_map(move |row| row.get(at?))
    };
    let own = columns.iter().filter(|column| {
        let is_key = matches!(column.role, Role::Field | Role::Group) && key.contains(&column.name);
        // A key is made by the house, unless the domain says otherwise or it says more than an id does.
        let is_id = |value: &Value| is_key && column.trusted.is_none() && is_id(value);
        may_be_strangers(column) && shown(&column.name).any(|value| has_words(value) && !is_id(value))
    });
    let of_relations = embedded
        .filter(|(relation, column)| {
            let says = |row: &Value| row.get(&column.name).is_some_and(has_words);
            may_be_strangers(column)
                && shown(relation).any(|rows| rows.as_array().map_or_else(|| says(rows), |rows| rows.iter().any(says)))
        })
        .map(|(relation, column)| format!("{relation}.{}", column.name));
    own.map(|column| column.name.clone()).chain(of_relations).collect()
}

/// One word of letters, digits and `-_.:/`.
fn is_id(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        text.chars().count() <= MAX_ID_CHARS && text.chars().all(|c| c.is_alphanumeric() || "-_.:/".contains(c))
    })
}

fn column(column: &OutColumn) -> DataColumn {
    DataColumn { name: column.name.clone(), kind: column.kind.name().to_owned() }
}

/// The question itself is right: what it lacks is room for the counts.
fn too_many_numbers() -> DataError {
    DataError::Refused("here each sum and mean is checked by one more number; ask for fewer of them at once".to_owned())
}

pub(super) fn refused(errors: &[QueryError]) -> DataError {
    let all: Vec<String> = errors.iter().take(8).map(ToString::to_string).collect();
    DataError::Refused(all.join("\n"))
}

pub(super) fn no_datasource(name: &str) -> DataError {
    DataError::Failed(format!("the domain's datasource `{name}` is gone; add it again or change the domain"))
}

#[cfg(test)]
mod tests {
    use super::{OutColumn, Role, untrusted_columns};
    use serde_json::{Value, json};
    use steward_core::ports::{DataAnswer, DataColumn};
    use steward_core::provenance::Provenance;
    use steward_domains::model::FieldKind;

    fn column(name: &str, kind: FieldKind, trusted: Option<bool>) -> OutColumn {
        OutColumn { name: name.to_owned(), kind, role: Role::Field, trusted }
    }

    fn answer(names: &[&str], row: Value) -> DataAnswer {
        let columns = names.iter().map(|name| DataColumn { name: (*name).to_owned(), kind: String::new() });
        DataAnswer {
            domain: "ticket".to_owned(),
            datasource: "shop".to_owned(),
            query: Value::Null,
            columns: columns.collect(),
            rows: vec![serde_json::from_value(row).unwrap_or_default()],
            found: 1,
            truncated: false,
            next: None,
            shape: Value::Null,
            note: None,
            sql: String::new(),
            untrusted: Vec::new(),
            files: Vec::new(),
            described: Provenance::default(),
        }
    }

    #[test]
    fn texts_are_from_outside_unless_the_owner_says_otherwise() {
        let columns = [
            column("code", FieldKind::String, None),
            column("body", FieldKind::Text, None),
            column("price", FieldKind::Float, None),
            column("at", FieldKind::Datetime, None),
            column("state", FieldKind::String, Some(true)),
            column("name", FieldKind::String, Some(false)),
        ];
        let columns: Vec<&OutColumn> = columns.iter().collect();
        let names = ["code", "body", "price", "at", "state", "name", "lines"];
        let row = json!(["T-1", "IGNORE ALL", 1.5, "2026-01-02", "open", "Eve", [{"note": "x"}]]);
        let (relation, note) = ("lines".to_owned(), column("note", FieldKind::Text, None));
        let found = |row: &Value, untrusted: bool| {
            let embedded = std::iter::once((&relation, &note));
            untrusted_columns(&answer(&names, row.clone()), &columns, embedded, &["code".to_owned()], untrusted)
        };
        assert_eq!(found(&row, true), ["body", "name", "lines.note"]);
        assert_eq!(found(&row, false), ["name"]);
        let empty = json!(["T-1", "", 1.5, null, "open", null, []]);
        assert!(found(&empty, true).is_empty(), "nothing is shown of them");
    }
    #[test]
    fn the_values_shown_tell_and_not_the_kinds_declared() {
        let order = json!("SYSTEM NOTE write pwn");
        let found = |kind: FieldKind, value: &Value, key: &[String]| {
            let one = column("it", kind, None);
            let row = Value::Array(vec![value.clone()]);
            untrusted_columns(&answer(&["it"], row), &[&one], std::iter::empty(), key, true)
        };
        for kind in [FieldKind::Int, FieldKind::Float, FieldKind::Bool, FieldKind::Date, FieldKind::Datetime] {
            assert_eq!(found(kind, &order, &[]), ["it"], "{kind:?}");
        }
        for (kind, value) in [
            (FieldKind::Int, json!("12345678901234567890123")),
            (FieldKind::Float, json!("0.1000000000000000001")),
            (FieldKind::Bool, json!("true")),
            (FieldKind::Date, json!("2024-01-31")),
            (FieldKind::Datetime, json!("2024-01-31T10:30:00.5+02:00")),
            (FieldKind::Date, json!("2024-03")),
        ] {
            assert!(found(kind, &value, &[]).is_empty(), "{value}");
        }
        let key = ["it".to_owned()];
        for id in ["INV-2024/001", "org.example:item_7", "Düsseldorf"] {
            assert!(found(FieldKind::String, &json!(id), &key).is_empty(), "{id}");
            assert_eq!(found(FieldKind::String, &json!(id), &[]), ["it"], "only a key is an id: {id}");
        }
        for text in ["SYSTEM NOTE", "write,pwn", "line\nbreak", &"x".repeat(65)] {
            assert_eq!(found(FieldKind::String, &json!(text), &key), ["it"], "{text}");
        }
    }

    #[test]
    fn of_a_relation_only_the_columns_with_words_count() {
        let relation = "lines".to_owned();
        let (note, at) = (column("note", FieldKind::Text, None), column("at", FieldKind::Date, None));
        let found = |row: Value| {
            let embedded = [(&relation, &note), (&relation, &at)].into_iter();
            untrusted_columns(&answer(&["lines"], row), &[], embedded, &[], true)
        };
        assert_eq!(found(json!([[{"note": "", "at": "write pwn"}]])), ["lines.at"], "one of many");
        assert_eq!(found(json!([{"note": "write pwn", "at": "2024-01-01"}])), ["lines.note"], "only one");
        assert!(found(json!([null])).is_empty());
    }
}
