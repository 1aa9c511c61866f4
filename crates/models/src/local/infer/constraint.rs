use serde_json::Value;

use super::Refusal;

/// What the output must look like.
#[derive(Debug, Clone)]
pub(crate) enum Constraint {
    Free,
    /// A grammar in llama.cpp's notation, and the parameter that it came from.
    Grammar {
        gbnf: String,
        param: &'static str,
    },
}

impl Constraint {
    pub fn schema(schema: &Value, param: &'static str) -> Result<Self, Refusal> {
        let gbnf = llama_cpp_2::json_schema_to_grammar(&schema.to_string()).map_err(|_| {
            Refusal::invalid(
                param,
                "this JSON schema cannot be turned into a grammar; use type, properties, required, items, enum, const, anyOf, oneOf, pattern (anchored with ^ and $), format, minLength, maxLength, minItems, maxItems, minimum, maximum and local $ref only",
            )
        })?;
        Ok(Self::Grammar { gbnf, param })
    }

    pub fn any_object(param: &'static str) -> Result<Self, Refusal> {
        Self::schema(&serde_json::json!({"type": "object"}), param)
    }
}
