use super::event::short_id;
use super::occurrence::{Occurrence, Occurrences, occurrences_between};
use super::{CalendarStore, calendar_name, time};
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use crate::text::{clip_line, given};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::tool::ToolOutput;

const MOST: usize = 200;
const LONG: usize = 300;

pub(super) struct CalendarList(pub Arc<CalendarStore>);

#[derive(Debug, Deserialize)]
pub(super) struct ListArgs {
    from: Option<String>,
    to: Option<String>,
    text: Option<String>,
}

impl ToolHandler for CalendarList {
    type Args = ListArgs;
    const NAME: &'static str = "calendar_list";

    async fn run(&self, args: ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = context.scope.clone();
        let shown = self.0.blocking(move |calendars| {
            let (zone, clock) = (calendars.zone(), calendars.clock.as_ref());
            let now = time::to_jiff(scope.now)?;
            let (from, to) = time::time_range(args.from.as_deref(), args.to.as_deref(), now, zone, clock)?;
            let calendar = calendars.read(&scope, &calendar_name(&scope)?)?;
            let mut found = occurrences_between(&calendar, from, to, zone);
            if let Some(text) = given(args.text.as_deref()) {
                let wanted = text.to_lowercase();
                found.all.retain(|one| {
                    let event = &one.event;
                    [&event.title, &event.place, &event.description]
                        .iter()
                        .any(|text| text.to_lowercase().contains(&wanted))
                });
            }
            Ok(list_output(&found, from, to, zone))
        });
        shown.await
    }
}

fn list_output(found: &Occurrences, from: Timestamp, to: Timestamp, zone: &TimeZone) -> ToolOutput {
    let last = to.to_zoned(zone.clone()).datetime();
    let last = last.checked_sub(1.second()).unwrap_or(last);
    let period = format!("from {} to {}", time::show_day(from.to_zoned(zone.clone()).datetime()), time::show_day(last));
    let count = found.all.len();
    let mut text = match count {
        0 => format!("the calendar has nothing {period}\n"),
        1 => format!("1 event {period}\n"),
        _ => format!("{count} events {period}\n"),
    };
    let mut notes: Vec<&str> = found.notes.iter().map(String::as_str).collect();
    for one in found.all.iter().take(MOST) {
        let _ = writeln!(text, "{}", line(one, zone));
        notes.extend(one.event.notes.iter().map(String::as_str));
    }
    if count > MOST {
        let _ = writeln!(text, "[{} more; ask for fewer days]", count - MOST);
    }
    let mut said = BTreeSet::new();
    for note in notes {
        if said.insert(note) {
            let _ = writeln!(text, "[{note}]");
        }
    }
    let shown = found.all.iter().take(MOST);
    let data: Vec<Value> = shown.clone().map(|one| row(one, zone)).collect();
    let mut provenance = found.noted.clone();
    for one in shown {
        provenance.join(&one.event.provenance);
    }
    ToolOutput { data: Some(Value::Array(data)), provenance, ..ToolOutput::text(text.trim_end()) }
}

fn line(one: &Occurrence, zone: &TimeZone) -> String {
    let event = &one.event;
    let (start, end) = (one.start.to_zoned(zone.clone()), one.end.to_zoned(zone.clone()));
    let when = if event.start.all_day {
        let last = end.datetime().checked_sub(1.second()).unwrap_or(end.datetime());
        if last.date() <= start.date() {
            format!("{} all day", time::show_day(start.datetime()))
        } else {
            format!("{} to {}", time::show_day(start.datetime()), time::show_day(last))
        }
    } else if start.date() == end.date() {
        format!("{}-{}", time::show_time(one.start, zone), end.strftime("%H:%M"))
    } else {
        format!("{} to {}", time::show_time(one.start, zone), time::show_time(one.end, zone))
    };
    let mut text = format!("{when}  {}", clip_line(&event.title, LONG));
    if !event.place.is_empty() {
        let _ = write!(text, ", {}", clip_line(&event.place, LONG));
    }
    if one.repeats {
        text.push_str(" (repeats)");
    }
    let _ = write!(text, " [{}]", short_id(&event.uid));
    if !event.description.is_empty() {
        let _ = write!(text, "\n    {}", clip_line(&event.description, LONG));
    }
    text
}

fn row(one: &Occurrence, zone: &TimeZone) -> Value {
    let event = &one.event;
    let at = |at: Timestamp| {
        let zoned = at.to_zoned(zone.clone());
        if event.start.all_day { zoned.date().to_string() } else { zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string() }
    };
    json!({
        "id": short_id(&event.uid),
        "title": event.title,
        "start": at(one.start),
        "end": at(one.end),
        "all_day": event.start.all_day,
        "repeats": one.repeats,
        "location": event.place,
        "description": event.description,
    })
}
