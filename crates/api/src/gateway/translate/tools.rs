//! The tools that a program offers, and which of them the reply has to call.

use crate::openai::OpenAiError;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::model::ToolChoice;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};

pub(super) fn untranslated(what: &str, param: &'static str) -> OpenAiError {
    OpenAiError::invalid(
        format!(
            "{what} can't be translated for the interface of this connection; leave it out, or choose a connection that speaks the OpenAI dialect"
        ),
        param,
    )
}

#[derive(Deserialize)]
pub(super) struct Function {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Option<Value>,
}

/// `named`: where in `choice` the name of a tool stands.
pub(super) fn offer(
    functions: Vec<Function>,
    choice: &Value,
    named: &Value,
) -> Result<(Vec<ToolSpec>, ToolChoice), OpenAiError> {
    let tools: Vec<ToolSpec> = functions.into_iter().map(spec).collect();
    let choice = match (choice.as_str().or_else(|| choice["type"].as_str()), named.as_str()) {
        (None | Some("auto"), _) => ToolChoice::Auto,
        (Some("none"), _) => return Ok((Vec::new(), ToolChoice::Auto)),
        (Some("required"), _) => ToolChoice::Required,
        (Some("function"), Some(name)) => ToolChoice::Named(name.to_owned()),
        (Some(other), _) => {
            return Err(untranslated(&format!("a `tool_choice` of the type `{other}`"), "tool_choice"));
        }
    };
    let known = match &choice {
        ToolChoice::Auto => true,
        ToolChoice::Required => !tools.is_empty(),
        ToolChoice::Named(name) => tools.iter().any(|tool| tool.name == *name),
    };
    match &choice {
        ToolChoice::Named(name) if !known => Err(OpenAiError::invalid(
            format!("`tool_choice` names `{name}`, which is not among the `tools`"),
            "tool_choice",
        )),
        _ if !known => {
            Err(OpenAiError::invalid("`tool_choice` is `required`, but there are no `tools`", "tool_choice"))
        }
        _ => Ok((tools, choice)),
    }
}

fn spec(function: Function) -> ToolSpec {
    ToolSpec {
        name: function.name,
        description: function.description.unwrap_or_default(),
        parameters: function.parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}})).into(),
        effect: EffectClass::Write,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: usize::MAX,
        skill: None,
    }
}
