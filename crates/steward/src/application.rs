//! The application of one tenant, over its parts.

use crate::compose::{CALENDARS, COMMIT, Composition, EMBEDDER_IDLE, Shared};
use crate::settings::Settings;
use secrecy::{ExposeSecret as _, SecretBox};
use std::path::Path;
use std::sync::Arc;
use steward_access::{Access, AccessDeps, LoginLimits};
use steward_app::config::Configuration;
use steward_app::{
    AboutFacts, App, AppParts, Automation, CallMeter, DiskRoom, DocumentParts, DocumentService, DomainParts,
    DomainService, EmbeddingModels, EndpointParts, Health, UsageWriter, VisionModel,
};
use steward_core::live::Live;
use steward_core::{Cancellation, TenantId};
use steward_models::embed::ModelFolders;
use steward_tools::calendar::UserCalendars;
use steward_tools::outbound::Client;
use steward_tools::own_database::OwnDatabases;

/// What the logins of all tenants have in common.
pub struct Tokens {
    pub limits: LoginLimits,
    pub signing_key: SecretBox<Vec<u8>>,
}

/// What signs access tokens: the settings' key, else one of the data directory.
pub fn signing_key(settings: &Settings) -> anyhow::Result<SecretBox<Vec<u8>>> {
    match &settings.signing_key {
        Some(key) => Ok(SecretBox::new(Box::new(key.expose_secret().as_bytes().to_vec()))),
        None => Ok(steward_infra::signing_key(&settings.data_dir)?),
    }
}

/// `workspace`: folder that file tools are confined to.
pub async fn app(
    parts: &Composition,
    access: Arc<Access>,
    workspace: &Path,
    health: Arc<Health>,
    config: Arc<Configuration>,
    disk: Arc<DiskRoom>,
) -> App {
    let Composition { shared, tenant, runs, models, connections, live, .. } = parts;
    let settings = parts.settings.get();
    let (Shared { store, clock, ids, .. }, tenant) = (shared, *tenant);
    let (vault, data_dir) = (&shared.vault_keys, &settings.data_dir);
    live.folder.replace(workspace.to_owned());
    live.folder_text.replace(workspace.display().to_string());
    let _ = live.access.set(access.clone());
    let usage_writer = Arc::new(UsageWriter::new(store.clone(), Arc::clone(&runs.deps().limiter)));
    // What is inside the house is the installation's to reach.
    let allow = if tenant == TenantId::DEFAULT { shared.web_allow.clone() } else { Live::default() };
    let outbound = Client::reading(allow);
    let documents = Arc::new(DocumentService::new(DocumentParts {
        tenant,
        store: store.clone(),
        extractor: shared.extractor.clone(),
        pages: shared.pages.clone(),
        picture_model: Arc::new(VisionModel {
            tenant,
            store: store.clone(),
            connections: connections.clone(),
            meter: CallMeter {
                tenant,
                gateway: models.clone(),
                usage: usage_writer.clone(),
                clock: clock.clone(),
                ids: ids.clone(),
            },
            allowed: live.vision.clone(),
        }),
        embedding: embedding(parts, &usage_writer),
        cross_encoder: shared.cross_encoder.clone(),
        clock: clock.clone(),
        ids: ids.clone(),
        data_dir: data_dir.clone(),
        workspace: live.folder_text.clone(),
        places: parts.places.clone(),
        disk: disk.clone(),
        serving: shared.serving,
    }));
    let _ = live.documents.set(documents.clone());
    let _ = runs.deps().knowledge.set(documents.clone());
    let domains = Arc::new(DomainService::new(DomainParts {
        tenant,
        store: store.clone(),
        vault: vault.clone(),
        embedder: Arc::new(shared.embedder.clone()),
        clock: clock.clone(),
        ids: ids.clone(),
        workspace: live.folder.clone(),
        places: parts.places.clone(),
        alone: settings.database.is_none(),
    }));
    let _ = runs.deps().data.set(domains.clone());
    App::new(AppParts {
        documents,
        domains,
        databases: OwnDatabases::new(data_dir),
        calendars: UserCalendars::new(data_dir.join(CALENDARS)),
        runs: runs.clone(),
        access,
        health,
        workspace: live.folder_text.clone(),
        grants: Vec::new(),
        intent_filter: shared.intent_filter,
        store: store.clone(),
        connections: connections.clone(),
        examiner: connections.clone(),
        gateway: models.clone(),
        data_rules_cache: Arc::default(),
        usage_writer,
        vault: vault.clone(),
        packages: parts.packages.clone(),
        mcp: parts.mcp.clone(),
        host_keys: parts.host_keys.clone(),
        facts: Arc::new(AboutFacts::read(store, data_dir, COMMIT, clock.now()).await),
        config,
        disk,
        uploads: Arc::default(),
        automation: Arc::new(Automation::new(vault.clone(), outbound)),
        metrics: shared.metrics.clone(),
        closing: Cancellation::default(),
    })
}

/// The models that documents are embedded by.
fn embedding(parts: &Composition, usage: &Arc<UsageWriter>) -> EmbeddingModels {
    let shared = &parts.shared;
    let endpoints = EndpointParts {
        tenant: parts.tenant,
        connections: parts.connections.clone(),
        models: parts.models.clone(),
        gateway: parts.models.clone(),
        usage: usage.clone(),
        store: shared.store.clone(),
        personal_data: parts.runs.deps().personal_data.clone(),
        ids: shared.ids.clone(),
    };
    EmbeddingModels::new(Arc::new(shared.embedder.clone()), shared.clock.clone())
        .with_folders(ModelFolders::new(parts.settings.get().models_dir(), Some(EMBEDDER_IDLE)))
        .with_endpoints(endpoints, parts.embedding_status.clone())
        .preferring(parts.live.embedding_model.clone())
}

pub fn access(parts: &Composition, tokens: &Tokens) -> Arc<Access> {
    let Shared { store, vault_keys, clock, ids, .. } = &parts.shared;
    Arc::new(Access::new(AccessDeps {
        tenant: parts.tenant,
        users: store.clone(),
        sessions: store.clone(),
        groups: store.clone(),
        grants: store.clone(),
        settings: store.clone(),
        external: store.clone(),
        scim: store.clone(),
        second_factors: store.clone(),
        login_secrets: vault_keys.clone(),
        keys: store.clone(),
        clock: clock.clone(),
        ids: ids.clone(),
        limits: tokens.limits.clone(),
        signing_key: SecretBox::new(Box::new(tokens.signing_key.expose_secret().clone())),
    }))
}
