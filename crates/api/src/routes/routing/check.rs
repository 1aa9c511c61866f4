//! Whether routing and planning can be as they are set.

use crate::problem::Problem;
use steward_core::ConnectionId;
use steward_core::agent::Deep;
use steward_core::ports::KnownConnection;
use steward_core::routing::Routing;

const MAX_CHAIN: usize = 20;

/// Refuses what can't be, naming the field.
pub(in crate::routes) fn routing(routing: &Routing, connections: &[KnownConnection]) -> Result<(), Problem> {
    let tasks = routing.task_routing.iter();
    let named = tasks.map(|(task, id)| (format!("routing.task_routing.{}", task.name()), id));
    let chain = routing.fallback_chain.iter();
    let chain = chain.map(|id| ("routing.fallback_chain".to_owned(), id));
    for (field, id) in named.chain(chain) {
        known(&field, *id, connections)?;
    }
    for (fits, field, hint) in [
        (routing.fallback_chain.len() <= MAX_CHAIN, "routing.fallback_chain", "name at most 20 connections"),
        ((1..=20).contains(&routing.max_fallback_attempts), "routing.max_fallback_attempts", "choose 1 to 20"),
        (
            routing.hedge_after_ms.is_none_or(|ms| (50..=600_000).contains(&ms)),
            "routing.hedge_after_ms",
            "choose 50 to 600000 milliseconds, or null for never",
        ),
    ] {
        in_range(fits, field, hint)?;
    }
    Ok(())
}

/// The same for deep planning.
pub(in crate::routes) fn deep(deep: Deep) -> Result<(), Problem> {
    in_range(
        deep.max_steps.is_none_or(|steps| (1..=20).contains(&steps)),
        "deep.max_steps",
        "choose 1 to 20, or null for the installation's setting",
    )
}

/// Refuses a connection that is not there.
pub(super) fn known(field: &str, id: ConnectionId, connections: &[KnownConnection]) -> Result<(), Problem> {
    if connections.iter().any(|one| one.connection.id == id) {
        return Ok(());
    }
    let names: Vec<_> =
        connections.iter().map(|one| format!("{} ({})", one.connection.id, one.connection.name)).collect();
    let hint = match names.as_slice() {
        [] => "there are none yet: add a connection first".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    };
    Err(Problem::invalid(field, format!("there is no connection {id}"), hint))
}

fn in_range(fits: bool, field: &str, hint: &str) -> Result<(), Problem> {
    if fits {
        return Ok(());
    }
    Err(Problem::invalid(field, format!("`{field}` is out of range"), hint))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::{Value, json};

    fn fits(value: &Value) -> bool {
        super::routing(&serde_json::from_value(value.clone()).unwrap(), &[]).is_ok()
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let id = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
        for (value, expected) in [
            (json!({}), true),
            (json!({"max_fallback_attempts": 20}), true),
            (json!({"max_fallback_attempts": 0}), false),
            (json!({"max_fallback_attempts": 21}), false),
            (json!({"hedge_after_ms": 50}), true),
            (json!({"hedge_after_ms": null}), true),
            (json!({"hedge_after_ms": 1}), false),
            (json!({"fallback_chain": [id]}), false),
            (json!({"task_routing": {"chat": id}}), false),
        ] {
            assert_eq!(fits(&value), expected, "{value}");
        }
        for (steps, expected) in [(json!(null), true), (json!(6), true), (json!(0), false)] {
            let deep = serde_json::from_value(json!({"max_steps": steps})).unwrap();
            assert_eq!(super::deep(deep).is_ok(), expected, "{steps}");
        }
    }
}
