//! When a schedule is due, as it is said on the command line and read by the API.

use crate::client::Client;
use crate::commands::rows::{items, object, text};
use crate::options::duration;
use crate::term::{Exit, Term, print_json};
use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;

const PREVIEW: &str = "/api/schedules/preview";
const UTC: &str = "UTC";
/// What takes a limit away.
const NONE: &str = "none";

/// When it is due.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct TimeArgs {
    /// In words, English or German, such as `every weekday at 8`; what they leave open is asked back.
    #[arg(long, value_name = "WORDS", group = "timing")]
    when: Option<String>,
    /// By cron: five fields, or six with seconds first; `;` separates several expressions.
    #[arg(long, value_name = "EXPRESSION", group = "timing")]
    cron: Option<String>,
    /// So long after each other, whatever clocks do: 90s, 30m, 1h or 7d, counted from the beginning of 1970.
    #[arg(long, value_name = "TIME", group = "timing", value_parser = duration)]
    every: Option<Duration>,
    /// Once: 2027-03-14T08:00 by the wall clock of the zone, or with an offset.
    #[arg(long, value_name = "TIME", group = "timing")]
    at: Option<String>,
    /// By a recurrence rule of iCalendar, such as FREQ=MONTHLY;BYDAY=-1FR.
    #[arg(long, value_name = "RULE", group = "timing", requires = "begin")]
    rrule: Option<String>,
    /// From when the rule counts, by the wall clock: 2027-01-01T08:00.
    #[arg(long, value_name = "TIME", requires = "rrule")]
    begin: Option<String>,
    /// The time zone, such as Europe/Berlin [default: for a new one that of this machine].
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Nothing is due before: 2027-03-01, 2027-03-01T08:00, or `none`.
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Nothing is due after, in the same form.
    #[arg(long, value_name = "TIME")]
    end: Option<String>,
    /// Put each off by up to so long, always the same for the same one: 30s, 5m, or `none`.
    #[arg(long, value_name = "TIME", value_parser = jitter)]
    jitter: Option<u64>,
}

/// Look at a time before a schedule is made of it: what it says, when it is due, and what happens when clocks change.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward schedule preview \"every weekday at 8\" --zone Europe/Berlin\n  steward schedule preview \"jeden Montag um 9\"\n  steward schedule preview --cron \"0 8 * * MON-FRI\"\n  steward schedule preview --rrule \"FREQ=MONTHLY;BYDAY=-1FR\" --begin 2027-01-01T08:00\n\nExit code 1: the words leave something open, and it is asked back."
)]
pub struct Preview {
    /// The time in words, as --when takes it.
    #[arg(group = "timing")]
    words: Vec<String>,
    #[command(flatten)]
    times: TimeArgs,
}

impl TimeArgs {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What these say, as the API previews it; with a question where the words leave something open. What isn't said stays as it
    /// is in `known`, the times of a schedule.
    pub async fn read(&self, client: &Client, known: Option<&Value>, term: Term) -> anyhow::Result<Value> {
        let known_zone = known.and_then(|when| when["zone"].as_str()).map(str::to_owned);
        let own_zone = || client.zone_name();
        let said_zone = self.zone.clone().or(known_zone).or_else(own_zone);
        let zone = said_zone.as_deref().unwrap_or(UTC);
        let mut when = match known {
            Some(when) => when.clone(),
            None => json!({}),
        };
        when["zone"] = json!(zone);
        if let Some(words) = &self.when {
            let read: Value = client.post(PREVIEW, &json!({"words": words, "zone": zone})).await?;
            if read["question"].is_object() {
                return Ok(read);
            }
            // The words may name a zone, and an end.
            for (name, value) in read["when"].as_object().into_iter().flatten() {
                when[name] = value.clone();
            }
        } else if let Some(timing) = self.timing() {
            when["timing"] = timing;
        } else if known.is_none() {
            bail!(
                "say when it is due, such as --when \"every weekday at 8\", --cron \"0 8 * * MON-FRI\", --every 90m or --at 2027-03-14T08:00"
            );
        }
        if said_zone.is_none() && when["zone"] == UTC {
            term.note(
                "the time zone of this machine isn't known, so times are those of UTC; choose another with --zone",
            );
        }
        let zone = when["zone"].clone();
        for (name, said, clock) in [("start", &self.start, "00:00:00"), ("end", &self.end, "23:59:59")] {
            if let Some(said) = said {
                when[name] = limit(client, name, said, clock, &zone).await?;
            }
        }
        if let Some(seconds) = self.jitter {
            when["jitter_seconds"] = json!(seconds);
        }
        preview_when(client, &when).await
    }

    fn timing(&self) -> Option<Value> {
        let Self { cron, every, at, rrule, begin, .. } = self;
        if let Some(expression) = cron {
            return Some(json!({"kind": "cron", "expression": expression}));
        }
        if let Some(every) = every {
            return Some(json!({"kind": "interval", "every_seconds": every.as_secs()}));
        }
        if let Some(at) = at {
            return Some(json!({"kind": "once", "at": at}));
        }
        rrule.as_ref().map(|rule| json!({"kind": "rrule", "rule": rule, "begin": begin}))
    }
}

