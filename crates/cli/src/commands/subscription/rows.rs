//! Subscriptions and their messages as the API shows them: finding one, and printing them.

use crate::client::Client;
use crate::commands::rows::{Resource, items, joined, print_facts, text, time};
use crate::commands::unattended::{describe_pause, describe_secret, owner, pick_named};
use crate::term::Term;
use serde_json::Value;

pub const SUBSCRIPTION: Resource =
    Resource { path: "/api/subscriptions", what: "subscription", list: "steward subscription list" };
pub const DELETED: Resource = Resource {
    path: "/api/subscriptions?deleted=true",
    what: "removed subscription",
    list: "steward subscription list --deleted",
};

pub async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    pick_named(&SUBSCRIPTION, client.rows(SUBSCRIPTION.path).await?, wanted)
}

/// As one that isn't deleted, so that its path is that of any.
pub async fn find_deleted(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    pick_named(&DELETED, client.rows(DELETED.path).await?, wanted)
}

pub fn print_line(row: &Value, term: Term) {
    println!("{}  {}  {}", text(row, "id"), text(row, "name"), state(row, term));
    let mut parts = vec![format!("{} to {}", text(row, "form"), text(row, "place")), kinds(row)];
    if row["all"] == true {
        parts.push("also of others".to_owned());
    }
    if row["may_change"] == false {
        parts.push(format!("of {}", owner(row)));
    }
    println!("    {}", term.dim(&parts.join("; ")));
}

fn kinds(row: &Value) -> String {
    if items(row, "kinds").is_empty() { "everything".to_owned() } else { joined(row, "kinds") }
}

fn state(row: &Value, term: Term) -> String {
    let deleted = time(row, "deleted_at");
    if !deleted.is_empty() {
        format!("removed {deleted}")
    } else if row["pause"].is_object() {
        term.yellow(&format!("rests: {}", describe_rest(&row["pause"])))
    } else if row["last"].is_object() {
        format!("last {}", time(&row["last"], "made_at"))
    } else {
        "nothing was told yet".to_owned()
    }
}

fn describe_rest(pause: &Value) -> String {
    // It starts no runs: its note says what is wrong with the address.
    match text(pause, "reason") {
        "cannot_start" => text(pause, "note").to_owned(),
        _ => describe_pause(pause),
    }
}

pub fn print_detail(row: &Value, term: Term) {
    println!("{}  {}", term.bold(text(row, "name")), term.dim(text(row, "id")));
    let of = if row["all"] == true { "what its owner may see" } else { "what is its owner's" };
    let secrets = items(row, "secrets").iter().map(describe_secret).enumerate();
    let secrets = secrets.map(|(at, one)| (if at == 0 { "secrets" } else { "" }, one));
    let before = [
        ("form", text(row, "form").to_owned()),
        ("leads to", text(row, "place").to_owned()),
        ("state", state(row, term)),
        ("tells", kinds(row)),
        ("of", of.to_owned()),
        ("language", text(row, "language").to_owned()),
        ("links to", text(row, "link_base").to_owned()),
        ("owner", owner(row).to_owned()),
    ];
    let last = if row["last"].is_object() { describe_message(&row["last"]) } else { String::new() };
    print_facts(before.into_iter().chain(secrets).chain([("last", last)]));
}

/// A message with its fate: `2027-03-14T07:00:00Z  run.failed  sent: 204`.
pub fn describe_message(one: &Value) -> String {
    format!("{}  {}  {}", time(one, "made_at"), text(one, "kind"), describe_fate(one))
}

pub fn describe_fate(one: &Value) -> String {
    let last = text(one, "last");
    match text(one, "status") {
        "sent" => format!("sent {}: {last}", time(one, "sent_at")),
        "given_up" => format!("given up: {last}"),
        _ if last.is_empty() => "on its way".to_owned(),
        _ => format!("tried {}, again {}: {last}", times(&one["tries"]), time(one, "next_at")),
    }
}

fn times(count: &Value) -> String {
    match count.as_u64() {
        Some(1) => "once".to_owned(),
        _ => format!("{count} times"),
    }
}

pub fn print_message(one: &Value, term: Term) {
    println!("{}  {}", text(one, "id"), describe_message(one));
    let happening = &one["happening"];
    let (name, run) = (text(happening, "name"), text(happening, "run_id"));
    let about = [(!name.is_empty()).then(|| name.to_owned()), (!run.is_empty()).then(|| format!("run {run}"))];
    let about: Vec<String> = about.into_iter().flatten().collect();
    if !about.is_empty() {
        println!("    {}", term.dim(&about.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::{describe_fate, describe_message, describe_rest};
    use serde_json::json;

    #[test]
    fn a_message_says_its_fate() {
        for (one, expect) in [
            (json!({"status": "waiting", "tries": 0, "next_at": 0, "last": null}), "on its way"),
            (
                json!({"status": "waiting", "tries": 1, "next_at": 5000, "last": "503 later"}),
                "tried once, again 1970-01-01T00:00:05Z: 503 later",
            ),
            (
                json!({"status": "waiting", "tries": 2, "next_at": 5000, "last": "503"}),
                "tried 2 times, again 1970-01-01T00:00:05Z: 503",
            ),
            (json!({"status": "sent", "sent_at": 1000, "last": "204"}), "sent 1970-01-01T00:00:01Z: 204"),
            (json!({"status": "given_up", "last": "410 gone"}), "given up: 410 gone"),
        ] {
            assert_eq!(describe_fate(&one), expect);
        }
        let message = json!({"made_at": 0, "kind": "run.failed", "status": "given_up", "last": "404"});
        assert_eq!(describe_message(&message), "1970-01-01T00:00:00Z  run.failed  given up: 404");
    }

    #[test]
    fn a_rest_says_what_is_wrong() {
        let rest = |reason: &str, note: &str| describe_rest(&json!({"reason": reason, "note": note}));
        assert_eq!(rest("cannot_start", "messages don't arrive: 404"), "messages don't arrive: 404");
        assert_eq!(rest("person", "too many"), "paused by a person (too many)");
    }
}
