//! The API over an opened program: behind a socket for `serve`, and without one for commands.

use crate::application::{Tokens, access, app};
use crate::compose::Composition;
use crate::health;
use crate::settings::Process;
use crate::tenants::Opener;
use anyhow::anyhow;
use secrecy::SecretBox;
use std::path::Path;
use std::sync::Arc;
use steward_access::{Access, Identity, LOCAL_USER, LoginLimits};
use steward_api::{ApiState, Hosts, InProcessClient};
use steward_app::config::Configuration;
use steward_app::{Check, DiskRoom, Health, Tenants, checks};
use steward_core::ports::{Principal, Role, Users as _};

/// What differs between a server and a command.
pub struct Front<'f> {
    pub access: Arc<Access>,
    pub tokens: Tokens,
    /// Folder that file tools are confined to.
    pub workspace: &'f Path,
    pub hosts: Hosts,
    /// Of what a server has besides.
    pub checks: Vec<Check>,
}

/// `parts`: those of the default tenant.
pub async fn state(parts: &Composition, front: Front<'_>) -> anyhow::Result<ApiState> {
    let (settings, shared) = (&parts.settings, &parts.shared);
    let live = Process { settings: settings.clone(), serving: shared.serving };
    let config = Configuration::new(settings.layers.clone(), settings.file.display().to_string(), Box::new(live));
    let config = Arc::new(config);
    let folders = vec![settings.data_dir.clone(), front.workspace.to_owned()];
    let disk = Arc::new(DiskRoom::of_folders(folders, config.clone()));
    let mut looked_at = health::of_installation(parts);
    looked_at.push(checks::disk_room(disk.clone()));
    looked_at.extend(health::of_machine(settings, shared.embedder.clone()));
    looked_at.extend(front.checks);
    let health = Health::new(looked_at);
    let app = app(parts, front.access, front.workspace, health, config.clone(), disk.clone()).await;
    let opener = Opener::new(shared.clone(), config, disk, front.tokens);
    let tenants = Tenants::new(app, shared.store.clone(), Arc::new(opener));
    if shared.serving {
        tenants.open_all().await?;
    } else {
        tenants.prepare().await?;
    }
    Ok(ApiState { tenants, hosts: Arc::new(front.hosts) })
}

/// The API for the owner of the data directory, who holds it open and so may do everything.
pub async fn in_process(parts: &Composition, workspace: &Path) -> anyhow::Result<InProcessClient> {
    // Nobody logs in through it, so no token is ever signed.
    let signing_key = SecretBox::new(Box::new(steward_infra::random(32)));
    let tokens = Tokens { limits: LoginLimits::default(), signing_key };
    let access = access(parts, &tokens);
    access.service_user(LOCAL_USER, "local").await?;
    let user = parts.shared.store.user_by_email(parts.tenant, LOCAL_USER).await?;
    let user = user.ok_or_else(|| anyhow!("the local user is gone; run the command again"))?;
    let identity = Identity {
        principal: Principal { tenant: parts.tenant, user: user.id, name: user.name, role: Role::Admin, key: None },
        email: user.email,
        session: None,
        permissions: Arc::default(),
    };
    let front = Front { access, tokens, workspace, hosts: Hosts::default(), checks: Vec::new() };
    Ok(InProcessClient::new(state(parts, front).await?, identity))
}
