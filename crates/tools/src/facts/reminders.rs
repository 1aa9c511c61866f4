//! `reminders_create`, `reminders_list`, `reminders_done`. A reminder is due from its time until it is done.

use super::{Keeper, owner_of, snapshot, writable_owner_of};
use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::Timestamp;
use steward_core::agent::KeptFor;
use steward_core::ports::{Clock, Interrupted, Reminder, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::tool::{Preview, Receipt, Settled, ToolOutput, Undo};

/// Short enough to be typed.
const ID_CHARS: usize = 12;

/// The reminders of the agents.
#[derive(Clone)]
pub struct Reminders {
    pub keeper: Keeper,
    pub clock: Arc<dyn Clock>,
}

impl Reminders {
    fn moment(&self, text: &str, now: Timestamp) -> Result<Timestamp, ToolsError> {
        let at = parse_time(text, self.clock.as_ref())?;
        if at <= now {
            return Err(refused!("{text} has passed already; it is {} now, give a later time", self.local_time(now)));
        }
        Ok(at)
    }

    fn local_time(&self, at: Timestamp) -> String {
        local_time(at, self.clock.as_ref())
    }

    async fn all(&self, scope: &ToolScope) -> Result<Vec<Reminder>, ToolsError> {
        Ok(self.keeper.facts.reminders(scope.tenant, scope.agent, owner_of(scope)?).await?)
    }

    /// Whether the reminder of this proof has been marked as done.
    async fn find_marked(&self, proof: &Value, scope: &ToolScope) -> Result<Settled, ToolsError> {
        let before: Reminder = snapshot(proof)?;
        let now = self.all(scope).await?.into_iter().find(|one| one.id == before.id);
        Ok(match now {
            Some(one) if one.done => Settled::Happened("the reminder is marked as done".to_owned()),
            Some(_) => Settled::NotHappened("the reminder is open".to_owned()),
            None => Settled::Unknown("somebody else has removed the reminder since".to_owned()),
        })
    }

    async fn writable(&self, scope: &ToolScope) -> Result<KeptFor, ToolsError> {
        writable_owner_of(&*self.keeper.editors, scope).await
    }

    async fn save(&self, reminder: &Reminder, scope: &ToolScope) -> Result<(), ToolsError> {
        let of = self.writable(scope).await?;
        Ok(self.keeper.facts.save_reminder(scope.tenant, scope.agent, of, reminder).await?)
    }

    /// The reminder with this id or whole text, or the only one that contains the text.
    async fn meant(&self, text: &str, scope: &ToolScope) -> Result<Reminder, ToolsError> {
        let all = self.all(scope).await?;
        let wanted = text.trim().to_lowercase();
        if wanted.is_empty() {
            return Err(ToolsError::refused("say which reminder, by its text"));
        }
        if let Some(one) = all.iter().find(|one| one.id == wanted) {
            return Ok(one.clone());
        }
        let part = |one: &&Reminder| one.text.to_lowercase().contains(&wanted);
        let found: Vec<&Reminder> = all.iter().filter(|one| !one.done).filter(part).collect();
        let whole = found.iter().find(|one| one.text.to_lowercase() == wanted);
        match (whole, &found[..]) {
            // Of several with the same text, the earliest is the one that has come up.
            (Some(one), _) | (None, [one]) => Ok((*one).clone()),
            (None, []) => match all.iter().find(part) {
                Some(done) => Ok(done.clone()),
                None => Err(refused!("there is no reminder `{text}`; `reminders_list` shows them")),
            },
            (None, several) => {
                // An error must bring in nothing that others wrote or that is confidential.
                let own_text = |one: &Reminder| {
                    let plain = one.provenance.is_empty();
                    if plain { one.text.clone() } else { "(`reminders_list` shows its text)".to_owned() }
                };
                let line = |one: &&Reminder| format!("{} {}", self.local_time(one.at), own_text(one));
                let lines: Vec<String> = several.iter().map(line).collect();
                Err(refused!("several reminders are like that; give the whole text of one: {}", lines.join("; ")))
            }
        }
    }
}

pub struct RemindersCreate(pub Reminders);

#[derive(Debug, Clone, Deserialize)]
pub struct CreateArgs {
    text: String,
    at: String,
}

impl ToolHandler for RemindersCreate {
    type Args = CreateArgs;
    const NAME: &'static str = "reminders_create";

    async fn preview(&self, args: CreateArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        self.0.writable(scope).await?;
        let when = self.0.local_time(self.0.moment(&args.at, scope.now)?);
        Ok(Preview::undoable(format!("makes a reminder for {when}: {}", args.text), None))
    }

    async fn run(&self, args: CreateArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let id = context.stable_id(ID_CHARS);
        let known = self.0.all(scope).await?.into_iter().find(|one| one.id == id);
        // A known one was made before a crash. It is kept even if its time has passed meanwhile.
        let reminder = if let Some(reminder) = known {
            reminder
        } else {
            let (at, provenance) = (self.0.moment(&args.at, scope.now)?, scope.provenance.clone());
            let reminder = Reminder { id, at, text: args.text, done: false, provenance };
            self.0.save(&reminder, scope).await?;
            reminder
        };
        let when = self.0.local_time(reminder.at);
        Ok(ToolOutput {
            data: Some(json!(reminder)),
            receipt: Some(Receipt::new(
                "created",
                format!("reminder for {when}: {}", reminder.text),
                Some(reminder.id.clone()),
            )),
            undo: Some(Undo::Snapshot { tool: Self::NAME.to_owned(), snapshot: json!(reminder) }),
            ..ToolOutput::text(format!("reminder set for {when}: {}", reminder.text))
        })
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: Reminder = snapshot(value)?;
        let of = self.0.writable(scope).await?;
        if !self.0.all(scope).await?.contains(&kept) {
            return Err(ToolsError::ChangedSince {
                what: format!("the reminder `{}`", kept.text),
                hint: "look at the list of reminders",
            });
        }
        self.0.keeper.facts.remove_reminder(scope.tenant, scope.agent, of, &kept.id).await?;
        Ok(format!("removed the reminder `{}`", kept.text))
    }
}

pub struct RemindersList(pub Reminders);

#[derive(Debug, Deserialize)]
pub struct ListArgs {
    #[serde(default)]
    all: bool,
}

impl ToolHandler for RemindersList {
    type Args = ListArgs;
    const NAME: &'static str = "reminders_list";

    async fn run(&self, args: ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let mut all = self.0.all(scope).await?;
        all.retain(|one| args.all || !one.done);
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
            let when = self.0.local_time(one.at);
            let _ = writeln!(text, "{when}  {}{mark}", one.text);
        }
        let mut provenance = Provenance::default();
        for one in &all {
            provenance.join(&one.provenance);
        }
        Ok(ToolOutput { data: Some(json!(all)), provenance, ..ToolOutput::text(text) })
    }
}

