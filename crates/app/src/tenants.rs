//! Tenants: the applications that are open, one for each, and what administrators of the default one do with them.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::audit::keep_audit;
use crate::connections::{ConnectionRegistry, report_refresh};
use crate::dto::tenants::{DeletedTable, DeletedTenant, NewTenant, Tenant, TenantInput, TenantPatch};
use crate::dto::users::InvitedUser;
use crate::hooks::keep_hooks;
use crate::inputs::is_line;
use crate::retention::keep_data;
use crate::schedules::keep_schedules;
use crate::subscriptions::keep_subscriptions;
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;
use steward_core::locks::{read, write};
use steward_core::ports::{self, Role, StoreError, StoreResult, TenantChange};
use steward_core::{TenantId, Timestamp};
use steward_store::Store;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Of the default tenant.
const DEFAULT_SLUG: &str = "default";
/// Longest name, characters.
const MAX_NAME: usize = 100;
/// How often tenants are looked for that another node has made, disabled or deleted.
const REREAD: Duration = Duration::from_secs(2);

/// What makes and ends the parts of a tenant.
#[async_trait]
pub trait TenantOpener: Send + Sync {
    /// Opens it, with its background work. The error says what to do.
    async fn open(&self, tenant: &ports::Tenant) -> Result<App, String>;
    /// Ends what it does: runs at work rest, calls under way end.
    async fn close(&self, tenant: TenantId);
    /// Deletes its files; returns how many there were.
    async fn delete_files(&self, tenant: TenantId) -> Result<u64, String>;
}

struct OpenTenant {
    slug: String,
    app: App,
}

struct Inner {
    default: App,
    /// All that are not disabled, but the default one.
    others: RwLock<HashMap<TenantId, OpenTenant>>,
    rows: Arc<Store>,
    opener: Arc<dyn TenantOpener>,
    /// Held while one is made, opened, closed or deleted.
    changing: Mutex<()>,
}

/// The applications of all tenants. A clone is the same.
#[derive(Clone)]
pub struct Tenants(Arc<Inner>);

impl Tenants {
    /// With the default one only; [`Self::open_all`] opens the others.
    pub fn new(default: App, rows: Arc<Store>, opener: Arc<dyn TenantOpener>) -> Self {
        let others = RwLock::default();
        Self(Arc::new(Inner { default, others, rows, opener, changing: Mutex::default() }))
    }

    /// The application of the default tenant, for what is the installation's or nobody's.
    pub fn installation(&self) -> &App {
        &self.0.default
    }

    /// `None`: there is no such tenant, or it is disabled.
    pub fn of(&self, tenant: TenantId) -> Option<App> {
        if tenant == TenantId::DEFAULT {
            return Some(self.0.default.clone());
        }
        read(&self.0.others).get(&tenant).map(|open| open.app.clone())
    }

    /// By slug; without one, the default one. `None`: there is no such tenant, or it is disabled.
    pub fn named(&self, slug: Option<&str>) -> Option<App> {
        let slug = slug.map(str::trim).filter(|slug| !slug.is_empty() && *slug != DEFAULT_SLUG);
        let Some(slug) = slug else { return Some(self.0.default.clone()) };
        read(&self.0.others).values().find(|open| open.slug == slug).map(|open| open.app.clone())
    }

    /// Whether people have to say which one they mean.
    pub fn several(&self) -> bool {
        !read(&self.0.others).is_empty()
    }

    /// All that are open.
    pub fn all(&self) -> Vec<App> {
        let mut all = vec![self.0.default.clone()];
        all.extend(read(&self.0.others).values().map(|open| open.app.clone()));
        all
    }

    /// Opens those that the database has and closes those that it has no more. One that can't be opened is logged, and
    /// tried again with the next call.
    pub async fn open_all(&self) -> StoreResult<()> {
        let _changing = self.0.changing.lock().await;
        let mut rows = self.prepare().await?;
        rows.retain(|row| row.id != TenantId::DEFAULT && row.disabled_at.is_none());
        let gone: Vec<TenantId> =
            read(&self.0.others).keys().copied().filter(|open| !rows.iter().any(|row| row.id == *open)).collect();
        for tenant in gone {
            self.close(tenant).await;
        }
        for row in rows {
            if self.of(row.id).is_none()
                && let Err(why) = self.open(&row).await
            {
                tracing::error!(tenant = row.slug, why, "a tenant can't be opened");
            }
        }
        Ok(())
    }

    /// Makes the row of the default tenant, if there is none. Returns all rows.
    pub async fn prepare(&self) -> StoreResult<Vec<ports::Tenant>> {
        let rows = self.0.rows.tenants().await?;
        if rows.iter().any(|row| row.id == TenantId::DEFAULT) {
            return Ok(rows);
        }
        let row = ports::Tenant {
            id: TenantId::DEFAULT,
            slug: DEFAULT_SLUG.to_owned(),
            name: "Default".to_owned(),
            created_at: self.now(),
            disabled_at: None,
        };
        match self.0.rows.create_tenant(&row).await {
            // Another node was faster.
            Ok(()) | Err(StoreError::Conflict(_)) => self.0.rows.tenants().await,
            Err(error) => Err(error),
        }
    }

