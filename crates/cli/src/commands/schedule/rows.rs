//! Schedules as the API shows them: finding one, and printing them.

use super::times;
use crate::client::Client;
use crate::commands::rows::{Resource, first_line, items, print_facts, text, time};
use crate::commands::unattended::{agent, describe_failures, describe_pause, owner, pick_named};
use crate::term::{Term, print_text};
use serde_json::Value;

pub const SCHEDULE: Resource = Resource { path: "/api/schedules", what: "schedule", list: "steward schedule list" };
pub const DELETED: Resource =
    Resource { path: "/api/schedules?deleted=true", what: "removed schedule", list: "steward schedule list --deleted" };

/// Longest request shown in a line, characters.
const REQUEST_SHOWN: usize = 60;

pub async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    pick_named(&SCHEDULE, client.rows(SCHEDULE.path).await?, wanted)
}

pub async fn find_deleted(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    pick_named(&DELETED, client.rows(DELETED.path).await?, wanted)
}

pub fn print_line(row: &Value, term: Term) {
    println!("{}  {}  {}", text(row, "id"), text(row, "name"), state(row, term));
    let mut parts = vec![text(row, "description").to_owned(), format!("agent {}", agent(row))];
    if row["may_change"] == false {
        parts.push(format!("of {}", owner(row)));
    }
    parts.push(first_line(text(row, "request"), REQUEST_SHOWN));
    println!("    {}", term.dim(&parts.join("; ")));
}

fn state(row: &Value, term: Term) -> String {
    let (deleted, next) = (time(row, "deleted_at"), time(row, "next_at"));
    if !deleted.is_empty() {
        format!("removed {deleted}")
    } else if row["pause"].is_object() {
        term.yellow(&format!("rests: {}", describe_pause(&row["pause"])))
    } else if next.is_empty() {
        "isn't due any more".to_owned()
    } else {
        format!("next {next}")
    }
}

/// `reading` is the preview of its times.
pub fn print_detail(row: &Value, reading: &Value, term: Term) {
    println!("{}  {}", term.bold(text(row, "name")), term.dim(text(row, "id")));
    let (when, due) = (&row["when"], time(row, "next_at"));
    let seconds = when["jitter_seconds"].as_u64().filter(|seconds| *seconds > 0);
    let put_off = seconds.map(|seconds| format!("each by up to {seconds} s; the next to {due}"));
    let coming = items(reading, "next").iter().filter(|_| !due.is_empty()).map(times::describe_next);
    let next = coming.enumerate().map(|(at, one)| (if at == 0 { "next" } else { "" }, one));
    let clocks = ("clocks", text(reading, "clock_changes").to_owned());
    let before = [
        ("when", text(row, "description").to_owned()),
        ("not before", time(when, "start")),
        ("not after", time(when, "end")),
        ("put off", put_off.filter(|_| !due.is_empty()).unwrap_or_default()),
        ("state", if due.is_empty() { state(row, term) } else { String::new() }),
    ];
    let after = [
        ("agent", agent(row).to_owned()),
        ("owner", owner(row).to_owned()),
        ("missed", missed(row)),
        ("overlapping", overlap(text(row, "overlap")).to_owned()),
        ("failed runs", describe_failures(row)),
        ("last", if row["last"].is_object() { describe_occurrence(&row["last"]) } else { String::new() }),
    ];
    print_facts(before.into_iter().chain(next).chain([clocks]).chain(after));
    println!();
    print_text(text(row, "request"));
}

fn missed(row: &Value) -> String {
    let what = match text(&row["missed"], "kind") {
        "skip" => "not caught up".to_owned(),
        "all" => format!("each runs that was due within {} s", row["missed"]["within_seconds"]),
        _ => "one run for all".to_owned(),
    };
    format!("{what}; after {} s", row["grace_seconds"])
}

fn overlap(word: &str) -> &str {
    match word {
        "skip" => "skipped",
        "queue_one" => "one waits, others join it",
        "queue_all" => "all wait",
        "cancel_other" => "the run that works is stopped",
        "allow" => "both work",
        other => other,
    }
}

/// An occurrence with its fate: `2027-03-14T07:00:00Z  ran, completed  RUN`.
pub fn describe_occurrence(one: &Value) -> String {
    let mut fate = match text(one, "status") {
        "planned" => "comes".to_owned(),
        "queued" => "waits for the run before it".to_owned(),
        "ran" => format!("ran, {}", one["outcome"].as_str().unwrap_or("works")),
        "joined" => format!("joined the run of {}", time(one, "joined")),
        status => format!("{status}: {}", reason(text(one, "reason"))),
    };
    if one["by_hand"] == true {
        fate.push_str(", by hand");
    }
    let run = text(one, "run_id");
    format!("{}  {fate}{}{run}", time(one, "nominal"), if run.is_empty() { "" } else { "  " })
}

fn reason(word: &str) -> &str {
    match word {
        "still_running" => "the run before it still worked",
        "queue_full" => "too many waited already",
        "paused" => "the schedule rested",
        "not_caught_up" => "nothing could start it in time, and it isn't caught up",
        "outside_window" => "nothing could start it in time, and it is too long ago",
        "paused_since" => "nothing could start it in time, and then the schedule rested",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::describe_occurrence;
    use serde_json::json;

    #[test]
    fn an_occurrence_says_its_fate() {
        for (one, expect) in [
            (json!({"nominal": 0, "status": "planned"}), "1970-01-01T00:00:00Z  comes"),
            (
                json!({"nominal": 0, "status": "ran", "outcome": "completed", "by_hand": true, "run_id": "0199"}),
                "1970-01-01T00:00:00Z  ran, completed, by hand  0199",
            ),
            (
                json!({"nominal": 0, "status": "skipped", "reason": "still_running", "run_id": null}),
                "1970-01-01T00:00:00Z  skipped: the run before it still worked",
            ),
            (
                json!({"nominal": 1000, "status": "joined", "joined": 0}),
                "1970-01-01T00:00:01Z  joined the run of 1970-01-01T00:00:00Z",
            ),
        ] {
            assert_eq!(describe_occurrence(&one), expect);
        }
    }
}
