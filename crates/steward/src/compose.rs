use crate::places::{host_rules, own_places};
use crate::settings::{Settings, path_folders, variable};
use crate::toolset::Toolset;
use anyhow::{Context, anyhow};
use secrecy::{ExposeSecret as _, SecretString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use steward_access::Access;
use steward_access::governance::SharedDetector;
use steward_access::{SealedVault, VaultDeps};
use steward_app::config::{names, saved_settings};
use steward_app::{
    Check, ConnectionRegistry, CountingBus, DocumentService, EmbeddingStatus, Health, KeyVariables, Metrics,
    RegistryParts, RegistrySettings, StoredEditors, VisionUse, WorkspaceTables,
};
use steward_cli::client::{DEFAULT_AGENT, workspace_apart};
use steward_core::TenantId;
use steward_core::agent::Agent;
use steward_core::live::Live;
use steward_core::model::Connection;
use steward_core::ports::{Blobs, Clock, CredentialRows, EventBus, Extractor, Ids};
use steward_core::ports::{DataSlot, KnowledgeSlot};
use steward_core::routing::Role;
use steward_engine::{Deps, EngineConfig, RunService};
use steward_infra::{FileBlobs, InProcessBus, RunTraces, SystemClock, UuidV7, close_data_dir, make_data_dir};
use steward_intent::IntentService;
use steward_knowledge::confined::{ConfinedExtractor, ConfinedPages, Engines};
use steward_models::discovery::{Environment, Found, OWN_SERVER_KEY, built_in, discover};
use steward_models::embed::{CrossEncoder, LazyMiniLm};
use steward_models::local::{ChildCommand, ModelServer, Supervisor, SupervisorOptions};
use steward_models::openai::{Client, Secrets, Timeouts};
use steward_models::price::Prices;
use steward_models::router::Router;
use steward_sandbox::process::Helper;
use steward_sandbox::python::{PythonConfig, PythonPool};
use steward_store::{Place, Store, StoreConfig};
use steward_tools::browser::{BrowserConfig, Browsers};
use steward_tools::mail::MailPorts;
use steward_tools::mcp::McpHub;
use steward_tools::outbound::{self, HostPort};
use steward_tools::own_database::OwnDatabases;
use steward_tools::package::Packages;
use steward_tools::search::{SearchKey, SearchPorts};
use steward_tools::skills::FileHostKeys;
use steward_tools::{
    DOCKER_VARIABLES, HostPolicy, LiveTools, Ports, ProgramFolders, SkillServices, SkillServicesConfig,
    SkillServicesPorts,
};

/// Commit that this program is built from, where the build says so.
pub const COMMIT: Option<&str> = option_env!("STEWARD_COMMIT");

/// Idle time after which the embedding model's memory is freed.
pub const EMBEDDER_IDLE: Duration = Duration::from_mins(5);

/// Folder of the cross-encoder, in that of the models.
pub const CROSS_ENCODER: &str = "reranker";

/// Folder of the tenants but the default one, in the data directory.
pub const TENANTS: &str = "tenants";

/// Folder of the calendars, in the data directory of a tenant.
pub(crate) const CALENDARS: &str = "calendars";

/// Context window of the built-in model, tokens: all that it was trained for.
const LOCAL_WINDOW: u32 = 2048;

#[derive(Debug, Clone)]
pub struct Options {
    /// Private hosts and ports that web tools may reach; `None`: those of the settings.
    pub web_allow: Option<Vec<String>>,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    /// Whether it is a server, which takes changes of settings in, opens all tenants and works in the background.
    pub serving: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { web_allow: None, intent_filter: true, serving: false }
    }
}

/// What all tenants share. None of it holds what is a tenant's, unless by its id.
#[derive(Clone)]
pub struct Shared {
    /// Those of the installation that are in force, with what is saved in the database.
    pub settings: Live<Settings>,
    pub store: Arc<Store>,
    pub vault_keys: Arc<SealedVault>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub embedder: LazyMiniLm,
    /// Re-ranks what searches find; `None`: none is installed.
    pub cross_encoder: Live<Option<CrossEncoder>>,
    pub extractor: Arc<dyn Extractor>,
    pub pages: Arc<ConfinedPages>,
    pub metrics: Arc<Metrics>,
    /// Whether this process alone has the database.
    pub in_process: bool,
    pub intent_filter: bool,
    pub serving: bool,
    pub local: Arc<Supervisor>,
    /// Private hosts and ports that web tools of the default tenant may reach.
    pub web_allow: Live<Vec<HostPort>>,
    /// Owner of the leases of runs.
    node: String,
}

