//! Webhooks that come in: what starts runs when somebody else's program calls. How senders sign, which deliveries count and
//! what is filled into a request says the room `hooks`; here they are kept, received, started and shown.

mod receive;
mod secrets;
mod work;

pub use receive::{HookCall, Received};
pub(crate) use work::keep_hooks;

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize, listed_owner};
use crate::dto::hooks::{
    Hook, HookDelivery, HookDeliveryContent, HookInput, HookPreview, HookPreviewInput, HookWithSecret,
};
use crate::dto::schedules::SchedulePauseInput;
use crate::inputs::checked_name;
use crate::unattended::{MAX_FAILURES, MAX_REQUEST, OwnerNames, outcome_of, read_kept, to_kept};
use steward_core::ports::{
    Accepted, DeliveryContent, DeliveryKey, DeliveryRow, HookBody, HookFilter, HookRow, NewDelivery, Page,
};
use steward_core::{AgentId, DeliveryId, HookId};
use steward_hooks::{
    Filter, Headers, Place, Signing, check_filters, check_template, fill_template, find_event_id, read_payload,
};
use steward_schedule::{Pause, count_failures};

/// How many webhooks a user may have.
const MAX_HOOKS: u64 = 200;
const MAX_FILTERS: usize = 20;
/// Longest JSON of a filter or of a place, bytes.
const MAX_FILTER_BYTES: usize = 4_000;
const WINDOW: std::ops::RangeInclusive<u32> = 10..=86_400;
/// What stands around the id of a delivery that was taken once more, before what its sender called it.
const REPLAY: &str = "replay ";
const OF: &str = " of ";
/// Tries of a change that others overtake.
const TRIES: u32 = 10;

/// Which webhooks a list holds.
#[derive(Debug, Default)]
pub struct HookSearch {
    /// Of the caller only, even if they see all.
    pub mine: bool,
    pub agent: Option<AgentId>,
    pub deleted: bool,
    pub before: Option<HookId>,
    pub limit: u32,
}

/// What is kept of a webhook, read.
struct Kept {
    signing: Signing,
    event_id: Option<Place>,
    filters: Vec<Filter>,
    pause: Option<Pause>,
}

impl Kept {
    fn read(body: &HookBody) -> AppResult<Self> {
        Ok(Self {
            signing: read_kept(&body.signing)?,
            event_id: body.event_id.as_ref().map(read_kept).transpose()?,
            filters: body.filters.iter().map(read_kept).collect::<AppResult<_>>()?,
            pause: body.pause.as_ref().map(read_kept).transpose()?,
        })
    }
}

impl App {
    /// Newest first: one's own, or everybody's for those who see all.
    pub async fn hooks(&self, caller: &Caller, search: HookSearch) -> AppResult<Page<Hook>> {
        authorize(caller, Action::Read, Resource::Hooks)?;
        let own = search.mine.then(|| caller.user());
        let filter = HookFilter {
            owner: own.or_else(|| listed_owner(caller, Resource::Hooks)),
            agent: search.agent,
            deleted: search.deleted,
            before: search.before,
            limit: search.limit,
        };
        let page = self.store.hooks(self.tenant(), &filter).await?;
        let mut names = OwnerNames::default();
        let mut items = Vec::with_capacity(page.items.len());
        for row in page.items {
            items.push(self.show_hook(caller, row, &mut names).await?);
        }
        Ok(Page { items, more: page.more })
    }

    pub async fn hook(&self, caller: &Caller, id: HookId) -> AppResult<Hook> {
        let row = self.hook_of(caller, Action::Read, id).await?;
        self.show_hook(caller, row, &mut OwnerNames::default()).await
    }

    /// With its secret, which is shown this once.
    pub async fn create_hook(&self, caller: &Caller, input: HookInput) -> AppResult<HookWithSecret> {
        authorize(caller, Action::Write, Resource::Hooks)?;
        // It works with all rights of its owner, which a key for some of them must not open.
        if caller.principal.key.is_some() {
            let hint = "log in, or use an API key of the user instead";
            return Err(AppError::forbidden("a virtual key can't make or change webhooks", hint));
        }
        self.require_disk_room()?;
        self.check_hook_count(caller).await?;
        let mut body = self.hook_body(caller, &input, None).await?;
        let (now, id) = (self.now(), HookId(self.new_id()));
        let secret = self.add_secret(id, &mut body, input.secret).await?;
        let row = HookRow {
            id,
            owner: caller.user(),
            agent: input.agent_id,
            body,
            resumed_at: now,
            revision: 1,
            created_at: now,
            updated_at: now,
            deleted_at: None,
        };
        if let Err(error) = self.store.create_hook(self.tenant(), &row).await {
            self.forget_secrets(id).await;
            return Err(error.into());
        }
        Ok(HookWithSecret { hook: self.hook(caller, id).await?, secret: Some(secret) })
    }