    pub async fn list(&self, caller: &Caller) -> AppResult<Vec<Tenant>> {
        authorize(caller, Action::Administer, Resource::Tenants)?;
        Ok(self.prepare().await?.into_iter().map(Tenant::from).collect())
    }

    pub async fn get(&self, caller: &Caller, id: TenantId) -> AppResult<Tenant> {
        authorize(caller, Action::Administer, Resource::Tenants)?;
        Ok(self.row(id).await?.into())
    }

    /// Opens it at once, and invites its first administrator.
    pub async fn create(&self, caller: &Caller, input: TenantInput) -> AppResult<NewTenant> {
        authorize(caller, Action::Administer, Resource::Tenants)?;
        let slug = checked_slug(&input.slug)?;
        let name = input.name.as_deref().map(checked_tenant_name).transpose()?.unwrap_or_else(|| slug.clone());
        let _changing = self.0.changing.lock().await;
        let id = TenantId(self.installation().new_id());
        let row = ports::Tenant { id, slug, name, created_at: self.now(), disabled_at: None };
        self.0.rows.create_tenant(&row).await.map_err(|error| match error {
            StoreError::Conflict(_) => AppError::conflict(
                "slug_taken",
                format!("there is an organisation `{}` already", row.slug),
                "choose another slug",
            )
            .field("slug"),
            other => other.into(),
        })?;
        let made = self.begin(&row, &input.administrator).await;
        let invited = match made {
            Ok(invited) => invited,
            Err(error) => {
                self.take_back(&row).await;
                return Err(error);
            }
        };
        tracing::info!(tenant = row.slug, by = %caller.user(), "a tenant was made");
        Ok(NewTenant::new(row, invited))
    }

    async fn begin(&self, row: &ports::Tenant, administrator: &str) -> AppResult<InvitedUser> {
        let app = self
            .open(row)
            .await
            .map_err(|why| AppError::unavailable(format!("the organisation can't be opened: {why}")))?;
        let invited = app.access.invite(administrator, None, Role::Admin).await.map_err(AppError::from);
        let (user, issued) = invited.map_err(|mut error| {
            if error.detail.field.as_deref() == Some("email") {
                error.detail.field = Some("administrator".to_owned());
            }
            error
        })?;
        Ok(InvitedUser::new(user, issued))
    }

