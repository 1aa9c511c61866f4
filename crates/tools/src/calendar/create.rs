use super::event::{Event, UndoRecord, add_event, provenance_line, short_id};
use super::ics::{Component, Line};
use super::recurrence::Rule;
use super::time::{self, GivenTime};
use super::{CalendarStore, calendar_name};
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler};
use crate::text::given;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::ports::ToolScope;
use steward_core::tool::{Preview, Receipt, ToolOutput, Undo};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

pub(super) struct CalendarCreate(pub Arc<CalendarStore>);

fn event(calendars: &CalendarStore, args: &CreateArgs, uid: &str, now: Timestamp) -> Result<Component, ToolsError> {
    let title = args.title.trim();
    if title.is_empty() {
        return Err(ToolsError::refused("the title is blank; say what the event is"));
    }
    let clock = calendars.clock.as_ref();
    let start = time::parse_given(&args.start, clock)?;
    let end = given(args.end.as_deref()).map(|text| time::parse_given(text, clock)).transpose()?;
    let mut event = Component::new("VEVENT");
    event.lines = vec![Line::new("UID", uid), Line::instant("DTSTAMP", now, &TimeZone::UTC)];
    event.lines.extend(start_and_end(start, end, calendars.zone())?);
    event.lines.push(Line::text("SUMMARY", title));
    for (name, text) in [("LOCATION", &args.location), ("DESCRIPTION", &args.description)] {
        if let Some(text) = given(text.as_deref()) {
            event.lines.push(Line::text(name, text));
        }
    }
    if let Some(repeat) = given(args.repeat.as_deref()) {
        Rule::read(repeat).map_err(ToolsError::Refused)?;
        let rule = repeat.strip_prefix("RRULE:").unwrap_or(repeat).to_uppercase();
        let rule = if rule.contains('=') { rule } else { format!("FREQ={rule}") };
        event.lines.push(Line::new("RRULE", rule));
    }
    Ok(event)
}

fn start_and_end(start: GivenTime, end: Option<GivenTime>, zone: &TimeZone) -> Result<[Line; 2], ToolsError> {
    let late = || ToolsError::refused("the event must end after it begins");
    let end = match (end, start) {
        (Some(end), _) => end,
        (None, GivenTime::Day(_)) => start,
        (None, GivenTime::At(from)) => GivenTime::At(from.checked_add(HOUR).map_err(|_| late())?),
    };
    match (start, end) {
        (GivenTime::Day(first), GivenTime::Day(last)) if first <= last => {
            // The end of an all-day event is exclusive.
            let after = last.tomorrow().map_err(|_| late())?;
            Ok([Line::day("DTSTART", first), Line::day("DTEND", after)])
        }
        (GivenTime::At(from), GivenTime::At(to)) if from < to => {
            Ok([Line::instant("DTSTART", from, zone), Line::instant("DTEND", to, zone)])
        }
        (GivenTime::Day(_), GivenTime::Day(_)) | (GivenTime::At(_), GivenTime::At(_)) => Err(late()),
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
pub(super) struct CreateArgs {
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
        calendar_name(scope)?;
        let event = event(&self.0, &args, "new", time::to_jiff(scope.now)?)?;
        Ok(Preview::undoable(
            format!("puts into the calendar: {}", describe(&event, self.0.zone())),
            Some(event.text()),
        ))
    }

    async fn run(&self, args: CreateArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let uid = format!("{}@steward", context.stable_id(32));
        let context = context.clone();
        let done = self.0.blocking(move |calendars| {
            let scope = &context.scope;
            let mut event = event(calendars, &args, &uid, time::to_jiff(scope.now)?)?;
            let name = calendar_name(scope)?;
            let (line, text) = (describe(&event, calendars.zone()), event.text());
            event.lines.extend(provenance_line(&scope.provenance));
            context.check()?;
            let change = calendars.change(scope, &name, |calendar| Ok(add_event(calendar, &uid, event)))?;
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
        self.0.undo(value, scope).await
    }
}
