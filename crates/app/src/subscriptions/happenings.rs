//! What the audit trail says, as something that happened: which of its entries are told, and who may see them.

use crate::app::{App, AppResult, Caller};
use crate::authorize::{has, sees_all};
use crate::dto::subscriptions::{Happening, HappeningKind};
use serde_json::json;
use steward_core::audit::{AuditResult, SealedEntry};
use steward_core::ports::Role;
use steward_core::{HookId, ScheduleId, SubscriptionId, UserId};

/// `None`: nobody is told of it.
pub(super) fn happening_of(sealed: &SealedEntry) -> Option<Happening> {
    let entry = &sealed.entry;
    let kind = match (entry.action.as_str(), entry.result) {
        ("run.started", _) => HappeningKind::RunStarted,
        ("run.finished", AuditResult::Ok) => HappeningKind::RunFinished,
        ("run.finished", AuditResult::Stopped | AuditResult::Refused) => HappeningKind::RunStopped,
        ("run.finished", _) => HappeningKind::RunFailed,
        ("approval.requested", _) => HappeningKind::ApprovalRequested,
        ("approval.decided", _) => HappeningKind::ApprovalDecided,
        ("schedules.missed", _) => HappeningKind::ScheduleMissed,
        ("schedules.paused", _) => HappeningKind::SchedulePaused,
        ("hooks.paused", _) => HappeningKind::WebhookPaused,
        ("subscriptions.paused", _) => HappeningKind::SubscriptionPaused,
        ("data.blocked", _) => HappeningKind::DataBlocked,
        ("backups.created", AuditResult::Ok) => HappeningKind::BackupFinished,
        ("backups.created", _) => HappeningKind::BackupFailed,
        _ => return None,
    };
    let of_run = entry.run_id.map(|run| run.to_string());
    let (subject, name) = match kind {
        HappeningKind::ApprovalRequested | HappeningKind::ApprovalDecided => {
            (entry.target.clone(), entry.detail.get("agent").and_then(|agent| agent.as_str()).unwrap_or("").to_owned())
        }
        HappeningKind::ScheduleMissed
        | HappeningKind::SchedulePaused
        | HappeningKind::WebhookPaused
        | HappeningKind::SubscriptionPaused => {
            (entry.target.clone(), entry.detail.get("name").and_then(|name| name.as_str()).unwrap_or("").to_owned())
        }
        _ => (of_run.unwrap_or_else(|| entry.target.clone()), entry.target.clone()),
    };
    Some(Happening {
        seq: sealed.seq,
        kind,
        at: entry.at,
        subject,
        run_id: entry.run_id,
        actor: entry.actor.clone(),
        name,
        result: entry.result.as_str().to_owned(),
        detail: json!(entry.detail),
    })
}

/// The word of a kind, as it is sent.
pub(super) fn word_of(kind: HappeningKind) -> String {
    json!(kind).as_str().unwrap_or_default().to_owned()
}

/// Whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// `None`: nobody's that is known, such as the command line's.
    User(Option<UserId>),
    /// The installation's: for administrators.
    Installation,
}

impl App {
    pub(super) async fn whose(&self, happening: &Happening) -> AppResult<Whose> {
        let tenant = self.tenant();
        if let Some(run) = happening.run_id {
            // One that was deleted meanwhile is nobody's.
            return Ok(Whose::User(self.store.run_owner(tenant, run).await?));
        }
        let id = happening.subject.as_str();
        let owner = match happening.kind {
            HappeningKind::ScheduleMissed | HappeningKind::SchedulePaused => match id.parse::<ScheduleId>() {
                Ok(id) => self.store.schedule(tenant, id).await?.map(|row| row.owner),
                Err(_) => None,
            },
            HappeningKind::WebhookPaused => match id.parse::<HookId>() {
                Ok(id) => self.store.hook(tenant, id).await?.map(|row| row.owner),
                Err(_) => None,
            },
            HappeningKind::SubscriptionPaused => match id.parse::<SubscriptionId>() {
                Ok(id) => self.store.subscription(tenant, id).await?.map(|row| row.owner),
                Err(_) => None,
            },
            _ => return Ok(Whose::Installation),
        };
        Ok(Whose::User(owner))
    }
}

/// Whether it is told to `owner`; `all`: also what isn't theirs, if they may see it.
pub(super) fn is_told(whose: Whose, owner: &Caller, all: bool) -> bool {
    match whose {
        Whose::User(user) => user == Some(owner.user()) || (all && sees_all(owner)),
        Whose::Installation => all && has(owner, Role::Admin),
    }
}
