//! Webhooks and their deliveries as the API shows them: finding one, and printing them.

use super::places::{describe_filter, describe_place};
use crate::client::Client;
use crate::commands::rows::{Resource, first_line, items, print_facts, text, time};
use crate::commands::unattended::{agent, describe_failures, describe_pause, describe_secret, owner, pick_named};
use crate::options::size;
use crate::term::{Term, print_text};
use serde_json::Value;

pub const HOOK: Resource = Resource { path: "/api/hooks", what: "webhook", list: "steward hook list" };
pub const DELETED: Resource =
    Resource { path: "/api/hooks?deleted=true", what: "removed webhook", list: "steward hook list --deleted" };

/// Longest request shown in a line, characters.
const REQUEST_SHOWN: usize = 60;

pub async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    pick_named(&HOOK, client.rows(HOOK.path).await?, wanted)
}

pub async fn find_deleted(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    pick_named(&DELETED, client.rows(DELETED.path).await?, wanted)
}

/// Where senders send to; without a server, what stands behind its address.
pub fn address_of(client: &Client, row: &Value) -> String {
    format!("{}{}", client.server_url().unwrap_or_default(), text(row, "path"))
}

pub fn print_line(row: &Value, term: Term) {
    println!("{}  {}  {}", text(row, "id"), text(row, "name"), state(row, term));
    let mut parts = vec![signing(row), format!("agent {}", agent(row))];
    if row["may_change"] == false {
        parts.push(format!("of {}", owner(row)));
    }
    parts.push(first_line(text(row, "request"), REQUEST_SHOWN));
    println!("    {}", term.dim(&parts.join("; ")));
}

fn state(row: &Value, term: Term) -> String {
    let deleted = time(row, "deleted_at");
    if !deleted.is_empty() {
        format!("removed {deleted}")
    } else if row["pause"].is_object() {
        term.yellow(&format!("rests: {}", describe_pause(&row["pause"])))
    } else if row["last"].is_object() {
        format!("last {}", time(&row["last"], "received_at"))
    } else {
        "nothing came yet".to_owned()
    }
}

fn signing(row: &Value) -> String {
    let signing = &row["signing"];
    match signing["header"].as_str() {
        Some(header) => format!("{} in {header}", text(signing, "kind")),
        None => text(signing, "kind").to_owned(),
    }
}

pub fn print_detail(client: &Client, row: &Value, term: Term) {
    println!("{}  {}", term.bold(text(row, "name")), term.dim(text(row, "id")));
    let filters = items(row, "filters").iter().map(describe_filter).enumerate();
    let filters = filters.map(|(at, one)| (if at == 0 { "filters" } else { "" }, one));
    let secrets = items(row, "secrets").iter().map(describe_secret).enumerate();
    let secrets = secrets.map(|(at, one)| (if at == 0 { "secrets" } else { "" }, one));
    let before = [
        ("address", address_of(client, row)),
        ("state", state(row, term)),
        ("signing", signing(row)),
        ("window", format!("{} s", row["window_seconds"])),
        ("event id", describe_place(&row["event_id"])),
    ];
    let after = [
        ("agent", agent(row).to_owned()),
        ("owner", owner(row).to_owned()),
        ("failed runs", describe_failures(row)),
        ("last", if row["last"].is_object() { describe_delivery(&row["last"]) } else { String::new() }),
        ("refused", if row["refused"].is_object() { describe_refused(&row["refused"]) } else { String::new() }),
    ];
    print_facts(before.into_iter().chain(filters).chain(secrets).chain(after));
    println!();
    print_text(text(row, "request"));
}

/// Calls that were refused: `3 since the server started; the last 2027-03-14T07:00:00Z: The signature doesn't match.`
fn describe_refused(refused: &Value) -> String {
    let (at, problem) = (time(refused, "at"), text(refused, "problem"));
    format!("{} since the server started; the last {at}: {problem}", refused["count"])
}

/// A delivery with its fate: `2027-03-14T07:00:00Z  started, completed  RUN`.
pub fn describe_delivery(one: &Value) -> String {
    let run = text(one, "run_id");
    format!("{}  {}{}{run}", time(one, "received_at"), fate(one), if run.is_empty() { "" } else { "  " })
}

fn fate(one: &Value) -> String {
    match text(one, "status") {
        "waiting" => "waits for its run".to_owned(),
        "started" => format!("started, {}", one["outcome"].as_str().unwrap_or("works")),
        status => format!("{status}: {}", text(one, "reason")),
    }
}

pub fn print_delivery(one: &Value, term: Term) {
    println!("{}  {}", text(one, "id"), describe_delivery(one));
    println!("    {}", term.dim(&describe_event(one)));
}

/// `event 72d3162e, 1.2 KB, came again 2 times`.
pub fn describe_event(one: &Value) -> String {
    let mut parts = vec![format!("event {}", text(one, "event")), size(one["bytes"].as_u64().unwrap_or_default())];
    match one["repeats"].as_u64().unwrap_or_default() {
        0 => {}
        1 => parts.push("came again once".to_owned()),
        many => parts.push(format!("came again {many} times")),
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{describe_delivery, describe_event, describe_refused};
    use serde_json::json;

    #[test]
    fn a_delivery_says_its_fate() {
        for (one, expect) in [
            (json!({"received_at": 0, "status": "waiting", "run_id": null}), "1970-01-01T00:00:00Z  waits for its run"),
            (
                json!({"received_at": 0, "status": "started", "outcome": null, "run_id": "0199"}),
                "1970-01-01T00:00:00Z  started, works  0199",
            ),
            (
                json!({"received_at": 1000, "status": "skipped", "reason": "the webhook is paused", "run_id": null}),
                "1970-01-01T00:00:01Z  skipped: the webhook is paused",
            ),
            (
                json!({"received_at": 1000, "status": "failed", "reason": "there is no agent", "run_id": null}),
                "1970-01-01T00:00:01Z  failed: there is no agent",
            ),
        ] {
            assert_eq!(describe_delivery(&one), expect);
        }
        let event = |repeats: u64| describe_event(&json!({"event": "a1", "bytes": 1250, "repeats": repeats}));
        assert_eq!((event(0).as_str(), event(1).as_str()), ("event a1, 1.2 KB", "event a1, 1.2 KB, came again once"));
        assert_eq!(event(2), "event a1, 1.2 KB, came again 2 times");
        let refused = json!({"at": 0, "count": 3, "problem": "The signature doesn't match."});
        let said = "3 since the server started; the last 1970-01-01T00:00:00Z: The signature doesn't match.";
        assert_eq!(describe_refused(&refused), said);
    }
}
