use super::event::{Change, Event, UndoRecord, event_parts, events, replace_event, short_id};
use super::ics::{Component, Line};
use super::occurrence::occurrences_between;
use super::time::{self, GivenTime};
use super::zone::Zone;
use super::{CalendarStore, calendar_name};
use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use crate::text::did_you_mean;
use futures::executor::block_on;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput, Undo};

const MAX_NAMED: usize = 10;

pub(super) struct CalendarDelete(pub Arc<CalendarStore>);

#[derive(Debug, Clone, Deserialize)]
pub(super) struct DeleteArgs {
    event: String,
    occurrence: Option<String>,
}

struct Removed {
    change: Change,
    /// What it was, for a person.
    what: String,
    /// That of its title.
    provenance: Provenance,
}

/// Removes the event, or one of its occurrences.
fn remove(calendars: &CalendarStore, args: &DeleteArgs, calendar: &mut Component) -> Result<Removed, ToolsError> {
    let zone = calendars.zone();
    let given = args.occurrence.as_deref().map(|text| time::parse_given(text, calendars.clock.as_ref())).transpose()?;
    let event = find_event(calendar, &args.event, zone)?;
    let provenance = event.provenance.clone();
    let Some(given) = given else {
        let change = replace_event(calendar, &event.uid, Vec::new());
        let all = if event.rule.is_some() { " with all its repetitions" } else { "" };
        return Ok(Removed { change, what: format!("{}{all}", describe(&event, zone)), provenance });
    };
    if event.rule.is_none() && event.also.is_empty() {
        return Err(refused!("{} takes place once; leave `occurrence` out to delete it", own_title(&event)));
    }
    let start = occurrence_start(calendar, &event, given, zone)?;
    let parts: Vec<Component> = event_parts(calendar, &event.uid).cloned().collect();
    let kept = parts.into_iter().filter_map(|mut part| {
        if let Some(of) = Event::read(&part).ok()?.instead_of {
            // A changed version of this occurrence is removed too.
            return (of.instant(zone).ok()? != start).then_some(part);
        }
        part.lines.push(exdate_line(&event, start, zone));
        Some(part)
    });
    let change = replace_event(calendar, &event.uid, kept.collect());
    Ok(Removed { change, what: format!("{} on {}", event.title, time::show_time(start, zone)), provenance })
}

/// How an error names an event: it must not bring in a title that others wrote or that is confidential.
fn own_title(event: &Event) -> &str {
    if event.provenance.is_empty() { &event.title } else { "the event" }
}

/// The `EXDATE` line for one occurrence, in the form of the event's start.
fn exdate_line(event: &Event, start: Timestamp, home: &TimeZone) -> Line {
    match &event.start.zone {
        zone if event.start.all_day => Line::day("EXDATE", start.to_zoned(zone.or(home).clone()).date()),
        Zone::Known(zone) => Line::instant("EXDATE", start, zone),
        _ => Line::instant("EXDATE", start, &TimeZone::UTC),
    }
}

/// The start, by the rule, of the occurrence at the given time.
fn occurrence_start(
    calendar: &Component,
    event: &Event,
    given: GivenTime,
    zone: &TimeZone,
) -> Result<Timestamp, ToolsError> {
    let far = |_| ToolsError::refused("this time is out of reach");
    let (from, to) = match given {
        GivenTime::At(at) => (at, at.checked_add(1.second()).map_err(far)?),
        GivenTime::Day(day) => {
            let begin = day.at(0, 0, 0, 0).to_zoned(zone.clone()).map_err(far)?;
            (begin.timestamp(), begin.checked_add(1.day()).map_err(far)?.timestamp())
        }
    };
    let mut own = Component::calendar();
    own.parts = event_parts(calendar, &event.uid).cloned().collect();
    let found = occurrences_between(&own, from, to, zone).all;
    let mut starts = found.into_iter().filter(|one| one.start >= from && one.start < to);
    match (starts.next(), starts.next()) {
        (Some(one), None) => match &one.event.instead_of {
            Some(of) => of.instant(zone).map_err(ToolsError::Refused),
            None => Ok(one.start),
        },
        (None, _) => Err(refused!("{} does not take place then; `calendar_list` shows when it does", own_title(event))),
        _ => Err(refused!("{} takes place several times that day; give the time too", own_title(event))),
    }
}

