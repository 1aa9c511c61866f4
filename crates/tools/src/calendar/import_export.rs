use super::event::{
    Change, Event, PROVENANCE, UndoRecord, event_uid, events, provenance_line, provenance_of, replace_event,
};
use super::ics::{Component, Line};
use super::zone::{self, Zone};
use super::{CalendarStore, MAX_BYTES, calendar_name};
use crate::error::{ToolsError, refused};
use crate::files::{Write, WriteArgs, read_text};
use crate::handler::{Context, ToolHandler};
use futures::executor::block_on;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::ports::{Interrupted, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput, Undo};

const MAX_NAMED: usize = 20;

pub(super) struct CalendarImport(pub Arc<CalendarStore>);

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ImportArgs {
    path: String,
}

#[derive(Default)]
struct ImportedEvents {
    events: Vec<(String, Vec<Component>)>,
    titles: Vec<String>,
    /// Zones that this machine doesn't know but the file describes.
    zones: Vec<Component>,
    problems: Vec<String>,
}

fn read_file(path: &str, scope: &ToolScope) -> Result<ImportedEvents, ToolsError> {
    let text = read_text(scope, path)?;
    if text.len() > MAX_BYTES {
        return Err(refused!("{path} is larger than {} MB; split it", MAX_BYTES >> 20));
    }
    let file = Component::read(&text).map_err(|error| refused!("{path}: {error}"))?;
    let mut provenance = scope.provenance.clone();
    provenance.add_origin(&format!("calendar events imported from {path}"));
    let mut brought = ImportedEvents::default();
    for mut part in file.parts {
        if part.name == "VTIMEZONE" {
            let name = part.value("TZID").unwrap_or_default();
            if matches!(Zone::named(name), Zone::Unknown(_)) {
                brought.zones.push(part);
            }
            continue;
        }
        if part.name != "VEVENT" {
            continue;
        }
        let event = match Event::read(&part) {
            Ok(event) => event,
            Err(why) => {
                brought.problems.push(why);
                continue;
            }
        };
        let notes = event.notes.iter().map(|note| format!("{}: {note}", event.title));
        brought.problems.extend(notes);
        part.lines.retain(|line| !matches!(line.name.as_str(), "UID" | PROVENANCE));
        part.lines.insert(0, Line::new("UID", &*event.uid));
        part.lines.extend(provenance_line(&provenance));
        if event.instead_of.is_none() {
            brought.titles.push(event.title);
        }
        match brought.events.iter_mut().find(|(uid, _)| *uid == event.uid) {
            Some((_, parts)) => parts.push(part),
            None => brought.events.push((event.uid, vec![part])),
        }
    }
    if brought.events.is_empty() {
        let why = brought.problems.first().map_or("it has none", String::as_str);
        return Err(refused!("{path} has no event that can be taken over: {why}"));
    }
    Ok(brought)
}

/// Adds the events; a known event is replaced.
fn add_events(brought: ImportedEvents, calendar: &mut Component) -> (Vec<Change>, Vec<String>) {
    let mut zones = Vec::new();
    for zone in brought.zones {
        let name = zone.value("TZID").unwrap_or_default().to_owned();
        let known = |part: &Component| part.name == "VTIMEZONE" && part.value("TZID") == Some(&name);
        if !calendar.parts.iter().any(known) {
            calendar.parts.push(zone);
            zones.push(name);
        }
    }
    let changes = brought.events.into_iter().map(|(uid, parts)| replace_event(calendar, &uid, parts));
    (changes.collect(), zones)
}

/// What the call returns once the events are in the calendar.
fn imported(path: &str, titles: &[String], problems: &[String], kept: &UndoRecord) -> ToolOutput {
    let replaced = kept.changes.iter().filter(|change| !change.before.is_empty()).count();
    let added = kept.changes.len() - replaced;
    let mut text = format!("took {added} new events over from {path} and replaced {replaced}\n");
    for title in titles.iter().take(MAX_NAMED) {
        let _ = writeln!(text, "- {title}");
    }
    if titles.len() > MAX_NAMED {
        let _ = writeln!(text, "[{} more]", titles.len() - MAX_NAMED);
    }
    for problem in problems.iter().take(MAX_NAMED) {
        let _ = writeln!(text, "[{problem}]");
    }
    ToolOutput {
        data: Some(json!({"path": path, "added": added, "replaced": replaced, "problems": problems})),
        receipt: Some(Receipt::new(
            "imported",
            format!("{} events from {path} into the calendar", added + replaced),
            None,
        )),
        undo: Some(Undo::Snapshot { tool: CalendarImport::NAME.to_owned(), snapshot: json!(kept) }),
        provenance: Provenance::from_outside(path),
        reads: vec![path.to_owned()],
        ..ToolOutput::text(text.trim_end())
    }
}

impl ToolHandler for CalendarImport {
    type Args = ImportArgs;
    const NAME: &'static str = "calendar_import";

