use crate::dto::schedules::SchedulePause;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steward_core::ports::{DeliveryContent, DeliveryRow, HookSecret};
use steward_core::{AgentId, DeliveryId, HookId, RunId, Timestamp, UserId};
use steward_hooks::{Filter, Place, Signing};
use utoipa::ToSchema;

/// How senders sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum HookSigningKind {
    /// Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`.
    Standard,
    /// GitHub: `X-Hub-Signature-256`.
    Github,
    /// Stripe: `Stripe-Signature`.
    Stripe,
    /// Slack: `X-Slack-Signature` and `X-Slack-Request-Timestamp`.
    Slack,
    /// GitLab: `X-Gitlab-Token`, or signed as Standard Webhooks.
    Gitlab,
    /// The secret itself in a header.
    Token,
}

/// How senders sign, as it is sent; read as [`Signing`].
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct HookSigning {
    /// The way.
    pub kind: HookSigningKind,
    /// Where the secret stands, for `token`: a header's name; left out: `Authorization`, after `Bearer`.
    #[schema(nullable = false)]
    pub header: Option<String>,
}

/// A value of a call, as it is sent; read as [`Place`]: either a header or a place in the payload.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
pub struct HookPlace {
    /// A header's name, such as `x-github-event`.
    #[schema(nullable = false)]
    pub header: Option<String>,
    /// A JSON pointer into the payload, such as `/issue/id`.
    #[schema(nullable = false)]
    pub pointer: Option<String>,
}

/// What deliveries must hold to start a run, as it is sent; read as [`Filter`]: a place, and one test of it.
#[derive(Debug, Clone, PartialEq, ToSchema)]
pub struct HookFilter {
    /// A header's name, such as `x-github-event`.
    #[schema(nullable = false)]
    pub header: Option<String>,
    /// A JSON pointer into the payload, such as `/action`.
    #[schema(nullable = false)]
    pub pointer: Option<String>,
    /// It is this.
    #[schema(nullable = false, value_type = Option<serde_json::Value>)]
    pub equals: Option<serde_json::Value>,
    /// It is one of these.
    #[schema(nullable = false, value_type = Option<Vec<serde_json::Value>>)]
    pub one_of: Option<Vec<serde_json::Value>>,
    /// It holds this text.
    #[schema(nullable = false)]
    pub contains: Option<String>,
    /// Whether it is there at all.
    #[schema(nullable = false)]
    pub exists: Option<bool>,
}

/// How old, or how far ahead, a signed time may be, where nothing else is said, seconds.
fn usual_window() -> u32 {
    300
}

/// After how many failed runs in a row a webhook rests, where nothing else is said.
#[expect(clippy::unnecessary_wraps, reason = "the form that serde asks for")]
fn usual_failures() -> Option<u32> {
    Some(5)
}

/// A webhook to make, or what one becomes.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookInput {
    /// Its name, on one line.
    #[schema(max_length = 100)]
    pub name: String,
    /// The agent whose runs it starts.
    pub agent_id: AgentId,
    /// What the agent is asked each time. `{{payload}}`, `{{payload.issue.title}}`, `{{header.x-github-event}}`, `{{event}}`,
    /// `{{hook}}` and `{{received}}` in it are filled in.
    #[schema(max_length = 20000)]
    pub request: String,
    /// How senders sign.
    #[schema(value_type = HookSigning)]
    pub signing: Signing,
    /// How old, or how far ahead, a signed time may be, seconds.
    #[serde(default = "usual_window")]
    #[schema(minimum = 10, maximum = 86400)]
    pub window_seconds: u32,
    /// Where the sender's own id of a delivery stands, by which repeats are known; null: where its way of signing says.
    #[serde(default)]
    #[schema(required = false, value_type = Option<HookPlace>)]
    pub event_id: Option<Place>,
    /// Only deliveries that pass all of them start runs.
    #[serde(default)]
    #[schema(max_items = 20, value_type = Vec<HookFilter>)]
    pub filters: Vec<Filter>,
    /// It rests after so many runs that failed one after the other; null: never.
    #[serde(default = "usual_failures")]
    #[schema(required = false, minimum = 1, maximum = 1000)]
    pub pause_after_failures: Option<u32>,
    /// The secret that the sender made up, when the webhook is made; null: one is made. Later ones are added apart.
    #[serde(default)]
    #[schema(required = false, value_type = Option<String>, max_length = 512)]
    pub secret: Option<HookSecretText>,
}

/// A secret on its way in; it isn't shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct HookSecretText(pub String);

