//! Makes the calls of a case by each strategy.

use super::cases::{Case, floats};
use crate::cli::Way;
use futures::StreamExt;
use serde_json::{Value, json};
use steward::compose::Composition;
use steward_core::message::Message;
use steward_core::model::{Connection, ModelChunk, ModelRequest, RequestOptions, Strategy};
use steward_core::ports::Models as _;
use steward_core::text::{Spans, constrained};
use steward_parse::{StreamParser, ToolIndex, fit, guided, react};

/// Longest reply, tokens.
const TOKENS: u32 = 256;
/// Longest wait for one reply, milliseconds.
const WAIT_MS: u64 = 120_000;
const INSTRUCTIONS: &str = "You call functions for a person.";

/// The calls that a strategy makes of a case, in the checker's form.
pub async fn calls(app: &Composition, connection: &Connection, case: &Case, way: Way) -> Result<Vec<Value>, String> {
    let made: Vec<(String, Value)> = match way {
        Way::Best => chosen(app, connection, case).await?.into_iter().collect(),
        Way::React => written(app, connection, case, Strategy::React).await?,
        Way::Schema => written(app, connection, case, Strategy::GuidedJson).await?,
    };
    Ok(made
        .into_iter()
        .map(|(name, arguments)| {
            let arguments = case
                .tools
                .iter()
                .find(|tool| tool.name == name)
                .map_or(arguments.clone(), |tool| floats(&tool.parameters, arguments));
            json!({ name: arguments })
        })
        .collect())
}

fn request(case: &Case, system: String, schema: Option<Value>, stop: Vec<String>) -> ModelRequest {
    ModelRequest {
        messages: vec![Message::system(system), Message::user(&case.request)],
        tools: Vec::new(),
        schema,
        temperature: Some(0.0),
        max_tokens: Some(TOKENS),
        stop,
        seed: None,
        timeout_ms: WAIT_MS,
        options: RequestOptions::default(),
    }
}

/// The tool by similarity, its required arguments chosen by the model from what the request says.
async fn chosen(app: &Composition, connection: &Connection, case: &Case) -> Result<Option<(String, Value)>, String> {
    let ranking = app.runs.deps().intent.rank(&case.request, &case.tools).await;
    let best = ranking.tools.first().filter(|_| ranking.wants_tool);
    let Some(tool) = best.and_then(|best| case.tools.iter().find(|tool| tool.name == best.tool)) else {
        return Ok(None);
    };
    let mut schema = (*tool.parameters).clone();
    let required = schema["required"].clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| required.as_array().is_some_and(|names| names.iter().any(|one| one == name)));
    }
    let system = format!(
        "Fill in the arguments of the tool `{}` so that it does what the user asks. {}\nUse only what the user's message says. Reply with the JSON object of arguments and nothing else.",
        tool.name, tool.description
    );
    let schema = constrained(&schema, &Spans::of(&case.request));
    let asked = request(case, system, Some(schema), Vec::new());
    let mut stream = app.models.stream(connection.id, asked).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        if let ModelChunk::Text(piece) = chunk.map_err(|error| error.to_string())? {
            text.push_str(&piece);
        }
    }
    let arguments: Value = serde_json::from_str(text.trim()).map_err(|error| format!("no JSON: {error}"))?;
    Ok(Some((tool.name.clone(), arguments)))
}

/// What the model writes by itself in one reply.
async fn written(
    app: &Composition,
    connection: &Connection,
    case: &Case,
    strategy: Strategy,
) -> Result<Vec<(String, Value)>, String> {
    let (text, schema, stop) = match strategy {
        Strategy::React => {
            (react::instructions(&case.tools), None, react::STOP.iter().map(|&word| word.to_owned()).collect())
        }
        _ => (guided::instructions(&case.tools), Some(guided::schema(&case.tools)), Vec::new()),
    };
    let system = format!("{INSTRUCTIONS} {}\n\n{text}", case.system);
    let asked = request(case, system, schema, stop);
    let mut stream = app.models.stream(connection.id, asked).await.map_err(|error| error.to_string())?;
    let mut parser = StreamParser::new(strategy, &ToolIndex::new(&case.tools), "call");
    while let Some(chunk) = stream.next().await {
        parser.push(&chunk.map_err(|error| error.to_string())?);
    }
    let parsed = parser.finish();
    let mut made: Vec<(String, Value)> = Vec::new();
    for call in parsed.calls {
        let fitted = case
            .tools
            .iter()
            .find(|tool| tool.name == call.name)
            .and_then(|tool| fit::fit(&tool.name, &tool.parameters, &call.arguments).ok());
        let arguments = fitted.map_or(call.arguments, |fitted| fitted.arguments);
        // Small models repeat themselves; a run would answer two equal calls only once.
        if !made.contains(&(call.name.clone(), arguments.clone())) {
            made.push((call.name, arguments));
        }
    }
    Ok(made)
}
