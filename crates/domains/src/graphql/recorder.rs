//! What the fields of a request ask for, written down while the request is resolved.

use std::sync::Mutex;
use steward_core::locks::lock;

use async_graphql::SelectionField;
use async_graphql::dynamic::ResolverContext;

use super::answer::key_of;
use super::error::GraphQlError;
use super::plan::{Planned, Root};

/// Rows that the fields of a request may come to together, those of relations included.
pub(super) const MOST_COST: u64 = 20_000;

#[derive(Debug, Default)]
pub(super) struct Recorder(Mutex<Recorded>);

#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub roots: Vec<Root>,
    pub errors: Vec<GraphQlError>,
    cost: u64,
}

impl Recorder {
    pub fn record(context: &ResolverContext<'_>, plan: impl FnOnce(&SelectionField<'_>) -> Planned) {
        let Ok(recorder) = context.data::<std::sync::Arc<Self>>() else { return };
        let field = context.field();
        let (key, position) = (key_of(&field).to_owned(), context.item.pos);
        let Planned { root, errors } = plan(&field);
        let mut notes = lock(&recorder.0);
        let mut errors: Vec<String> = errors;
        if notes.roots.iter().any(|there| there.key == key) {
            errors.push(format!("`{key}` stands here twice; write its fields into one, or give one an alias"));
        }
        let before = notes.cost;
        notes.cost = before.saturating_add(root.cost);
        if notes.cost > MOST_COST && before <= MOST_COST {
            errors.push(format!(
                "the request can come to {} rows with those of relations; at most {MOST_COST} can be asked for at once: \
                 lower the limits, or ask for less",
                notes.cost
            ));
        }
        notes.errors.extend(errors.into_iter().map(|error| GraphQlError::of_field(error, position, &key)));
        notes.roots.push(Root { position, ..root });
    }

    pub fn take(&self) -> Recorded {
        std::mem::take(&mut *lock(&self.0))
    }
}
