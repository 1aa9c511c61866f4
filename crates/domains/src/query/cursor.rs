//! Where a page ended: the values of its order, so that the next one is found by an index and not by counting.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::error::Problem;
use super::plan::Sort;
use super::values;
use crate::model::FieldKind;

/// Most characters of a cursor.
const LONGEST: usize = 8000;

pub(super) fn encode(mark: &str, values: &[Value]) -> String {
    URL_SAFE_NO_PAD.encode(Value::from(vec![Value::from(mark), Value::from(values)]).to_string())
}

/// The values in a cursor, if it was made by the same query.
pub(super) fn decode(text: &str, mark: &str, order: &[Sort]) -> Result<Vec<Value>, Problem> {
    let broken = || Problem::Other("it is no cursor; give the one that came with the last page".to_owned());
    if text.len() > LONGEST {
        return Err(broken());
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| broken())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| broken())?;
    let Some([Value::String(made), Value::Array(values)]) = value.as_array().map(Vec::as_slice) else {
        return Err(broken());
    };
    if made != mark {
        let problem = "it belongs to a query with other conditions or another order; leave it out to begin anew";
        return Err(Problem::Other(problem.to_owned()));
    }
    if values.len() != order.len() {
        return Err(broken());
    }
    let fitted = values.iter().zip(order).map(|(value, sort)| fitted(value, sort));
    fitted.collect::<Option<_>>().ok_or_else(broken)
}

fn fitted(value: &Value, sort: &Sort) -> Option<Value> {
    match (sort.kind, value) {
        (_, Value::Null) => sort.nullable.then_some(Value::Null),
        (FieldKind::Int, _) => values::int(value),
        (FieldKind::Float, _) => values::float(value),
        (FieldKind::Bool, _) => values::flag(value),
        (FieldKind::String | FieldKind::Text, Value::Number(number)) => Some(Value::from(number.to_string())),
        (_, Value::String(text)) if !text.contains('\0') => Some(value.clone()),
        _ => None,
    }
}
