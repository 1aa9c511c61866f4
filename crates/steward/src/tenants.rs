//! Opens and closes the tenants beside the default one.

use crate::application::{Tokens, access, app};
use crate::compose::{Composition, Shared};
use crate::health;
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::Arc;
use steward_app::config::Configuration;
use steward_app::{App, DiskRoom, Health, TenantOpener, UsageWriter, work_in_background};
use steward_core::TenantId;
use steward_core::ports::Tenant;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// What is open of a tenant.
struct Running {
    parts: Arc<Composition>,
    usage_writer: Arc<UsageWriter>,
    tasks: Vec<JoinHandle<()>>,
}

pub struct Opener {
    shared: Shared,
    config: Arc<Configuration>,
    disk: Arc<DiskRoom>,
    tokens: Tokens,
    running: Mutex<HashMap<TenantId, Running>>,
}

impl Opener {
    /// With what the default tenant has of it, too.
    pub fn new(shared: Shared, config: Arc<Configuration>, disk: Arc<DiskRoom>, tokens: Tokens) -> Self {
        Self { shared, config, disk, tokens, running: Mutex::default() }
    }

    /// The parts of the tenants that are open.
    pub async fn running(&self) -> Vec<Arc<Composition>> {
        self.running.lock().await.values().map(|running| Arc::clone(&running.parts)).collect()
    }

    async fn opened(&self, tenant: &Tenant) -> anyhow::Result<(App, Running)> {
        let parts = Arc::new(Composition::of_tenant(&self.shared, tenant.id).await?);
        parts.default_agent().await?;
        let (access, workspace) = (access(&parts, &self.tokens), parts.workspace()?);
        let health = Arc::new(Health::new(health::of_tenant(&parts)));
        let app = app(&parts, access, &workspace, health, self.config.clone(), self.disk.clone()).await;
        let mut tasks = Vec::new();
        if self.shared.serving {
            parts.runs.serve();
            tasks = work_in_background(&app, parts.connections.clone());
        }
        let usage_writer = app.usage_writer.clone();
        Ok((app, Running { parts, usage_writer, tasks }))
    }
}

#[async_trait]
impl TenantOpener for Opener {
    async fn open(&self, tenant: &Tenant) -> Result<App, String> {
        let (app, running) = self.opened(tenant).await.map_err(|error| format!("{error:#}"))?;
        self.running.lock().await.insert(tenant.id, running);
        Ok(app)
    }

    async fn close(&self, tenant: TenantId) {
        let Some(running) = self.running.lock().await.remove(&tenant) else { return };
        for task in &running.tasks {
            task.abort();
        }
        running.usage_writer.close().await;
        running.parts.rest().await;
    }

    async fn delete_files(&self, tenant: TenantId) -> Result<u64, String> {
        if tenant == TenantId::DEFAULT {
            return Err("the files of the installation stay".to_owned());
        }
        let folder = self.shared.folder_of(tenant);
        let deleted = tokio::task::spawn_blocking(move || steward_infra::delete_folder(&folder)).await;
        deleted.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}
