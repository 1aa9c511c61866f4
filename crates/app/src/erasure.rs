//! What is kept of a person, for them, and its deletion for good. The audit trail stays: it is a chain, and it is what
//! shows that the rest was deleted.

mod documents;
mod kept;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::retention::{Erasure, ErasureInput, ErasurePreview, ErasureView, KindCount};
use crate::retention::{hold_of, is_held};
use crate::settings::kept_setting;
use bytes::Bytes;
use futures::channel::mpsc::{Sender, channel};
use futures::stream::BoxStream;
use futures::{SinkExt as _, StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use steward_access::{AccessError, LOCAL_USER};
use steward_core::audit::PROGRAM;
use steward_core::event::RequestedBy;
use steward_core::hash;
use steward_core::ports::{
    AuditFilter, Conversation, ConversationFilter, Conversations as _, Page, RetainedFilter, RunFilter, RunRow,
    RunStatus, RunStore as _, Settings as _, StoreError, StoreResult, User, UserChange, UserState,
};
use steward_core::retention::{HoldOn, LegalHold, RetainedKind, RetentionRules};
use steward_core::{ConversationId, RunId, Timestamp, UserId};
use steward_store::Store;
use tokio::sync::Mutex;
use uuid::Uuid;

/// Erasures that were asked for.
pub(crate) const ERASURES_SETTING: &str = "governance.erasures";
/// Items that are read at a time.
const PAGE: u32 = 500;
/// A name that is shorter, or one word, stands for too much else.
const SHORTEST_NAME: usize = 5;
/// A failed erasure is not tried again before.
const RETRY_AFTER: Duration = Duration::from_mins(1);

/// When erasures last failed.
pub(crate) type FailedErasures = HashMap<UserId, Timestamp>;

/// Held while the list of erasures is changed.
static ERASING: Mutex<()> = Mutex::const_new(());

impl App {
    /// What an erasure would do, or how far it is.
    pub async fn erasure(&self, caller: &Caller, id: UserId) -> AppResult<ErasureView> {
        authorize(caller, Action::Administer, Resource::Users)?;
        let asked = self.erasures().await?.into_iter().find(|one| one.user_id == id.0);
        let preview = match self.access.user(id).await {
            Ok(user) => Some(self.preview_erasure(caller, &user).await?),
            Err(_) if asked.is_some() => None,
            Err(error) => return Err(error.into()),
        };
        Ok(ErasureView { preview, erasure: asked })
    }

    /// Begins an erasure; it is carried out in the background, and again after a restart.
    pub async fn erase_user(&self, caller: &Caller, id: UserId, input: &ErasureInput) -> AppResult<Erasure> {
        authorize(caller, Action::Administer, Resource::Users)?;
        let user = self.access.user(id).await?;
        let preview = self.preview_erasure(caller, &user).await?;
        if let Some(obstacle) = preview.obstacles.first() {
            return Err(AppError::conflict("not_erasable", obstacle.clone(), "remove the obstacle first"));
        }
        if preview.confirmation != input.confirmation {
            return Err(AppError::conflict(
                "not_confirmed",
                "what would be erased has not been looked at",
                "GET the preview, and send its `confirmation`",
            ));
        }
        self.begin_erasure(&user, caller.user().0).await
    }

    /// From now on they can do nothing.
    async fn begin_erasure(&self, user: &User, by: Uuid) -> AppResult<Erasure> {
        let id = user.id;
        let asked = Erasure {
            user_id: id.0,
            stand_in: stand_in(id),
            asked_at: self.now().0,
            asked_by: by,
            done_at: None,
            deleted: 0,
            renamed: 0,
            waits_for: None,
        };
        // First, since it is refused for the last administrator.
        if user.state() != UserState::Disabled {
            let change = UserChange { disabled_at: Some(Some(self.now())), ..UserChange::default() };
            self.access.change_user(id, change).await?;
        }
        self.save_erasure(asked.clone()).await?;
        self.access.end_sessions(id).await?;
        tracing::info!(user = %id, %by, "erasure was asked for");
        Ok(asked)
    }

    /// Begins what was asked for before, after a restore of what was older. `false`: there is no such user.
    pub(crate) async fn ask_erasure_again(&self, id: UserId) -> AppResult<bool> {
        match self.access.user(id).await {
            Ok(user) => {
                // Nobody is known of whom the data of that time says that they asked.
                self.begin_erasure(&user, Uuid::nil()).await?;
                Ok(true)
            }
            Err(AccessError::Store(StoreError::NotFound(_))) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Why erasures that were asked for are not done yet.
    pub(crate) async fn waiting_erasures(&self) -> AppResult<Vec<String>> {
        let open = self.erasures().await?.into_iter().filter(|one| one.done_at.is_none());
        let told = |one: Erasure| {
            let why = one.waits_for.as_deref().unwrap_or("it isn't done yet");
            format!("user {}: {why}", one.user_id)
        };
        Ok(open.map(told).collect())
    }

    /// All that is kept of a person, as JSON Lines.
    pub async fn export_user(&self, caller: &Caller, id: UserId) -> AppResult<BoxStream<'static, AppResult<Bytes>>> {
        authorize(caller, Action::Administer, Resource::Users)?;
        let user = self.access.user(id).await?;
        self.record_audit(&self.audit_entry_of(caller, "users.export").on(id.to_string())).await?;
        let (mut lines, received) = channel(16);
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = app.write_export(&user, &mut lines).await {
                let _gone = lines.send(Err(error)).await;
            }
        });
        Ok(received.boxed())
    }

    /// Carries out what was asked for; what can't be done yet waits for the next time, and keeps no other waiting.
    pub(crate) async fn go_on_erasing(&self, failed: &mut FailedErasures) -> AppResult<()> {
        for before in self.erasures().await?.into_iter().filter(|one| one.done_at.is_none()) {
            let user = UserId(before.user_id);
            if failed.get(&user).is_some_and(|at| self.now().since(*at) < RETRY_AFTER) {
                continue;
            }
            let mut one = before.clone();
            if let Err(error) = self.carry_out(&mut one).await {
                failed.insert(user, self.now());
                one.waits_for = Some(error.to_string());
                if one.waits_for != before.waits_for {
                    tracing::error!(%user, %error, "an erasure has failed; it is tried again every minute");
                }
            }
            if one != before {
                self.save_erasure(one).await?;
            }
        }
        Ok(())
    }

    async fn carry_out(&self, one: &mut Erasure) -> AppResult<()> {
        one.waits_for = self.erase(one).await?;
        if one.waits_for.is_none() {
            let entry = self.audit_fact("users.erased").on(one.user_id.to_string());
            let entry = entry.with("items", one.deleted).with("rows_renamed", one.renamed);
            self.record_audit(&entry.with("asked_by", one.asked_by.to_string())).await?;
            one.done_at = Some(self.now().0);
        }
        Ok(())
    }

    /// Answers why it can't be done yet; `None`: it is done.
    async fn erase(&self, erasure: &mut Erasure) -> AppResult<Option<String>> {
        let id = UserId(erasure.user_id);
        let user = match self.access.user(id).await {
            Ok(user) => user,
            // It was done, and the end of it was not noted.
            Err(AccessError::Store(StoreError::NotFound(_))) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if let Some(hold) = self.hold_on(&self.kept_retention().await?, id).await? {
            return Ok(Some(hold));
        }
        for status in [RunStatus::Running, RunStatus::Parked] {
            for run in self.runs_of(id, Some(status), None).await?.items {
                let by = RequestedBy { name: PROGRAM.to_owned(), source: None };
                if let Err(error) = self.runs.stop(run.id, by).await {
                    tracing::debug!(run = %run.id, %error, "a run of somebody who is erased could not be stopped yet");
                }
            }
        }
        for kind in [RetainedKind::Conversations, RetainedKind::Runs] {
            if let Some(hold) = self.delete_all(erasure, kind).await? {
                return Ok(Some(hold));
            }
        }
        // All that took its time.
        if let Some(hold) = self.hold_on(&self.kept_retention().await?, id).await? {
            return Ok(Some(hold));
        }
        erasure.deleted += self.remove_own_documents(id).await?;
        let left = self.runs_of(id, None, None).await?;
        if !left.items.is_empty() {
            return Ok(Some("runs of theirs have not ended yet".to_owned()));
        }
        // One in which something was at work just now was passed over.
        if self.has_conversations(id).await? {
            return Ok(Some("something is at work in a conversation of theirs".to_owned()));
        }
        let texts = names_of(&user);
        erasure.renamed += self.store.erase_mentions(self.tenant(), id, &texts, &erasure.stand_in).await?;
        // After all of their runs have ended, which could keep something more.
        erasure.deleted += self.remove_kept(id).await?;
        self.mcp.forget_user(self.tenant(), id).await?;
        self.access.remove_user(id).await?;
        Ok(None)
    }

    /// Up to the first that a hold keeps; answers with that hold.
    async fn delete_all(&self, erasure: &mut Erasure, kind: RetainedKind) -> AppResult<Option<String>> {
        let mut pages = self.retained_pages(filter_of(UserId(erasure.user_id), kind));
        while let Some(items) = pages.try_next().await? {
            for item in &items {
                // Read for each, since what is deleted against a hold can't be brought back.
                if let Some(hold) = hold_of(&self.kept_retention().await?, item) {
                    return Ok(Some(kept_by(hold)));
                }
                let entry = self.deletion_of(item).with("erasure", erasure.stand_in.as_str());
                let done = self.store.delete_retained(self.tenant(), item, &entry).await?;
                erasure.deleted += u64::from(done.is_some());
            }
        }
        Ok(None)
    }

    /// The hold that is on somebody, or on a conversation of theirs, whatever its state.
    pub(crate) async fn hold_on(&self, rules: &RetentionRules, user: UserId) -> AppResult<Option<String>> {
        for hold in &rules.holds {
            let theirs = match hold.on {
                HoldOn::User(id) => id == user.0,
                HoldOn::Conversation(id) => match self.store.conversation(self.tenant(), ConversationId(id)).await {
                    Ok(conversation) => conversation.user == Some(user),
                    Err(StoreError::NotFound(_)) => false,
                    Err(error) => return Err(error.into()),
                },
            };
            if theirs {
                return Ok(Some(kept_by(hold)));
            }
        }
        Ok(None)
    }

    async fn preview_erasure(&self, caller: &Caller, user: &User) -> AppResult<ErasurePreview> {
        let rules = self.kept_retention().await?;
        let mut goes = Vec::new();
        let mut held = 0;
        for kind in [RetainedKind::Conversations, RetainedKind::Runs] {
            let items = self.retained_pages(filter_of(user.id, kind)).try_concat().await?;
            held += items.iter().filter(|item| is_held(&rules, item)).count();
            goes.push(counted(kind.as_str(), items.len()));
        }
        let own = self.own_collections(user.id).await?;
        goes.push(counted("collections", own.len()));
        goes.push(KindCount { kind: "documents".to_owned(), count: own.iter().map(|one| one.documents).sum() });
        let keys = self.store.keys(self.tenant(), Some(user.id), None, 1000).await?.items.len();
        goes.push(counted("keys", keys));
        goes.push(counted("sessions", self.access.sessions(user.id).await?.len()));
        goes.push(counted("groups", self.access.groups_of(user.id).await?.len()));
        goes.extend(self.count_kept(user.id).await?);
        goes.push(counted("accounts", 1));
        goes.retain(|one| one.count > 0);
        let found = self.store.mentions(self.tenant(), &names_of(user)).await?;
        let (stays, renamed): (Vec<_>, Vec<_>) = found
            .into_iter()
            .map(|(kind, count)| KindCount { kind, count })
            .partition(|one| Store::keeps_mentions(&one.kind));
        let mut renamed = renamed;
        renamed.push(KindCount { kind: "documents".to_owned(), count: self.shared_documents(user.id, &own).await? });
        renamed.retain(|one| one.count > 0);
        let mut stays = stays;
        let sent = self.store.count_uploads(self.tenant(), user.id).await?;
        stays.push(KindCount { kind: "files_in_the_workspace".to_owned(), count: sent });
        stays.retain(|one| one.count > 0);
        let mut obstacles = Vec::new();
        if user.id == caller.user() {
            obstacles.push("nobody erases themselves; let another administrator do it".to_owned());
        }
        if user.email == LOCAL_USER {
            obstacles.push(format!("{LOCAL_USER} stands for the programs of this machine's owner"));
        }
        if self.store.is_last_administrator(self.tenant(), user.id).await? {
            obstacles.push("this is the last administrator".to_owned());
        }
        if let Some(hold) = self.hold_on(&rules, user.id).await? {
            obstacles.push(hold);
        } else if held > 0 {
            obstacles.push(format!("a hold keeps {held} of their conversations and runs"));
        }
        // Not of what there is: somebody who goes on working would hold off their own erasure.
        let confirmation = hash::of_json(&json!(["erasure", user.id.to_string()]));
        Ok(ErasurePreview { goes, renamed, stays, obstacles, confirmation })
    }

    async fn runs_of(
        &self,
        user: UserId,
        status: Option<RunStatus>,
        before: Option<RunId>,
    ) -> StoreResult<Page<RunRow>> {
        let filter = RunFilter { user: Some(user), status, before, limit: PAGE, ..RunFilter::default() };
        self.store.runs(self.tenant(), filter).await
    }

    async fn has_conversations(&self, user: UserId) -> StoreResult<bool> {
        for deleted in [false, true] {
            let filter = ConversationFilter { user: Some(user), deleted, limit: 1, ..ConversationFilter::default() };
            if !self.store.conversations(self.tenant(), filter).await?.items.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn erasures(&self) -> StoreResult<Vec<Erasure>> {
        kept_setting(&self.store, self.tenant(), ERASURES_SETTING).await
    }

    /// In the place of the one that was there for the same user.
    async fn save_erasure(&self, erasure: Erasure) -> StoreResult<()> {
        let _changing = ERASING.lock().await;
        let mut all = self.erasures().await?;
        all.retain(|one| one.user_id != erasure.user_id);
        all.push(erasure);
        self.store.set_setting(self.tenant(), ERASURES_SETTING, &json!(all)).await
    }

    async fn write_export(&self, user: &User, lines: &mut Lines) -> AppResult<()> {
        let account = json!({
            "id": user.id, "email": user.email, "name": user.name, "role": user.role,
            "created_at": user.created_at, "disabled_at": user.disabled_at, "last_login_at": user.last_login_at,
        });
        line(lines, "account", account).await?;
        for group in self.access.groups_of(user.id).await? {
            line(lines, "group", json!({"id": group.id, "name": group.name})).await?;
        }
        for session in self.access.sessions(user.id).await? {
            let shown = json!({"label": session.label, "began_at": session.created_at, "ends_at": session.expires_at});
            line(lines, "session", shown).await?;
        }
        for key in self.store.keys(self.tenant(), Some(user.id), None, 1000).await?.items {
            line(lines, "key", json!(key)).await?;
        }
        self.export_documents(user.id, lines).await?;
        self.export_kept(user.id, lines).await?;
        for deleted in [false, true] {
            self.export_conversations(user.id, deleted, lines).await?;
        }
        self.export_runs(user.id, lines).await?;
        let filter = AuditFilter { actor: Some(user.email.clone()), ..AuditFilter::default() };
        let mut pages = self.audit_pages(filter);
        while let Some(page) = pages.try_next().await? {
            for entry in &page {
                line(lines, "audit", json!(entry)).await?;
            }
        }
        Ok(())
    }

    async fn export_conversations(&self, user: UserId, deleted: bool, lines: &mut Lines) -> AppResult<()> {
        let mut before: Option<ConversationId> = None;
        loop {
            let filter =
                ConversationFilter { user: Some(user), deleted, before, limit: PAGE, ..ConversationFilter::default() };
            let page: Page<Conversation> = self.store.conversations(self.tenant(), filter).await?;
            for conversation in &page.items {
                let messages = self.store.messages(self.tenant(), conversation.id).await?;
                let mut shown = json!(conversation);
                shown["messages"] = json!(messages);
                line(lines, "conversation", shown).await?;
            }
            match page.items.last().filter(|_| page.more) {
                Some(last) => before = Some(last.id),
                None => return Ok(()),
            }
        }
    }

    async fn export_runs(&self, user: UserId, lines: &mut Lines) -> AppResult<()> {
        let mut before = None;
        loop {
            let page = self.runs_of(user, None, before).await?;
            for run in &page.items {
                line(lines, "run", json!(run)).await?;
                let mut after = 0;
                loop {
                    let events = self.store.events(self.tenant(), run.id, after, PAGE).await?;
                    let Some(last) = events.last() else { break };
                    after = last.event.seq;
                    for stored in &events {
                        line(lines, "event", json!(stored.event)).await?;
                    }
                }
            }
            match page.items.last().filter(|_| page.more) {
                Some(last) => before = Some(last.id),
                None => return Ok(()),
            }
        }
    }
}

type Lines = Sender<AppResult<Bytes>>;

async fn line(lines: &mut Lines, kind: &str, value: Value) -> AppResult<()> {
    let text = format!("{}\n", Value::from_iter([("kind", Value::from(kind)), ("data", value)]));
    lines.send(Ok(Bytes::from(text))).await.map_err(|_| AppError::unavailable("the client went away"))
}

fn filter_of(user: UserId, kind: RetainedKind) -> RetainedFilter {
    RetainedFilter { kind, before: None, user: Some(user), deleted_only: false, after: None, limit: PAGE }
}

fn kept_by(hold: &LegalHold) -> String {
    format!("a hold keeps their data: {}", hold.reason)
}

fn counted(kind: &str, count: usize) -> KindCount {
    KindCount { kind: kind.to_owned(), count: count as u64 }
}

/// What stands in the place of a name: the same wherever the person was named, and nothing that leads to them.
fn stand_in(id: UserId) -> String {
    let hash = hash::sha256(id.to_string().as_bytes());
    format!("erased-{}", &hash[..12])
}

/// How others may have written of them, in capital letters or small ones: the email, and a name of several words.
fn names_of(user: &User) -> Vec<String> {
    let mut texts = vec![user.email.clone()];
    let name = user.name.trim();
    if name.contains(' ') && name.chars().count() >= SHORTEST_NAME {
        texts.push(name.to_owned());
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::{names_of, stand_in};
    use steward_core::ports::{Role, User};
    use steward_core::{Timestamp, UserId};
    use uuid::Uuid;

    #[test]
    fn a_single_word_is_no_name_to_look_for() {
        let user = |name| User::new(UserId(Uuid::from_u128(1)), "ada@example.org", name, Role::Viewer, Timestamp(0));
        assert_eq!(names_of(&user("Ada")), ["ada@example.org"]);
        assert_eq!(names_of(&user("Ada King")), ["ada@example.org", "Ada King"]);
        assert_eq!(stand_in(UserId(Uuid::from_u128(1))).len(), "erased-".len() + 12);
    }
}
