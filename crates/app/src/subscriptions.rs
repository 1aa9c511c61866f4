//! Subscriptions: addresses that are told of what happens. What happened is read from the audit trail; each message is kept
//! until it arrived or is given up.

mod happenings;
mod messages;
mod secrets;
mod work;

pub(crate) use work::keep_subscriptions;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::dto::schedules::SchedulePauseInput;
use crate::dto::subscriptions::{
    Dispatch, Happening, HappeningKind, MessageForm, MessageLanguage, Subscription, SubscriptionInput,
    SubscriptionWithSecret,
};
use crate::inputs::checked_name;
use crate::unattended::{OwnerNames, read_kept, to_kept};
use happenings::word_of;
use messages::{message_of, post_message};
use secrets::Opened;
use serde_json::json;
use steward_core::ports::{NewDispatch, Page, SubscriptionBody, SubscriptionFilter, SubscriptionRow};
use steward_core::{DispatchId, SubscriptionId};
use steward_schedule::Pause;
use url::Url;

/// How many subscriptions a user may have.
const MAX_SUBSCRIPTIONS: u64 = 50;
const MAX_ADDRESS: usize = 2_000;
const MAX_LINK_BASE: usize = 300;
/// Tries of a change that others overtake.
const TRIES: u32 = 10;

