//! The audit trail: who did what, when, from where and with which result. Entries are only added; each is chained to
//! the one before by a hash, so that a change behind the program's back shows.

mod chain;
mod run_events;

use crate::credential::CredentialUse;
use crate::event::Origin;
use crate::{RunId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

pub use chain::{Break, BreakKind, ChainRow, Fault, Link, Suspect, Verifier, hash_of};
pub use run_events::of_event;

/// The actor of what Steward does by itself.
pub const PROGRAM: &str = "steward";
/// Longest actor, target or address that is kept, characters: a refused login may bring any.
const LONGEST: usize = 300;
/// Longest text in the details, characters.
const LONGEST_DETAIL: usize = 1000;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum AuditResult {
    /// Done.
    Ok,
    /// A person is asked.
    Asked,
    /// Not allowed, or a person said no: nothing was done.
    Refused,
    /// It went wrong.
    Failed,
    /// A person stopped it.
    Stopped,
    /// A limit stopped it.
    Limited,
    /// Nobody knows whether it happened.
    Uncertain,
}

impl AuditResult {
    /// Its word, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// More facts by name. Values are numbers, short texts or lists of these, so that their JSON text is always the same.
pub type Details = BTreeMap<String, Value>;

/// One fact for the audit trail, before it has its place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AuditFact)]
pub struct AuditEntry {
    /// Its id.
    pub id: Uuid,
    /// When, milliseconds since 1970 UTC.
    pub at: Timestamp,
    /// Who: an email, the name that a program gave, or `steward` for Steward itself. Empty if nobody proved who they are.
    pub actor: String,
    /// The user behind it, if one is known.
    #[schema(required)]
    pub actor_id: Option<UserId>,
    /// The way it came in.
    #[schema(required)]
    pub origin: Option<Origin>,
    /// The client's network address, if it came over the network.
    #[schema(required)]
    pub address: Option<String>,
    /// What was done, such as `agents.create` or `tool.called`.
    pub action: String,
    /// What it was done to: an id, or the name of a tool or an agent.
    pub target: String,
    /// How it ended.
    pub result: AuditResult,
    /// The run that it belongs to.
    #[schema(required)]
    pub run_id: Option<RunId>,
    /// More facts by name.
    #[serde(default)]
    #[schema(required, value_type = Object)]
    pub detail: Details,
}

/// An entry at its place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = AuditEntry)]
pub struct SealedEntry {
    /// Its place in the chain, from 1 without gaps.
    pub seq: u64,
    /// The fact.
    #[serde(flatten)]
    pub entry: AuditEntry,
    /// SHA-256 over the hash of the entry before and this entry, hexadecimal.
    pub hash: String,
}

impl AuditEntry {
    /// Of Steward itself, done, to nothing in particular.
    pub fn new(id: Uuid, at: Timestamp, action: impl Into<String>) -> Self {
        Self {
            id,
            at,
            actor: PROGRAM.to_owned(),
            actor_id: None,
            origin: None,
            address: None,
            action: action.into(),
            target: String::new(),
            result: AuditResult::Ok,
            run_id: None,
            detail: Details::new(),
        }
    }

    #[must_use]
    pub fn by(mut self, actor: impl Into<String>, id: Option<UserId>) -> Self {
        self.actor = actor.into();
        self.actor_id = id;
        self
    }

    #[must_use]
    pub fn via(mut self, origin: Option<Origin>, address: Option<String>) -> Self {
        self.origin = origin;
        self.address = address;
        self
    }

    #[must_use]
    pub fn on(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    #[must_use]
    pub fn ended(mut self, result: AuditResult) -> Self {
        self.result = result;
        self
    }

    #[must_use]
    pub fn in_run(mut self, run: RunId) -> Self {
        self.run_id = Some(run);
        self
    }

    /// Adds a fact; nothing if it is null or an empty text.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() && value.as_str() != Some("") {
            self.detail.insert(name.to_owned(), value);
        }
        self
    }

    /// As every database keeps it: texts cut to a bound, without U+0000.
    #[must_use]
    pub fn storable(mut self) -> Self {
        for text in [&mut self.actor, &mut self.action, &mut self.target] {
            cut(text, LONGEST);
        }
        if let Some(address) = &mut self.address {
            cut(address, LONGEST);
        }
        self.detail.values_mut().for_each(cut_value);
        self
    }
}

fn cut_value(value: &mut Value) {
    match value {
        Value::String(text) => cut(text, LONGEST_DETAIL),
        Value::Array(items) => items.iter_mut().for_each(cut_value),
        _ => {}
    }
}

fn cut(text: &mut String, longest: usize) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{fffd}");
    }
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
    }
}

/// A credential was opened. `owner`: whose run it was for.
pub fn of_credential_use(id: Uuid, used: &CredentialUse, owner: Option<(String, UserId)>) -> AuditEntry {
    let entry = AuditEntry::new(id, used.at, "credential.used")
        .on(used.credential.to_string())
        .with("tool", used.tool.as_str())
        .with("agent_id", used.agent.map(|agent| agent.to_string()));
    let entry = match owner {
        Some((name, owner)) => entry.by(name, Some(owner)),
        None => entry,
    };
    match used.run {
        Some(run) => entry.in_run(run),
        None => entry,
    }
}

/// Old entries were deleted, as the retention says: those from `first` to `last`.
pub fn of_pruning(id: Uuid, at: Timestamp, first: u64, last: u64) -> AuditEntry {
    AuditEntry::new(id, at, "audit.pruned")
        .with("first", first)
        .with("last", last)
        .with("entries", last.saturating_sub(first) + 1)
}

#[cfg(test)]
mod tests {
    use super::{AuditEntry, LONGEST, of_credential_use};
    use crate::credential::CredentialUse;
    use crate::{CredentialId, RunId, Timestamp, UserId};
    use serde_json::json;
    use uuid::Uuid;

    #[test]
    fn what_no_database_keeps_is_cut_before_it_is_chained() {
        let long = "é".repeat(LONGEST + 7);
        let entry = AuditEntry::new(Uuid::nil(), Timestamp(1), "a\0b")
            .by(long, None)
            .with("list", json!(["x\0"]))
            .with("none", json!(null))
            .with("empty", "")
            .storable();
        assert_eq!(entry.action, "a\u{fffd}b");
        assert_eq!(entry.actor.chars().count(), LONGEST);
        assert_eq!(json!(entry.detail), json!({"list": ["x\u{fffd}"]}));
    }

    #[test]
    fn a_use_of_a_credential_names_who_it_was_for() {
        let (id, run, user) = (Uuid::from_u128(1), RunId(Uuid::from_u128(2)), UserId(Uuid::from_u128(3)));
        let credential = CredentialId(Uuid::from_u128(4));
        let opened =
            CredentialUse { credential, run: Some(run), agent: None, tool: "shop".to_owned(), at: Timestamp(5) };
        let entry = of_credential_use(id, &opened, Some(("ada@example.org".to_owned(), user)));
        assert_eq!((entry.actor.as_str(), entry.actor_id, entry.run_id), ("ada@example.org", Some(user), Some(run)));
        assert_eq!((entry.target, entry.at), (credential.to_string(), Timestamp(5)));
        let entry = of_credential_use(id, &CredentialUse { run: None, ..opened }, None);
        assert_eq!((entry.actor.as_str(), entry.run_id), ("steward", None));
    }
}
