use serde_json::{Map, Value};
use steward_core::exam::ExamReport;
use steward_core::model::{Capabilities, Connection, Constrained, Provider, Wire};

/// The connection as it is used: a person's settings stay, whatever an exam says; the rest is what the exam found, or
/// what was known before.
pub(super) fn merged(own: &Connection, report: Option<&ExamReport>) -> Connection {
    let mut connection = own.clone();
    if let Some(report) = report {
        connection.capabilities = by_hand_first(own, &report.capabilities);
    }
    // Only Ollama's own interface takes `num_ctx` and `format`.
    let can = &connection.capabilities;
    let native = can.num_ctx.is_some() || can.constrained == Some(Constrained::OllamaFormat);
    if connection.provider == Provider::Ollama && connection.wire.is_none() && native {
        connection.wire = Some(Wire::Native);
    }
    connection
}

fn by_hand_first(own: &Connection, found: &Capabilities) -> Capabilities {
    let mut can = fields(found);
    let mut set = fields(&own.capabilities);
    for name in &own.by_hand {
        match set.remove(name) {
            Some(value) => can.insert(name.clone(), value),
            None => can.remove(name),
        };
    }
    serde_json::from_value(Value::Object(can)).unwrap_or_else(|_| found.clone())
}

/// Names of the fields in which `now` differs from `before`, beside those in `already`.
pub(super) fn set_by_hand(now: &Capabilities, before: &Capabilities, already: &[String]) -> Vec<String> {
    let (now, before) = (fields(now), fields(before));
    let mut names: Vec<String> = now
        .keys()
        .chain(before.keys())
        .filter(|name| now.get(*name) != before.get(*name))
        .chain(already)
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

fn fields(can: &Capabilities) -> Map<String, Value> {
    match serde_json::to_value(can) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{merged, set_by_hand};
    use serde_json::json;
    use steward_core::exam::ExamReport;
    use steward_core::model::{Capabilities, Connection, Strategy, Wire};

    fn known(capabilities: &Capabilities) -> Connection {
        serde_json::from_value(json!({
            "id": uuid::Uuid::from_u128(1), "name": "one", "provider": "ollama",
            "base_url": "http://127.0.0.1:9/v1", "model": "m", "capabilities": capabilities,
        }))
        .unwrap()
    }

    fn report() -> ExamReport {
        let capabilities = Capabilities {
            strategy: Strategy::React,
            window: 16_384,
            num_ctx: Some(16_384),
            plans: false,
            max_tools: 4,
            ..Capabilities::default()
        };
        serde_json::from_value(json!({
            "version": 1, "endpoint": "http://127.0.0.1:9/v1", "model": "m", "server": "", "at": 0, "ms": 1,
            "tokens": 1, "checks": [], "constrained": [], "grades": {}, "tokens_per_second": 1.0, "first_token_ms": 1,
            "prompt_tokens_per_second": 1.0, "reuses_cache": false, "notes": [], "capabilities": capabilities,
        }))
        .unwrap()
    }

    #[test]
    fn what_a_person_set_goes_first() {
        let own = Capabilities { window: 8192, ..Capabilities::default() };
        let mut saved = known(&own);
        saved.by_hand = vec!["window".to_owned(), "max_tools".to_owned()];
        let used = merged(&saved, Some(&report()));
        assert_eq!(used.capabilities.window, 8192);
        assert_eq!(used.capabilities.max_tools, 64, "even where it is the usual");
        assert_eq!(used.capabilities.strategy, Strategy::React);
        assert_eq!(used.wire, Some(Wire::Native), "num_ctx needs it");
        assert_eq!(merged(&known(&own), None).capabilities, own);
    }

    #[test]
    fn what_differs_is_set_by_hand() {
        let (now, before) = (Capabilities::default(), report().capabilities);
        let names = set_by_hand(&now, &before, &["vision".to_owned()]);
        let expect = ["max_tools", "num_ctx", "plans", "strategy", "vision", "window"];
        assert_eq!(names, expect);
    }

    #[test]
    fn trusted_until_an_exam_or_a_person_says_otherwise() {
        let usual = known(&Capabilities::default());
        assert!(merged(&usual, None).capabilities.trusted);
        let mut found = report();
        found.capabilities.trusted = false;
        assert!(!merged(&usual, Some(&found)).capabilities.trusted);
        let mut mistrusted = known(&Capabilities { trusted: false, ..Capabilities::default() });
        mistrusted.by_hand = set_by_hand(&mistrusted.capabilities, &Capabilities::default(), &[]);
        assert_eq!(mistrusted.by_hand, ["trusted"]);
        assert!(!merged(&mistrusted, Some(&report())).capabilities.trusted);
    }

    #[test]
    fn what_was_guessed_is_replaced() {
        let guess = Capabilities::tiny(2048);
        let used = merged(&known(&guess), Some(&report()));
        assert_eq!(used.capabilities, report().capabilities);
        let used = merged(&known(&guess), None);
        assert_eq!((used.capabilities, used.wire), (guess, None));
    }
}
