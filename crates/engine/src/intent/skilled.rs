//! Proposals for skills: nobody wrote a rule for each, so their arguments are read from the request.

use super::error::IntentError;
use super::fill::of_tool;
use super::known::Known;
use super::settings::Settings;
use steward_core::ports::Embedder;
use steward_core::tool::{Suggestion, ToolSpec};
use steward_parse::fill::Request;

/// The call of a skill, if the request tells all that it requires.
pub(super) async fn suggest(
    request: &str,
    skill: &ToolSpec,
    embedder: &dyn Embedder,
) -> Result<Option<Suggestion>, IntentError> {
    let mut known = Known::new(embedder);
    let read = Request::read(request);
    let made = of_tool(&read, skill, 1.0, &mut known, &Settings::shipped()?.fill).await?;
    let whole = made.into_iter().find(|call| call.open.is_empty());
    Ok(whole.map(|call| Suggestion { arguments: call.arguments, score: 1.0, why: format!("the skill {}", skill.name) }))
}
