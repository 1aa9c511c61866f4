//! For the tests of this room: the API over a store in a temporary folder, without models and tools.
//! Tests of whole flows are those of the binary.

mod audit;
mod auth;
mod bodies;
mod disk;
mod documents;
mod domain_origins;
mod embedding;
mod file_origins;
mod gateway;
mod guards;
mod hooks;
mod host_paths;
mod kept;
mod mcp;
mod nats;
mod no_models;
mod pages;
mod permissions;
mod rag;
mod random_requests;
mod retention;
mod rights;
mod routing;
mod schedules;
mod scim;
mod streams;
mod tenants;
mod users;

use crate::guard::BodyBudget;
use crate::router::{guarded, router};
use crate::{ApiState, Hosts};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use no_models::NoModels;
use secrecy::SecretBox;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use steward_access::governance::SharedDetector;
use steward_access::{AccessDeps, FileKeys, LoginLimits, SealedVault, VaultDeps};
use steward_app::config::{Apply, Configuration, Layers, Reconfigure};
use steward_app::{
    AboutFacts, Access, App, AppParts, Automation, DiskRoom, DiskSpace, DocumentParts, DocumentService, DomainParts,
    DomainService, EmbeddingModels, Health, LogIn, OpenSession, TenantOpener, Tenants, UsageWriter,
};
use steward_core::ports::{Blobs, Clock, Ids, Role, Tenant, User, UserChange, Users as _};
use steward_core::{Cancellation, TenantId, Timestamp, UserId};
use steward_engine::{Deps, EngineConfig, RunService};
use steward_infra::{FileBlobs, InProcessBus};
use steward_store::{Store, StoreConfig};
use steward_testkit::{FakeClock, SeqIds, database};
use steward_tools::calendar::UserCalendars;
use steward_tools::mcp::{Helper, McpConfig, McpHub, McpPorts};
use steward_tools::outbound::Client;
use steward_tools::own_database::OwnDatabases;
use steward_tools::package::Packages;
use steward_tools::skills::FileHostKeys;
use steward_tools::{Dispatcher, HostPolicy, HostRules};
use tempfile::TempDir;
use tower::ServiceExt;
use uuid::Uuid;

pub(crate) const EMAIL: &str = "ada@example.org";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A server without a socket.
pub(crate) struct Bed {
    pub router: Router,
    pub state: ApiState,
    pub clock: Arc<FakeClock>,
    store: Arc<Store>,
    dir: Arc<TempDir>,
    opener: Opener,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: axum::http::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// `token` of `steward_refresh=token; …`.
    pub fn cookie(&self) -> Option<&str> {
        let (_, rest) = self.header("set-cookie").split_once("steward_refresh=")?;
        rest.split(';').next()
    }
}

/// A program whose settings nothing depends on.
struct Fixed;

#[async_trait]
impl Reconfigure for Fixed {
    async fn prepare(&self, _: &Layers) -> Result<Apply, String> {
        Ok(Box::new(|| Box::pin(async {})))
    }

    fn restart_command(&self) -> String {
        "restart it".to_owned()
    }
}

/// Opens the application of any tenant, over the same store.
#[derive(Clone)]
pub(crate) struct Opener {
    dir: Arc<TempDir>,
    clock: Arc<FakeClock>,
    store: Arc<Store>,
    blobs: Arc<dyn Blobs>,
    series: Arc<AtomicU64>,
}

#[async_trait]
impl TenantOpener for Opener {
    async fn open(&self, tenant: &Tenant) -> Result<App, String> {
        Ok(app(self, tenant.id))
    }

    async fn close(&self, _: TenantId) {}

    async fn delete_files(&self, _: TenantId) -> Result<u64, String> {
        Ok(0)
    }
}

pub(crate) fn configuration(layers: Layers) -> Arc<Configuration> {
    Arc::new(Configuration::new(layers, "steward.toml".to_owned(), Box::new(Fixed)))
}

/// Without disks there is always room.
pub(crate) fn disk_with(disks: Vec<DiskSpace>) -> Arc<DiskRoom> {
    Arc::new(DiskRoom::new(move || Ok(disks.clone()), configuration(Layers::default())))
}

/// `data` is the program's own, but for its folder `work`.
pub(crate) fn places(data: &Path) -> HostPolicy {
    HostPolicy::new(HostRules { own: vec![data.to_owned()], open: vec![data.join("work")], ..HostRules::default() })
}

