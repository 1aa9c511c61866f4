//! Exam reports that are out of date: servers' versions are checked at the start and after tests, at most once an hour.
//! Models on this machine are examined again; of others people are told, since an exam costs tokens.

use super::registry::ConnectionRegistry;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use steward_core::exam::{EXAM_VERSION, ExamReport};
use steward_core::model::{Connection, Provider};
use steward_core::ports::Examiner as _;
use steward_core::{ConnectionId, Timestamp};
use steward_models::exam::server_version;
use tokio::sync::broadcast::error::RecvError;

const PAUSE: Duration = Duration::from_hours(1);
const NOTE: &str = "Out of date:";

/// Looks after reports until it is dropped.
pub async fn report_refresh(registry: Arc<ConnectionRegistry>) {
    let mut answered = registry.answered.subscribe();
    let mut looked: HashMap<ConnectionId, Timestamp> = HashMap::new();
    for known in registry.known() {
        look(&registry, known.connection.id, &mut looked).await;
    }
    loop {
        match answered.recv().await {
            Ok(id) => look(&registry, id, &mut looked).await,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
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

    use super::{marked, outdated};
    use serde_json::json;
    use steward_core::exam::ExamReport;

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
    fn it_is_marked_once() {
        let twice = marked(marked(report(1, "a"), "first"), "second");
        assert_eq!(twice.notes, ["Out of date: second. Examine it again.", "one"]);
    }
}