    async fn preview(&self, args: ImportArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let scope = scope.clone();
        let looked = self.0.blocking(move |calendars| {
            let brought = read_file(&args.path, &scope)?;
            let calendar = calendars.read(&scope, &calendar_name(&scope)?)?;
            let known: Vec<String> = calendar.parts.iter().filter_map(event_uid).collect();
            let new = brought.events.iter().filter(|(uid, _)| !known.contains(uid)).count();
            Ok((brought, new))
        });
        let (brought, new) = looked.await?;
        let count = brought.events.len();
        Ok(Preview {
            summary: format!("adds {new} events to the calendar, replaces {}", count - new),
            detail: Some(brought.titles.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("\n")),
            count: u64::try_from(count).ok(),
            reversible: true,
        })
    }

    async fn run(&self, args: ImportArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let context = context.clone();
        let done = self.0.blocking(move |calendars| {
            let brought = read_file(&args.path, &context.scope)?;
            let (titles, problems) = (brought.titles.clone(), brought.problems.clone());
            let name = calendar_name(&context.scope)?;
            context.check()?;
            let add = |calendar: &mut Component| {
                let (changes, zones) = add_events(brought, calendar);
                let kept = UndoRecord { calendar: name.clone(), changes, zones };
                Ok((imported(&args.path, &titles, &problems, &kept), json!(kept)))
            };
            let tell = |(output, kept): &(ToolOutput, Value)| {
                let told = block_on(context.stage(output, kept.clone()));
                told.map_err(|error| ToolsError::Refused(error.to_string()))
            };
            let (output, _) = calendars.change_staged(&context.scope, &name, add, tell)?;
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

pub(super) struct CalendarExport {
    pub calendars: Arc<CalendarStore>,
    pub files: Write,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct ExportArgs {
    path: String,
}

/// The calendar for other programs.
struct Exported {
    text: String,
    /// How many events it has.
    count: usize,
    /// That of all its events.
    provenance: Provenance,
}

impl CalendarExport {
    async fn exported(&self, scope: &ToolScope) -> Result<Exported, ToolsError> {
        let scope = scope.clone();
        let work = move |calendars: &CalendarStore| {
            let calendar = calendars.read(&scope, &calendar_name(&scope)?)?;
            Ok(export(&calendar, calendars.zone()))
        };
        self.calendars.blocking(work).await
    }
}

fn export(calendar: &Component, home: &TimeZone) -> Exported {
    let mut zones: BTreeMap<String, (TimeZone, Timestamp)> = BTreeMap::new();
    let mut count = 0;
    for event in events(calendar).flatten() {
        count += usize::from(event.instead_of.is_none());
        let (Zone::Known(zone), Ok(start)) = (&event.start.zone, event.start.instant(home)) else {
            continue;
        };
        if let Some(name) = zone.iana_name().filter(|_| *zone != TimeZone::UTC) {
            let known = zones.entry(name.to_owned()).or_insert_with(|| (zone.clone(), start));
            known.1 = known.1.min(start);
        }
    }
    let mut provenance = Provenance::default();
    for part in &calendar.parts {
        provenance.join(&provenance_of(part));
    }
    let mut out = calendar.clone();
    for part in &mut out.parts {
        part.lines.retain(|line| line.name != PROVENANCE);
    }
    out.parts.splice(0..0, zones.values().filter_map(|(zone, from)| zone::vtimezone(zone, *from)));
    Exported { text: out.text(), count, provenance }
}

fn check_extension(path: &str) -> Result<(), ToolsError> {
    if path.trim().to_lowercase().ends_with(".ics") {
        return Ok(());
    }
    Err(refused!("`{path}` must end in .ics, so that other programs know it for a calendar"))
}

impl ToolHandler for CalendarExport {
    type Args = ExportArgs;
    const NAME: &'static str = "calendar_export";

    async fn preview(&self, args: ExportArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        check_extension(&args.path)?;
        let Exported { text, count, .. } = self.exported(scope).await?;
        let summary = format!("writes the calendar ({count} events, {} bytes) to {}", text.len(), args.path);
        Ok(Preview::undoable(summary, None))
    }

    async fn run(&self, args: ExportArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        check_extension(&args.path)?;
        let Exported { text, count, provenance } = self.exported(&context.scope).await?;
        let told = move |output: ToolOutput| {
            let path = output.data.as_ref().and_then(|data| data["path"].as_str()).unwrap_or_default().to_owned();
            let receipt = output.receipt.map(|receipt| Receipt { action: "wrote".to_owned(), ..receipt });
            ToolOutput {
                data: Some(json!({"path": path, "events": count})),
                receipt,
                undo: output.undo,
                writes: output.writes,
                provenance: provenance.clone(),
                ..ToolOutput::text(format!("wrote the calendar with {count} events to {path}"))
            }
        };
        self.files.write_for(Self::NAME, WriteArgs::whole(args.path, text), context, told).await
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        self.files.settle(call, scope).await
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        self.files.undo(value, scope).await
    }
}
