//! Which model of a run is asked for what: one may plan, and another do the rest.

use super::parts::{Mode, Setup};
use crate::ConnectionId;
use crate::model::{Capabilities, Purpose};

/// A model that is asked for something.
#[derive(Debug, Clone, Copy)]
pub struct AskedModel<'s> {
    /// The one that is asked first.
    pub connection: ConnectionId,
    /// Its model's name.
    pub model: &'s str,
    pub capabilities: &'s Capabilities,
    /// The connections in the order in which they are tried; never empty.
    pub targets: &'s [ConnectionId],
}

impl Setup {
    pub fn model_for(&self, purpose: Purpose) -> AskedModel<'_> {
        match &self.planner {
            Some(planner) if matches!(purpose, Purpose::Search | Purpose::Plan | Purpose::Deep) => AskedModel {
                connection: planner.connection,
                model: &planner.model,
                capabilities: &planner.capabilities,
                targets: &planner.route.targets,
            },
            _ => AskedModel {
                connection: self.connection,
                model: &self.model,
                capabilities: &self.capabilities,
                targets: self
                    .route
                    .as_ref()
                    .map_or(std::slice::from_ref(&self.connection), |route| route.targets.as_slice()),
            },
        }
    }

    /// Of the model that makes plans.
    pub fn planning(&self) -> &Capabilities {
        self.model_for(Purpose::Plan).capabilities
    }

    /// Of the model that chooses the tools: in a plan, or call by call.
    pub fn choosing(&self) -> &Capabilities {
        if self.plans_first() { self.planning() } else { &self.capabilities }
    }

    /// Whether plans are made first: asked for, or because the model that acts can't choose tools itself.
    pub fn plans_first(&self) -> bool {
        self.mode != Mode::Loop || !self.capabilities.plans
    }
}
