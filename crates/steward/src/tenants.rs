//! Opens and closes the tenants beside the default one.

use crate::application::{Own, access, app};
use crate::compose::{Composition, Shared};
use crate::health;
use crate::settings::{apart, workspace};
use async_trait::async_trait;
use secrecy::{ExposeSecret as _, SecretBox};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steward_access::LoginLimits;
use steward_app::config::Configuration;
use steward_app::{App, Health, TenantOpener, UsageWriter};
use steward_core::TenantId;
use steward_core::ports::Tenant;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// What is open of a tenant.
struct Running {
    parts: Composition,
    usage_writer: Arc<UsageWriter>,
    tasks: Vec<JoinHandle<()>>,
}

/// What the logins of all tenants have in common.
pub struct Tokens {
    pub limits: LoginLimits,
    pub signing_key: SecretBox<Vec<u8>>,
}

pub struct Opener {
    shared: Shared,
    config: Arc<Configuration>,
    tokens: Tokens,
    /// Whether it is a server, with background work.
    serving: bool,
    intent_filter: bool,
    running: Mutex<HashMap<TenantId, Running>>,
}

impl Opener {
    /// With what the default tenant has of it, too.
    pub fn new(
        shared: Shared,
        config: Arc<Configuration>,
        tokens: Tokens,
        (serving, intent_filter): (bool, bool),
    ) -> Self {
        Self { shared, config, tokens, serving, intent_filter, running: Mutex::default() }
    }

    async fn opened(&self, tenant: &Tenant) -> anyhow::Result<(App, Running)> {
        let parts = Composition::of_tenant(&self.shared, tenant.id).await?;
        parts.default_agent().await?;
        let folder = parts.data_dir.join("workspace");
        std::fs::create_dir_all(&folder)?;
        let folder = workspace(Some(&folder))?;
        apart(&folder, &self.shared.settings.data_dir)?;
        let key = SecretBox::new(Box::new(self.tokens.signing_key.expose_secret().clone()));
        let access = Arc::new(access(&parts, key, self.tokens.limits.clone()));
        let own = Own {
            access,
            workspace: folder.display().to_string(),
            intent_filter: self.intent_filter,
            serving: self.serving,
        };
        let app = app(&parts, own, Health::new(health::of_tenant(&parts)), Arc::clone(&self.config)).await;
        let mut tasks = Vec::new();
        if self.serving {
            parts.runs.serve();
            tasks.push(tokio::spawn(steward_app::report_refresh(Arc::clone(&parts.connections))));
            tasks.push(tokio::spawn(steward_app::keep_audit(app.clone())));
            tasks.push(tokio::spawn(steward_app::keep_data(app.clone())));
            tasks.push(tokio::spawn(Arc::clone(&app.documents).run(app.closing.clone())));
        }
        let usage_writer = Arc::clone(&app.usage_writer);
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
        let deleted = tokio::task::spawn_blocking(move || delete(&folder)).await;
        deleted.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

/// Deletes a folder; returns how many files there were.
fn delete(folder: &Path) -> std::io::Result<u64> {
    let files = match count(folder.to_owned()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        counted => counted?,
    };
    std::fs::remove_dir_all(folder)?;
    Ok(files)
}

/// Links are counted and not followed.
fn count(folder: PathBuf) -> std::io::Result<u64> {
    let mut files = 0;
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::delete;

    #[test]
    fn a_folder_goes_with_all_that_is_in_it_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (mine, other) = (dir.path().join("mine"), dir.path().join("other"));
        std::fs::create_dir_all(mine.join("a/b")).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        for file in ["mine/x", "mine/a/b/y", "other/z"] {
            std::fs::write(dir.path().join(file), "text").unwrap();
        }
        std::os::unix::fs::symlink(&other, mine.join("link")).unwrap();
        assert_eq!(delete(&mine).unwrap(), 3);
        assert!(!mine.exists() && other.join("z").exists());
        assert_eq!(delete(&mine).unwrap(), 0);
    }
}