/// The parts of one tenant.
pub struct Composition {
    /// As far as they are this tenant's.
    pub settings: Live<Settings>,
    pub shared: Shared,
    pub tenant: TenantId,
    pub runs: RunService,
    pub models: Arc<Router>,
    pub connections: Arc<ConnectionRegistry>,
    pub packages: Arc<Packages>,
    pub mcp: Arc<McpHub>,
    /// Accepted host keys of servers that ssh skills reach.
    pub host_keys: Arc<FileHostKeys>,
    /// What people may name of this machine's disk.
    pub places: HostPolicy,
    /// How embedding models at endpoints did.
    pub embedding_status: Arc<EmbeddingStatus>,
    /// What is put together anew when settings change.
    pub live: TenantLive,
    pub python: Arc<PythonPool>,
}

/// What of a tenant reads settings where it uses them.
pub struct TenantLive {
    pub toolset: Toolset,
    pub tools: LiveTools,
    /// `None` if there is no browser program.
    pub browsers: Live<Option<Browsers>>,
    pub programs: ProgramFolders,
    pub engine: Live<EngineConfig>,
    pub traces: Live<Option<Arc<RunTraces>>>,
    pub vision: Live<VisionUse>,
    pub embedding_model: Live<Option<String>>,
    /// Folder that file tools are confined to.
    pub folder: Live<PathBuf>,
    pub folder_text: Live<String>,
    // Those that are opened later.
    pub documents: OnceLock<Arc<DocumentService>>,
    pub access: OnceLock<Arc<Access>>,
    pub health: OnceLock<(Arc<Health>, HealthChecks)>,
}

/// The checks of a tenant, made of the settings in force.
pub type HealthChecks = Box<dyn Fn(&Composition) -> Vec<Check> + Send + Sync>;

pub(crate) fn own_workspace(settings: &Settings) -> PathBuf {
    settings.data_dir.join("workspace")
}

