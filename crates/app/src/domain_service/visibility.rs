//! What models see of an answer, where a datasource does not show them all rows.

use steward_core::datasource::RowVisibility;
use steward_core::ports::DataAnswer;
use steward_domains::query::lower::OutColumn;
use steward_domains::query::plan::Role;
use steward_domains::query::{Aggregate, Function, Query};

/// Rows that a model sees of a datasource that shows it a sample.
const SAMPLE: usize = 5;
/// Fewest rows that a sum or a mean shown to a model is over: one over a single row is a value of that row.
const FEWEST: u64 = 5;
/// Name of the column that says over how many rows the numbers beside it are.
const COUNTED: &str = "steward_rows";

/// The query with a count beside its sums and means; `None`: it needs none.
pub(super) fn counted(query: &Query, visibility: RowVisibility) -> Option<Query> {
    let hides = matches!(visibility, RowVisibility::Ids | RowVisibility::Counts);
    if !hides || query.aggregate.iter().all(|number| number.function == Function::Count) {
        return None;
    }
    let mut counted = query.clone();
    let name = Some(COUNTED.to_owned());
    counted.aggregate.push(Aggregate { function: Function::Count, field: None, name, distinct: false });
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
            keep_columns(answer, |name| key.iter().any(|field| field == name));
            answer.note = Some(format!("Of the {found} rows only keys are shown; the user sees all of them."));
        }
        RowVisibility::Counts => {
            answer.rows.clear();
            keep_columns(answer, |name| name != COUNTED);
            answer.note = Some(format!("{found} rows were found. They are not shown to you; the user sees them."));
        }
    }
}

/// Whether it is a number over rows, or a time by which they are grouped. The least and the greatest are values of rows.
fn is_over_rows(column: &OutColumn) -> bool {
    matches!(column.role, Role::Number(Function::Count | Function::Sum | Function::Avg) | Role::Time(_))
}

fn leave_out_small(answer: &mut DataAnswer) {
    let Some(at) = answer.columns.iter().position(|column| column.name == COUNTED) else { return };
    let before = answer.rows.len();
    answer.rows.retain(|row| row.get(at).and_then(serde_json::Value::as_u64).is_some_and(|rows| rows >= FEWEST));
    if answer.rows.len() < before {
        answer.note = Some(format!("Numbers over fewer than {FEWEST} rows are not shown to you; the user sees them."));
    }
    keep_columns(answer, |name| name != COUNTED);
}

fn keep_columns(answer: &mut DataAnswer, keep: impl Fn(&str) -> bool) {
    let kept: Vec<usize> = (0..answer.columns.len()).filter(|at| keep(&answer.columns[*at].name)).collect();
    answer.columns = kept.iter().map(|at| answer.columns[*at].clone()).collect();
    for row in &mut answer.rows {
        *row = kept.iter().map(|at| row[*at].clone()).collect();
    }
}
