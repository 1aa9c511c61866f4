//! `calendar_export`: the calendar as a file of the workspace, for other programs.

use super::component::Component;
use super::event::{ORIGIN, events};
use super::files::{CalendarFiles, name_of};
use super::zone::{self, Zone};
use crate::catalogue;
use crate::error::ToolsError;
use crate::files::{blocking, snapshot, write_text};
use crate::handler::{Context, ToolHandler};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use steward_core::policy::RiskClass;
use steward_core::ports::{Blobs, ToolScope};
use steward_core::tool::{EffectClass, Preview, Receipt, ToolError, ToolOutput, ToolSpec};

const NAME: &str = "calendar_export";

/// Writes the calendar into a file.
pub struct CalendarExport {
    files: Arc<CalendarFiles>,
    blobs: Arc<dyn Blobs>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ExportArgs {
    path: String,
}

impl CalendarExport {
    /// `blobs` keep what the file held before.
    pub fn new(files: Arc<CalendarFiles>, blobs: Arc<dyn Blobs>) -> Self {
        Self { files, blobs }
    }
}

/// The calendar with the time zones that it uses, and how many events it has.
fn whole(calendar: &Component, home: &TimeZone) -> (String, usize) {
    let mut zones: BTreeMap<String, (TimeZone, Timestamp)> = BTreeMap::new();
    let mut count = 0;
    for event in events(calendar).flatten() {
        count += usize::from(event.instead_of.is_none());
        let (Zone::Known(zone), Ok(start)) = (&event.start.zone, event.start.instant(home)) else {
            continue;
        };
        if let Some(name) = zone.iana_name() {
            let known = zones.entry(name.to_owned()).or_insert_with(|| (zone.clone(), start));
            known.1 = known.1.min(start);
        }
    }
    let mut out = calendar.clone();
    for part in &mut out.parts {
        part.lines.retain(|line| line.name != ORIGIN);
    }
    let described = zones.values().filter_map(|(zone, from)| zone::component(zone, *from));
    let at = 0..0;
    out.parts.splice(at, described.collect::<Vec<_>>());
    (out.text(), count)
}

fn checked(path: &str) -> Result<(), ToolsError> {
    if path.trim().to_lowercase().ends_with(".ics") {
        return Ok(());
    }
    Err(ToolsError::Refused(format!("`{path}` must end in .ics, so that other programs know it for a calendar")))
}

impl ToolHandler for CalendarExport {
    type Args = ExportArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            NAME,
            RiskClass::Write,
            EffectClass::Idempotent,
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 5, "description": "File of the workspace, ending in .ics; replaced if it exists"}
                },
                "required": ["path"],
                "additionalProperties": false
            }),
        )
    }

    async fn preview(&self, args: ExportArgs, scope: &ToolScope) -> Preview {
        let (files, scope) = (Arc::clone(&self.files), scope.clone());
        let looked = blocking(move || {
            checked(&args.path)?;
            let (text, count) = whole(&files.read(&scope, &name_of(&scope))?, files.zone());
            Ok(format!("writes the calendar ({count} events, {} bytes) to {}", text.len(), args.path))
        });
        match looked.await {
            Ok(summary) => Preview { summary, detail: None, count: Some(1), reversible: true },
            Err(error) => Preview { summary: format!("would fail: {error}"), ..Preview::default() },
        }
    }

    async fn run(&self, args: ExportArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let (files, context) = (Arc::clone(&self.files), context.clone());
        let done = blocking(move || {
            checked(&args.path)?;
            let scope = &context.scope;
            let (text, count) = whole(&files.read(scope, &name_of(scope))?, files.zone());
            context.check()?;
            let (written, after) = write_text(scope, &args.path, &text)?;
            Ok((written, after, count))
        });
        let (written, after, count) = done.await?;
        let path = written.path.display().to_string();
        Ok(ToolOutput {
            data: Some(json!({"path": path, "events": count})),
            receipt: Some(Receipt {
                action: "wrote".to_owned(),
                object: path.clone(),
                evidence: Some(format!("sha256:{}", after.sha256)),
            }),
            undo: Some(snapshot::undo(NAME, written, after, &self.blobs).await?),
            ..ToolOutput::text(format!("wrote the calendar with {count} events to {path}"))
        })
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        snapshot::restore(value, scope, &self.blobs).await
    }
}