/// That of the settings, which is the installation's, else the tenant's own.
pub(crate) fn workspace_of(settings: &Settings, tenant: TenantId) -> PathBuf {
    let chosen = settings.workspace().filter(|_| tenant == TenantId::DEFAULT);
    chosen.unwrap_or_else(|| own_workspace(settings))
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

/// Browsers for agents; an error says why there is no program for them.
pub fn browser_config(settings: &Settings, allow: &Live<Vec<HostPort>>) -> Result<BrowserConfig, String> {
    let client = outbound::Client::reading(allow.clone());
    let found = BrowserConfig::find(settings.chromium.as_deref(), &path_folders(), sandbox_helper(settings), client)?;
    Ok(BrowserConfig { most: settings.browsers.unwrap_or(found.most), ..found })
}

/// Where the vectors of texts are kept that last.
pub fn vectors_file(settings: &Settings) -> PathBuf {
    settings.cache_dir.join("vectors/all-MiniLM-L6-v2.v1")
}

/// Private hosts and ports that web tools may reach.
pub fn web_allow(settings: &Settings) -> anyhow::Result<Vec<HostPort>> {
    read_host_ports(&names(&settings.layers, "WEB_ALLOW"))
}

fn read_host_ports(texts: &[String]) -> anyhow::Result<Vec<HostPort>> {
    texts.iter().map(|text| text.parse().map_err(|error| anyhow!("{error}"))).collect()
}

/// Where inline Python comes from: the settings, else the system's, else the first in PATH.
pub fn python_config(settings: &Settings) -> PythonConfig {
    PythonConfig { interpreter: settings.python.clone(), search: path_folders(), ..PythonConfig::default() }
}

impl Shared {
    /// Opens the data directory.
    async fn open(settings: &Settings, options: Options) -> anyhow::Result<Self> {
        // One implementation for the whole program; it may be there already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        make_data_dir(&settings.data_dir)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let ids: Arc<dyn Ids> = Arc::new(UuidV7);
        let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(&settings.data_dir));
        let config = match &settings.database {
            Some(url) => StoreConfig::postgres(url),
            None => StoreConfig::sqlite(&settings.data_dir),
        };
        let in_process = matches!(config.place, Place::Sqlite { .. });
        let store = Arc::new(Store::open(config, blobs).await?);
        if let Some(mode) = close_data_dir(&settings.data_dir, "workspace")? {
            let (path, mode) = (settings.data_dir.display(), format!("{mode:o}"));
            tracing::warn!(%path, mode, "other users of this machine may enter the data folder; chmod 700 keeps them out");
        }
        let rows: Arc<dyn CredentialRows> = store.clone();
        // A key that is no key ends the start; one that opens nothing does not, since all else works without.
        let source = settings.vault.source(&settings.data_dir, &rows)?;
        let deps = VaultDeps { rows, source, clock: Arc::clone(&clock), ids: Arc::clone(&ids) };
        let vault_keys = Arc::new(SealedVault::new(deps));
        if let Err(error) = vault_keys.check().await {
            tracing::error!(%error, "credentials can't be used");
        }
        // The vault opens the secrets among them; where its key is, is not among them.
        let settings = settings.with_saved(saved_settings(&store, Some(&*vault_keys), TenantId::DEFAULT).await?);
        let web_allow = match options.web_allow {
            Some(texts) => read_host_ports(&texts)?,
            None => web_allow(&settings)?,
        };
        let embedder = LazyMiniLm::with(&settings.embedding_dir, Some(EMBEDDER_IDLE), Some(vectors_file(&settings)));
        let cross_encoder = CrossEncoder::find(&settings.models_dir().join(CROSS_ENCODER));
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
            settings: Live::new(settings),
            store,
            vault_keys,
            clock,
            ids,
            embedder,
            cross_encoder: Live::new(cross_encoder),
            in_process,
            intent_filter: options.intent_filter,
            serving: options.serving,
            web_allow: Live::new(web_allow),
            node,
        })
    }

    /// Where a tenant keeps its files: the default one in the data directory itself.
    pub fn folder_of(&self, tenant: TenantId) -> PathBuf {
        let data = self.settings.get().data_dir.clone();
        if tenant == TenantId::DEFAULT { data } else { data.join(TENANTS).join(tenant.to_string()) }
    }

    /// The settings as far as they are a tenant's: keys, servers and accounts of the installation are not.
    pub(crate) fn settings_of(&self, tenant: TenantId, installation: &Settings) -> Settings {
        let mut settings = installation.clone();
        if tenant != TenantId::DEFAULT {
            settings.data_dir = self.folder_of(tenant);
            settings.connection = None;
            // Names of the installation's own connections.
            settings.engine.planner = None;
            settings.engine.executor = None;
            settings.llm = None;
            settings.llm_key = None;
            settings.otlp = None;
            settings.key_variables = KeyVariables::none();
            settings.mail.accounts.clear();
            // Its key is a secret of the installation's own organisation.
            settings.search = settings.search.filter(|one| !matches!(one.key, SearchKey::Credential(_)));
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
        let installed = shared.settings.get();
        let settings = shared.settings_of(tenant, &installed);
        make_data_dir(&settings.data_dir)?;
        let Shared { store, vault_keys: vault, clock, ids, embedder, metrics, .. } = shared.clone();
        let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(&settings.data_dir));
        if !installation {
            store.keep_blobs_apart(tenant, blobs.clone());
        }
        let in_force = Live::new(settings.clone());
        let (allowed, keyed) = (in_force.clone(), in_force.clone());
        let secrets = Secrets::new(move |name| key_of(keyed.get().llm_key.as_ref(), name))
            .checked(move |name| allowed.get().key_variables.check(name))
            .with_vault(tenant, vault.clone())
            .with_clock(clock.clone());
        let client = Client::new(secrets, Some(shared.local.clone()), Timeouts::default());
        let found = find_connections(&settings, &client, installation).await;
        let prices = Prices::load(&installed.data_dir.join("prices.json"))?;
        let models = Arc::new(Router::new(client, clock.clone(), Vec::new(), None).with_prices(prices));
        let parts = RegistryParts {
            tenant,
            store: store.clone(),
            keys: vault.clone(),
            router: models.clone(),
            clock: clock.clone(),
        };
        let connections = Arc::new(ConnectionRegistry::open(parts, registry_settings(&settings, found)).await?);
        let web_allow = if installation { shared.web_allow.clone() } else { Live::default() };
        // Whoever may use docker may do everything on this machine, so only the installation's own tenant may.
        let docker = installation
            .then(|| DOCKER_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect());
        let places = HostPolicy::new(host_rules(&installed, workspace_of(&settings, tenant)));
        let skills = SkillServices::new(
            SkillServicesConfig {
                data_dir: settings.data_dir.clone(),
                sandbox_helper: sandbox_helper(&settings),
                python: python_config(&settings),
                programs: settings.programs.clone(),
                path: path_folders(),
                docker,
                web_allow: web_allow.clone(),
                places: places.clone(),
            },
            SkillServicesPorts {
                skills: store.clone(),
                agents: store.clone(),
                users: store.clone(),
                grants: store.clone(),
                mcp_servers: store.clone(),
                packages: store.clone(),
                vault: vault.clone(),
                blobs: blobs.clone(),
                clock: clock.clone(),
                ids: ids.clone(),
            },
        );
        let (knowledge, data) = (KnowledgeSlot::default(), DataSlot::default());
        let traces = open_traces(&settings, shared, tenant).unwrap_or_else(|error| {
            tracing::error!(%error, "no traces are sent");
            None
        });
        let traces = Live::new(traces);
        let toolset = Toolset {
            helper: sandbox_helper(&settings),
            calendars: settings.data_dir.join(CALENDARS),
            web_allow: web_allow.clone(),
            ports: Ports {
                facts: store.clone(),
                editors: Arc::new(StoredEditors(store.clone())),
                blobs: blobs.clone(),
                clock: clock.clone(),
                python: skills.python.clone(),
                knowledge: knowledge.clone(),
                data: data.clone(),
                databases: OwnDatabases::new(&settings.data_dir),
            },
            search: SearchPorts { client: outbound::Client::reading(web_allow.clone()), vault: vault.clone() },
            mail: MailPorts { vault, users: store.clone() },
            packages: skills.packages.clone(),
            skills: skills.runtime,
            traces: traces.clone(),
        };
        let browsers = browser_config(&settings, &web_allow);
        let browsers = browsers.inspect_err(|why| tracing::debug!(why, "agents have no browser")).ok();
        let browsers = browsers.map(Browsers::new);
        let tools = LiveTools::new(toolset.build(&settings, web_allow.copy(), browsers.as_ref())?);
        let config = EngineConfig { node: shared.node.clone(), ..settings.engine.clone() };
        let config = Live::new(config);
        let live = TenantLive {
            toolset,
            tools: tools.clone(),
            browsers: Live::new(browsers),
            programs: skills.programs,
            engine: config.clone(),
            traces,
            vision: Live::new(settings.ocr_vision),
            embedding_model: Live::new(settings.embedding_model.clone()),
            folder: Live::new(workspace_of(&settings, tenant)),
            folder_text: Live::default(),
            documents: OnceLock::new(),
            access: OnceLock::new(),
            health: OnceLock::new(),
        };
        // Events of one tenant never pass by those who listen to another's.
        let bus: Arc<dyn EventBus> = Arc::new(CountingBus::new(Arc::new(InProcessBus::new()), metrics));
        let intent = IntentService::new(
            Arc::new(embedder.clone()),
            Arc::new(WorkspaceTables::new(Arc::new(embedder.clone()))),
            data.clone(),
        );
        let pricing = models.clone();
        let runs = RunService::new(Deps {
            limiter: Arc::default(),
            knowledge,
            data,
            personal_data: Arc::new(SharedDetector),
            tenant,
            store,
            models: models.clone(),
            tools: Arc::new(tools),
            embedder: Arc::new(embedder),
            intent: Arc::new(intent),
            bus,
            price: Arc::new(move |connection: &Connection| pricing.price(connection)),
            clock,
            ids,
            config,
        });
        Ok(Self {
            settings: in_force,
            shared: shared.clone(),
            tenant,
            runs,
            models,
            connections,
            packages: skills.packages,
            mcp: skills.mcp,
            host_keys: skills.host_keys,
            places,
            embedding_status: Arc::default(),
            live,
            python: skills.python,
        })
    }

    /// The folder that file tools are confined to: that of the settings, else `workspace` in the data directory.
    pub fn workspace(&self) -> anyhow::Result<PathBuf> {
        open_workspace(&self.settings.get(), &self.shared.settings.get(), self.tenant)
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
        Ok(steward_app::default_agent(&self.shared.store, &*self.shared.ids, self.tenant, DEFAULT_AGENT).await?)
    }

    /// Releases runs, ends the model's process and all browsers; the database closes with its last use.
    pub async fn close(&self) {
        self.rest().await;
        self.shared.local.stop().await;
    }

    /// Releases runs and ends all that is this tenant's alone.
    pub async fn rest(&self) {
        self.runs.shutdown().await;
        if let Some(browsers) = &*self.live.browsers.get() {
            browsers.close_all();
        }
        if let Err(error) = steward_app::seal_audit(&self.shared.store, self.tenant).await {
            tracing::warn!(%error, "the newest audit entries get their places at the next start");
        }
        if let Some(traces) = &*self.live.traces.get() {
            traces.close().await;
        }
    }
}

