//! What a person said, and what an exam found out.

use super::connections::Known;
use steward_core::exam::ExamReport;
use steward_core::model::{Capabilities, Connection, Constrained, Provider, Wire};

/// The connection as it is used. Of a saved one, what a person set to something other than the default
/// stays; of a found one, the report replaces what was guessed.
pub(super) fn merged(known: &Known, report: Option<&ExamReport>) -> Connection {
    let mut connection = known.connection.clone();
    if let Some(report) = report {
        connection.capabilities = if known.from == "saved" {
            own_first(&connection.capabilities, &report.capabilities)
        } else {
            report.capabilities.clone()
        };
    }
    // Only Ollama's own interface takes `num_ctx` and `format`.
    let can = &connection.capabilities;
    let own = can.num_ctx.is_some() || can.constrained == Some(Constrained::OllamaFormat);
    if connection.provider == Provider::Ollama && connection.wire.is_none() && own {
        connection.wire = Some(Wire::Native);
    }
    connection
}

fn own_first(own: &Capabilities, found: &Capabilities) -> Capabilities {
    let usual = Capabilities::default();
    let mut can = found.clone();
    macro_rules! keep {
        ($($field:ident),+) => {
            $(if own.$field != usual.$field { can.$field = own.$field; })+
        };
    }
    keep!(
        strategy,
        window,
        json_schema,
        scoring,
        plans,
        summarises,
        max_tools,
        constrained,
        parallel_calls,
        system_role,
        vision,
        num_ctx,
        prompt_tokens,
        thinks_first
    );
    can
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::merged;
    use crate::book::Known;
    use serde_json::json;
    use steward_core::exam::ExamReport;
    use steward_core::model::{Capabilities, Connection, Strategy, Wire};

    fn known(from: &str, capabilities: &Capabilities) -> Known {
        let connection: Connection = serde_json::from_value(json!({
            "id": uuid::Uuid::from_u128(1), "name": "one", "provider": "ollama",
            "base_url": "http://127.0.0.1:9/v1", "model": "m", "capabilities": capabilities,
        }))
        .unwrap();
        Known {
            connection,
            from: from.to_owned(),
        }
    }

    fn report() -> ExamReport {
        let capabilities = Capabilities {
            strategy: Strategy::React,
            window: 16_384,
            num_ctx: Some(16_384),
            plans: false,
            ..Capabilities::default()
        };
        serde_json::from_value(json!({
            "version": 1, "endpoint": "http://127.0.0.1:9/v1", "model": "m", "at": 0, "ms": 1,
            "tokens": 1, "checks": [], "capabilities": capabilities,
        }))
        .unwrap()
    }

    #[test]
    fn what_a_person_set_goes_first() {
        let own = Capabilities {
            window: 8192,
            ..Capabilities::default()
        };
        let used = merged(&known("saved", &own), Some(&report()));
        assert_eq!(used.capabilities.window, 8192);
        assert_eq!(used.capabilities.strategy, Strategy::React);
        assert_eq!(used.wire, Some(Wire::Native), "num_ctx needs it");
        assert_eq!(merged(&known("saved", &own), None).capabilities, own);
    }

    #[test]
    fn what_was_guessed_is_replaced() {
        let guess = Capabilities::tiny(2048);
        let used = merged(&known("Ollama answers", &guess), Some(&report()));
        assert_eq!(used.capabilities, report().capabilities);
        let used = merged(&known("Ollama answers", &guess), None);
        assert_eq!((used.capabilities, used.wire), (guess, None));
    }
}