pub struct RemindersDone(pub Reminders);

#[derive(Debug, Clone, Deserialize)]
pub struct DoneArgs {
    text: String,
}

impl ToolHandler for RemindersDone {
    type Args = DoneArgs;
    const NAME: &'static str = "reminders_done";

    async fn preview(&self, args: DoneArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        self.0.writable(scope).await?;
        let one = self.0.meant(&args.text, scope).await?;
        Ok(Preview::undoable(format!("marks the reminder `{}` as done", one.text), None))
    }

    async fn run(&self, args: DoneArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        self.0.writable(scope).await?;
        let one = self.0.meant(&args.text, scope).await?;
        if one.done {
            return Ok(ToolOutput {
                provenance: one.provenance,
                ..ToolOutput::text(format!("`{}` was done already", one.text))
            });
        }
        let done = Reminder { done: true, ..one.clone() };
        let output = ToolOutput {
            data: Some(json!(done)),
            receipt: Some(Receipt::new("marked as done", format!("reminder {}", done.text), Some(done.id.clone()))),
            undo: Some(Undo::Snapshot { tool: Self::NAME.to_owned(), snapshot: json!(one) }),
            provenance: one.provenance.clone(),
            ..ToolOutput::text(format!("done: {}", done.text))
        };
        context.stage(&output, json!(one)).await?;
        self.0.save(&done, scope).await?;
        Ok(output)
    }