fn describe(event: &Event, zone: &TimeZone) -> String {
    let when = match event.start.instant(zone) {
        Ok(at) if !event.start.all_day => time::show_time(at, zone),
        _ => time::show_day(event.start.at),
    };
    format!("{} ({when})", event.title)
}

/// The event with this short id, id or title.
fn find_event(calendar: &Component, wanted: &str, zone: &TimeZone) -> Result<Event, ToolsError> {
    let wanted = wanted.trim().trim_matches(['[', ']']);
    let all: Vec<Event> = events(calendar).filter_map(Result::ok).filter(|event| event.instead_of.is_none()).collect();
    if let Some(event) = all.iter().find(|event| event.uid == wanted || short_id(&event.uid) == wanted) {
        return Ok(event.clone());
    }
    let lower = wanted.to_lowercase();
    let titled: BTreeMap<&str, &Event> = all
        .iter()
        .filter(|event| event.title.to_lowercase() == lower)
        .map(|event| (event.uid.as_str(), event))
        .collect();
    let titled: Vec<&Event> = titled.into_values().collect();
    match &titled[..] {
        [event] => Ok((*event).clone()),
        [_, ..] => {
            let name = |event: &&Event| format!("{} [{}]", describe(event, zone), short_id(&event.uid));
            let names: Vec<String> = titled.iter().take(MAX_NAMED).map(name).collect();
            Err(refused!("several events are called {wanted}: {}; give the name in brackets", names.join(", ")))
        }
        [] => {
            let known = all.iter().filter(|event| event.provenance.is_empty()).map(|event| event.title.as_str());
            let hint = did_you_mean(wanted, known, "`calendar_list` shows what there is");
            Err(refused!("there is no event {wanted}; {hint}"))
        }
    }
}

impl ToolHandler for CalendarDelete {
    type Args = DeleteArgs;
    const NAME: &'static str = "calendar_delete";

    async fn preview(&self, args: DeleteArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let scope = scope.clone();
        let removed = self.0.blocking(move |calendars| {
            let mut calendar = calendars.read(&scope, &calendar_name(&scope)?)?;
            remove(calendars, &args, &mut calendar)
        });
        let Removed { change, what, .. } = removed.await?;
        Ok(Preview::undoable(format!("deletes from the calendar: {what}"), Some(change.before.concat())))
    }

    async fn run(&self, args: DeleteArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let context = context.clone();
        let done = self.0.blocking(move |calendars| {
            let name = calendar_name(&context.scope)?;
            context.check()?;
            let work = |calendar: &mut Component| {
                let Removed { change, what, provenance } = remove(calendars, &args, calendar)?;
                let id = short_id(&change.uid);
                let kept = json!(UndoRecord { calendar: name.clone(), changes: vec![change], zones: Vec::new() });
                let output = ToolOutput {
                    data: Some(json!({"id": id, "deleted": what})),
                    receipt: Some(Receipt::new("deleted", format!("calendar event {what}"), Some(id))),
                    undo: Some(Undo::Snapshot { tool: Self::NAME.to_owned(), snapshot: kept.clone() }),
                    provenance,
                    ..ToolOutput::text(format!("deleted from the calendar: {what}"))
                };
                Ok((output, kept))
            };
            let tell = |(output, kept): &(ToolOutput, Value)| {
                let told = block_on(context.stage(output, kept.clone()));
                told.map_err(|error| ToolsError::Refused(error.to_string()))
            };
            let (output, _) = calendars.change_staged(&context.scope, &name, work, tell)?;
            Ok(output)
        });
        done.await
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        self.0.settle(call, scope).await
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        self.0.undo(value, scope).await
    }
}
