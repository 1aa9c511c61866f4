//! Arguments brought into the form of a tool's JSON Schema, and judged by it.
//!
//! Only what can mean one thing is changed: `"3"` where an integer is wanted is 3. What doesn't fit after
//! that is refused with a message that names the field.

mod coerce;
mod names;

use serde_json::Value;
use steward_core::schema;

/// Arguments that fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// A JSON object that the schema accepts.
    pub arguments: Value,
    /// What was changed, for the trace; empty where nothing had to be.
    pub fixes: Vec<String>,
}

/// Why arguments don't fit; each problem names its field. Meant for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// They don't follow the schema.
    #[error("the arguments do not fit the tool `{tool}`: {problems}. Repeat the call with arguments that do")]
    Schema {
        /// The tool.
        tool: String,
        /// Field and expectation, up to three.
        problems: String,
    },
}

/// Fits `arguments` of a call of `tool` to its `schema`.
pub fn fit(tool: &str, schema: &Value, arguments: &Value) -> Result<Fitted, Unfit> {
    if arguments.is_object() && schema::validate(schema, arguments).is_ok() {
        return Ok(Fitted { arguments: arguments.clone(), fixes: Vec::new() });
    }
    let mut fixes = Vec::new();
    let named = names::own(tool, schema, arguments.clone(), &mut fixes);
    let fitted = coerce::coerce(schema, named, &mut fixes);
    match schema::validate(schema, &fitted) {
        Ok(()) => Ok(Fitted { arguments: fitted, fixes }),
        Err(problems) => Err(Unfit::Schema { tool: tool.to_owned(), problems }),
    }
}

/// Gives types to arguments that a form writes as text only.
pub(crate) fn typed(schema: &Value, arguments: Value) -> Value {
    coerce::coerce(schema, arguments, &mut Vec::new())
}
