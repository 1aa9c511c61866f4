use crate::settings::{Settings, path_folders, variable};
use anyhow::{Context, anyhow};
use secrecy::{ExposeSecret as _, SecretString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use steward_access::governance::SharedDetector;
use steward_access::{SealedVault, VaultDeps};
use steward_app::config::{names, saved_settings};
use steward_app::{
    ConnectionRegistry, CountingBus, EmbeddingStatus, KeyVariables, KnownSource, Metrics, RegistryParts,
};
use steward_cli::client::DEFAULT_AGENT;
use steward_core::agent::Agent;
use steward_core::model::Connection;
use steward_core::ports::{Blobs, Clock, CredentialRows, Embedder, EventBus, Extractor, Ids, PageReader, Vault};
use steward_core::ports::{DataSlot, KnowledgeSlot};
use steward_core::{ConnectionId, TenantId};
use steward_engine::{Deps, EngineConfig, RunService};
use steward_infra::{FileBlobs, InProcessBus, RunTraces, SystemClock, UuidV7};
use steward_intent::IntentService;
use steward_knowledge::confined::{ConfinedExtractor, ConfinedPages, Engines};
use steward_models::discovery::{Environment, OWN_SERVER_KEY, built_in, discover};
use steward_models::embed::{CrossEncoder, LazyMiniLm};
use steward_models::local::{ChildCommand, Supervisor, SupervisorOptions};
use steward_models::openai::{Client, Secrets, Timeouts};
use steward_models::price::Prices;
use steward_models::router::Router;
use steward_sandbox::process::Helper;
use steward_sandbox::python::PythonPool;
use steward_store::{Place, Store, StoreConfig};
use steward_tools::browser::{Browsers, with_browser};
use steward_tools::mcp::McpHub;
use steward_tools::outbound::HostPort;
use steward_tools::own_database::OwnDatabases;
use steward_tools::package::{Packages, with_references};
use steward_tools::skills::FileHostKeys;
use steward_tools::{
    DOCKER_VARIABLES, LocalWorkspaces, Ports, SkillServices, SkillServicesConfig, SkillServicesPorts, ToolsConfig,
};

// The tools of this build: the standard ones, and in builds for crash tests some that count.
#[cfg(not(feature = "failpoints"))]
use steward_tools::standard_builder as tools_of_this_build;

#[cfg(feature = "failpoints")]
use crate::crash::tools as tools_of_this_build;

/// Commit that this program is built from, where the build says so.
pub const COMMIT: Option<&str> = option_env!("STEWARD_COMMIT");

/// Idle time after which the embedding model's memory is freed.
pub const EMBEDDER_IDLE: Duration = Duration::from_mins(5);

/// Folder of the cross-encoder, in that of the models.
pub const CROSS_ENCODER: &str = "reranker";

/// Folder of the tenants but the default one, in the data directory.
pub const TENANTS: &str = "tenants";

/// Context window of the built-in model, tokens: all that it was trained for.
const LOCAL_WINDOW: u32 = 2048;

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Private hosts and ports that web tools may reach; `None`: those of the settings.
    pub web_allow: Option<Vec<String>>,
}

/// What all tenants share. None of it holds what is a tenant's, unless by its id.
#[derive(Clone)]
pub struct Shared {
    /// Those of the installation, with what is saved in the database.
    pub settings: Settings,
    pub store: Arc<Store>,
    pub vault_keys: Arc<SealedVault>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub embedder: Arc<dyn Embedder>,
    /// Re-ranks what searches find; `None`: none is installed.
    pub cross_encoder: Option<CrossEncoder>,
    pub extractor: Arc<dyn Extractor>,
    pub pages: Arc<dyn PageReader>,
    pub metrics: Arc<Metrics>,
    /// Whether this process alone has the database.
    pub in_process: bool,
    pub(crate) local: Arc<Supervisor>,
    /// Private hosts and ports that web tools of the default tenant may reach.
    web_allow: Vec<HostPort>,
    /// Owner of the leases of runs.
    node: String,
}

