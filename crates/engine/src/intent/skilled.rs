//! Proposals for skills: nobody wrote a rule for each, so their arguments are read from the request.

use super::error::IntentError;
use super::fill::of_tool;
use super::known::Known;
use super::settings::Settings;
use steward_core::ports::Embedder;
use steward_core::tool::{Suggestion, ToolSpec};
use steward_parse::fill::Request;

/// The call of a skill, if the request tells all that it requires. `share`: its score in the filter as a
/// share of the best one's; what an operator gave the agent and the request names best is very likely meant.
pub(super) async fn suggest(
    request: &str,
    skill: &ToolSpec,
    share: f32,
    embedder: &dyn Embedder,
) -> Result<Option<Suggestion>, IntentError> {
    let settings = Settings::shipped()?;
    let mut known = Known::new(embedder);
    let read = Request::read(request);
    let made = of_tool(&read, skill, share, &mut known, &settings.fill).await?;
    let weights = &settings.choice;
    let score = if share >= 1.0 {
        weights.skill
    } else {
        weights.skill_behind * share
    };
    let whole = made.into_iter().find(|call| call.open.is_empty());
    Ok(whole.map(|call| Suggestion {
        arguments: call.arguments,
        score,
        why: format!("the skill {}", skill.name),
    }))
}