fn domains(
    opener: &Opener,
    tenant: TenantId,
    vault: &Arc<SealedVault>,
    models: &Arc<NoModels>,
    ids: &Arc<dyn Ids>,
) -> DomainService {
    DomainService::new(DomainParts {
        tenant,
        store: opener.store.clone(),
        vault: vault.clone(),
        embedder: models.clone(),
        clock: opener.clock.clone(),
        ids: ids.clone(),
        workspace: opener.dir.path().to_owned().into(),
        places: places(opener.dir.path()),
        alone: true,
    })
}

fn documents(opener: &Opener, tenant: TenantId, models: &Arc<NoModels>, ids: &Arc<dyn Ids>) -> DocumentService {
    DocumentService::new(DocumentParts {
        tenant,
        store: opener.store.clone(),
        extractor: models.clone(),
        pages: models.clone(),
        picture_model: models.clone(),
        embedding: EmbeddingModels::new(models.clone(), opener.clock.clone()),
        cross_encoder: None.into(),
        clock: opener.clock.clone(),
        ids: ids.clone(),
        data_dir: opener.dir.path().to_owned(),
        workspace: "/nowhere".to_owned().into(),
        places: places(opener.dir.path()),
        disk: disk_with(Vec::new()),
        serving: true,
    })
}

fn app(opener: &Opener, tenant: TenantId) -> App {
    let Opener { dir, clock, store, blobs, .. } = opener;
    let dir = dir.path();
    // No two tenants have an id in common.
    let first = opener.series.fetch_add(2, Ordering::SeqCst);
    let ids: Arc<dyn Ids> = Arc::new(SeqIds::new(first + 1));
    let vault = Arc::new(SealedVault::new(VaultDeps {
        rows: store.clone(),
        source: Arc::new(FileKeys::new(dir.join("vault.key"))),
        clock: clock.clone(),
        ids: ids.clone(),
    }));
    let access = Access::new(AccessDeps {
        tenant,
        users: store.clone(),
        sessions: store.clone(),
        groups: store.clone(),
        grants: store.clone(),
        settings: store.clone(),
        external: store.clone(),
        scim: store.clone(),
        second_factors: store.clone(),
        login_secrets: vault.clone(),
        keys: store.clone(),
        clock: clock.clone(),
        ids: Arc::new(SeqIds::new(first)),
        limits: LoginLimits::default(),
        signing_key: SecretBox::new(Box::new(vec![7; 32])),
    });
    let models = Arc::new(NoModels);
    let mcp = McpHub::new(
        McpPorts {
            skills: store.clone(),
            servers: store.clone(),
            vault: vault.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
        },
        McpConfig::new(Helper { program: "/nowhere".into(), prefix: Vec::new() }, "/nowhere", places(dir)),
    );
    App::new(AppParts {
        documents: Arc::new(documents(opener, tenant, &models, &ids)),
        domains: Arc::new(domains(opener, tenant, &vault, &models, &ids)),
        databases: OwnDatabases::new(dir),
        calendars: UserCalendars::new(dir.join("calendars")),
        runs: RunService::new(Deps {
            limiter: Arc::default(),
            knowledge: Arc::default(),
            data: Arc::default(),
            personal_data: Arc::new(SharedDetector),
            tenant,
            store: store.clone(),
            models: models.clone(),
            tools: Arc::new(Dispatcher::builder().build().unwrap()),
            embedder: models.clone(),
            intent: models.clone(),
            price: Arc::new(|_| None),
            bus: Arc::new(InProcessBus::new()),
            clock: clock.clone(),
            ids: ids.clone(),
            config: EngineConfig::default().into(),
        }),
        access: Arc::new(access),
        health: Arc::new(Health::default()),
        workspace: "/nowhere".to_owned().into(),
        grants: Vec::new(),
        intent_filter: true,
        store: store.clone(),
        connections: models.clone(),
        examiner: models,
        vault: vault.clone(),
        packages: Arc::new(Packages::new(store.clone(), store.clone(), blobs.clone(), clock.clone(), ids, |_| Ok(()))),
        mcp: Arc::new(mcp),
        host_keys: Arc::new(FileHostKeys::new(dir.join("hosts.json"))),
        gateway: Arc::new(gateway::Fake::default()),
        data_rules_cache: Arc::default(),
        usage_writer: Arc::new(UsageWriter::new(Arc::new(gateway::Fake::default()), Arc::default())),
        facts: Arc::new(AboutFacts {
            version: "9.9.9".to_owned(),
            commit: None,
            database: "sqlite".to_owned(),
            database_version: "3".to_owned(),
            schema_version: None,
            data_dir: "/nowhere".to_owned(),
            started_at: clock.now(),
        }),
        config: configuration(Layers::default()),
        disk: disk_with(Vec::new()),
        uploads: Arc::default(),
        automation: Arc::new(Automation::new(vault.clone(), Client::new(Vec::new()))),
        metrics: Arc::default(),
        closing: Cancellation::default(),
    })
}

