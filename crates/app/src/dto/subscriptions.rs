use crate::dto::hooks::HookSecretText;
use crate::dto::schedules::SchedulePause;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use steward_core::ports::{DispatchRow, HookSecret};
use steward_core::{DispatchId, RunId, SubscriptionId, Timestamp, UserId};
use utoipa::ToSchema;

/// What can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub enum HappeningKind {
    /// A run began.
    #[serde(rename = "run.started")]
    RunStarted,
    /// A run did what was asked.
    #[serde(rename = "run.finished")]
    RunFinished,
    /// A run failed, or a limit ended it.
    #[serde(rename = "run.failed")]
    RunFailed,
    /// A person stopped a run.
    #[serde(rename = "run.stopped")]
    RunStopped,
    /// A run waits for a person's approval.
    #[serde(rename = "approval.requested")]
    ApprovalRequested,
    /// An approval was given or refused.
    #[serde(rename = "approval.decided")]
    ApprovalDecided,
    /// Occurrences of a schedule were missed and aren't caught up.
    #[serde(rename = "schedule.missed")]
    ScheduleMissed,
    /// A schedule paused by itself.
    #[serde(rename = "schedule.paused")]
    SchedulePaused,
    /// A webhook paused by itself.
    #[serde(rename = "webhook.paused")]
    WebhookPaused,
    /// A subscription paused by itself.
    #[serde(rename = "subscription.paused")]
    SubscriptionPaused,
    /// A policy kept confidential data from a model.
    #[serde(rename = "data.blocked")]
    DataBlocked,
    /// A backup was made.
    #[serde(rename = "backup.finished")]
    BackupFinished,
    /// A backup failed.
    #[serde(rename = "backup.failed")]
    BackupFailed,
    /// A person tried an address.
    #[serde(rename = "test")]
    Test,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Happening {
    /// Its number: that of its entry in the audit trail; 0: a test.
    pub seq: u64,
    /// What it is.
    pub kind: HappeningKind,
    /// When, ms since 1970 UTC.
    pub at: Timestamp,
    /// What it is about: a run, an approval, a schedule, a webhook. What is told of one subject arrives in its order.
    pub subject: String,
    /// The run that it belongs to.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// Who did it: an email address, or `steward`.
    pub actor: String,
    /// What it was done to, for people: an agent, a schedule's name.
    pub name: String,
    /// How it ended: `ok`, `asked`, `refused`, `failed`, `stopped`, `limited`, `uncertain`.
    pub result: String,
    /// More facts by name, as in the audit trail.
    #[schema(value_type = Object)]
    pub detail: Value,
}

/// How messages look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageForm {
    /// The happening as JSON, signed by Standard Webhooks 1.0: for programs.
    #[default]
    Standard,
    /// An incoming webhook of Slack.
    Slack,
    /// A workflow of Microsoft Teams ("when a webhook request is received").
    Teams,
    /// An incoming webhook of Mattermost.
    Mattermost,
    /// A room of Matrix: `https://HOMESERVER/!ROOM:SERVER`, with an access token.
    Matrix,
    /// A topic of ntfy: `https://SERVER/TOPIC`.
    Ntfy,
    /// A server of Gotify, with an application's token.
    Gotify,
    /// The notify address of Apprise's API.
    Apprise,
}

/// The language of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageLanguage {
    /// English
    #[default]
    En,
    /// German
    De,
}

/// A subscription to make, or what one becomes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionInput {
    /// Its name, on one line.
    #[schema(max_length = 100)]
    pub name: String,
    /// How messages look.
    #[serde(default)]
    pub form: MessageForm,
    /// Where messages are sent; it is kept secret. Null: as it was.
    #[serde(default)]
    #[schema(required = false, value_type = Option<String>, max_length = 2000)]
    pub address: Option<HookSecretText>,
    /// What the service asks for besides: an access token. Null: as it was, or none.
    #[serde(default)]
    #[schema(required = false, value_type = Option<String>, max_length = 2000)]
    pub token: Option<HookSecretText>,
    /// What is told; empty: everything.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub kinds: Vec<HappeningKind>,
    /// Also of runs, schedules and webhooks of others, for those who see them.
    #[serde(default)]
    pub all: bool,
    /// The language of messages.
    #[serde(default)]
    pub language: MessageLanguage,
    /// The address of this server as the readers of messages know it, for links.
    #[serde(default)]
    #[schema(required = false, max_length = 300)]
    pub link_base: Option<String>,
}

/// An address that is told of what happens.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Subscription {
    /// Its id.
    pub id: SubscriptionId,
    /// Its name.
    pub name: String,
    /// Whose it is: what they may see is told.
    pub owner_id: UserId,
    /// Their email address; null: they are gone.
    #[schema(required)]
    pub owner: Option<String>,
    /// How messages look.
    pub form: MessageForm,
    /// Scheme, host and port of its address; the rest is kept secret.
    pub place: String,
    /// What is told; empty: everything.
    pub kinds: Vec<HappeningKind>,
    /// Also of what isn't the owner's.
    pub all: bool,
    /// The language of messages.
    pub language: MessageLanguage,
    /// The address of this server for links.
    #[schema(required)]
    pub link_base: Option<String>,
    /// While it rests: why.
    #[schema(required)]
    pub pause: Option<SchedulePause>,
    /// What signs its messages.
    pub secrets: Vec<HookSecret>,
    /// The last message; null: there was none.
    #[schema(required)]
    pub last: Option<Dispatch>,
    /// Whether the caller may change it: it is their own.
    pub may_change: bool,
    /// ms since 1970 UTC.
    pub created_at: Timestamp,
    /// ms since 1970 UTC.
    pub updated_at: Timestamp,
    /// When it was deleted, ms since 1970 UTC; null: it wasn't.
    #[schema(required)]
    pub deleted_at: Option<Timestamp>,
}

/// A subscription with the secret that signs its messages, which is shown this once.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SubscriptionWithSecret {
    /// The subscription.
    pub subscription: Subscription,
    /// The secret, to be given to the receiver; it is never shown again. Null: messages of this form aren't signed.
    #[schema(required)]
    pub secret: Option<String>,
}

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DispatchStatus {
    /// It is on its way, or is tried again.
    Waiting,
    /// It arrived.
    Sent,
    /// It is given up; it can be sent again by hand.
    GivenUp,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Dispatch {
    /// Its id, which the receiver gets too: the same message has it again.
    pub id: DispatchId,
    /// What it tells.
    #[schema(value_type = Object)]
    pub happening: Value,
    /// What it tells of.
    pub kind: String,
    /// ms since 1970 UTC.
    pub made_at: Timestamp,
    /// Where it stands.
    pub status: DispatchStatus,
    /// How often it was tried.
    pub tries: u32,
    /// When it is tried next, ms since 1970 UTC.
    #[schema(required)]
    pub next_at: Option<Timestamp>,
    /// When it arrived, ms since 1970 UTC.
    #[schema(required)]
    pub sent_at: Option<Timestamp>,
    /// What the last try came to.
    #[schema(required)]
    pub last: Option<String>,
}

impl From<DispatchRow> for Dispatch {
    fn from(row: DispatchRow) -> Self {
        let status = match (row.sent_at, row.next_at) {
            (Some(_), _) => DispatchStatus::Sent,
            (None, Some(_)) => DispatchStatus::Waiting,
            (None, None) => DispatchStatus::GivenUp,
        };
        Self {
            id: row.id,
            happening: row.body,
            kind: row.kind,
            made_at: row.made_at,
            status,
            tries: row.tries,
            next_at: row.next_at,
            sent_at: row.sent_at,
            last: row.last,
        }
    }
}
