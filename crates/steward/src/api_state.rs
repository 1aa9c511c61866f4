//! The API over an opened program: behind a socket for `serve`, and without one for commands.

use crate::compose::Composition;
use anyhow::anyhow;
use secrecy::SecretBox;
use std::sync::Arc;
use steward_access::{Access, AccessDeps, Identity, LOCAL_USER};
use steward_api::{ApiState, Hosts, InProcessClient};
use steward_app::{AboutFacts, App, AppParts, Health, Probe, UsageWriter};
use steward_core::ports::{Models as _, Principal, Role, RunStore as _, Users as _};

/// What differs between a server and a command.
pub struct Front {
    /// Logins.
    pub access: Arc<Access>,
    /// Folder that file tools are confined to.
    pub workspace: String,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    /// Names that requests may come to.
    pub hosts: Hosts,
}

/// What the API works on: the application over the opened parts.
pub async fn state(parts: &Composition, front: Front) -> ApiState {
    let app = App::new(AppParts {
        runs: parts.runs.clone(),
        access: front.access,
        health: Arc::new(health(parts)),
        workspace: front.workspace,
        grants: Vec::new(),
        intent_filter: front.intent_filter,
        idempotency: parts.store.clone(),
        connections: parts.connections.clone(),
        examiner: parts.connections.clone(),
        gateway: parts.models.clone(),
        usage: Arc::new(UsageWriter::new(parts.store.clone(), Arc::clone(&parts.runs.deps().limiter))),
        skills: parts.store.clone(),
        vault: Arc::clone(&parts.vault),
        packages: Arc::clone(&parts.packages),
        mcp: Arc::clone(&parts.mcp),
        host_keys: Arc::clone(&parts.host_keys),
        about: Arc::new(about(parts).await),
    });
    ApiState { app, hosts: Arc::new(front.hosts) }
}

/// The API for the owner of the data directory, who holds it open and so may do everything.
pub async fn in_process(app: &Composition, workspace: String, intent_filter: bool) -> anyhow::Result<InProcessClient> {
    let access = access(app);
    access.service_user(LOCAL_USER, "local").await?;
    let user = app.store.user_by_email(app.tenant, LOCAL_USER).await?;
    let user = user.ok_or_else(|| anyhow!("the local user is gone; run the command again"))?;
    let identity = Identity {
        principal: Principal { tenant: app.tenant, user: user.id, name: user.name, role: Role::Admin, key: None },
        email: user.email,
        session: None,
    };
    let front = Front { access: Arc::new(access), workspace, intent_filter, hosts: Hosts::default() };
    Ok(InProcessClient::new(state(app, front).await, identity))
}

/// Nobody logs in through it, so no token is ever signed.
pub fn access(app: &Composition) -> Access {
    Access::new(AccessDeps {
        tenant: app.tenant,
        users: app.store.clone(),
        sessions: app.store.clone(),
        settings: app.store.clone(),
        keys: app.store.clone(),
        clock: Arc::clone(&app.clock),
        ids: Arc::clone(&app.ids),
        signing_key: SecretBox::new(Box::new(crate::keys::random(32))),
    })
}

async fn about(app: &Composition) -> AboutFacts {
    let (database, database_version) = match app.store.describe().await {
        Ok((name, version)) => (name.to_owned(), version),
        Err(error) => ("unknown".to_owned(), error.to_string()),
    };
    AboutFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("STEWARD_COMMIT").filter(|text| !text.is_empty()).map(str::to_owned),
        database,
        database_version,
        schema_version: Some(steward_store::SCHEMA_VERSION),
        data_dir: app.data_dir.display().to_string(),
        started_at: app.clock.now(),
    }
}

fn health(app: &Composition) -> Health {
    let store = app.store.clone();
    let tenant = app.tenant;
    let database: Probe = Box::new(move || {
        let store = store.clone();
        Box::pin(async move {
            let filter = steward_core::ports::RunFilter { limit: 1, ..Default::default() };
            store.runs(tenant, filter).await.map(|_| "answers".to_owned()).map_err(|error| error.to_string())
        })
    });
    let models = app.models.clone();
    let model: Probe = Box::new(move || {
        let models = models.clone();
        Box::pin(async move {
            models
                .select(None)
                .await
                .map(|connection| format!("{} ({})", connection.name, connection.model))
                .map_err(|error| error.to_string())
        })
    });
    let folder = app.embedding_dir.clone();
    let embeddings: Probe = Box::new(move || {
        let file = folder.join("model.onnx");
        Box::pin(async move {
            if file.is_file() {
                Ok("all-MiniLM-L6-v2, loaded when first used".to_owned())
            } else {
                Err(format!("{} is missing; run `make setup`", file.display()))
            }
        })
    });
    Health { probes: vec![("database", true, database), ("model", false, model), ("embeddings", false, embeddings)] }
}