fn state(app: App, opener: &Opener) -> ApiState {
    let tenants = Tenants::new(app, opener.store.clone(), Arc::new(opener.clone()));
    ApiState { tenants, hosts: Hosts { loopback: true, ..Hosts::default() }.into() }
}

/// The same application with other parts.
pub(crate) fn with_parts(bed: &Bed, change: impl FnOnce(&mut AppParts)) -> ApiState {
    let mut parts = AppParts::clone(&bed.app());
    change(&mut parts);
    state(App::new(parts), &bed.opener)
}

/// The whole API.
pub(crate) async fn bed() -> Bed {
    let clock = Arc::<FakeClock>::default();
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(dir.path()));
    let store = Arc::new(Store::open(StoreConfig::sqlite(dir.path()), blobs.clone()).await.unwrap());
    let opener = Opener { dir: dir.clone(), clock: clock.clone(), store: store.clone(), blobs, series: Arc::default() };
    let state = state(app(&opener, TenantId::DEFAULT), &opener);
    Bed { router: router(state.clone()), state, clock, store, dir, opener }
}

/// The guards around other routes.
pub(crate) async fn bed_around(routes: Router<ApiState>) -> Bed {
    bed_within(routes, BodyBudget::of_this_process()).await
}

/// The same, with room for bodies of its own.
pub(crate) async fn bed_within(routes: Router<ApiState>, bodies: Arc<BodyBudget>) -> Bed {
    let bed = bed().await;
    Bed { router: guarded(routes, bed.state.clone(), bodies), ..bed }
}

impl Bed {
    /// That of the default tenant.
    pub fn app(&self) -> App {
        self.state.tenants.installation().clone()
    }

    /// Makes the administrator and logs them in.
    pub async fn admin(&self) -> OpenSession {
        let made = self.app().access.first_start(Some((EMAIL, PASSWORD))).await;
        made.unwrap();
        let login = LogIn { email: EMAIL, password: PASSWORD, client: None, label: "a program" };
        self.app().access.log_in(login).await.unwrap()
    }

    pub fn clock_now(&self) -> Timestamp {
        self.clock.now()
    }

    pub async fn set_role(&self, role: &str) {
        // Another one, since the last administrator stays what they are.
        let spare = User {
            password_hash: Some("$argon2id$x".to_owned()),
            ..User::new(UserId(Uuid::from_u128(99)), "spare@example.org", "Spare", Role::Admin, self.clock.now())
        };
        if self.store.user_by_email(TenantId::DEFAULT, &spare.email).await.unwrap().is_none() {
            self.store.create_user(TenantId::DEFAULT, &spare).await.unwrap();
        }
        let user = self.store.user_by_email(TenantId::DEFAULT, EMAIL).await.unwrap().unwrap();
        let role = serde_json::from_value(role.into()).unwrap();
        let change = UserChange { role: Some(role), ..UserChange::default() };
        self.store.change_user(TenantId::DEFAULT, user.id, &change).await.unwrap();
    }

    /// From now on, whatever reads users or settings fails.
    pub fn break_database(&self) {
        database::hide_table(self.dir.path(), "users");
        database::hide_table(self.dir.path(), "settings");
    }

    /// Sends a request as a program on this machine would; `headers` as `name: value`.
    pub async fn send(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let (method, path) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|one| one.starts_with("host:")) {
            request = request.header(header::HOST, "localhost:8800");
        }
        for one in headers.iter().filter(|one| !one.is_empty()) {
            let (name, value) = one.split_once(": ").unwrap_or((one, ""));
            request = request.header(name.trim_end_matches(':'), value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        read(response).await
    }

    /// The same with a JSON body.
    pub async fn json(&self, line: &str, headers: &[&str], body: &Value) -> Answer {
        let mut all = vec!["content-type: application/json"];
        all.extend(headers);
        self.send(line, &all, &body.to_string()).await
    }
}

async fn read(response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, 10_000_000).await.unwrap();
    Answer { status: parts.status.as_u16(), headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

/// `Authorization` of a session.
pub(crate) fn bearer(open: &OpenSession) -> String {
    format!("authorization: Bearer {}", open.access_token)
}