/// The parts of one tenant.
pub struct Composition {
    /// As far as they are this tenant's.
    pub settings: Settings,
    pub shared: Shared,
    pub tenant: TenantId,
    pub store: Arc<Store>,
    pub runs: RunService,
    pub models: Arc<Router>,
    pub connections: Arc<ConnectionRegistry>,
    pub vault: Arc<dyn Vault>,
    pub vault_keys: Arc<SealedVault>,
    pub packages: Arc<Packages>,
    pub mcp: Arc<McpHub>,
    /// Accepted host keys of servers that ssh skills reach.
    pub host_keys: Arc<FileHostKeys>,
    pub data_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub embedder: Arc<dyn Embedder>,
    pub embedding_dir: PathBuf,
    /// How embedding models at endpoints did.
    pub embedding_status: Arc<EmbeddingStatus>,
    pub metrics: Arc<Metrics>,
    /// `None` if there is no browser program.
    pub browsers: Option<Browsers>,
    pub(crate) local: Arc<Supervisor>,
    python: Arc<PythonPool>,
    traces: Option<Arc<RunTraces>>,
}

/// How this program confines commands: by starting itself.
pub fn sandbox_helper(settings: &Settings) -> Helper {
    Helper { program: settings.program.clone(), prefix: vec!["sandbox-exec".into()] }
}

/// What reads pages that are pictures, as far as it is installed.
pub fn ocr_engines(settings: &Settings) -> Engines {
    let folders: Vec<PathBuf> = settings.programs.iter().cloned().chain(path_folders()).collect();
    Engines::find(&folders, settings.ocr_models.clone(), settings.ocr_languages.clone())
}

/// Whoever may use docker may do everything on this machine, so only the installation's own tenant may.
fn skill_services_config(settings: &Settings, web_allow: Vec<HostPort>, installation: bool) -> SkillServicesConfig {
    SkillServicesConfig {
        data_dir: settings.data_dir.clone(),
        sandbox_helper: sandbox_helper(settings),
        python: python_config(settings),
        programs: settings.programs.clone(),
        path: path_folders(),
        docker: installation
            .then(|| DOCKER_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect()),
        web_allow,
    }
}

/// Where inline Python comes from: the settings, else the system's, else the first in PATH.
pub fn python_config(settings: &Settings) -> steward_sandbox::python::PythonConfig {
    steward_sandbox::python::PythonConfig {
        interpreter: settings.python.clone(),
        search: path_folders(),
        ..Default::default()
    }
}

