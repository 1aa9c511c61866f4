use super::{DeepStep, StepEnd};
use std::fmt::Write as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepState {
    pub step: DeepStep,
    /// How it ended and why; `None` while it is open.
    pub end: Option<(StepEnd, String)>,
}

/// The plan in force, folded from the run's events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeepState {
    /// Counts plans of this run, from 1.
    pub generation: u8,
    /// Empty if the run goes on without a plan.
    pub steps: Vec<StepState>,
    /// Calls that the run had made before this plan; they don't belong to it.
    pub calls_before: usize,
    /// Whether the model was reminded of open steps when it wanted to end.
    pub reminded: bool,
}

impl DeepState {
    #[must_use]
    pub fn replaced(&self, steps: Vec<DeepStep>, calls_before: usize) -> Self {
        Self {
            generation: self.generation.saturating_add(1),
            steps: steps.into_iter().map(|step| StepState { step, end: None }).collect(),
            calls_before,
            reminded: self.reminded,
        }
    }

    pub fn end(&mut self, number: u8, end: StepEnd, why: &str) {
        if let Some(state) = self.steps.iter_mut().find(|state| state.step.number == number && state.end.is_none()) {
            state.end = Some((end, why.to_owned()));
        }
    }

    pub fn open(&self) -> impl Iterator<Item = &DeepStep> {
        self.steps.iter().filter(|state| state.end.is_none()).map(|state| &state.step)
    }

    pub fn is_ready(&self, step: &DeepStep) -> bool {
        step.depends_on.iter().all(|number| self.ended_as(*number) == Some(StepEnd::Done))
    }

    /// An open step that depends on a failed or skipped one, and the number of that one.
    pub fn hopeless(&self) -> Option<(&DeepStep, u8)> {
        self.open().find_map(|step| {
            let lost = step
                .depends_on
                .iter()
                .find(|number| matches!(self.ended_as(**number), Some(StepEnd::Failed | StepEnd::Skipped)))?;
            Some((step, *lost))
        })
    }

    fn ended_as(&self, number: u8) -> Option<StepEnd> {
        self.steps
            .iter()
            .find(|state| state.step.number == number)
            .and_then(|state| state.end.as_ref())
            .map(|(end, _)| *end)
    }

    /// The plan as the model reads it before its next reply; empty without a plan.
    pub fn as_text(&self) -> String {
        let mut text = String::new();
        let mut current = true;
        for state in &self.steps {
            let step = &state.step;
            let mark = match &state.end {
                Some((StepEnd::Done, _)) => "done",
                Some((StepEnd::Failed, _)) => "failed",
                Some((StepEnd::Skipped, _)) => "left out",
                None if current && self.is_ready(step) => {
                    current = false;
                    "NOW"
                }
                None => "open",
            };
            let _ = write!(text, "{}. [{mark}] {}", step.number, step.goal);
            if let Some(tool) = &step.tool {
                let _ = write!(text, " (tool: {tool})");
            }
            if !step.depends_on.is_empty() && state.end.is_none() {
                let needs: Vec<String> = step.depends_on.iter().map(u8::to_string).collect();
                let _ = write!(text, " (after {})", needs.join(", "));
            }
            if state.end.is_none() && !step.risk.is_empty() {
                let _ = write!(text, " (risk: {})", step.risk);
            }
            match &state.end {
                Some((StepEnd::Failed | StepEnd::Skipped, why)) if !why.is_empty() => {
                    let _ = write!(text, ": {why}");
                }
                _ => {}
            }
            text.push('\n');
        }
        text
    }
}
