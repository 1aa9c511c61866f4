//! Where a run can be forked: boundaries at which nothing is in flight.

use super::effect::Effect;
use super::state::RunState;
use crate::RunId;
use crate::event::{Event, EventBody};
use crate::model::Purpose;
use serde::{Deserialize, Serialize};

/// Where a run can be forked: just before a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ForkPoint {
    /// Last event that the fork takes over; give this to fork there.
    pub seq: u64,
    /// Number of the model call that would be made anew.
    pub step: u32,
    /// What it is for.
    pub purpose: Purpose,
}

/// Finds the fork points of a log while it is folded.
#[derive(Debug)]
pub struct ForkPoints {
    state: RunState,
    points: Vec<ForkPoint>,
    /// A model call that is begun and will be tried again if it fails.
    open: bool,
}

impl ForkPoints {
    pub fn new(run: RunId) -> Self {
        Self { state: RunState::new(run), points: Vec::new(), open: false }
    }

    pub fn push(&mut self, event: &Event) {
        if let Some(point) = self.before(event) {
            let again = self.points.last().is_some_and(|last| last.step == point.step && last.purpose == point.purpose);
            if !again {
                self.points.push(point);
            }
        }
        match &event.body {
            EventBody::ModelRequested { .. } => self.open = true,
            EventBody::ModelResponded { .. } => self.open = false,
            EventBody::ModelFailed { retry_at, .. } => self.open = retry_at.is_some(),
            _ => {}
        }
        self.state.apply(event);
    }

    /// The points, first one first, and the state after the last event.
    pub fn finish(self) -> (Vec<ForkPoint>, RunState) {
        (self.points, self.state)
    }

    fn before(&self, event: &Event) -> Option<ForkPoint> {
        let begins = matches!(
            event.body,
            EventBody::IntentFiltered { .. }
                | EventBody::ModelRequested { .. }
                | EventBody::ModelFailed { .. }
                | EventBody::PlanSearched(_)
                | EventBody::PlanProposed { .. }
                | EventBody::PlanFailed { .. }
        );
        if !begins || self.open {
            return None;
        }
        let purpose = match self.state.next(event.at).first()? {
            Effect::CallModel(purpose) => *purpose,
            Effect::SearchForPlan | Effect::MakePlan => Purpose::Plan,
            Effect::Fill { .. } => Purpose::Fill,
            Effect::FilterIntent if self.state.plans_first() => Purpose::Plan,
            Effect::FilterIntent => Purpose::Reply,
            _ => return None,
        };
        Some(ForkPoint { seq: self.state.last_seq, step: self.state.spent.model_calls + 1, purpose })
    }
}