impl Shared {
    /// Opens the data directory.
    async fn open(settings: &Settings, options: Options) -> anyhow::Result<Self> {
        install_tls();
        make_private_dir(&settings.data_dir)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let ids: Arc<dyn Ids> = Arc::new(UuidV7);
        let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(&settings.data_dir));
        let config = match &settings.database {
            Some(url) => StoreConfig::postgres(url),
            None => StoreConfig::sqlite(&settings.data_dir),
        };
        let in_process = matches!(config.place, Place::Sqlite { .. });
        let store = Arc::new(Store::open(config, blobs).await?);
        let settings = settings.with_saved(saved_settings(&store, TenantId::DEFAULT).await?);
        let rows: Arc<dyn CredentialRows> = store.clone();
        // A key that is no key ends the start; one that opens nothing does not, since all else works without.
        let source = settings.vault.source(&settings.data_dir, &rows)?;
        let deps = VaultDeps { rows, source, clock: Arc::clone(&clock), ids: Arc::clone(&ids) };
        let vault_keys = Arc::new(SealedVault::new(deps));
        if let Err(error) = vault_keys.check().await {
            tracing::error!(%error, "credentials can't be used");
        }
        let web_allow = options.web_allow.unwrap_or_else(|| names(&settings.layers, "WEB_ALLOW"));
        let web_allow = web_allow
            .iter()
            .map(|text| text.parse().map_err(|error| anyhow!("{error}")))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let embedder: Arc<dyn Embedder> = Arc::new(LazyMiniLm::with(
            &settings.embedding_dir,
            Some(EMBEDDER_IDLE),
            Some(settings.cache_dir.join("vectors/all-MiniLM-L6-v2.v1")),
        ));
        let models = settings.embedding_dir.parent().unwrap_or(&settings.embedding_dir);
        let cross_encoder = CrossEncoder::find(&models.join(CROSS_ENCODER));
        let node = if in_process {
            "local".to_owned()
        } else {
            // Two nodes on one database must not mistake each other's leases for their own.
            format!("node-{}", ids.next())
        };
        Ok(Self {
            extractor: Arc::new(ConfinedExtractor::new(sandbox_helper(&settings))),
            pages: Arc::new(ConfinedPages::new(sandbox_helper(&settings), ocr_engines(&settings))),
            local: Arc::new(local_model(&settings)),
            metrics: Arc::new(Metrics::new(env!("CARGO_PKG_VERSION"), COMMIT.unwrap_or_default())),
            settings,
            store,
            vault_keys,
            clock,
            ids,
            embedder,
            cross_encoder,
            in_process,
            web_allow,
            node,
        })
    }

    /// Where a tenant keeps its files: the default one in the data directory itself.
    pub fn folder_of(&self, tenant: TenantId) -> PathBuf {
        let data = &self.settings.data_dir;
        if tenant == TenantId::DEFAULT { data.clone() } else { data.join(TENANTS).join(tenant.to_string()) }
    }

    /// The settings as far as they are a tenant's: keys, servers and accounts of the installation are not.
    fn settings_of(&self, tenant: TenantId) -> Settings {
        let mut settings = self.settings.clone();
        if tenant != TenantId::DEFAULT {
            settings.data_dir = self.folder_of(tenant);
            settings.connection = None;
            settings.llm = None;
            settings.llm_key = None;
            settings.otlp = None;
            settings.key_variables = KeyVariables::none();
            settings.integrations.mail.accounts.clear();
        }
        settings
    }
}

impl Composition {
    /// Opens the data directory and composes the program for the default tenant. The local and the embedding model are
    /// loaded on first use.
    pub async fn open(settings: &Settings, options: Options) -> anyhow::Result<Self> {
        Self::of_tenant(&Shared::open(settings, options).await?, TenantId::DEFAULT).await
    }

