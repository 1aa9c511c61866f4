//! The application of one tenant, over its parts.

use crate::compose::{COMMIT, Composition, EMBEDDER_IDLE};
use secrecy::SecretBox;
use std::sync::Arc;
use steward_access::{Access, AccessDeps, LoginLimits};
use steward_app::config::Configuration;
use steward_app::{
    AboutFacts, App, AppParts, DocumentParts, DocumentService, DomainParts, DomainService, EmbeddingModels,
    EndpointParts, Health, UsageWriter, VisionModel,
};
use steward_core::Cancellation;
use steward_core::ports::{DataAccess, Knowledge};
use steward_models::embed::ModelFolders;
use steward_tools::own_database::OwnDatabases;

/// What a tenant has besides its parts.
pub struct Own {
    pub access: Arc<Access>,
    /// Folder that file tools are confined to.
    pub workspace: String,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    /// Whether it is a server, with background work.
    pub serving: bool,
}

/// The application of one tenant.
pub async fn app(parts: &Composition, own: Own, health: Health, config: Arc<Configuration>) -> App {
    let usage_writer = Arc::new(UsageWriter::new(parts.store.clone(), Arc::clone(&parts.runs.deps().limiter)));
    let documents = DocumentService::new(DocumentParts {
        tenant: parts.tenant,
        store: parts.store.clone(),
        extractor: Arc::clone(&parts.shared.extractor),
        pages: Arc::clone(&parts.shared.pages),
        picture_model: Arc::new(VisionModel {
            tenant: parts.tenant,
            store: parts.store.clone(),
            connections: parts.connections.clone(),
            gateway: parts.models.clone(),
            allowed: parts.settings.ocr_vision,
        }),
        embedding: embedding(parts, &usage_writer),
        cross_encoder: parts.shared.cross_encoder.clone(),
        clock: Arc::clone(&parts.clock),
        ids: Arc::clone(&parts.ids),
        data_dir: parts.data_dir.clone(),
        workspace: own.workspace.clone(),
        serving: own.serving,
    });
    let documents = Arc::new(documents);
    let knowledge: Arc<dyn Knowledge> = Arc::clone(&documents) as _;
    let _ = parts.runs.deps().knowledge.set(knowledge);
    let domains = Arc::new(DomainService::new(DomainParts {
        tenant: parts.tenant,
        store: parts.store.clone(),
        vault: Arc::clone(&parts.vault),
        embedder: Arc::clone(&parts.embedder),
        clock: Arc::clone(&parts.clock),
        ids: Arc::clone(&parts.ids),
        workspace: own.workspace.clone().into(),
        data_dir: parts.data_dir.clone(),
        alone: parts.settings.database.is_none(),
    }));
    let data: Arc<dyn DataAccess> = Arc::clone(&domains) as _;
    let _ = parts.runs.deps().data.set(data);
    App::new(AppParts {
        documents,
        domains,
        databases: OwnDatabases::new(&parts.data_dir),
        runs: parts.runs.clone(),
        access: own.access,
        health: Arc::new(health),
        workspace: own.workspace,
        grants: Vec::new(),
        intent_filter: own.intent_filter,
        store: parts.store.clone(),
        connections: parts.connections.clone(),
        examiner: parts.connections.clone(),
        gateway: parts.models.clone(),
        data_rules_cache: Arc::default(),
        usage_writer,
        vault: Arc::clone(&parts.vault),
        packages: Arc::clone(&parts.packages),
        mcp: Arc::clone(&parts.mcp),
        host_keys: Arc::clone(&parts.host_keys),
        facts: Arc::new(AboutFacts::read(&parts.store, &parts.data_dir, COMMIT, parts.clock.now()).await),
        config,
        metrics: Arc::clone(&parts.metrics),
        closing: Cancellation::default(),
    })
}

/// The models that documents are embedded by.
fn embedding(parts: &Composition, usage: &Arc<UsageWriter>) -> EmbeddingModels {
    let endpoints = EndpointParts {
        tenant: parts.tenant,
        connections: parts.connections.clone(),
        models: parts.models.clone(),
        gateway: parts.models.clone(),
        usage: Arc::clone(usage),
        store: parts.store.clone(),
        personal_data: Arc::clone(&parts.runs.deps().personal_data),
        ids: Arc::clone(&parts.ids),
    };
    let folder = parts.embedding_dir.parent().unwrap_or(&parts.embedding_dir);
    EmbeddingModels::new(Arc::clone(&parts.embedder), Arc::clone(&parts.clock))
        .with_folders(ModelFolders::new(folder, Some(EMBEDDER_IDLE)))
        .with_endpoints(endpoints, Arc::clone(&parts.embedding_status))
        .preferring(parts.settings.embedding_model.clone())
}

pub fn access(app: &Composition, signing_key: SecretBox<Vec<u8>>, limits: LoginLimits) -> Access {
    Access::new(AccessDeps {
        tenant: app.tenant,
        users: app.store.clone(),
        sessions: app.store.clone(),
        groups: app.store.clone(),
        grants: app.store.clone(),
        settings: app.store.clone(),
        external: app.store.clone(),
        scim: app.store.clone(),
        second_factors: app.store.clone(),
        login_secrets: app.vault_keys.clone(),
        keys: app.store.clone(),
        clock: Arc::clone(&app.clock),
        ids: Arc::clone(&app.ids),
        limits,
        signing_key,
    })
}