/// Makes the usual one where there is none. What is the program's own may not lie in it.
pub(crate) fn open_workspace(
    settings: &Settings,
    installation: &Settings,
    tenant: TenantId,
) -> anyhow::Result<PathBuf> {
    let folder = workspace_of(settings, tenant);
    if folder == own_workspace(settings) {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    workspace_apart(Some(&folder), &own_places(installation))
}

/// `None`: nothing is to be sent.
pub(crate) fn open_traces(
    settings: &Settings,
    shared: &Shared,
    tenant: TenantId,
) -> anyhow::Result<Option<Arc<RunTraces>>> {
    let endpoint = settings.otlp.as_deref();
    let open = |endpoint| RunTraces::open(endpoint, shared.store.clone(), tenant);
    Ok(endpoint.map(open).transpose().map_err(anyhow::Error::msg)?.map(Arc::new))
}

pub(crate) fn registry_settings(settings: &Settings, found: Vec<Found>) -> RegistrySettings {
    let engine = &settings.engine;
    let roles = [(Role::Planner, &engine.planner), (Role::Executor, &engine.executor)];
    RegistrySettings {
        wanted: settings.connection.clone(),
        roles: roles.into_iter().filter_map(|(role, name)| Some((role, name.clone()?))).collect(),
        found,
        variables: settings.key_variables.clone(),
        examines: settings.examine_connections,
    }
}

pub(crate) fn local_model_command(settings: &Settings) -> ChildCommand {
    let options = [("--context", u64::from(LOCAL_WINDOW)), ("--idle-exit", settings.model_idle_s)];
    ModelServer::command(&settings.program, &settings.model, &options)
}

fn local_model(settings: &Settings) -> Supervisor {
    let command = local_model_command(settings);
    let token = SecretString::from(hex::encode(steward_infra::random(24)));
    Supervisor::new(command, SupervisorOptions::new(settings.data_dir.join("run"), token))
}

/// A variable with a key; that of the server in the settings may come from elsewhere.
fn key_of(llm_key: Option<&SecretString>, name: &str) -> Option<SecretString> {
    let set = llm_key.filter(|_| name == OWN_SERVER_KEY).cloned();
    set.or_else(|| variable(name).map(SecretString::from))
}

/// That of the settings, those of the environment and of this machine, then the built-in model. The last is all that a
/// tenant has before it adds its own: what is on this machine, or paid for, is the installation's.
pub(crate) async fn find_connections(settings: &Settings, client: &Client, installation: bool) -> Vec<Found> {
    let llm_key = settings.llm_key.clone();
    let mut environment =
        Environment::new(move |name| key_of(llm_key.as_ref(), name).map(|key| key.expose_secret().to_owned()));
    environment.own = settings.llm.clone();
    environment.local_model = Some(settings.model.clone());
    environment.local_window = LOCAL_WINDOW;
    if installation { discover(&environment, client).await } else { built_in(&environment).into_iter().collect() }
}