impl App {
    /// Newest first: one's own, or everybody's for those who see all.
    pub async fn subscriptions(
        &self,
        caller: &Caller,
        (mine, deleted): (bool, bool),
        before: Option<SubscriptionId>,
        limit: u32,
    ) -> AppResult<Page<Subscription>> {
        authorize(caller, Action::Read, Resource::Subscriptions)?;
        let own = mine.then(|| caller.user());
        let owner = own.or_else(|| listed_owner(caller, Resource::Subscriptions));
        let filter = SubscriptionFilter { owner, deleted, before, limit };
        let page = self.store.subscriptions(self.tenant(), &filter).await?;
        let mut names = OwnerNames::default();
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            items.push(self.show_subscription(caller, row, &mut names).await?);
        }
        Ok(Page { items, more: page.more })
    }

    pub async fn subscription(&self, caller: &Caller, id: SubscriptionId) -> AppResult<Subscription> {
        let row = self.subscription_of(caller, Action::Read, id).await?;
        self.show_subscription(caller, row, &mut OwnerNames::default()).await
    }

    /// With the secret that signs its messages, which is shown this once.
    pub async fn create_subscription(
        &self,
        caller: &Caller,
        input: SubscriptionInput,
    ) -> AppResult<SubscriptionWithSecret> {
        authorize(caller, Action::Write, Resource::Subscriptions)?;
        if caller.principal.key.is_some() {
            let hint = "log in, or use an API key of the user instead";
            return Err(AppError::forbidden("a virtual key can't make or change subscriptions", hint));
        }
        self.require_disk_room()?;
        self.check_subscription_count(caller).await?;
        let Some(address) = &input.address else {
            return Err(AppError::invalid("address", "an address is missing", "say where messages are sent"));
        };
        let mut opened = Opened::new(&address.0, input.token.as_ref().map(|token| token.0.as_str()));
        let mut body = self.subscription_body(&input, &opened, None)?;
        self.make_messages_until_now().await?;
        let (now, id) = (self.now(), SubscriptionId(self.new_id()));
        let secret = (input.form == MessageForm::Standard).then(|| self.add_signing(&mut body, &mut opened));
        self.keep_opened(id, &opened).await?;
        let row = SubscriptionRow {
            id,
            owner: caller.user(),
            body,
            revision: 1,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        if let Err(error) = self.store.create_subscription(self.tenant(), &row).await {
            self.forget_opened(id).await;
            return Err(error.into());
        }
        self.automation.told.notify_one();
        Ok(SubscriptionWithSecret { subscription: self.subscription(caller, id).await?, secret })
    }

    /// Only its owner may: what they may see is told.
    pub async fn replace_subscription(
        &self,
        caller: &Caller,
        id: SubscriptionId,
        input: SubscriptionInput,
    ) -> AppResult<Subscription> {
        let _changing = self.automation.hooks.changing_secrets.lock().await;
        for _ in 0..TRIES {
            let mut row = self.own_subscription(caller, id).await?;
            let mut opened = match self.opened(id).await {
                // It works again with an address given anew.
                Err(error) if error.detail.code == Some("address_gone") && input.address.is_some() => {
                    Opened::new("", None)
                }
                opened => opened?,
            };
            if let Some(address) = &input.address {
                let before = std::mem::replace(&mut opened.address, address.0.trim().to_owned());
                // A token is for one service, and never goes to another.
                if origin_of(&before) != origin_of(&opened.address) {
                    opened.token = None;
                }
            }
            if let Some(token) = &input.token {
                opened.token = Some(token.0.trim().to_owned()).filter(|token| !token.is_empty());
            }
            let mut body = self.subscription_body(&input, &opened, Some(&row.body))?;
            body.secrets.retain(|one| opened.secrets.iter().any(|known| known.id == one.id));
            if input.form == MessageForm::Standard && body.secrets.is_empty() {
                self.add_signing(&mut body, &mut opened);
            }
            row = SubscriptionRow { body, updated_at: self.now(), ..row };
            self.keep_opened(id, &opened).await?;
            if self.store.change_subscription(self.tenant(), &row).await? {
                return self.subscription(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// It rests: what happens meanwhile isn't told.
    pub async fn pause_subscription(
        &self,
        caller: &Caller,
        id: SubscriptionId,
        input: &SchedulePauseInput,
    ) -> AppResult<Subscription> {
        self.live_subscription(caller, Action::Operate, id).await?;
        let pause = Pause::by_person(self.now(), &input.note);
        let pause = pause.map_err(|error| AppError::invalid(error.part, error.problem, error.hint))?;
        self.change_subscription_pause(caller, id, Some(pause)).await
    }

    /// It works again, from now on.
    pub async fn resume_subscription(&self, caller: &Caller, id: SubscriptionId) -> AppResult<Subscription> {
        self.own_subscription(caller, id).await?;
        self.make_messages_until_now().await?;
        self.change_subscription_pause(caller, id, None).await
    }

    /// Nothing is sent any more; what was sent stays to be seen, and so does the way back.
    pub async fn delete_subscription(&self, caller: &Caller, id: SubscriptionId) -> AppResult<()> {
        for _ in 0..TRIES {
            let mut row = self.live_subscription(caller, Action::Operate, id).await?;
            let now = self.now();
            row = SubscriptionRow { deleted_at: Some(now), updated_at: now, ..row };
            if self.store.change_subscription(self.tenant(), &row).await? {
                self.store.give_up_dispatches(self.tenant(), id, "the subscription was deleted").await?;
                return Ok(());
            }
        }
        Err(overtaken())
    }

    /// Brings a deleted one back; what happened meanwhile isn't told.
    pub async fn restore_subscription(&self, caller: &Caller, id: SubscriptionId) -> AppResult<Subscription> {
        for _ in 0..TRIES {
            let mut row = self.subscription_of(caller, Action::Write, id).await?;
            only_owner(caller, &row)?;
            if row.deleted_at.is_none() {
                let hint = "there is nothing to do";
                return Err(AppError::conflict("not_deleted", "this subscription isn't deleted", hint));
            }
            self.check_subscription_count(caller).await?;
            self.make_messages_until_now().await?;
            row = SubscriptionRow { deleted_at: None, updated_at: self.now(), ..row };
            if self.store.change_subscription(self.tenant(), &row).await? {
                self.automation.told.notify_one();
                return self.subscription(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// Sends a message that says that it is one.
    pub async fn test_subscription(&self, caller: &Caller, id: SubscriptionId) -> AppResult<Dispatch> {
        let row = self.own_subscription(caller, id).await?;
        let now = self.now();
        let happening = Happening {
            seq: 0,
            kind: HappeningKind::Test,
            at: now,
            subject: id.to_string(),
            run_id: None,
            actor: caller.by(),
            name: row.body.name,
            result: "ok".to_owned(),
            detail: json!({}),
        };
        let new = NewDispatch {
            id: DispatchId(self.new_id()),
            subscription: id,
            seq: 0,
            kind: word_of(HappeningKind::Test),
            subject: format!("test {}", self.new_id()),
            body: json!(happening),
        };
        let dispatch = new.id;
        self.store.make_dispatch(self.tenant(), now, new).await?;
        self.automation.told.notify_one();
        self.dispatch_of(id, dispatch).await
    }

    /// Newest first. `failed`: only what was given up.
    pub async fn subscription_dispatches(
        &self,
        caller: &Caller,
        id: SubscriptionId,
        failed: bool,
        before: Option<DispatchId>,
        limit: u32,
    ) -> AppResult<Page<Dispatch>> {
        let row = self.subscription_of(caller, Action::Read, id).await?;
        only_owner(caller, &row)?;
        let page = self.store.dispatches(self.tenant(), id, failed, before, limit).await?;
        Ok(Page { items: page.items.into_iter().map(Into::into).collect(), more: page.more })
    }

    /// Has a message sent once more, whatever became of it.
    pub async fn send_dispatch_again(
        &self,
        caller: &Caller,
        id: SubscriptionId,
        dispatch: DispatchId,
    ) -> AppResult<Dispatch> {
        self.own_subscription(caller, id).await?;
        if !self.store.send_dispatch_again(self.tenant(), id, dispatch, self.now()).await? {
            return Err(AppError::not_found(format!("message {dispatch}")));
        }
        self.automation.told.notify_one();
        self.dispatch_of(id, dispatch).await
    }

    async fn dispatch_of(&self, id: SubscriptionId, dispatch: DispatchId) -> AppResult<Dispatch> {
        let found = self.store.dispatch(self.tenant(), id, dispatch).await?;
        found.map(Into::into).ok_or_else(|| AppError::not_found(format!("message {dispatch}")))
    }

    async fn change_subscription_pause(
        &self,
        caller: &Caller,
        id: SubscriptionId,
        pause: Option<Pause>,
    ) -> AppResult<Subscription> {
        for _ in 0..TRIES {
            let mut row = self.live_subscription(caller, Action::Operate, id).await?;
            row.body.pause = pause.as_ref().map(to_kept);
            row = SubscriptionRow { updated_at: self.now(), ..row };
            if self.store.change_subscription(self.tenant(), &row).await? {
                if pause.is_some() {
                    self.store.give_up_dispatches(self.tenant(), id, "the subscription was paused").await?;
                }
                return self.subscription(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// What is kept of what was sent, checked.
    fn subscription_body(
        &self,
        input: &SubscriptionInput,
        opened: &Opened,
        before: Option<&SubscriptionBody>,
    ) -> AppResult<SubscriptionBody> {
        let name = checked_name(&input.name)?;
        let token = opened.token.as_deref().unwrap_or_default();
        for (field, text) in [("address", opened.address.as_str()), ("token", token)] {
            if text.len() > MAX_ADDRESS {
                let title = format!("it has more than {MAX_ADDRESS} bytes");
                return Err(AppError::invalid(field, title, "copy it from the service once more"));
            }
        }
        let url = Url::parse(&opened.address).map_err(|error| {
            AppError::invalid("address", format!("the address can't be read: {error}"), ADDRESS_HINT)
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(AppError::invalid("address", "the address is none of the web", ADDRESS_HINT));
        }
        if !url.username().is_empty() || url.password().is_some() {
            let hint = "leave them out; give the service's token as `token`";
            return Err(AppError::invalid("address", "a name or password stands in the address", hint));
        }
        let link_base = input.link_base.as_deref().map(str::trim).filter(|base| !base.is_empty());
        if link_base.is_some_and(|base| {
            base.len() > MAX_LINK_BASE || !Url::parse(base).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        }) {
            let hint = "such as https://steward.example.org; leave it out to have no links";
            return Err(AppError::invalid("link_base", "`link_base` is no address of the web", hint));
        }
        if input.kinds.contains(&HappeningKind::Test) {
            let hint = "POST /api/subscriptions/{id}/test sends one";
            return Err(AppError::invalid("kinds", "`test` can't be chosen: nothing happens", hint));
        }
        // What the form wants of the address, before anything happens.
        let trial = trial_of(&name, self.now());
        let message = message_of(&trial, input.language, link_base);
        let target = (opened.address.as_str(), opened.token.as_deref());
        post_message(input.form, target, "1", &trial, &message)
            .map_err(|problem| AppError::invalid("address", problem, "copy it from the service once more"))?;
        if matches!(input.form, MessageForm::Matrix | MessageForm::Gotify) && opened.token.is_none() {
            return Err(AppError::invalid("token", "this service asks for a token", "make one there and paste it"));
        }
        let mut kinds = input.kinds.clone();
        kinds.sort_unstable();
        kinds.dedup();
        Ok(SubscriptionBody {
            name,
            form: to_kept(&input.form),
            place: url.origin().ascii_serialization(),
            kinds: kinds.into_iter().map(word_of).collect(),
            all: input.all,
            language: if input.language == MessageLanguage::De { "de".to_owned() } else { "en".to_owned() },
            pause: before.and_then(|before| before.pause.clone()),
            link_base: link_base.map(str::to_owned),
            secrets: before.map(|before| before.secrets.clone()).unwrap_or_default(),
        })
    }

    async fn check_subscription_count(&self, caller: &Caller) -> AppResult<()> {
        if self.store.count_subscriptions(self.tenant(), caller.user()).await? < MAX_SUBSCRIPTIONS {
            return Ok(());
        }
        let title = format!("you have {MAX_SUBSCRIPTIONS} subscriptions, which is the limit");
        Err(AppError::conflict("too_many_subscriptions", title, "delete those that you don't need"))
    }

    /// A deleted one, too.
    async fn subscription_of(&self, caller: &Caller, action: Action, id: SubscriptionId) -> AppResult<SubscriptionRow> {
        authorize(caller, action, Resource::Subscriptions)?;
        let found = self.store.subscription(self.tenant(), id).await?;
        let row = found.ok_or_else(|| AppError::not_found(format!("subscription {id}")))?;
        authorize(caller, action, Resource::Subscription { id, owner: row.owner })?;
        Ok(row)
    }

    async fn live_subscription(
        &self,
        caller: &Caller,
        action: Action,
        id: SubscriptionId,
    ) -> AppResult<SubscriptionRow> {
        let row = self.subscription_of(caller, action, id).await?;
        if row.deleted_at.is_some() {
            let title = format!("subscription {id} is deleted");
            return Err(AppError::conflict("deleted", title, "restore it first"));
        }
        Ok(row)
    }

    async fn own_subscription(&self, caller: &Caller, id: SubscriptionId) -> AppResult<SubscriptionRow> {
        let row = self.live_subscription(caller, Action::Write, id).await?;
        only_owner(caller, &row)?;
        Ok(row)
    }

    async fn show_subscription(
        &self,
        caller: &Caller,
        row: SubscriptionRow,
        owners: &mut OwnerNames,
    ) -> AppResult<Subscription> {
        let own = row.owner == caller.user() && caller.principal.key.is_none();
        // What is told of the owner's runs is the owner's to see.
        let last =
            if own { self.store.dispatches(self.tenant(), row.id, false, None, 1).await?.items.pop() } else { None };
        let owner = self.owner_name(row.owner, owners).await?;
        let pause: Option<Pause> = row.body.pause.as_ref().map(read_kept).transpose()?;
        let kinds = row.body.kinds.iter().map(|kind| read_kept(&json!(kind)));
        Ok(Subscription {
            id: row.id,
            name: row.body.name,
            owner_id: row.owner,
            owner,
            form: read_kept(&row.body.form)?,
            place: row.body.place,
            kinds: kinds.collect::<AppResult<_>>()?,
            all: row.body.all,
            language: language_of(&row.body.language),
            link_base: row.body.link_base,
            pause: pause.map(Into::into),
            secrets: row.body.secrets,
            last: last.map(Into::into),
            may_change: own,
            created_at: row.created_at,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
        })
    }
}

fn origin_of(address: &str) -> Option<String> {
    Url::parse(address).ok().map(|url| url.origin().ascii_serialization())
}

const ADDRESS_HINT: &str = "it begins with https:// (or http:// inside the house)";

fn language_of(word: &str) -> MessageLanguage {
    if word == "de" { MessageLanguage::De } else { MessageLanguage::En }
}

fn trial_of(name: &str, at: steward_core::Timestamp) -> Happening {
    Happening {
        seq: 0,
        kind: HappeningKind::Test,
        at,
        subject: String::new(),
        run_id: None,
        actor: String::new(),
        name: name.to_owned(),
        result: "ok".to_owned(),
        detail: json!({}),
    }
}

fn only_owner(caller: &Caller, row: &SubscriptionRow) -> AppResult<()> {
    if row.owner == caller.user() && caller.principal.key.is_none() {
        return Ok(());
    }
    let hint = "ask its owner, or make a subscription of your own; operators may pause and delete it";
    Err(AppError::forbidden("only its owner may change a subscription or read what it told", hint))
}

fn overtaken() -> AppError {
    AppError::conflict("changed_meanwhile", "the subscription is being changed by others at the moment", "try again")
}
