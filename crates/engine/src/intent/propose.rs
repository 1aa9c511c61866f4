//! From a request to plans, without free generation.

use super::error::IntentError;
use super::filter::{Filtered, rank, unfiltered};
use super::settings::Settings;
use super::split::split;
use super::{fallback, likelihood, skilled};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use steward_core::event::Setup;
use steward_core::plan::{self, Candidate, FINAL_ANSWER, Plan, PlanStep};
use steward_core::ports::{Embedder, Models, ToolScope, Tools};
use steward_core::tool::ToolSpec;

/// Steps that a plan should have at most.
pub(crate) const MOST_STEPS: usize = 6;

/// What the intent filter and the tools make of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Plans, best first; empty if no tool is wanted or none can do it.
    pub candidates: Vec<Candidate>,
    /// What the filter kept.
    pub filtered: Filtered,
    /// What was noticed, for the trace.
    pub notes: Vec<String>,
}

/// One call that may do what is asked.
#[derive(Debug, Clone)]
struct Choice {
    tool: String,
    arguments: Value,
    fit: f32,
    /// The proposal's own score.
    own: f32,
    why: String,
}

/// Everything that a choice is made with.
struct Chooser<'a> {
    setup: &'a Setup,
    tools: &'a dyn Tools,
    models: Option<&'a dyn Models>,
    embedder: &'a dyn Embedder,
    scope: &'a ToolScope,
    settings: &'static Settings,
}

/// Plans for a request: filter, proposals of the tools, choice; several steps where the request
/// says so. `models` is asked for likelihoods where it can give some, and for arguments where the
/// wanted tool has no proposal.
pub async fn propose(
    request: &str,
    setup: &Setup,
    tools: &dyn Tools,
    models: Option<&dyn Models>,
    embedder: &dyn Embedder,
    scope: &ToolScope,
) -> Result<Proposal, IntentError> {
    let settings = Settings::shipped()?;
    let chooser = Chooser {
        setup,
        tools,
        models,
        embedder,
        scope,
        settings,
    };
    let mut notes = Vec::new();
    let (mut filtered, choices) = chooser.choose(request, true, &mut notes).await?;
    let mut candidates: Vec<Candidate> = choices
        .iter()
        .map(|choice| chooser.candidate(std::slice::from_ref(choice)))
        .collect();
    if let Some(parts) = split(request, &settings.split).filter(|parts| parts.len() <= MOST_STEPS)
        && let Some(steps) = chooser.steps(&parts, &mut notes).await?
    {
        for choice in &steps {
            if !filtered
                .kept
                .iter()
                .any(|ranked| ranked.tool == choice.tool)
            {
                filtered.kept.push(steward_core::event::Ranked {
                    tool: choice.tool.clone(),
                    score: choice.fit,
                });
            }
        }
        // One step alone does only a part of what was asked.
        for candidate in &mut candidates {
            #[expect(clippy::cast_precision_loss, reason = "a handful of steps")]
            let part = candidate.score.fit / steps.len() as f32;
            candidate.score = plan::score(&candidate.plan, &setup.tools, MOST_STEPS, part);
        }
        candidates.insert(0, chooser.candidate(&steps));
    }
    // A tool that knows just what to do is wanted, however the request is worded.
    let sure = choices
        .first()
        .is_some_and(|choice| choice.own >= settings.choice.sure);
    filtered.wants_tool = filtered.wants_tool || sure;
    if !filtered.wants_tool {
        candidates.clear();
        notes.push("the request seems to be talk; no tool is wanted".to_owned());
    }
    candidates.truncate(settings.choice.candidates);
    Ok(Proposal {
        candidates,
        filtered,
        notes,
    })
}

