//! What the commands of schedules, webhooks and subscriptions share: finding one by a name that several may have, what it is
//! asked, why it rests, and secrets, which never stand in a command.

use super::rows::{Resource, content_of, items, text, time};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

/// Longest file of a secret, bytes.
const MAX_SECRET_FILE: u64 = 64 * 1024;

/// Several may have one name, of one owner or of several.
pub fn pick_named(resource: &Resource, rows: Vec<Value>, wanted: &str) -> anyhow::Result<Value> {
    let named: Vec<&Value> = rows.iter().filter(|row| row["name"] == wanted).collect();
    if named.len() > 1 {
        let ids: Vec<String> = named.iter().map(|row| format!("{} of {}", text(row, "id"), owner(row))).collect();
        let what = resource.what;
        bail!("{} {what}s have the name `{wanted}`; give the id of one: {}", named.len(), ids.join(", "));
    }
    resource.pick(rows, wanted)
}

/// What names it on a command line: its name, or its id where a shell would read that otherwise.
pub fn argument_of(row: &Value) -> &str {
    let name = text(row, "name");
    let plain = |c: char| c.is_alphanumeric() || "._".contains(c);
    if name.starts_with(plain) && name.chars().all(|c| plain(c) || c == '-') { name } else { text(row, "id") }
}

pub fn owner(row: &Value) -> &str {
    row["owner"].as_str().unwrap_or("somebody who is gone")
}

pub fn agent(row: &Value) -> &str {
    row["agent"].as_str().unwrap_or("an agent that is gone")
}

/// Why it rests, by its `pause`.
pub fn describe_pause(pause: &Value) -> String {
    let why = match text(pause, "reason") {
        "person" => "paused by a person",
        "failures" => "too many runs failed one after the other",
        "owner" => "its owner is gone or lost a right that it needs",
        "cannot_start" => "no run can be started",
        other => other,
    };
    let note = text(pause, "note");
    if note.is_empty() { why.to_owned() } else { format!("{why} ({note})") }
}

/// When it rests by itself, and how near that is.
pub fn describe_failures(row: &Value) -> String {
    match row["pause_after_failures"].as_u64() {
        Some(limit) => format!("rests after {limit} one after the other, now {}", row["failures"]),
        None => format!("never rests, now {} one after the other", row["failures"]),
    }
}

/// What is asked, from the words of a command; `-` is standard input, `None`: nothing is said.
pub fn request_of(words: &[String]) -> anyhow::Result<Option<String>> {
    if reads_input(words) {
        return Ok(Some(content_of(Path::new("-"))?.trim_end().to_owned()));
    }
    Ok((!words.is_empty()).then(|| words.join(" ")))
}

/// Whether what is asked comes from standard input.
pub fn reads_input(words: &[String]) -> bool {
    words.join(" ") == "-"
}

/// Whether standard input has it.
pub fn is_input(file: &Path) -> bool {
    file == Path::new("-")
}

/// What a file, or standard input, holds for `option`; `without` says what leaving it out would mean.
pub fn secret_of(file: &Path, option: &str, without: &str) -> anyhow::Result<String> {
    let from: Box<dyn Read> = if is_input(file) {
        Box::new(std::io::stdin())
    } else {
        // What was typed isn't repeated: it may be the secret.
        Box::new(std::fs::File::open(file).with_context(|| {
            format!(
                "{option} takes a file, or - for standard input, and there is no such file; a secret itself never stands in a command"
            )
        })?)
    };
    let mut text = String::new();
    let read = from.take(MAX_SECRET_FILE + 1).read_to_string(&mut text);
    read.with_context(|| format!("what {option} names can't be read"))?;
    if text.len() as u64 > MAX_SECRET_FILE {
        bail!("what {option} names is too long for a secret");
    }
    let secret = text.trim();
    if secret.is_empty() {
        bail!("what {option} names is empty; {without}");
    }
    Ok(secret.to_owned())
}

/// A secret of a row, by what its owner sees of it; `command` is the one of its resource.
pub fn pick_secret<'r>(row: &'r Value, which: &str, command: &str) -> anyhow::Result<&'r Value> {
    let fits = |one: &&Value| {
        let id = text(one, "id");
        text(one, "hint") == which || (which.len() >= 4 && (id.starts_with(which) || id.ends_with(which)))
    };
    let found: Vec<&Value> = items(row, "secrets").iter().filter(fits).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let how = argument_of(row);
            bail!("`{}` has no secret `{which}`; `{command} show {how}` lists them", text(row, "name"))
        }
        _ => bail!("`{which}` fits {}; give more of the id", found.len()),
    }
}

/// What may be shown of a secret.
pub fn describe_secret(secret: &Value) -> String {
    format!("{}  ends in {}, added {}", text(secret, "id"), text(secret, "hint"), time(secret, "created_at"))
}

/// After how many failed runs in a row it rests; null: never.
pub fn pause_after(text: &str) -> Result<Value, String> {
    match text.parse::<u32>() {
        Ok(count) => Ok(json!(count)),
        Err(_) if text == "never" => Ok(Value::Null),
        Err(_) => Err(format!("`{text}` is no number of runs; write one, such as 5, or never")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{argument_of, pause_after, pick_named};
    use crate::commands::rows::Resource;
    use serde_json::{Value, json};

    const SCHEDULE: Resource = Resource { path: "/api/schedules", what: "schedule", list: "steward schedule list" };

    #[test]
    fn a_name_that_several_have_is_no_name() {
        let rows = || -> Vec<Value> {
            vec![
                json!({"name": "morning", "id": "0199-aaaa", "owner": "ann@example.org"}),
                json!({"name": "morning", "id": "0199-bbbb", "owner": null}),
                json!({"name": "on Mondays", "id": "0199-cccc", "owner": "ann@example.org"}),
            ]
        };
        let why = pick_named(&SCHEDULE, rows(), "morning").unwrap_err().to_string();
        assert!(
            why.contains("2 schedules have") && why.contains("0199-aaaa of ann@example.org, 0199-bbbb of somebody"),
            "{why}"
        );
        assert_eq!(pick_named(&SCHEDULE, rows(), "bbbb").unwrap()["id"], "0199-bbbb");
        assert_eq!(pick_named(&SCHEDULE, rows(), "on Mondays").unwrap()["id"], "0199-cccc");
        assert_eq!(argument_of(&rows()[0]), "morning");
        assert_eq!(argument_of(&rows()[2]), "0199-cccc");
        assert_eq!(argument_of(&json!({"name": "--mine", "id": "0199-dddd"})), "0199-dddd");
    }

    #[test]
    fn never_is_a_number_of_failures() {
        assert_eq!((pause_after("3"), pause_after("never")), (Ok(json!(3)), Ok(Value::Null)));
        assert!(pause_after("often").unwrap_err().contains("never"));
    }
}
