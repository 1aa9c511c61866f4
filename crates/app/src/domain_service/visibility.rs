//! What models see of an answer, where a datasource does not show them all rows.

use serde_json::Value;
use steward_core::datasource::RowVisibility;
use steward_core::ports::DataAnswer;
use steward_domains::query::lower::OutColumn;
use steward_domains::query::plan::Role;
use steward_domains::query::{Aggregate, Function, Query};

/// Rows that a model sees of a datasource that shows it a sample.
const SAMPLE: usize = 5;
/// Fewest values that a sum or a mean shown to a model is over: one over a single value is that value.
const FEWEST: u64 = 5;
/// Begins the names of the columns that say over how many values the sums and means beside them are.
const COUNTED: &str = "steward_rows_";

/// The query with a count of the values beside its sums and means; `None`: it needs none. Rows would not do: a field may
/// be empty in most of them, and one row may have many in a list that is summed up.
pub(super) fn counted(query: &Query, visibility: RowVisibility) -> Option<Query> {
    let hides = matches!(visibility, RowVisibility::Ids | RowVisibility::Counts);
    if !hides || !query.aggregate.iter().all(|number| is_over_values(number.function)) {
        return None;
    }
    let mut counts: Vec<Aggregate> = Vec::new();
    for number in query.aggregate.iter().filter(|number| number.function != Function::Count) {
        if counts.iter().any(|known| known.field == number.field && known.distinct == number.distinct) {
            continue;
        }
        let name = Some(format!("{COUNTED}{}", counts.len() + 1));
        counts.push(Aggregate { function: Function::Count, name, ..number.clone() });
    }
    if counts.is_empty() {
        return None;
    }
    let mut counted = query.clone();
    counted.aggregate.extend(counts);
    Some(counted)
}

/// Leaves only what models may see. `columns`: those of the answer that are no relations, in its order; `key`: fields of the
/// domain's key.
pub(super) fn cut_down(answer: &mut DataAnswer, visibility: RowVisibility, columns: &[&OutColumn], key: &[String]) {
    if visibility == RowVisibility::Full {
        return;
    }
    // It says where the last row stands, and would lead through all of them.
    answer.next = None;
    let over_rows = columns.len() == answer.columns.len() && columns.iter().all(|column| is_over_rows(column));
    let found = answer.found;
    match visibility {
        RowVisibility::Full => {}
        RowVisibility::Sample => {
            for row in answer.rows.iter_mut().flatten().filter_map(|value| value.as_array_mut()) {
                row.truncate(SAMPLE);
            }
            if found > SAMPLE && !over_rows {
                answer.rows.truncate(SAMPLE);
                answer.note = Some(format!("{SAMPLE} of {found} rows are shown; the user sees all of them."));
            }
        }
        RowVisibility::Ids | RowVisibility::Counts if over_rows => leave_out_small(answer),
        RowVisibility::Ids => {
            // By its role too: a number may have any name.
            let is_key = |at: usize, name: &str| {
                let role = columns.get(at).map(|column| &column.role);
                matches!(role, Some(Role::Field | Role::Group)) && key.iter().any(|field| field == name)
            };
            keep_columns(answer, is_key);
            answer.note = Some(format!("Of the {found} rows only keys are shown; the user sees all of them."));
        }
        RowVisibility::Counts => {
            answer.rows.clear();
            keep_columns(answer, |_, name| !name.starts_with(COUNTED));
            answer.note = Some(format!("{found} rows were found. They are not shown to you; the user sees them."));
        }
    }
}

/// Whether it is a number over rows, or a time by which they are grouped. The least and the greatest are values of rows.
fn is_over_rows(column: &OutColumn) -> bool {
    match column.role {
        Role::Number(function) => is_over_values(function),
        Role::Time(_) => true,
        _ => false,
    }
}

fn is_over_values(function: Function) -> bool {
    matches!(function, Function::Count | Function::Sum | Function::Avg)
}

fn leave_out_small(answer: &mut DataAnswer) {
    let counts: Vec<usize> =
        (0..answer.columns.len()).filter(|at| answer.columns[*at].name.starts_with(COUNTED)).collect();
    let before = answer.rows.len();
    let enough = |value: Option<&Value>| value.and_then(Value::as_u64).is_some_and(|values| values >= FEWEST);
    answer.rows.retain(|row| counts.iter().all(|at| enough(row.get(*at))));
    if answer.rows.len() < before {
        answer.note =
            Some(format!("Numbers over fewer than {FEWEST} values are not shown to you; the user sees them."));
    }
    keep_columns(answer, |_, name| !name.starts_with(COUNTED));
}

/// `keep`: by a column's place and name.
fn keep_columns(answer: &mut DataAnswer, keep: impl Fn(usize, &str) -> bool) {
    let kept: Vec<usize> = (0..answer.columns.len()).filter(|at| keep(*at, &answer.columns[*at].name)).collect();
    answer.columns = kept.iter().map(|at| answer.columns[*at].clone()).collect();
    for row in &mut answer.rows {
        *row = kept.iter().map(|at| row[*at].clone()).collect();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::counted;
    use serde_json::{Value, json};
    use steward_core::datasource::RowVisibility;
    use steward_domains::query::{Function, Query};

    fn query(aggregate: &Value) -> Query {
        Query::parse(&json!({"domain": "orders", "aggregate": aggregate})).unwrap()
    }

    #[test]
    fn values_are_counted_beside_sums_and_means() {
        let asked = query(&json!([
            {"fn": "sum", "field": "lines.price", "as": "a"},
            {"fn": "avg", "field": "lines.price", "as": "b"},
            {"fn": "count"},
            {"fn": "sum", "field": "price * quantity", "as": "c", "distinct": true},
        ]));
        let counted = counted(&asked, RowVisibility::Ids).unwrap();
        assert_eq!(counted.aggregate[..4], asked.aggregate);
        let added: Vec<_> = counted.aggregate[4..].iter().map(|one| (one.field.as_deref(), one.distinct)).collect();
        assert_eq!(added, [(Some("lines.price"), false), (Some("price * quantity"), true)]);
        assert!(counted.aggregate[4..].iter().all(|one| one.function == Function::Count));
    }

    #[test]
    fn what_shows_no_sum_needs_no_count() {
        let sum = query(&json!([{"fn": "sum", "field": "price"}]));
        assert!(counted(&sum, RowVisibility::Full).is_none());
        let least = query(&json!([{"fn": "sum", "field": "price"}, {"fn": "min", "field": "price"}]));
        assert!(counted(&least, RowVisibility::Counts).is_none());
        assert!(counted(&query(&json!([{"fn": "count"}])), RowVisibility::Counts).is_none());
    }
}