    async fn settle(&self, call: Interrupted, scope: &ToolScope) -> Settled {
        let Some(staged) = call.staged else {
            return Settled::NotHappened("the reminder had not been marked".to_owned());
        };
        self.0.find_marked(&staged.proof, scope).await.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
    }

    async fn undo(&self, value: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let before: Reminder = snapshot(value)?;
        self.0.save(&before, scope).await?;
        Ok(format!("the reminder `{}` is open again", before.text))
    }
}

/// Reads `2026-11-22T09:00` (local time) or RFC 3339.
pub(crate) fn parse_time(text: &str, clock: &dyn Clock) -> Result<Timestamp, ToolsError> {
    let text = text.trim();
    if let Ok(exact) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp(exact.as_millisecond()));
    }
    let bad = || refused!("`{text}` is no time; write YYYY-MM-DDTHH:MM for local time, such as 2026-05-30T09:00");
    if !text.contains(['T', 't', ' ']) {
        return Err(bad());
    }
    let local: DateTime = text.parse().map_err(|_| bad())?;
    let utc = Offset::UTC.to_timestamp(local).map_err(|_| bad())?.as_millisecond();
    // The offset depends on the point in time, which depends on the offset. Two rounds settle it, except within the
    // hour that a change of the clocks skips or repeats.
    let mut at = Timestamp(utc);
    for _ in 0..2 {
        at = Timestamp(utc - i64::from(clock.utc_offset_minutes(at)) * 60_000);
    }
    Ok(at)
}

/// `2026-11-22 09:00` in local time.
fn local_time(at: Timestamp, clock: &dyn Clock) -> String {
    let minutes = i64::from(clock.utc_offset_minutes(at));
    let shifted = Timestamp(at.0.saturating_add(minutes * 60_000)).rfc3339();
    shifted.get(..16).unwrap_or(&shifted).replace('T', " ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{local_time, parse_time};
    use steward_core::Timestamp;
    use steward_core::ports::Clock;

    /// One hour east, two from the given point on.
    struct Changing(Timestamp);

    impl Clock for Changing {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }
        fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
            if at < self.0 { 60 } else { 120 }
        }
    }

    #[test]
    fn local_and_exact_times() {
        // 2026-03-29T01:00Z, when Central Europe goes to summer time.
        let clock = Changing(Timestamp(1_774_746_000_000));
        let check = |text: &str, expect: &str| {
            assert_eq!(parse_time(text, &clock).unwrap().rfc3339(), expect, "{text}");
        };
        check("2026-03-28T09:00", "2026-03-28T08:00:00Z");
        check("2026-03-29T09:00", "2026-03-29T07:00:00Z");
        check("2026-03-29 09:00:30", "2026-03-29T07:00:30Z");
        check("2026-03-29T09:00:00Z", "2026-03-29T09:00:00Z");
        check("2026-03-29T09:00:00-05:00", "2026-03-29T14:00:00Z");
        let at = parse_time("2026-07-01T18:30", &clock).unwrap();
        assert_eq!(local_time(at, &clock), "2026-07-01 18:30");
        for bad in ["tomorrow", "9:00", "2026-13-01T09:00", "2026-07-01", "2026-02-30T10:00", ""] {
            let error = parse_time(bad, &clock).unwrap_err().to_string();
            assert!(error.contains("YYYY-MM-DDTHH:MM"), "{bad}: {error}");
        }
    }
}
