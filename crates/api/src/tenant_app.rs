use crate::{ApiState, Hosts};
use std::ops::Deref;
use std::sync::Arc;
use steward_app::{App, Identity};
use steward_core::TenantId;
use steward_core::ports::LoginError;

/// The application of one tenant.
#[derive(Clone)]
pub(crate) struct TenantApp {
    pub app: App,
    pub hosts: Arc<Hosts>,
}

impl Deref for TenantApp {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl ApiState {
    /// That of the tenant of somebody who is known. It may have been disabled since.
    pub(crate) fn app_of(&self, identity: &Identity) -> Result<TenantApp, LoginError> {
        self.app_of_tenant(identity.principal.tenant).ok_or(LoginError::Token)
    }

    /// `None`: there is no such tenant, or it is disabled.
    pub(crate) fn app_of_tenant(&self, tenant: TenantId) -> Option<TenantApp> {
        self.tenants.of(tenant).map(|app| self.with(app))
    }

    /// By the slug that somebody names who is not known yet; the default tenant's without one.
    pub(crate) fn app_named(&self, slug: Option<&str>) -> Option<TenantApp> {
        self.tenants.named(slug).map(|app| self.with(app))
    }

    /// For what is the installation's, and for those whom nobody knows.
    pub(crate) fn installation(&self) -> TenantApp {
        self.with(self.tenants.installation().clone())
    }

    fn with(&self, app: App) -> TenantApp {
        TenantApp { app, hosts: self.hosts.get() }
    }
}
