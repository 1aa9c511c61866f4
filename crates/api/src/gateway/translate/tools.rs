//! The tools that a program offers, and which of them the reply has to call.

use crate::openai::OpenAiError;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use steward_core::hash::sha256_of;
use steward_core::message::Message;
use steward_core::model::ToolChoice;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolSpec};

pub(super) fn untranslated(what: &str, param: impl Into<Cow<'static, str>>) -> OpenAiError {
    OpenAiError::invalid(
        format!(
            "{what} can't be translated for the interface of this connection; leave it out, or choose a connection that speaks the OpenAI dialect"
        ),
        param,
    )
}

/// Longest name of a tool that every provider takes, characters.
const LONGEST_NAME: usize = 64;

/// Names of tools as they are sent, where a provider might refuse the given ones: those with points or spaces, and long ones.
#[derive(Debug, Clone, Default)]
pub(in crate::gateway) struct ToolNames {
    given: BTreeMap<String, String>,
}

impl ToolNames {
    /// The name that is sent for a given one: always the same, and another one for each.
    pub fn sent(given: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if given.chars().all(is_plain) && given.len() <= LONGEST_NAME {
            return given.to_owned();
        }
        let mark = sha256_of([given.as_bytes()]);
        let mark = mark.get(..8).unwrap_or_default();
        let plain = given.chars().map(|c| if is_plain(c) { c } else { '_' });
        let begin: String = plain.take(LONGEST_NAME - mark.len() - 1).collect();
        format!("{begin}_{mark}")
    }

    pub fn given(&self, sent: String) -> String {
        self.given.get(&sent).cloned().unwrap_or(sent)
    }

    fn send(&mut self, given: String) -> String {
        let sent = Self::sent(&given);
        if sent != given {
            self.given.insert(sent.clone(), given);
        }
        sent
    }
}

/// What a program offers: the tools, which of them the reply has to call, and their names.
pub(super) type Offer = (Vec<ToolSpec>, ToolChoice, ToolNames);

#[derive(Deserialize)]
pub(super) struct Function {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Option<Value>,
}

/// `named`: where in `choice` the name of a tool stands.
pub(super) fn offer(functions: Vec<Function>, choice: &Value, named: &Value) -> Result<Offer, OpenAiError> {
    if functions.iter().any(|function| function.name.is_empty()) {
        return Err(OpenAiError::invalid("a tool needs a name", "tools"));
    }
    let mut replaced = ToolNames::default();
    let tools: Vec<ToolSpec> = functions.into_iter().map(|function| spec(function, &mut replaced)).collect();
    let choice = match (choice.as_str().or_else(|| choice["type"].as_str()), named.as_str()) {
        (None | Some("auto"), _) => ToolChoice::Auto,
        (Some("none"), _) => ToolChoice::None,
        (Some("required"), _) => ToolChoice::Required,
        (Some("function"), Some(name)) => ToolChoice::Named(ToolNames::sent(name)),
        (Some(other), _) => {
            return Err(untranslated(&format!("a `tool_choice` of the type `{other}`"), "tool_choice"));
        }
    };
    let known = match &choice {
        ToolChoice::Auto | ToolChoice::None => true,
        ToolChoice::Required => !tools.is_empty(),
        ToolChoice::Named(name) => tools.iter().any(|tool| tool.name == *name),
    };
    match &choice {
        ToolChoice::Named(name) if !known => Err(OpenAiError::invalid(
            format!("`tool_choice` names `{}`, which is not among the `tools`", replaced.given(name.clone())),
            "tool_choice",
        )),
        _ if !known => {
            Err(OpenAiError::invalid("`tool_choice` is `required`, but there are no `tools`", "tool_choice"))
        }
        _ => Ok((tools, choice, replaced)),
    }
}

/// Tools that may not be called are left out, unless earlier calls are of them: providers refuse calls of tools that they don't
/// know.
pub(super) fn drop_idle(tools: &mut Vec<ToolSpec>, choice: &mut ToolChoice, messages: &[Message]) {
    if *choice == ToolChoice::None && messages.iter().all(|message| message.tool_calls.is_empty()) {
        tools.clear();
        *choice = ToolChoice::Auto;
    }
}

fn spec(function: Function, names: &mut ToolNames) -> ToolSpec {
    ToolSpec {
        name: names.send(function.name),
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
