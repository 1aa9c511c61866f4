//! `calendar_import`: events of an iCalendar file of the workspace.

use super::change::{Change, Kept, put, uid_of};
use super::component::Component;
use super::create::take_back;
use super::event::{Event, ORIGIN};
use super::files::{CalendarFiles, LARGEST, name_of};
use super::line::Line;
use super::zone::Zone;
use crate::catalogue;
use crate::error::ToolsError;
use crate::files::{blocking, read_text};
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::tool::{EffectClass, Preview, Receipt, ToolError, ToolOutput, ToolSpec, Undo};

const NAME: &str = "calendar_import";
/// Titles and problems named.
const NAMED: usize = 20;

/// Takes events over from a file.
pub struct CalendarImport {
    files: Arc<CalendarFiles>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ImportArgs {
    path: String,
}

struct Brought {
    /// Id and parts of each event.
    events: Vec<(String, Vec<Component>)>,
    titles: Vec<String>,
    /// Zones that this machine doesn't know, which the file describes.
    zones: Vec<Component>,
    problems: Vec<String>,
}

impl CalendarImport {
    pub fn new(files: Arc<CalendarFiles>) -> Self {
        Self { files }
    }
}

/// Reads a file. Blocking.
fn read(path: &str, scope: &ToolScope) -> Result<Brought, ToolsError> {
    let text = read_text(scope, path)?;
    if text.len() > LARGEST {
        return Err(ToolsError::Refused(format!("{path} is larger than {} MB; split it", LARGEST >> 20)));
    }
    let file = Component::read(&text).map_err(|error| ToolsError::Refused(format!("{path}: {error}")))?;
    let mut brought = Brought { events: Vec::new(), titles: Vec::new(), zones: Vec::new(), problems: Vec::new() };
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
        part.lines.retain(|line| !matches!(line.name.as_str(), "UID" | ORIGIN));
        part.lines.insert(0, Line::new("UID", &*event.uid));
        // What a stranger wrote stays known as such.
        part.lines.push(Line::text(ORIGIN, path));
        if event.instead_of.is_none() {
            brought.titles.push(event.title);
        }
        match brought.events.iter_mut().find(|(uid, _)| *uid == event.uid) {
            Some((_, parts)) => parts.push(part),
            None => brought.events.push((event.uid, vec![part])),
        }
    }
    if brought.events.is_empty() {
        let why = brought.problems.first().map_or("it has none".to_owned(), Clone::clone);
        return Err(ToolsError::Refused(format!("{path} has no event that can be taken over: {why}")));
    }
    Ok(brought)
}

/// Puts them in; a known event is replaced.
fn add(brought: Brought, calendar: &mut Component) -> (Vec<Change>, Vec<String>) {
    let mut zones = Vec::new();
    for zone in brought.zones {
        let name = zone.value("TZID").unwrap_or_default().to_owned();
        let known = |part: &Component| part.name == "VTIMEZONE" && part.value("TZID") == Some(&name);
        if !calendar.parts.iter().any(known) {
            calendar.parts.push(zone);
            zones.push(name);
        }
    }
    let changes = brought.events.into_iter().map(|(uid, parts)| put(calendar, &uid, parts));
    (changes.collect(), zones)
}

impl ToolHandler for CalendarImport {
    type Args = ImportArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            NAME,
            RiskClass::Write,
            EffectClass::Idempotent,
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "An .ics file of the workspace"}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        )
    }

    async fn preview(&self, args: ImportArgs, scope: &ToolScope) -> Preview {
        let (files, scope) = (Arc::clone(&self.files), scope.clone());
        let looked = blocking(move || {
            let brought = read(&args.path, &scope)?;
            let calendar = files.read(&scope, &name_of(&scope))?;
            let known: Vec<String> = calendar.parts.iter().filter_map(uid_of).collect();
            let new = brought.events.iter().filter(|(uid, _)| !known.contains(uid)).count();
            Ok((brought, new))
        });
        match looked.await {
            Ok((brought, new)) => {
                let count = brought.events.len();
                Preview {
                    summary: format!("adds {new} events to the calendar, replaces {}", count - new),
                    detail: Some(brought.titles.iter().take(NAMED).cloned().collect::<Vec<_>>().join("\n")),
                    count: u64::try_from(count).ok(),
                    reversible: true,
                }
            }
            Err(error) => Preview { summary: format!("would fail: {error}"), ..Preview::default() },
        }
    }

    async fn run(&self, args: ImportArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let (files, context) = (Arc::clone(&self.files), context.clone());
        let done = blocking(move || {
            let brought = read(&args.path, &context.scope)?;
            let (titles, problems) = (brought.titles.clone(), brought.problems.clone());
            let name = name_of(&context.scope);
            context.check()?;
            let (changes, zones) = files.change(&context.scope, &name, |calendar| Ok(add(brought, calendar)))?;
            let replaced = changes.iter().filter(|change| !change.before.is_empty()).count();
            let added = changes.len() - replaced;
            let summary = format!("took {added} new events over from {} and replaced {replaced}", args.path);
            let mut text = format!("{summary}\n");
            for title in titles.iter().take(NAMED) {
                let _ = writeln!(text, "- {title}");
            }
            if titles.len() > NAMED {
                let _ = writeln!(text, "[{} more]", titles.len() - NAMED);
            }
            for problem in problems.iter().take(NAMED) {
                let _ = writeln!(text, "[{problem}]");
            }
            let kept = Kept { calendar: name, changes, zones };
            Ok(ToolOutput {
                data: Some(json!({"path": args.path, "added": added, "replaced": replaced, "problems": problems})),
                receipt: Some(Receipt {
                    action: "imported".to_owned(),
                    object: format!("{} events from {} into the calendar", added + replaced, args.path),
                    evidence: None,
                }),
                undo: Some(Undo::Snapshot { tool: NAME.to_owned(), snapshot: json!(kept) }),
                tainted: true,
                origin: Some(args.path),
                ..ToolOutput::text(text.trim_end())
            })
        });
        Ok(done.await?)
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        take_back(&self.files, value, scope).await
    }
}
