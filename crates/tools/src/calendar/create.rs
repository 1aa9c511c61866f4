use super::event::{Event, UndoRecord, event_parts, replace_event, short_id, undo_changes};
use super::ics::{Component, Line};
use super::recurrence::Rule;
use super::time::{self, GivenTime};
use super::{CalendarStore, calendar_name};
use crate::error::ToolsError;
use crate::facts::snapshot;
use crate::files::blocking;
use crate::handler::{Context, ToolHandler};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::hash;
use steward_core::ports::{Clock, ToolScope};
use steward_core::tool::{Preview, Receipt, ToolOutput, Undo};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

pub struct CalendarCreate {
    pub files: Arc<CalendarStore>,
    pub clock: Arc<dyn Clock>,
}

impl CalendarCreate {
    fn event(&self, args: &CreateArgs, uid: &str, now: Timestamp) -> Result<Component, ToolsError> {
        let title = args.title.trim();
        if title.is_empty() {
            return Err(ToolsError::refused("the title is blank; say what the event is"));
        }
        let zone = self.files.zone();
        let start = time::parse_given(&args.start, self.clock.as_ref())?;
        let end = args.end.as_deref().filter(|text| !text.trim().is_empty());
        let end = end.map(|text| time::parse_given(text, self.clock.as_ref())).transpose()?;
        let mut event = Component::new("VEVENT");
        event.lines = vec![Line::new("UID", uid), Line::new("DTSTAMP", now.strftime("%Y%m%dT%H%M%SZ").to_string())];
        event.lines.extend(start_and_end(start, end, zone)?);
        event.lines.push(Line::text("SUMMARY", title));
        for (name, text) in [("LOCATION", &args.location), ("DESCRIPTION", &args.description)] {
            if let Some(text) = text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
                event.lines.push(Line::text(name, text));
            }
        }
        if let Some(repeat) = args.repeat.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            Rule::read(repeat).map_err(ToolsError::Refused)?;
            let rule = repeat.strip_prefix("RRULE:").unwrap_or(repeat).to_uppercase();
            let rule = if rule.contains('=') { rule } else { format!("FREQ={rule}") };
            event.lines.push(Line::new("RRULE", rule));
        }
        Ok(event)
    }
}

fn start_and_end(start: GivenTime, end: Option<GivenTime>, zone: &TimeZone) -> Result<[Line; 2], ToolsError> {
    let late = || ToolsError::refused("the event must end after it begins");
    match (start, end) {
        (GivenTime::Day(first), None | Some(GivenTime::Day(_))) => {
            // The end of an all-day event is exclusive.
            let last = match end {
                Some(GivenTime::Day(last)) => last,
                _ => first,
            };
            if last < first {
                return Err(late());
            }
            let after = last.tomorrow().map_err(|_| late())?;
            let line = |name: &str, day: jiff::civil::Date| {
                Line::new(name, day.strftime("%Y%m%d").to_string()).with("VALUE", "DATE")
            };
            Ok([line("DTSTART", first), line("DTEND", after)])
        }
        (GivenTime::At(from), None | Some(GivenTime::At(_))) => {
            let to = match end {
                Some(GivenTime::At(to)) => to,
                _ => from.checked_add(HOUR).map_err(|_| late())?,
            };
            if to <= from {
                return Err(late());
            }
            let line = |name: &str, at: Timestamp| {
                // Other programs understand a zone only by its name.
                match zone.iana_name().filter(|_| *zone != TimeZone::UTC) {
                    Some(id) => {
                        let local = at.to_zoned(zone.clone());
                        let local = local.strftime("%Y%m%dT%H%M%S").to_string();
                        Line::new(name, local).with("TZID", id)
                    }
                    None => Line::new(name, at.strftime("%Y%m%dT%H%M%SZ").to_string()),
                }
            };
            Ok([line("DTSTART", from), line("DTEND", to)])
        }
        _ => Err(ToolsError::refused("`start` and `end` must both be days, or both be times")),
    }
}

fn describe(event: &Component, zone: &TimeZone) -> String {
    let Ok(event) = Event::read(event) else {
        return "an event".to_owned();
    };
    let when = if event.start.all_day {
        format!("{}, all day", time::show_day(event.start.at))
    } else {
        event.start.instant(zone).map_or_else(|_| event.start.at.to_string(), |at| time::show_time(at, zone))
    };
    let repeats = if event.rule.is_some() { ", repeated" } else { "" };
    format!("{} ({when}{repeats})", event.title)
}

#[derive(Debug, Clone, Deserialize)]
pub struct CreateArgs {
    title: String,
    start: String,
    end: Option<String>,
    location: Option<String>,
    description: Option<String>,
    repeat: Option<String>,
}

impl ToolHandler for CalendarCreate {
    type Args = CreateArgs;
    const NAME: &'static str = "calendar_create";

    async fn preview(&self, args: CreateArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let event = self.event(&args, "new", time::to_jiff(scope.now)?)?;
        Ok(Preview::undoable(
            format!("puts into the calendar: {}", describe(&event, self.files.zone())),
            Some(event.text()),
        ))
    }

    async fn run(&self, args: CreateArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let key = hash::sha256(context.idempotency_key.as_bytes());
        let uid = format!("{}@steward", &key[..32]);
        let event = self.event(&args, &uid, time::to_jiff(context.scope.now)?)?;
        let (files, context) = (Arc::clone(&self.files), context.clone());
        let done = blocking(move || {
            let scope = &context.scope;
            let name = calendar_name(scope);
            let line = describe(&event, files.zone());
            context.check()?;
            let text = event.text();
            let change = files.change(scope, &name, |calendar| {
                // It was made before a crash; a person may have changed it since.
                let known: Vec<String> = event_parts(calendar, &uid).map(|(_, part)| part.text()).collect();
                let mut change = replace_event(calendar, &uid, vec![event]);
                if !known.is_empty() {
                    let again = known.iter().map(|text| super::event::parse_event(text));
                    replace_event(calendar, &uid, again.collect::<Result<_, _>>()?);
                    (change.before, change.after) = (Vec::new(), known);
                }
                Ok(change)
            })?;
            let kept = UndoRecord { calendar: name, changes: vec![change], zones: Vec::new() };
            Ok(ToolOutput {
                data: Some(json!({"id": short_id(&uid), "uid": uid, "event": text})),
                receipt: Some(Receipt::new("created", format!("calendar event {line}"), Some(uid.clone()))),
                undo: Some(Undo::Snapshot { tool: Self::NAME.to_owned(), snapshot: json!(kept) }),
                ..ToolOutput::text(format!("put into the calendar: {line} [{}]", short_id(&uid)))
            })
        });
        done.await
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        undo_calendar(&self.files, value, scope).await
    }
}

pub(super) async fn undo_calendar(
    files: &Arc<CalendarStore>,
    value: &Value,
    scope: &ToolScope,
) -> Result<String, ToolsError> {
    let kept: UndoRecord = snapshot(value)?;
    let (files, scope) = (Arc::clone(files), scope.clone());
    let name = kept.calendar.clone();
    blocking(move || files.change(&scope, &name, |calendar| undo_changes(calendar, &kept))).await
}