    /// Composes the parts of a tenant.
    #[expect(clippy::too_many_lines, reason = "one part after the other, each named once")]
    pub async fn of_tenant(shared: &Shared, tenant: TenantId) -> anyhow::Result<Self> {
        let installation = tenant == TenantId::DEFAULT;
        let settings = &shared.settings_of(tenant);
        make_private_dir(&settings.data_dir)?;
        let (clock, ids) = (Arc::clone(&shared.clock), Arc::clone(&shared.ids));
        let (store, vault_keys) = (Arc::clone(&shared.store), Arc::clone(&shared.vault_keys));
        let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(&settings.data_dir));
        if !installation {
            store.keep_blobs_apart(tenant, Arc::clone(&blobs));
        }
        let allowed = settings.key_variables.clone();
        let llm_key = settings.llm_key.clone();
        let secrets = Secrets::new(move |name| key_of(llm_key.as_ref(), name))
            .checked(move |name| allowed.check(name))
            .with_vault(tenant, vault_keys.clone())
            .with_clock(Arc::clone(&clock));
        let client = Client::new(secrets, Some(shared.local.clone()), Timeouts::default());
        let found = if installation { find_connections(settings, &client).await } else { built_in_model(settings) };
        let models = Arc::new(
            Router::new(client, Arc::clone(&clock), Vec::new(), None)
                .with_prices(Prices::load(&shared.settings.data_dir.join("prices.json"))?),
        );
        let wanted = settings.connection.clone();
        let parts = RegistryParts {
            tenant,
            store: store.clone(),
            keys: vault_keys.clone(),
            router: models.clone(),
            clock: Arc::clone(&clock),
            variables: settings.key_variables.clone(),
        };
        let connections = ConnectionRegistry::open(parts, wanted, found).await?;
        let web_allow = if installation { shared.web_allow.clone() } else { Vec::new() };
        let skills = SkillServices::new(
            skill_services_config(settings, web_allow.clone(), installation),
            SkillServicesPorts {
                skills: store.clone(),
                agents: store.clone(),
                users: store.clone(),
                grants: store.clone(),
                mcp_servers: store.clone(),
                packages: store.clone(),
                vault: vault_keys.clone(),
                blobs: blobs.clone(),
                clock: Arc::clone(&clock),
                ids: Arc::clone(&ids),
            },
        );
        let browsers = crate::integrations::browsers(settings, sandbox_helper(settings), &web_allow);
        let integrations = crate::integrations::IntegrationPorts {
            vault: vault_keys.clone(),
            users: store.clone(),
            blobs: blobs.clone(),
            clock: Arc::clone(&clock),
            web_allow: web_allow.clone(),
        };
        let knowledge = KnowledgeSlot::default();
        let data = DataSlot::default();
        let asked = Arc::clone(&data);
        let tools = tools_of_this_build(
            ToolsConfig { web_allow, terminal: settings.terminal.clone(), sandbox_helper: sandbox_helper(settings) },
            &Ports {
                facts: store.clone(),
                blobs: blobs.clone(),
                clock: Arc::clone(&clock),
                python: skills.python.clone(),
                knowledge: Arc::clone(&knowledge),
                data: Arc::clone(&data),
                databases: OwnDatabases::new(&settings.data_dir),
            },
        )?;
        let tools = match &browsers {
            Some(browsers) => with_browser(tools, browsers, &blobs),
            None => tools,
        };
        let tools = crate::integrations::tools(tools, settings, integrations);
        let traces = settings
            .otlp
            .as_deref()
            .and_then(|endpoint| RunTraces::open(endpoint, store.clone(), tenant))
            .map(Arc::new);
        let mut tools = with_references(tools, &skills.packages).skills(skills.runtime);
        if let Some(traces) = traces.clone() {
            tools = tools.when_ended(move |run| traces.ended(run));
        }
        let tools = tools.build()?;
        let (embedder, metrics) = (Arc::clone(&shared.embedder), Arc::clone(&shared.metrics));
        // Events of one tenant never pass by those who listen to another's.
        let bus: Arc<dyn EventBus> = Arc::new(CountingBus::new(Arc::new(InProcessBus::new()), Arc::clone(&metrics)));
        let config = EngineConfig { node: shared.node.clone(), ..settings.engine.clone() };
        let runs = RunService::new(Deps {
            limiter: Arc::default(),
            knowledge,
            data,
            personal_data: Arc::new(SharedDetector),
            tenant,
            store: store.clone(),
            models: models.clone(),
            tools: Arc::new(tools),
            embedder: Arc::clone(&embedder),
            intent: Arc::new(IntentService::new(Arc::clone(&embedder), Arc::new(LocalWorkspaces), asked)),
            bus,
            price: {
                let models = models.clone();
                Arc::new(move |connection: &Connection| models.price(connection))
            },
            clock: Arc::clone(&clock),
            ids: Arc::clone(&ids),
            config,
        });
        Ok(Self {
            settings: settings.clone(),
            shared: shared.clone(),
            tenant,
            store,
            runs,
            models,
            connections: Arc::new(connections),
            vault: vault_keys.clone(),
            vault_keys,
            packages: skills.packages,
            mcp: skills.mcp,
            host_keys: skills.host_keys,
            data_dir: settings.data_dir.clone(),
            clock,
            ids,
            embedder,
            embedding_dir: settings.embedding_dir.clone(),
            embedding_status: Arc::default(),
            metrics,
            browsers,
            local: Arc::clone(&shared.local),
            python: skills.python,
            traces,
        })
    }

    /// Starts in the background what a first request would otherwise wait for.
    pub fn warm_up(&self) {
        let python = Arc::clone(&self.python);
        tokio::spawn(async move {
            match python.warm().await {
                Ok(python) => tracing::debug!(version = python.version, "Python is ready"),
                // Skills of other types work without it; `doctor` says what to do.
                Err(error) => tracing::warn!(%error, "skills of the type python can't run"),
            }
        });
    }

    /// The agent that every installation has; created at the first start.
    pub async fn default_agent(&self) -> anyhow::Result<Agent> {
        Ok(steward_app::default_agent(&self.store, &*self.ids, self.tenant, DEFAULT_AGENT).await?)
    }

    /// The id of a connection by name; `None` for `None`.
    pub fn connection_named(&self, name: Option<&str>) -> anyhow::Result<Option<ConnectionId>> {
        let Some(name) = name else { return Ok(None) };
        Ok(Some(self.connections.named(name)?.connection.id))
    }

    /// Releases runs, ends the model's process and all browsers; the database closes with its last use.
    pub async fn close(&self) {
        self.rest().await;
        self.local.stop().await;
    }

    /// Releases runs and ends all that is this tenant's alone.
    pub async fn rest(&self) {
        self.runs.shutdown().await;
        if let Some(browsers) = &self.browsers {
            browsers.close_all();
        }
        if let Err(error) = steward_app::seal_audit(&self.store, self.tenant).await {
            tracing::warn!(%error, "the newest audit entries get their places at the next start");
        }
        if let Some(traces) = &self.traces {
            traces.close().await;
        }
    }
}