    /// Only its owner may: it works with their rights. Its secrets stay.
    pub async fn replace_hook(&self, caller: &Caller, id: HookId, input: HookInput) -> AppResult<Hook> {
        if input.secret.is_some() {
            let hint = "leave `secret` out here, and add one with POST /api/hooks/{id}/secrets";
            return Err(AppError::invalid("secret", "a change doesn't change secrets", hint));
        }
        for _ in 0..TRIES {
            let mut row = self.own_hook(caller, id).await?;
            let mut body = self.hook_body(caller, &input, Some(&row.body)).await?;
            if row.body.signing != body.signing {
                self.check_known_secrets(id, &input.signing).await?;
            }
            body.secrets.clone_from(&row.body.secrets);
            row = HookRow { agent: input.agent_id, body, updated_at: self.now(), ..row };
            if self.change_hook(&row).await? {
                return self.hook(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// It rests: what comes meanwhile is kept and skipped.
    pub async fn pause_hook(&self, caller: &Caller, id: HookId, input: &SchedulePauseInput) -> AppResult<Hook> {
        self.live_hook(caller, Action::Operate, id).await?;
        let pause = Pause::by_person(self.now(), &input.note);
        let pause = pause.map_err(|error| AppError::invalid(error.part, error.problem, error.hint))?;
        self.change_hook_pause(caller, id, Some(pause)).await
    }

    /// It works again; failures count anew.
    pub async fn resume_hook(&self, caller: &Caller, id: HookId) -> AppResult<Hook> {
        self.own_hook(caller, id).await?;
        self.change_hook_pause(caller, id, None).await
    }

    /// It answers nobody any more; its runs and deliveries stay, and so does the way back.
    pub async fn delete_hook(&self, caller: &Caller, id: HookId) -> AppResult<()> {
        for _ in 0..TRIES {
            let mut row = self.live_hook(caller, Action::Operate, id).await?;
            let now = self.now();
            row = HookRow { deleted_at: Some(now), updated_at: now, ..row };
            if self.change_hook(&row).await? {
                return Ok(());
            }
        }
        Err(overtaken())
    }

    /// Brings a deleted one back, as it was.
    pub async fn restore_hook(&self, caller: &Caller, id: HookId) -> AppResult<Hook> {
        for _ in 0..TRIES {
            let mut row = self.hook_of(caller, Action::Write, id).await?;
            only_owner(caller, &row)?;
            if row.deleted_at.is_none() {
                return Err(AppError::conflict("not_deleted", "this webhook isn't deleted", "there is nothing to do"));
            }
            self.check_hook_count(caller).await?;
            row = HookRow { deleted_at: None, updated_at: self.now(), ..row };
            if self.change_hook(&row).await? {
                return self.hook(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// What a call would do, without doing it.
    pub async fn preview_hook(&self, caller: &Caller, id: HookId, input: HookPreviewInput) -> AppResult<HookPreview> {
        let row = self.hook_of(caller, Action::Read, id).await?;
        let kept = Kept::read(&row.body)?;
        let all = Headers::new(input.headers);
        let headers = kept.signing.remove_credentials(&all);
        let payload = read_payload(headers.get("content-type"), input.body.as_bytes());
        let payload = payload.map_err(|error| AppError::invalid("body", error.problem, error.hint))?;
        let event = find_event_id(&kept.signing, kept.event_id.as_ref(), &all, &payload);
        let call = HookCall { headers, body: input.body.into_bytes().into(), received_at: self.now() };
        let passes = check_filters(&kept.filters, &call.headers, &payload);
        let paused = kept.pause.map(|_| "the webhook is paused".to_owned());
        let reason = passes.err().or(paused);
        let told = event.clone().unwrap_or_default();
        let values = receive::values(&row.body.name, &told, &call, &payload);
        let request = fill_template(&row.body.request, &values.borrow());
        Ok(HookPreview { starts: reason.is_none(), reason, event, request })
    }

    /// Newest first.
    pub async fn hook_deliveries(
        &self,
        caller: &Caller,
        id: HookId,
        before: Option<DeliveryId>,
        limit: u32,
    ) -> AppResult<Page<HookDelivery>> {
        self.hook_of(caller, Action::Read, id).await?;
        let page = self.store.deliveries(self.tenant(), id, before, limit).await?;
        Ok(Page { items: page.items.into_iter().map(Into::into).collect(), more: page.more })
    }

    /// With what was sent, which only its owner sees.
    pub async fn hook_delivery(&self, caller: &Caller, key: DeliveryKey) -> AppResult<HookDeliveryContent> {
        let row = self.hook_of(caller, Action::Read, key.hook).await?;
        only_owner(caller, &row)?;
        Ok(self.delivery_of(key).await?.into())
    }

    /// Takes what was sent as if it came once more, whatever became of it.
    pub async fn replay_delivery(&self, caller: &Caller, key: DeliveryKey) -> AppResult<HookDelivery> {
        self.own_hook(caller, key.hook).await?;
        self.require_disk_room()?;
        let row = self.delivery_of(key).await?;
        let Some(content) = row.content else {
            let hint = "ask its sender to send it again; the latest contents of a webhook are kept, up to 64 MiB";
            return Err(AppError::conflict("content_gone", "what was sent isn't kept any more", hint));
        };
        let id = DeliveryId(self.new_id());
        let new = NewDelivery {
            id,
            hook: key.hook,
            event: format!("{REPLAY}{id}{OF}{}", row.event).chars().take(400).collect(),
            received_at: self.now(),
            bytes: row.bytes,
            content,
            fate: None,
            most_waiting: receive::MAX_WAITING,
        };
        if self.store.accept_delivery(self.tenant(), new).await? == Accepted::Full {
            return Err(receive::full());
        }
        self.automation.hooks.note_kept(key.hook);
        self.automation.hooks.delivered.notify_one();
        Ok(self.delivery_of(DeliveryKey { delivery: id, ..key }).await?.into())
    }

    async fn delivery_of(&self, key: DeliveryKey) -> AppResult<DeliveryRow> {
        let found = self.store.delivery(self.tenant(), key).await?;
        found.ok_or_else(|| AppError::not_found(format!("delivery {}", key.delivery)))
    }

    async fn change_hook_pause(&self, caller: &Caller, id: HookId, pause: Option<Pause>) -> AppResult<Hook> {
        for _ in 0..TRIES {
            let mut row = self.live_hook(caller, Action::Operate, id).await?;
            let now = self.now();
            row.body.pause = pause.as_ref().map(to_kept);
            if pause.is_none() {
                row.resumed_at = now;
            }
            row = HookRow { updated_at: now, ..row };
            if self.change_hook(&row).await? {
                return self.hook(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// `false`: others were faster. What is known of it is looked up anew.
    async fn change_hook(&self, row: &HookRow) -> AppResult<bool> {
        let changed = self.store.change_hook(self.tenant(), row).await?;
        self.automation.hooks.forget(row.id);
        Ok(changed)
    }

    /// What is kept of what was sent, checked; without secrets.
    async fn hook_body(&self, caller: &Caller, input: &HookInput, before: Option<&HookBody>) -> AppResult<HookBody> {
        let name = checked_name(&input.name)?;
        let length = input.request.chars().count();
        if input.request.trim().is_empty() || length > MAX_REQUEST {
            let title = format!("a request has 1 to {MAX_REQUEST} characters");
            return Err(AppError::invalid("request", title, "say what the agent is to do each time"));
        }
        check_template(&input.request).map_err(|error| AppError::invalid("request", error.problem, error.hint))?;
        if !WINDOW.contains(&input.window_seconds) {
            let title = format!("{} seconds aren't allowed", input.window_seconds);
            let hint = format!("choose {} to {}; 300 is usual", WINDOW.start(), WINDOW.end());
            return Err(AppError::invalid("window_seconds", title, hint));
        }
        if input.pause_after_failures.is_some_and(|count| !(1..=MAX_FAILURES).contains(&count)) {
            let hint = format!("choose 1 to {MAX_FAILURES}, or null for never");
            return Err(AppError::invalid("pause_after_failures", "it can't rest after so many runs", hint));
        }
        check_places(input)?;
        let filters: Vec<_> = input.filters.iter().map(to_kept).collect();
        let event_id = input.event_id.as_ref().map(to_kept);
        if filters.len() > MAX_FILTERS
            || filters.iter().chain(&event_id).any(|one| one.to_string().len() > MAX_FILTER_BYTES)
        {
            let title = format!("there are more than {MAX_FILTERS} filters, or one has over {MAX_FILTER_BYTES} bytes");
            return Err(AppError::invalid(
                "filters",
                title,
                "use fewer or shorter ones; `one_of` takes several values",
            ));
        }
        self.agent_for(caller, Action::Ask, input.agent_id).await.map_err(|error| match error.kind {
            ErrorKind::NotFound => {
                AppError::invalid("agent_id", error.detail.title, "GET /api/agents tells which agents there are")
            }
            _ => error.field("agent_id"),
        })?;
        Ok(HookBody {
            name,
            request: input.request.clone(),
            signing: to_kept(&input.signing),
            window_seconds: input.window_seconds,
            event_id,
            filters,
            pause_after_failures: input.pause_after_failures,
            pause: before.and_then(|before| before.pause.clone()),
            secrets: Vec::new(),
        })
    }

    async fn check_hook_count(&self, caller: &Caller) -> AppResult<()> {
        if self.store.count_hooks(self.tenant(), caller.user()).await? < MAX_HOOKS {
            return Ok(());
        }
        let title = format!("you have {MAX_HOOKS} webhooks, which is the limit");
        Err(AppError::conflict("too_many_hooks", title, "delete those that you don't need"))
    }

    /// A deleted one, too.
    async fn hook_of(&self, caller: &Caller, action: Action, id: HookId) -> AppResult<HookRow> {
        authorize(caller, action, Resource::Hooks)?;
        let found = self.store.hook(self.tenant(), id).await?;
        let row = found.ok_or_else(|| AppError::not_found(format!("webhook {id}")))?;
        authorize(caller, action, Resource::Hook { id, owner: row.owner })?;
        Ok(row)
    }

    async fn live_hook(&self, caller: &Caller, action: Action, id: HookId) -> AppResult<HookRow> {
        let row = self.hook_of(caller, action, id).await?;
        if row.deleted_at.is_some() {
            let title = format!("webhook {id} is deleted");
            return Err(AppError::conflict("deleted", title, "restore it first"));
        }
        Ok(row)
    }

    async fn own_hook(&self, caller: &Caller, id: HookId) -> AppResult<HookRow> {
        let row = self.live_hook(caller, Action::Write, id).await?;
        only_owner(caller, &row)?;
        Ok(row)
    }

    async fn show_hook(&self, caller: &Caller, row: HookRow, owners: &mut OwnerNames) -> AppResult<Hook> {
        let (kept, tenant) = (Kept::read(&row.body)?, self.tenant());
        let outcomes = self.store.delivery_outcomes(tenant, row.id, row.resumed_at, MAX_FAILURES).await?;
        let last = self.store.deliveries(tenant, row.id, None, 1).await?.items.pop();
        let names = self.agent_names(vec![row.agent]).await?;
        let owner = self.owner_name(row.owner, owners).await?;
        Ok(Hook {
            id: row.id,
            name: row.body.name,
            path: format!("/hooks/{}", row.id),
            owner_id: row.owner,
            owner,
            agent_id: row.agent,
            agent: names.get(row.agent),
            request: row.body.request,
            signing: kept.signing,
            window_seconds: row.body.window_seconds,
            event_id: kept.event_id,
            filters: kept.filters,
            pause_after_failures: row.body.pause_after_failures,
            failures: count_failures(outcomes.iter().map(|outcome| outcome_of(outcome))),
            pause: kept.pause.map(Into::into),
            secrets: row.body.secrets,
            last: last.map(Into::into),
            refused: self.automation.hooks.last_refusal(row.id),
            may_change: row.owner == caller.user() && caller.principal.key.is_none(),
            created_at: row.created_at,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
        })
    }
}

fn only_owner(caller: &Caller, row: &HookRow) -> AppResult<()> {
    if row.owner == caller.user() && caller.principal.key.is_none() {
        return Ok(());
    }
    let hint = "ask its owner, or make a webhook of your own; operators may pause and delete it";
    Err(AppError::forbidden("only its owner may change a webhook or read what came: it works with their rights", hint))
}

/// Refuses to read the sender's secret as anything else: it would stand in the list of deliveries.
fn check_places(input: &HookInput) -> AppResult<()> {
    let Signing::Token { header } = &input.signing else { return Ok(()) };
    let is_secret = |place: &Place| matches!(place, Place::Header(name) if name == header);
    let field = if input.event_id.as_ref().is_some_and(is_secret) {
        "event_id"
    } else if input.filters.iter().any(|filter| is_secret(&filter.place)) {
        "filters"
    } else {
        return Ok(());
    };
    let title = format!("the header `{header}` holds the secret, so nothing else may read it");
    Err(AppError::invalid(field, title, "choose another header, or a place in the payload"))
}

fn overtaken() -> AppError {
    AppError::conflict("changed_meanwhile", "the webhook is being changed by others at the moment", "try again")
}

/// What is kept of a delivery: its body as text, and the headers that hold no secret.
fn content_of(signing: &Signing, call: &HookCall) -> DeliveryContent {
    let headers = signing.remove_credentials(&call.headers);
    DeliveryContent {
        headers: headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: String::from_utf8_lossy(&call.body).into_owned(),
    }
}
