//! `reminders_create`, `reminders_list`.

use super::notes::NoArgs;
use super::{moment, snapshot};
use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, ToolHandler, proposed};
use crate::suggest;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::Timestamp;
use steward_core::policy::RiskClass;
use steward_core::ports::{Clock, Facts, Reminder, ToolScope};
use steward_core::tool::{
    EffectClass, Preview, Receipt, Suggestion, ToolError, ToolOutput, ToolSpec, Undo,
};

/// Longest text, characters.
const TEXT: usize = 2000;

/// Makes reminders.
pub struct RemindersCreate {
    facts: Arc<dyn Facts>,
    clock: Arc<dyn Clock>,
}

impl RemindersCreate {
    /// Reminders live in `facts`; `clock` knows the local time.
    pub fn new(facts: Arc<dyn Facts>, clock: Arc<dyn Clock>) -> Self {
        Self { facts, clock }
    }

    fn moment(&self, text: &str, now: Timestamp) -> Result<Timestamp, ToolsError> {
        let at = moment::parse(text, self.clock.as_ref())?;
        if at <= now {
            return Err(ToolsError::Refused(format!(
                "{text} has passed already; it is {} now, give a later time",
                moment::local(now, self.clock.as_ref())
            )));
        }
        Ok(at)
    }
}

/// Arguments of [`RemindersCreate`].
#[derive(Debug, Clone, Deserialize)]
pub struct CreateArgs {
    text: String,
    at: String,
}

impl ToolHandler for RemindersCreate {
    type Args = CreateArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "reminders_create",
            RiskClass::Write,
            EffectClass::Keyed,
            json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string", "minLength": 1, "maxLength": TEXT, "description": "What to be reminded of"},
                    "at": {"type": "string", "minLength": 10, "description": "When: YYYY-MM-DDTHH:MM in local time, or RFC 3339"}
                },
                "required": ["text", "at"],
                "additionalProperties": false
            }),
        )
    }

    async fn suggest(&self, request: &str, scope: &ToolScope) -> Vec<Suggestion> {
        proposed(request, scope, suggest::reminders_create::suggest).await
    }

    async fn preview(&self, args: CreateArgs, scope: &ToolScope) -> Preview {
        match self.moment(&args.at, scope.now) {
            Ok(at) => Preview {
                summary: format!(
                    "makes a reminder for {}: {}",
                    moment::local(at, self.clock.as_ref()),
                    args.text
                ),
                detail: None,
                count: Some(1),
                reversible: true,
            },
            Err(error) => Preview {
                summary: format!("would fail: {error}"),
                ..Preview::default()
            },
        }
    }

    async fn run(&self, args: CreateArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let scope = &context.scope;
        let all = self.facts.reminders(scope.tenant, scope.agent).await;
        let all = all.map_err(ToolsError::from)?;
        let known = all
            .into_iter()
            .find(|one| one.id == context.idempotency_key);
        // Known: made before a crash. Its time may have passed meanwhile; it is made nonetheless.
        let reminder = if let Some(reminder) = known {
            reminder
        } else {
            let reminder = Reminder {
                id: context.idempotency_key.clone(),
                at: self.moment(&args.at, scope.now)?,
                text: args.text,
                done: false,
            };
            let saved = self
                .facts
                .save_reminder(scope.tenant, scope.agent, &reminder)
                .await;
            saved.map_err(ToolsError::from)?;
            reminder
        };
        let when = moment::local(reminder.at, self.clock.as_ref());
        Ok(ToolOutput {
            content: format!("reminder set for {when}: {}", reminder.text),
            data: Some(json!(reminder)),
            receipt: Some(Receipt {
                action: "created".to_owned(),
                object: format!("reminder for {when}: {}", reminder.text),
                evidence: Some(reminder.id.clone()),
            }),
            undo: Some(Undo::Snapshot {
                tool: "reminders_create".to_owned(),
                snapshot: json!(reminder),
            }),
            tainted: false,
            origin: None,
        })
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolError> {
        let kept: Reminder = snapshot(value)?;
        let all = self.facts.reminders(scope.tenant, scope.agent).await;
        let all = all.map_err(ToolsError::from)?;
        if !all.contains(&kept) {
            return Err(ToolsError::ChangedSince {
                what: format!("the reminder `{}`", kept.text),
                hint: "look at the list of reminders",
            }
            .into());
        }
        let removed = self
            .facts
            .remove_reminder(scope.tenant, scope.agent, &kept.id)
            .await;
        removed.map_err(ToolsError::from)?;
        Ok(format!("removed the reminder `{}`", kept.text))
    }
}

/// Lists reminders.
pub struct RemindersList {
    facts: Arc<dyn Facts>,
    clock: Arc<dyn Clock>,
}

impl RemindersList {
    /// As for [`RemindersCreate`].
    pub fn new(facts: Arc<dyn Facts>, clock: Arc<dyn Clock>) -> Self {
        Self { facts, clock }
    }
}

impl ToolHandler for RemindersList {
    type Args = NoArgs;

    fn spec(&self) -> ToolSpec {
        catalogue::spec(
            "reminders_list",
            RiskClass::Read,
            EffectClass::Read,
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        )
    }

    async fn run(&self, _: NoArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let scope = &context.scope;
        let all = self.facts.reminders(scope.tenant, scope.agent).await;
        let all = all.map_err(ToolsError::from)?;
        if all.is_empty() {
            return Ok(ToolOutput::text("there are no reminders"));
        }
        let mut text = format!("{} reminders\n", all.len());
        for one in &all {
            let mark = match (one.done, one.at <= scope.now) {
                (true, _) => " (done)",
                (false, true) => " (due)",
                (false, false) => "",
            };
            let when = moment::local(one.at, self.clock.as_ref());
            let _ = writeln!(text, "{when}  {}{mark}", one.text);
        }
        Ok(ToolOutput {
            data: Some(json!(all)),
            ..ToolOutput::text(text)
        })
    }
}