/// The instant of a limit; null: there is none. `clock` is the time of day where only a date is said.
async fn limit(client: &Client, name: &str, said: &str, clock: &str, zone: &Value) -> anyhow::Result<Value> {
    if said == NONE {
        return Ok(Value::Null);
    }
    let is_date = said.len() == 10 && !said.contains('T');
    let at = if is_date { format!("{said}T{clock}") } else { said.to_owned() };
    // The API knows the zones: a limit is read as what is due once.
    let when = json!({"timing": {"kind": "once", "at": at}, "zone": zone});
    let read = preview_when(client, &when).await.with_context(|| format!("--{name} {said} can't be read"))?;
    match items(&read, "next").first() {
        Some(next) => Ok(next["nominal"].clone()),
        None => bail!("--{name} {said} has passed; choose a time that is to come, or leave it out"),
    }
}

/// What these times say.
pub async fn preview_when(client: &Client, when: &Value) -> anyhow::Result<Value> {
    client.post(PREVIEW, &json!({"when": when})).await
}

pub(super) async fn preview(client: &Client, wanted: &Preview, term: Term) -> anyhow::Result<Exit> {
    let mut times = wanted.times.clone();
    if !wanted.words.is_empty() {
        times.when = Some(wanted.words.join(" "));
    }
    let read = times.read(client, None, term).await?;
    if read["question"].is_object() {
        return Ok(ask_back(&read, term));
    }
    Ok(term.shown(&read, || describe(&read).iter().for_each(|line| println!("{line}"))))
}

/// Says what is asked back where words leave something open; nothing is made then.
pub fn ask_back(read: &Value, term: Term) -> Exit {
    if term.json {
        print_json(read);
        return Exit::Failed;
    }
    let question = &read["question"];
    term.say(text(question, "text"));
    for choice in items(question, "choices") {
        let (when, description) = (&choice["when"], term.dim(text(choice, "description")));
        term.say(&format!("    {} --zone {}   {description}", option_of(&when["timing"]), text(when, "zone")));
    }
    Exit::Failed
}

/// What a reading says, a line each: in words, the next times, what happens when clocks change.
pub fn describe(read: &Value) -> Vec<String> {
    let mut lines = vec![text(read, "description").to_owned()];
    lines.extend(items(read, "next").iter().map(|one| format!("    {}", describe_next(one))));
    if items(read, "next").is_empty() {
        lines.push("    never from now on".to_owned());
    }
    let changes = text(read, "clock_changes");
    if !changes.is_empty() {
        lines.push(changes.to_owned());
    }
    lines
}

/// One of the next times by the wall clock, with what a change of the clock does to it.
pub fn describe_next(one: &Value) -> String {
    let change = match text(one, "change") {
        "after_gap" => "  (its time is missing that day: the first instant after the gap)",
        "first_of_two" => "  (its time comes twice that day: the first)",
        "second_of_two" => "  (its time comes twice that day: the second)",
        _ => "",
    };
    format!("{}{change}", text(one, "shown"))
}

/// The option that says a timing.
fn option_of(timing: &Value) -> String {
    let quoted = |name: &str, field: &str| format!("--{name} \"{}\"", text(timing, field));
    match text(timing, "kind") {
        "cron" => quoted("cron", "expression"),
        "interval" => format!("--every {}s", timing["every_seconds"]),
        "once" => format!("--at {}", text(timing, "at")),
        _ => format!("{} --begin {}", quoted("rrule", "rule"), text(timing, "begin")),
    }
}

/// Seconds.
fn jitter(text: &str) -> Result<u64, String> {
    if text == NONE { Ok(0) } else { duration(text).map(|length| length.as_secs()) }
}

/// What becomes of missed occurrences, as in the API.
pub fn missed(text: &str) -> Result<Value, String> {
    let wrong = || format!("`{text}` is no rule for what is missed; write skip, once or all=3600 (seconds)");
    let (kind, within) = match text.split_once('=') {
        Some(("all", within)) => {
            let seconds = within.parse().ok().or_else(|| duration(within).ok().map(|length| length.as_secs()));
            ("all", Some(json!(seconds.ok_or_else(wrong)?)))
        }
        None if ["skip", "once"].contains(&text) => (text, None),
        _ => return Err(wrong()),
    };
    Ok(Value::Object(object([("kind", Some(json!(kind))), ("within_seconds", within)])))
}

#[cfg(test)]
mod tests {
    use super::{TimeArgs, jitter, missed, option_of};
    use serde_json::json;

    #[test]
    fn options_are_read_as_the_api_has_them() {
        assert_eq!(missed("skip"), Ok(json!({"kind": "skip"})));
        assert_eq!(missed("once"), Ok(json!({"kind": "once"})));
        for all in ["all=3600", "all=1h"] {
            assert_eq!(missed(all), Ok(json!({"kind": "all", "within_seconds": 3600})));
        }
        for bad in ["all", "all=", "all=x", "once=3", "never", ""] {
            assert!(missed(bad).unwrap_err().contains("all=3600"), "{bad}");
        }
        assert_eq!((jitter("5m"), jitter("none")), (Ok(300), Ok(0)));
    }

    #[test]
    fn a_timing_is_said_as_it_is_asked() {
        let args = TimeArgs {
            rrule: Some("FREQ=DAILY".to_owned()),
            begin: Some("2027-01-01T08:00".to_owned()),
            ..TimeArgs::default()
        };
        let timing = args.timing().unwrap_or_default();
        assert_eq!(timing, json!({"kind": "rrule", "rule": "FREQ=DAILY", "begin": "2027-01-01T08:00"}));
        assert_eq!(option_of(&timing), "--rrule \"FREQ=DAILY\" --begin 2027-01-01T08:00");
        assert_eq!(option_of(&json!({"kind": "cron", "expression": "0 3 * * *"})), "--cron \"0 3 * * *\"");
        assert_eq!(option_of(&json!({"kind": "interval", "every_seconds": 90})), "--every 90s");
    }
}