/// Installs one TLS implementation for the whole program. A second call changes nothing.
fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn make_private_dir(dir: &std::path::Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("cannot make the data directory {}; choose another with --data-dir", dir.display()))
}

fn local_model(settings: &Settings) -> Supervisor {
    let command = ChildCommand::new(&settings.program)
        .arg("model-server")
        .arg("--model")
        .arg(&settings.model)
        .arg("--context")
        .arg(LOCAL_WINDOW.to_string())
        .arg("--idle-exit")
        .arg(settings.model_idle_s.to_string());
    let token = SecretString::from(hex::encode(steward_infra::random(24)));
    Supervisor::new(command, SupervisorOptions::new(settings.data_dir.join("run"), token))
}

/// A variable with a key; that of the server in the settings may come from elsewhere.
fn key_of(llm_key: Option<&SecretString>, name: &str) -> Option<SecretString> {
    let set = llm_key.filter(|_| name == OWN_SERVER_KEY).cloned();
    set.or_else(|| variable(name).map(SecretString::from))
}

/// That of the settings, those of the environment and of this machine, then the built-in model.
async fn find_connections(settings: &Settings, client: &Client) -> Vec<KnownSource> {
    let llm_key = settings.llm_key.clone();
    let mut environment =
        Environment::new(move |name| key_of(llm_key.as_ref(), name).map(|key| key.expose_secret().to_owned()));
    environment.own = settings.llm.clone();
    environment.local_model = Some(settings.model.clone());
    environment.local_window = LOCAL_WINDOW;
    discover(&environment, client)
        .await
        .into_iter()
        .map(|found| KnownSource { connection: found.connection, from: found.how })
        .collect()
}

/// All that a tenant has before it adds its own: what is on this machine, or paid for, is the installation's.
fn built_in_model(settings: &Settings) -> Vec<KnownSource> {
    let mut environment = Environment::new(|_| None);
    environment.local_model = Some(settings.model.clone());
    environment.local_window = LOCAL_WINDOW;
    let found = built_in(&environment);
    found.into_iter().map(|found| KnownSource { connection: found.connection, from: found.how }).collect()
}
