//! The API over an opened program: behind a socket for `serve`, and without one for commands.

use crate::compose::App;
use anyhow::anyhow;
use secrecy::SecretBox;
use std::sync::Arc;
use steward_access::{Access, AccessDeps, Identity, LOCAL_USER};
use steward_api::{AboutFacts, ApiState, Health, Hosts, InProcessClient, Ledger, Probe};
use steward_core::ports::{Models as _, Principal, Role, RunStore as _, Users as _};

pub struct Front {
    pub access: Arc<Access>,
    pub workspace: String,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    pub hosts: Hosts,
}

pub async fn state(app: &App, front: Front) -> ApiState {
    ApiState {
        runs: app.runs.clone(),
        access: front.access,
        health: Arc::new(health(app)),
        workspace: front.workspace,
        grants: Vec::new(),
        intent_filter: front.intent_filter,
        idempotency: app.store.clone(),
        connections: app.connections.clone(),
        examiner: app.connections.clone(),
        gateway: app.models.clone(),
        ledger: Arc::new(Ledger::new(app.store.clone(), Arc::clone(&app.runs.deps().limiter))),
        skills: app.store.clone(),
        vault: Arc::clone(&app.vault),
        packages: Arc::clone(&app.packages),
        mcp: Arc::clone(&app.mcp),
        host_keys: Arc::clone(&app.host_keys),
        about: Arc::new(about(app).await),
        hosts: Arc::new(front.hosts),
    }
}

/// The API for the owner of the data directory, who has it open and so may do everything.
pub async fn in_process(app: &App, workspace: String, intent_filter: bool) -> anyhow::Result<InProcessClient> {
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
pub fn access(app: &App) -> Access {
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

async fn about(app: &App) -> AboutFacts {
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

fn health(app: &App) -> Health {
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
