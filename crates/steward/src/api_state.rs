//! The API over an opened program: behind a socket for `serve`, and without one for commands.

use crate::compose::{COMMIT, Composition};
use crate::health;
use crate::live::Process;
use anyhow::anyhow;
use secrecy::SecretBox;
use std::sync::Arc;
use steward_access::{Access, AccessDeps, Identity, LOCAL_USER};
use steward_api::{ApiState, Hosts, InProcessClient};
use steward_app::config::Configuration;
use steward_app::{AboutFacts, App, AppParts, Health, UsageWriter};
use steward_core::ports::{Principal, Role, Users as _};

/// What differs between a server and a command.
pub struct Front {
    pub access: Arc<Access>,
    /// Folder that file tools are confined to.
    pub workspace: String,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    pub hosts: Hosts,
    /// Whether it is a server, which takes changes of settings in.
    pub serving: bool,
}

pub async fn state(parts: &Composition, front: Front) -> ApiState {
    let settings = &parts.settings;
    let live = Process { settings: settings.clone(), serving: front.serving };
    let config = Configuration::new(settings.layers.clone(), settings.file.display().to_string(), Box::new(live));
    let mut checks = health::of_installation(parts);
    checks.extend(health::of_machine(settings, Some(Arc::clone(&parts.embedder))));
    let app = App::new(AppParts {
        runs: parts.runs.clone(),
        access: front.access,
        health: Arc::new(Health::new(checks)),
        workspace: front.workspace,
        grants: Vec::new(),
        intent_filter: front.intent_filter,
        idempotency: parts.store.clone(),
        connections: parts.connections.clone(),
        examiner: parts.connections.clone(),
        gateway: parts.models.clone(),
        data_rules_cache: Arc::default(),
        usage_writer: Arc::new(UsageWriter::new(parts.store.clone(), Arc::clone(&parts.runs.deps().limiter))),
        skills: parts.store.clone(),
        vault: Arc::clone(&parts.vault),
        packages: Arc::clone(&parts.packages),
        mcp: Arc::clone(&parts.mcp),
        host_keys: Arc::clone(&parts.host_keys),
        facts: Arc::new(AboutFacts::read(&parts.store, &parts.data_dir, COMMIT, parts.clock.now()).await),
        config: Arc::new(config),
        metrics: Arc::clone(&parts.metrics),
    });
    ApiState { app, hosts: Arc::new(front.hosts) }
}

/// The API for the owner of the data directory, who holds it open and so may do everything.
pub async fn in_process(app: &Composition, workspace: String, intent_filter: bool) -> anyhow::Result<InProcessClient> {
    // Nobody logs in through it, so no token is ever signed.
    let access = access(app, SecretBox::new(Box::new(steward_infra::random(32))));
    access.service_user(LOCAL_USER, "local").await?;
    let user = app.store.user_by_email(app.tenant, LOCAL_USER).await?;
    let user = user.ok_or_else(|| anyhow!("the local user is gone; run the command again"))?;
    let identity = Identity {
        principal: Principal { tenant: app.tenant, user: user.id, name: user.name, role: Role::Admin, key: None },
        email: user.email,
        session: None,
        permissions: Arc::default(),
    };
    let front = Front { access: Arc::new(access), workspace, intent_filter, hosts: Hosts::default(), serving: false };
    Ok(InProcessClient::new(state(app, front).await, identity))
}

pub fn access(app: &Composition, signing_key: SecretBox<Vec<u8>>) -> Access {
    Access::new(AccessDeps {
        tenant: app.tenant,
        users: app.store.clone(),
        sessions: app.store.clone(),
        groups: app.store.clone(),
        grants: app.store.clone(),
        settings: app.store.clone(),
        external: app.store.clone(),
        second_factors: app.store.clone(),
        login_secrets: app.vault_keys.clone(),
        keys: app.store.clone(),
        clock: Arc::clone(&app.clock),
        ids: Arc::clone(&app.ids),
        signing_key,
    })
}