impl Chooser<'_> {
    /// The calls that may do one thing, best first.
    async fn choose(
        &self,
        request: &str,
        may_write: bool,
        notes: &mut Vec<String>,
    ) -> Result<(Filtered, Vec<Choice>), IntentError> {
        let mut filtered = if self.setup.intent_filter {
            rank(request, &self.setup.tools, self.embedder).await?
        } else {
            unfiltered(&self.setup.tools)
        };
        let best = filtered
            .kept
            .first()
            .map_or(1.0, |ranked| ranked.score)
            .max(0.05);
        let mut choices = Vec::new();
        let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (place, ranked) in filtered.kept.iter().enumerate() {
            let mut suggestions = self.tools.suggest(&ranked.tool, request, self.scope).await;
            if let Some(skill) = self
                .skill(&ranked.tool)
                .filter(|_| place < self.settings.keep)
            {
                let share = ranked.score / best;
                suggestions.extend(skilled::suggest(request, skill, share, self.embedder).await?);
            }
            for suggestion in suggestions {
                // A tool that the filter left out still counts if it knows exactly what to do.
                if place >= self.settings.keep
                    && self.setup.intent_filter
                    && suggestion.score < self.settings.choice.sure
                {
                    continue;
                }
                remember(&mut seen, &suggestion.arguments);
                let fit = if self.setup.intent_filter {
                    let weights = &self.settings.choice;
                    let total = weights.filter + weights.proposal;
                    (weights.filter * (ranked.score / best) + weights.proposal * suggestion.score)
                        / total
                } else {
                    suggestion.score
                };
                choices.push(Choice {
                    tool: ranked.tool.clone(),
                    arguments: suggestion.arguments,
                    fit,
                    own: suggestion.score,
                    why: suggestion.why,
                });
            }
        }
        if self.setup.intent_filter {
            let mut place = 0;
            filtered.kept.retain(|ranked| {
                place += 1;
                place <= self.settings.keep
                    || choices.iter().any(|choice| choice.tool == ranked.tool)
            });
        }
        choices.retain(|choice| choice.fit >= self.settings.choice.least);
        choices.sort_by(|a, b| b.fit.total_cmp(&a.fit));
        choices.truncate(8);
        self.weigh(request, &mut choices, notes).await;
        if choices.is_empty() && filtered.wants_tool && may_write {
            choices.extend(self.written(request, &filtered, &seen, notes).await);
        }
        Ok((filtered, choices))
    }

    /// The tool of this name, if it is a skill's.
    fn skill(&self, tool: &str) -> Option<&ToolSpec> {
        let mut tools = self.setup.tools.iter();
        tools.find(|spec| spec.name == tool && spec.skill.is_some())
    }

    /// Lets the model's likelihoods count.
    async fn weigh(&self, request: &str, choices: &mut [Choice], notes: &mut Vec<String>) {
        let weight = if self.setup.intent_filter {
            self.settings.choice.likelihood
        } else {
            self.settings.choice.likelihood_alone
        };
        let Some(models) = self.models.filter(|_| weight > 0.0) else {
            return;
        };
        let calls: Vec<(String, Value)> = choices
            .iter()
            .map(|choice| (choice.tool.clone(), choice.arguments.clone()))
            .collect();
        let Some(shares) = likelihood::shares(request, &calls, self.setup, models).await else {
            return;
        };
        notes.push(format!(
            "weighed by the likelihood of {} calls",
            calls.len()
        ));
        for (choice, share) in choices.iter_mut().zip(shares) {
            choice.fit = (1.0 - weight).mul_add(choice.fit, weight * share);
        }
        choices.sort_by(|a, b| b.fit.total_cmp(&a.fit));
    }

    /// Arguments by the model for the best tool, where no tool has a proposal.
    async fn written(
        &self,
        request: &str,
        filtered: &Filtered,
        seen: &BTreeMap<String, Vec<String>>,
        notes: &mut Vec<String>,
    ) -> Option<Choice> {
        let models = self.models?;
        let ranked = filtered.kept.first()?;
        let tool = self
            .setup
            .tools
            .iter()
            .find(|tool| tool.name == ranked.tool)?;
        match fallback::arguments(request, tool, seen, self.setup, models).await {
            Ok(arguments) => {
                notes.push(format!(
                    "no tool had a proposal; the model wrote the arguments of {}",
                    tool.name
                ));
                Some(Choice {
                    tool: tool.name.clone(),
                    arguments,
                    fit: 0.4 * ranked.score,
                    own: 0.0,
                    why: "arguments written by the model".to_owned(),
                })
            }
            Err(reason) => {
                notes.push(format!("no arguments for {}: {reason}", tool.name));
                None
            }
        }
    }

    /// One call per part, if each part has a good one of its own and they are not all the same.
    async fn steps(
        &self,
        parts: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<Choice>>, IntentError> {
        let mut steps: Vec<Choice> = Vec::new();
        for part in parts {
            let (_, choices) = self.choose(part, false, notes).await?;
            match choices
                .into_iter()
                .next()
                .filter(|choice| choice.fit >= self.settings.choice.step)
            {
                Some(choice)
                    if !steps
                        .iter()
                        .any(|s| s.tool == choice.tool && s.arguments == choice.arguments) =>
                {
                    steps.push(choice);
                }
                _ => {
                    notes.push(format!("\"{part}\" is no step of its own"));
                    return Ok(None);
                }
            }
        }
        notes.push(format!("the request has {} steps", steps.len()));
        Ok(Some(steps))
    }

    fn candidate(&self, steps: &[Choice]) -> Candidate {
        let mut plan = Plan {
            steps: steps
                .iter()
                .map(|choice| PlanStep {
                    tool: choice.tool.clone(),
                    args: choice.arguments.clone(),
                    thought: choice.why.clone(),
                })
                .collect(),
        };
        plan.steps.push(PlanStep {
            tool: FINAL_ANSWER.to_owned(),
            args: json!({"text": ""}),
            thought: "answer from what was observed".to_owned(),
        });
        let fit = steps.iter().map(|choice| choice.fit).fold(1.0, f32::min);
        Candidate {
            score: plan::score(&plan, &self.setup.tools, MOST_STEPS, fit),
            plan,
        }
    }
}

/// Keeps the texts of a proposal's arguments by name.
fn remember(seen: &mut BTreeMap<String, Vec<String>>, arguments: &Value) {
    for (name, value) in arguments.as_object().into_iter().flatten() {
        if let Some(text) = value
            .as_str()
            .filter(|_| name == "path" || name == "database")
        {
            let known = seen.entry(name.clone()).or_default();
            if !known.iter().any(|value| value == text) {
                known.push(text.to_owned());
            }
        }
    }
}
