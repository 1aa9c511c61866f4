//! The API over an opened program: behind a socket for `serve`, and without one for commands.

use crate::application::{Tokens, access, app};
use crate::compose::{Composition, HealthChecks};
use crate::health;
use crate::reconfigure::{Process, ServerParts};
use crate::tenants::Opener;
use anyhow::anyhow;
use secrecy::SecretBox;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use steward_access::{Access, Identity, LOCAL_USER, LoginLimits};
use steward_api::{ApiState, Hosts, InProcessClient};
use steward_app::config::Configuration;
use steward_app::{Check, DiskRoom, Health, Tenants, checks};
use steward_core::live::Live;
use steward_core::ports::{Principal, Role, Users as _};
use steward_infra::logs;

/// What differs between a server and a command.
pub struct Front<'f> {
    pub access: Arc<Access>,
    pub tokens: Tokens,
    /// Folder that file tools are confined to.
    pub workspace: &'f Path,
    pub hosts: Live<Hosts>,
    /// Filled by a server once it listens.
    pub server: Weak<OnceLock<ServerParts>>,
    /// Of what a server has besides.
    pub checks: ServerChecks,
}

/// The checks of what a server has besides its application.
pub type ServerChecks = Box<dyn Fn() -> Vec<Check> + Send + Sync>;

/// `parts`: those of the default tenant.
pub async fn state(parts: &Arc<Composition>, front: Front<'_>) -> anyhow::Result<ApiState> {
    let (settings, shared) = (parts.settings.get(), &parts.shared);
    if shared.serving {
        logs::change(settings.layers.value("LOG_LEVEL").unwrap_or(logs::SERVING));
    }
    let opener = Arc::new(OnceLock::new());
    let process =
        Process { shared: shared.clone(), parts: Arc::downgrade(parts), opener: opener.clone(), server: front.server };
    let config = Configuration::new(settings.layers.clone(), settings.file.display().to_string(), Box::new(process));
    let config = Arc::new(config);
    let (data_dir, folder) = (settings.data_dir.clone(), parts.live.folder.clone());
    let folders = move || vec![data_dir.clone(), folder.copy()];
    let disk = Arc::new(DiskRoom::of_folders(folders, config.clone()));
    let (room, of_server) = (disk.clone(), front.checks);
    let looked_at: HealthChecks = Box::new(move |parts: &Composition| {
        let mut looked_at = health::of_installation(parts);
        looked_at.push(checks::disk_room(room.clone()));
        looked_at.extend(health::of_machine(&parts.settings.get(), Arc::new(parts.shared.embedder.clone())));
        looked_at.extend(of_server());
        looked_at
    });
    let health = Arc::new(Health::new(looked_at(parts.as_ref())));
    let _ = parts.live.health.set((health.clone(), looked_at));
    let app = app(parts, front.access, front.workspace, health, config.clone(), disk.clone()).await;
    let opening = Arc::new(Opener::new(shared.clone(), config, disk, front.tokens));
    let _ = opener.set(Arc::downgrade(&opening));
    let tenants = Tenants::new(app, shared.store.clone(), opening);
    if shared.serving {
        tenants.open_all().await?;
    } else {
        tenants.prepare().await?;
    }
    Ok(ApiState { tenants, hosts: front.hosts })
}

/// The API for the owner of the data directory, who holds it open and so may do everything.
pub async fn in_process(parts: &Arc<Composition>, workspace: &Path) -> anyhow::Result<InProcessClient> {
    let (state, identity) = owner_state(parts, workspace).await?;
    Ok(InProcessClient::new(state, identity))
}

/// What [`in_process`] answers from, and as whom.
pub async fn owner_state(parts: &Arc<Composition>, workspace: &Path) -> anyhow::Result<(ApiState, Identity)> {
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
    let (hosts, server) = (Live::new(Hosts::default()), Weak::new());
    let front = Front { access, tokens, workspace, hosts, server, checks: Box::new(Vec::new) };
    Ok((state(parts, front).await?, identity))
}