    /// Nothing stays of one that could not be made.
    async fn take_back(&self, row: &ports::Tenant) {
        self.close(row.id).await;
        let disabled = TenantChange { disabled_at: Some(Some(row.created_at)), ..TenantChange::default() };
        let taken_back = match self.0.rows.change_tenant(row.id, &disabled).await {
            Ok(_) => self.0.rows.delete_tenant(row.id).await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = taken_back {
            tracing::error!(%error, tenant = row.slug, "a tenant that could not be made stays, disabled");
        }
        if let Err(error) = self.0.opener.delete_files(row.id).await {
            tracing::error!(error, tenant = row.slug, "files of a tenant that could not be made stay");
        }
    }

    /// Disabling ends its logins, keys, runs at work and streams at once; enabling lets them go on.
    pub async fn change(&self, caller: &Caller, id: TenantId, patch: TenantPatch) -> AppResult<Tenant> {
        authorize(caller, Action::Administer, Resource::Tenants)?;
        let name = patch.name.as_deref().map(checked_tenant_name).transpose()?;
        let _changing = self.0.changing.lock().await;
        let before = self.row(id).await?;
        if id == TenantId::DEFAULT && patch.disabled == Some(true) {
            return Err(default_stays("disabled"));
        }
        let disabled = patch.disabled.filter(|disabled| *disabled != before.disabled_at.is_some());
        let disabled_at = disabled.map(|disabled| disabled.then(|| self.now()));
        let change = TenantChange { name, disabled_at };
        if change == TenantChange::default() {
            return Ok(before.into());
        }
        let changed = self.0.rows.change_tenant(id, &change).await?;
        match disabled {
            Some(true) => self.close(id).await,
            Some(false) => self
                .open(&changed)
                .await
                .map_err(|why| AppError::unavailable(format!("it is enabled, but can't be opened: {why}")))
                .map(drop)?,
            None => {}
        }
        tracing::info!(tenant = changed.slug, disabled, by = %caller.user(), "a tenant was changed");
        Ok(changed.into())
    }

    /// Deletes every row and file of a tenant that is disabled. What was deleted is written into the audit trail of the
    /// default one.
    pub async fn delete(&self, caller: &Caller, id: TenantId, slug: &str) -> AppResult<DeletedTenant> {
        authorize(caller, Action::Administer, Resource::Tenants)?;
        let _changing = self.0.changing.lock().await;
        let row = self.row(id).await?;
        if id == TenantId::DEFAULT {
            return Err(default_stays("deleted"));
        }
        if row.disabled_at.is_none() {
            return Err(AppError::conflict(
                "not_disabled",
                format!("the organisation `{}` is in use", row.slug),
                "disable it first",
            ));
        }
        if slug != row.slug {
            return Err(AppError::invalid(
                "slug",
                "this is not the slug of the organisation",
                "type its slug once more, so that no other is deleted",
            ));
        }
        // Another node may have it open still.
        self.close(id).await;
        let failed = |why: String| AppError::unavailable(format!("its files can't be deleted: {why}"));
        let files = self.0.opener.delete_files(id).await.map_err(failed)?;
        let deleted = self.0.rows.delete_tenant(id).await?;
        let counts: Map<String, Value> =
            deleted.iter().filter(|one| one.rows > 0).map(|one| (one.table.to_owned(), one.rows.into())).collect();
        let home = self.installation();
        let entry = home.audit_entry_of(caller, "tenants.deleted").on(id.to_string());
        home.record_audit(&entry.with("slug", row.slug.clone()).with("rows", counts).with("files", files)).await?;
        tracing::info!(tenant = row.slug, by = %caller.user(), "a tenant was deleted");
        let tables = deleted.into_iter().map(|one| DeletedTable { table: one.table.to_owned(), rows: one.rows });
        Ok(DeletedTenant { tables: tables.collect(), files })
    }

    async fn row(&self, id: TenantId) -> AppResult<ports::Tenant> {
        let found = self.prepare().await?.into_iter().find(|row| row.id == id);
        found.ok_or_else(|| AppError::not_found(format!("organisation {id}")))
    }

    async fn open(&self, row: &ports::Tenant) -> Result<App, String> {
        let app = self.0.opener.open(row).await?;
        let open = OpenTenant { slug: row.slug.clone(), app: app.clone() };
        write(&self.0.others).insert(row.id, open);
        Ok(app)
    }

    /// First nobody finds it any more, then what it does ends.
    async fn close(&self, id: TenantId) {
        let open = write(&self.0.others).remove(&id);
        if let Some(open) = open {
            open.app.closing.cancel();
            self.0.opener.close(id).await;
        }
    }

    /// Ends all but the default one, for a stop of the program.
    pub async fn close_all(&self) {
        let _changing = self.0.changing.lock().await;
        let open: Vec<TenantId> = read(&self.0.others).keys().copied().collect();
        for tenant in open {
            self.close(tenant).await;
        }
    }

    fn now(&self) -> Timestamp {
        self.0.default.now()
    }
}

/// Starts what an open tenant does beside requests; it ends when the tasks are aborted.
pub fn work_in_background(app: &App, connections: Arc<ConnectionRegistry>) -> Vec<JoinHandle<()>> {
    app.automation.begin_work();
    vec![
        tokio::spawn(report_refresh(connections)),
        tokio::spawn(keep_audit(app.clone())),
        tokio::spawn(keep_data(app.clone())),
        tokio::spawn(keep_schedules(app.clone())),
        tokio::spawn(keep_hooks(app.clone())),
        tokio::spawn(keep_subscriptions(app.clone())),
        tokio::spawn(Arc::clone(&app.documents).run(app.closing.clone())),
    ]
}

/// Takes in what other nodes change, for as long as it is polled.
pub async fn keep_tenants(tenants: Tenants) {
    let mut failing = false;
    loop {
        tokio::time::sleep(REREAD).await;
        let done = tenants.open_all().await;
        if let Err(error) = &done
            && !failing
        {
            tracing::error!(%error, "the tenants can't be read");
        }
        failing = done.is_err();
    }
}

fn default_stays(what: &str) -> AppError {
    AppError::conflict(
        "default_tenant",
        format!("the organisation of the installation can't be {what}"),
        "it holds the administrators of all others",
    )
}

fn checked_slug(text: &str) -> AppResult<String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let edges = !text.starts_with('-') && !text.ends_with('-');
    if (2..=40).contains(&text.len()) && edges && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err(AppError::invalid(
        "slug",
        "the slug can't be that",
        "use 2 to 40 lower-case letters, digits and hyphens, such as `acme`",
    ))
}

fn checked_tenant_name(text: &str) -> AppResult<String> {
    let name = text.trim();
    if is_line(name, MAX_NAME) {
        return Ok(name.to_owned());
    }
    Err(AppError::invalid("name", "the name can't be that", format!("use 1 to {MAX_NAME} characters on one line")))
}

#[cfg(test)]
mod tests {
    use super::{checked_slug, checked_tenant_name};

    #[test]
    fn slugs_stand_in_addresses_as_they_are() {
        for (slug, expect) in [
            ("acme", true),
            ("a2-b", true),
            ("a", false),
            ("", false),
            ("-acme", false),
            ("acme-", false),
            ("Acme", false),
            ("ac me", false),
            ("acmé", false),
            ("../x", false),
        ] {
            assert_eq!(checked_slug(slug).is_ok(), expect, "{slug}");
        }
        assert!(checked_slug(&"a".repeat(41)).is_err());
        assert!(checked_tenant_name(" Acme ").is_ok_and(|name| name == "Acme"));
        assert!(checked_tenant_name("  ").is_err() && checked_tenant_name("a\nb").is_err());
    }
}
