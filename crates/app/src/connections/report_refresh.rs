//! Exams that begin by themselves. A connection that is added, or whose model changes, is examined where that costs nothing;
//! elsewhere it waits for somebody to begin it. Reports get out of date: servers' versions are checked at the start and after
//! tests, at most once an hour. Models on this machine are examined again; of others people are told.

use super::registry::ConnectionRegistry;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use steward_core::exam::{EXAM_VERSION, ExamReport};
use steward_core::model::{Connection, Price, Provider};
use steward_core::ports::Examiner as _;
use steward_core::{ConnectionId, Timestamp};
use steward_models::exam::server_version;
use tokio::sync::broadcast::error::RecvError;

const PAUSE: Duration = Duration::from_hours(1);
const NOTE: &str = "Out of date:";

/// Looks after reports until it is dropped.
pub async fn report_refresh(registry: Arc<ConnectionRegistry>) {
    let (mut answered, mut saved) = (registry.answered.subscribe(), registry.saved.subscribe());
    let mut looked: HashMap<ConnectionId, Timestamp> = HashMap::new();
    for known in registry.known() {
        look(&registry, known.connection.id, &mut looked).await;
        examine_new(&registry, known.connection.id).await;
    }
    loop {
        let next = tokio::select! {
            id = answered.recv() => id.map(|id| (id, false)),
            id = saved.recv() => id.map(|id| (id, true)),
        };
        match next {
            Ok((id, true)) => examine_new(&registry, id).await,
            Ok((id, false)) => {
                look(&registry, id, &mut looked).await;
                // One that did not answer when it was added.
                examine_new(&registry, id).await;
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// Examines one that has no report, where that costs nothing. Whatever comes of it is in its state.
async fn examine_new(registry: &ConnectionRegistry, id: ConnectionId) {
    let Some(known) = registry.own(id).filter(|_| registry.examines()) else {
        return;
    };
    if registry.report_of(&known.connection).is_some() || !is_free(&known.connection) {
        return;
    }
    let name = &known.connection.name;
    tracing::info!(connection = name, "examining its model");
    if let Err(error) = registry.examine(id, &|_| {}).await {
        tracing::warn!(connection = name, %error, "it could not be examined, and is used as it is");
    }
}

/// Whether nobody pays for what is asked there. What comes built in is known already.
pub(super) fn is_free(connection: &Connection) -> bool {
    let priced = connection.price.is_some_and(|price| price != Price::default());
    connection.provider != Provider::Local && connection.is_in_house() && !priced
}

async fn look(registry: &ConnectionRegistry, id: ConnectionId, looked: &mut HashMap<ConnectionId, Timestamp>) {
    let now = registry.now();
    let recently = looked.get(&id).is_some_and(|at| now.since(*at) < PAUSE);
    let Some(known) = registry.own(id).filter(|_| !recently) else {
        return;
    };
    let Some(report) = registry.report_of(&known.connection) else {
        return;
    };
    looked.insert(id, now);
    let version = server_version(registry.client(), &known.connection).await;
    let Some(why) = outdated(&report, version.as_deref()) else {
        return;
    };
    let name = &known.connection.name;
    if is_here(&known.connection) {
        tracing::info!(connection = name, why, "examining it anew");
        if let Err(error) = registry.examine(id, &|_| {}).await {
            tracing::warn!(connection = name, %error, "it could not be examined");
        }
    } else if let Err(error) = registry.keep(&marked(report, &why)).await {
        tracing::warn!(connection = name, %error, "its report could not be marked");
    }
}

fn outdated(report: &ExamReport, server: Option<&str>) -> Option<String> {
    if report.version < EXAM_VERSION {
        return Some("this program has a newer exam".to_owned());
    }
    let now = server.filter(|now| *now != report.server && !report.server.is_empty())?;
    Some(format!("the server was {} and is {now} now", report.server))
}

fn marked(mut report: ExamReport, why: &str) -> ExamReport {
    report.notes.retain(|note| !note.starts_with(NOTE));
    let note = format!("{NOTE} {why}. Examine it again.");
    report.notes.insert(0, note);
    report
}

/// Whether the model is on this machine, where an exam costs nothing but a minute.
fn is_here(connection: &Connection) -> bool {
    if connection.provider == Provider::Local {
        return true;
    }
    let url = url::Url::parse(&connection.base_url).ok();
    match url.as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{is_free, marked, outdated};
    use serde_json::json;
    use steward_core::ConnectionId;
    use steward_core::exam::ExamReport;
    use steward_core::model::{Connection, Price, Provider};

    fn report(version: u16, server: &str) -> ExamReport {
        serde_json::from_value(json!({
            "version": version, "endpoint": "local", "model": "m", "server": server, "at": 0, "ms": 1,
            "tokens": 1, "checks": [], "constrained": [], "grades": {}, "tokens_per_second": 1.0, "first_token_ms": 1,
            "prompt_tokens_per_second": 1.0, "reuses_cache": false, "capabilities": {}, "notes": ["one"],
        }))
        .unwrap()
    }

    #[test]
    fn a_report_is_outdated_by_another_version() {
        let one = report(1, "ollama 0.13.1");
        assert_eq!(outdated(&one, Some("ollama 0.13.1")), None);
        assert_eq!(outdated(&one, None), None, "it did not answer");
        assert_eq!(outdated(&report(1, ""), Some("vllm 0.11.0")), None);
        let why = outdated(&one, Some("ollama 0.14.0")).unwrap();
        assert!(why.contains("0.13.1") && why.contains("0.14.0"));
        assert!(outdated(&report(0, ""), None).is_some());
    }

    #[test]
    fn what_costs_nothing_is_examined_by_itself() {
        let at = |provider: Provider, url: &str| Connection::new(ConnectionId::default(), "one", provider, url, "m");
        assert!(is_free(&at(Provider::OpenAi, "http://127.0.0.1:8000/v1")));
        assert!(is_free(&at(Provider::Ollama, "http://10.0.0.7:11434")));
        assert!(!is_free(&at(Provider::OpenAi, "https://api.example.org/v1")));
        assert!(!is_free(&at(Provider::Local, "")));
        let price = Price { input: 1, cached: 1, output: 1 };
        assert!(!is_free(&Connection { price: Some(price), ..at(Provider::OpenAi, "http://127.0.0.1:8000/v1") }));
    }

    #[test]
    fn it_is_marked_once() {
        let twice = marked(marked(report(1, "a"), "first"), "second");
        assert_eq!(twice.notes, ["Out of date: second. Examine it again.", "one"]);
    }
}