impl std::fmt::Debug for HookSecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// What starts runs of an agent when somebody else's program calls, with the rights that its owner has at that moment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Hook {
    /// Its id.
    pub id: HookId,
    /// Its name.
    pub name: String,
    /// Where senders send to, beneath the address of this server.
    pub path: String,
    /// Whose it is.
    pub owner_id: UserId,
    /// Their email address; null: they are gone.
    #[schema(required)]
    pub owner: Option<String>,
    /// The agent whose runs it starts.
    pub agent_id: AgentId,
    /// Its name; null: it is gone.
    #[schema(required)]
    pub agent: Option<String>,
    /// What the agent is asked each time.
    pub request: String,
    /// How senders sign.
    #[schema(value_type = HookSigning)]
    pub signing: Signing,
    /// How old, or how far ahead, a signed time may be, seconds.
    pub window_seconds: u32,
    /// Where the sender's own id of a delivery stands; null: where its way of signing says.
    #[schema(required, value_type = Option<HookPlace>)]
    pub event_id: Option<Place>,
    /// Only deliveries that pass all of them start runs.
    #[schema(value_type = Vec<HookFilter>)]
    pub filters: Vec<Filter>,
    /// It rests after so many runs that failed one after the other; null: never.
    #[schema(required)]
    pub pause_after_failures: Option<u32>,
    /// Runs that failed one after the other by now, since it was last resumed.
    pub failures: u32,
    /// While it rests: why.
    #[schema(required)]
    pub pause: Option<SchedulePause>,
    /// Any of these opens it.
    pub secrets: Vec<HookSecret>,
    /// The last delivery; null: there was none.
    #[schema(required)]
    pub last: Option<HookDelivery>,
    /// The last call that was refused, as this server remembers it; null: there was none since it started.
    #[schema(required)]
    pub refused: Option<HookRefused>,
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

/// Calls of a webhook that were refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HookRefused {
    /// When the last one was, ms since 1970 UTC.
    pub at: Timestamp,
    /// What was wrong with it.
    pub problem: String,
    /// What to do about it.
    pub hint: String,
    /// How many there were since the server started.
    pub count: u64,
}

/// A webhook with a secret, which is shown this once.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HookWithSecret {
    /// The webhook.
    pub hook: Hook,
    /// The secret, to be given to the sender; it is never shown again. Null: it was shown before.
    #[schema(required)]
    pub secret: Option<String>,
}

/// A secret to add.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookSecretInput {
    /// The one that the sender made up; null: one is made.
    #[serde(default)]
    #[schema(required = false, value_type = Option<String>, max_length = 512)]
    pub secret: Option<HookSecretText>,
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It is kept, and its run is about to start.
    Waiting,
    /// A run was started for it.
    Started,
    /// A filter left it out, or the webhook rested.
    Skipped,
    /// No run could be started.
    Failed,
}

/// One call of a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HookDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// What the sender calls it; the same event starts one run.
    pub event: String,
    /// ms since 1970 UTC.
    pub received_at: Timestamp,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Why it was skipped, or couldn't be started.
    #[schema(required)]
    pub reason: Option<String>,
    /// Its run.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// How that ended: `completed`, `failed`, `stopped`, `limited`, `rejected`, or that it was
    /// `deleted`; null: it works, or there is none.
    #[schema(required)]
    pub outcome: Option<String>,
    /// How often the same event came again.
    pub repeats: u64,
    /// Bytes of its body.
    pub bytes: u64,
}

impl From<DeliveryRow> for HookDelivery {
    fn from(row: DeliveryRow) -> Self {
        let status = match row.fate.as_ref().map(|fate| fate.word.as_str()) {
            None => DeliveryStatus::Waiting,
            Some("started") => DeliveryStatus::Started,
            Some("skipped") => DeliveryStatus::Skipped,
            Some(_) => DeliveryStatus::Failed,
        };
        Self {
            id: row.id,
            event: row.event,
            received_at: row.received_at,
            status,
            reason: row.fate.and_then(|fate| fate.reason),
            run_id: row.run,
            outcome: row.outcome,
            repeats: row.repeats,
            bytes: row.bytes,
        }
    }
}

/// One call of a webhook, with what was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HookDeliveryContent {
    /// The call.
    pub delivery: HookDelivery,
    /// Its headers, without those that hold secrets or signatures; null: its content isn't kept any more.
    #[schema(required)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Its body; null: it isn't kept any more.
    #[schema(required)]
    pub body: Option<String>,
}

impl From<DeliveryRow> for HookDeliveryContent {
    fn from(mut row: DeliveryRow) -> Self {
        let content = row.content.take();
        let (headers, body) = content.map_or((None, None), |DeliveryContent { headers, body }| {
            (Some(headers.into_iter().collect()), Some(body))
        });
        Self { delivery: row.into(), headers, body }
    }
}

/// A call to try without its consequences.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookPreviewInput {
    /// Headers as they would come, such as `x-github-event`; signatures aren't looked at.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body as it would come.
    #[schema(max_length = 1_048_576)]
    pub body: String,
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HookPreview {
    /// Whether it would start a run.
    pub starts: bool,
    /// Why not.
    #[schema(required)]
    pub reason: Option<String>,
    /// What the sender calls it; null: it says nothing by which a repeat is known.
    #[schema(required)]
    pub event: Option<String>,
    /// What the agent would be asked.
    pub request: String,
}

/// What a sender is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct HookAccepted {
    /// The id of the delivery.
    pub id: DeliveryId,
    /// The same event came before: nothing is started again.
    pub repeated: bool,
}
