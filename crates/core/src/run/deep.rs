//! What a deep plan makes a run want.

use super::effect::Effect;
use super::state::{PlanState, RunState};
use super::tool_selection::plan_tool;
use crate::deep::{DeepState, DeepStep, Judged, MOST_PLANS, StepEnd, is_multi_step, judge, own_steps};
use crate::event::{Mode, Setup};
use crate::plan::FINAL_ANSWER;
use crate::schema;
use crate::tool::ToolCall;

/// Model calls that a run must have left for a plan to be worth one.
const CALLS_WORTH_A_PLAN: u32 = 3;

impl RunState {
    /// Before the model's next message: plan, judge what was observed, or plan again. `None`: nothing of that.
    pub(super) fn next_of_deep(&self, setup: &Setup) -> Option<Vec<Effect>> {
        setup.deep?;
        if setup.capabilities.trusted {
            // Its plan is its own: it is followed, not enforced.
            let plan = self.deep.as_ref()?;
            return judge(plan, &self.calls).map(|judged| vec![Effect::DeepStep(judged)]);
        }
        let Some(plan) = &self.deep else {
            return self.is_worth_a_plan(setup).then(|| vec![Effect::DeepPlan { reason: None }]);
        };
        if let Some(reason) = failed(plan) {
            let again = plan.generation < MOST_PLANS && self.calls_left(setup);
            return Some(vec![if again {
                Effect::DeepPlan { reason: Some(reason) }
            } else {
                Effect::DeepDrop { reason }
            }]);
        }
        judge(plan, &self.calls).map(|judged| vec![Effect::DeepStep(judged)])
    }

    /// Before the run ends with an answer of the model: what that answer leaves of the plan.
    pub(super) fn end_of_deep(&self, setup: &Setup) -> Option<Vec<Effect>> {
        let plan = self.deep.as_ref()?;
        // The answer itself is what a step without a tool asks for.
        if let Some(step) = plan.open().find(|step| step.tool.is_none() && plan.is_ready(step)) {
            return Some(vec![Effect::DeepStep(Judged::new(step.number, StepEnd::Done, "", None))]);
        }
        let open: Vec<u8> = plan.open().map(|step| step.number).collect();
        let first = *open.first()?;
        if !setup.capabilities.trusted && !plan.reminded && self.calls_left(setup) {
            return Some(vec![Effect::DeepRemind { open }]);
        }
        let skipped = Judged::new(first, StepEnd::Skipped, "the model ended without it", None);
        Some(vec![Effect::DeepStep(skipped)])
    }

    /// The same for a plan that was made by the intent filter: its steps are told, not asked for.
    pub(super) fn deep_of_plan(&self, setup: &Setup, plan: &PlanState) -> Option<Vec<Effect>> {
        setup.deep?;
        let Some(deep) = &self.deep else {
            let steps = steps_of(plan);
            return (steps.len() >= 2 && setup.mode == Mode::Loop).then(|| vec![Effect::DeepFromPlan { steps }]);
        };
        judge(deep, &self.calls).map(|judged| vec![Effect::DeepStep(judged)])
    }

    /// A call of the plan tool: the plan is noted, nothing runs.
    pub(super) fn own_plan(setup: &Setup, call: &ToolCall) -> Option<Vec<Effect>> {
        let spec = plan_tool(setup).filter(|spec| spec.name == call.name)?;
        if let Err(problem) = schema::validate(&spec.parameters, &call.arguments) {
            return Some(vec![Effect::Reject {
                call: call.clone(),
                message: Self::invalid_arguments(&spec, &problem),
            }]);
        }
        let (steps, notes) = own_steps(&call.arguments, setup.deep?);
        Some(vec![Effect::DeepOwn { call: call.clone(), steps, notes }])
    }

    fn is_worth_a_plan(&self, setup: &Setup) -> bool {
        setup.mode == Mode::Loop
            && setup.capabilities.plans
            && setup.planning().plans
            && self.wants_tool
            && self.calls.is_empty()
            && setup.tools.iter().any(|tool| tool.name != FINAL_ANSWER)
            && self.calls_left(setup)
            && is_multi_step(&setup.input)
    }

    fn calls_left(&self, setup: &Setup) -> bool {
        self.spent.counted_calls(&setup.budget) + CALLS_WORTH_A_PLAN <= setup.budget.model_calls
    }
}

fn failed(plan: &DeepState) -> Option<String> {
    plan.steps.iter().find_map(|state| match &state.end {
        Some((StepEnd::Failed, why)) => Some(format!("step {} ({}) failed: {why}", state.step.number, state.step.goal)),
        _ => None,
    })
}

fn steps_of(plan: &PlanState) -> Vec<DeepStep> {
    plan.plan
        .steps
        .iter()
        .filter(|step| step.tool != FINAL_ANSWER)
        .zip(1u8..)
        .map(|(step, number)| DeepStep {
            number,
            goal: if step.thought.trim().is_empty() {
                format!("{} {}", step.tool, step.args)
            } else {
                step.thought.clone()
            },
            tool: Some(step.tool.clone()),
            depends_on: Vec::new(),
            risk: String::new(),
            expect: String::new(),
        })
        .collect()
}
