//! How likely the model itself finds each of a few calls.

use serde_json::Value;
use steward_core::event::Setup;
use steward_core::message::Message;
use steward_core::model::ModelRequest;
use steward_core::ports::Models;

/// Longest wait for the likelihoods, milliseconds.
const WAIT_MS: u64 = 20_000;
/// Arguments shown to the model, characters.
const SHOWN: usize = 240;

/// A share for each call, all together 1; `None` if the model can't say.
pub async fn shares(
    request: &str,
    calls: &[(String, Value)],
    setup: &Setup,
    models: &dyn Models,
) -> Option<Vec<f32>> {
    if !setup.capabilities.scoring || calls.len() < 2 {
        return None;
    }
    let mut listed: Vec<&str> = calls.iter().map(|(tool, _)| tool.as_str()).collect();
    listed.sort_unstable();
    listed.dedup();
    let described: Vec<String> = setup
        .tools
        .iter()
        .filter(|tool| listed.contains(&tool.name.as_str()))
        .map(|tool| format!("{}: {}", tool.name, tool.description))
        .collect();
    let system = include_str!("../../prompts/choose.txt").replace("{tools}", &described.join("\n"));
    let rendered: Vec<String> = calls
        .iter()
        .map(|(tool, arguments)| render(tool, arguments))
        .collect();
    let asked = ModelRequest {
        messages: vec![Message::system(system), Message::user(request)],
        tools: Vec::new(),
        schema: None,
        temperature: 0.0,
        max_tokens: 1,
        stop: Vec::new(),
        seed: None,
        timeout_ms: WAIT_MS,
    };
    let scored = models
        .score(setup.connection, asked, &rendered)
        .await
        .ok()?;
    let means: Vec<f32> = rendered
        .iter()
        .map(|call| {
            scored
                .iter()
                .find(|one| one.candidate == *call)
                .map_or(f32::NEG_INFINITY, |one| {
                    #[expect(clippy::cast_precision_loss, reason = "a few tokens")]
                    let tokens = one.tokens.max(1) as f32;
                    one.logprob / tokens
                })
        })
        .collect();
    let most = means.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !most.is_finite() {
        return None;
    }
    let weights: Vec<f32> = means.iter().map(|mean| (mean - most).exp()).collect();
    let all: f32 = weights.iter().sum();
    Some(weights.iter().map(|weight| weight / all).collect())
}

/// A call as the model would write it.
fn render(tool: &str, arguments: &Value) -> String {
    let text: String = arguments.to_string().chars().take(SHOWN).collect();
    format!("{tool} {text}")
}
