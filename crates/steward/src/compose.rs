use crate::places::{host_policy, own_places};
use crate::settings::{Settings, path_folders, variable};
use anyhow::{Context, anyhow};
use jiff::tz::TimeZone;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use steward_access::governance::SharedDetector;
use steward_access::{SealedVault, VaultDeps};
use steward_app::config::{names, saved_settings};
use steward_app::{
    ConnectionRegistry, CountingBus, EmbeddingStatus, KeyVariables, Metrics, RegistryParts, StoredEditors,
    WorkspaceTables,
};
use steward_cli::client::{DEFAULT_AGENT, workspace_apart};
use steward_core::TenantId;
use steward_core::agent::Agent;
use steward_core::model::Connection;
use steward_core::ports::{Blobs, Clock, CredentialRows, Embedder, EventBus, Extractor, Ids, PageReader};
use steward_core::ports::{DataSlot, KnowledgeSlot};
use steward_engine::{Deps, EngineConfig, RunService};
use steward_infra::{FileBlobs, InProcessBus, RunTraces, SystemClock, UuidV7, close_data_dir, make_data_dir};
use steward_intent::IntentService;
use steward_knowledge::confined::{ConfinedExtractor, ConfinedPages, Engines};
use steward_models::discovery::{Environment, Found, OWN_SERVER_KEY, built_in, discover};
use steward_models::embed::{CrossEncoder, LazyMiniLm};
use steward_models::local::{ModelServer, Supervisor, SupervisorOptions};
use steward_models::openai::{Client, Secrets, Timeouts};
use steward_models::price::Prices;
use steward_models::router::Router;
use steward_sandbox::process::Helper;
use steward_sandbox::python::{PythonConfig, PythonPool};
use steward_store::{Place, Store, StoreConfig};
use steward_tools::browser::{BrowserConfig, Browsers, with_browser};
use steward_tools::calendar::{CalendarConfig, with_calendar};
use steward_tools::mail::{MailConfig, MailPorts, with_mail};
use steward_tools::mcp::McpHub;
use steward_tools::outbound::{self, HostPort};
use steward_tools::own_database::OwnDatabases;
use steward_tools::package::{Packages, with_references};
use steward_tools::search::{SearchKey, SearchPorts, with_search};
use steward_tools::skills::FileHostKeys;
use steward_tools::{
    DOCKER_VARIABLES, HostPolicy, Ports, SkillServices, SkillServicesConfig, SkillServicesPorts, ToolsConfig,
    standard_builder,
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
    pub intent_filter: bool,
    pub serving: bool,
    pub(crate) local: Arc<Supervisor>,
    /// Private hosts and ports that web tools of the default tenant may reach.
    pub(crate) web_allow: Vec<HostPort>,
    /// Owner of the leases of runs.
    node: String,
}

/// The parts of one tenant.
pub struct Composition {
    /// As far as they are this tenant's.
    pub settings: Settings,
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
    /// `None` if there is no browser program.
    browsers: Option<Browsers>,
    python: Arc<PythonPool>,
    traces: Option<Arc<RunTraces>>,
}

fn own_workspace(settings: &Settings) -> PathBuf {
    settings.data_dir.join("workspace")
}

/// That of the settings, which is the installation's, else the tenant's own.
fn workspace_of(settings: &Settings, tenant: TenantId) -> PathBuf {
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
pub fn browsers(settings: &Settings, allow: &[HostPort]) -> Result<Browsers, String> {
    let client = outbound::Client::new(allow.to_vec());
    let found = BrowserConfig::find(settings.chromium.as_deref(), &path_folders(), sandbox_helper(settings), client)?;
    Ok(Browsers::new(BrowserConfig { most: settings.browsers.unwrap_or(found.most), ..found }))
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
            settings,
            store,
            vault_keys,
            clock,
            ids,
            embedder,
            cross_encoder,
            in_process,
            intent_filter: options.intent_filter,
            serving: options.serving,
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
        let settings = shared.settings_of(tenant);
        make_data_dir(&settings.data_dir)?;
        let Shared { store, vault_keys: vault, clock, ids, embedder, metrics, .. } = shared.clone();
        let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(&settings.data_dir));
        if !installation {
            store.keep_blobs_apart(tenant, blobs.clone());
        }
        let (allowed, llm_key) = (settings.key_variables.clone(), settings.llm_key.clone());
        let secrets = Secrets::new(move |name| key_of(llm_key.as_ref(), name))
            .checked(move |name| allowed.check(name))
            .with_vault(tenant, vault.clone())
            .with_clock(clock.clone());
        let client = Client::new(secrets, Some(shared.local.clone()), Timeouts::default());
        let found = find_connections(&settings, &client, installation).await;
        let prices = Prices::load(&shared.settings.data_dir.join("prices.json"))?;
        let models = Arc::new(Router::new(client, clock.clone(), Vec::new(), None).with_prices(prices));
        let parts = RegistryParts {
            tenant,
            store: store.clone(),
            keys: vault.clone(),
            router: models.clone(),
            clock: clock.clone(),
            variables: settings.key_variables.clone(),
            examines: settings.examine_connections,
        };
        let connections = Arc::new(ConnectionRegistry::open(parts, settings.connection.clone(), found).await?);
        let web_allow = if installation { shared.web_allow.clone() } else { Vec::new() };
        // Whoever may use docker may do everything on this machine, so only the installation's own tenant may.
        let docker = installation
            .then(|| DOCKER_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect());
        let places = host_policy(&shared.settings, workspace_of(&settings, tenant));
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
        let tools = standard_builder(
            ToolsConfig {
                web_allow: web_allow.clone(),
                terminal: settings.terminal.clone(),
                sandbox_helper: sandbox_helper(&settings),
            },
            &Ports {
                facts: store.clone(),
                editors: Arc::new(StoredEditors(store.clone())),
                blobs: blobs.clone(),
                clock: clock.clone(),
                python: skills.python.clone(),
                knowledge: knowledge.clone(),
                data: data.clone(),
                databases: OwnDatabases::new(&settings.data_dir),
            },
        )?;
        #[cfg(feature = "failpoints")]
        let tools = crate::crash::tools(tools);
        let browsers = browsers(&settings, &web_allow);
        let browsers = browsers.inspect_err(|why| tracing::debug!(why, "agents have no browser")).ok();
        let tools = match &browsers {
            Some(browsers) => with_browser(tools, browsers, &blobs),
            None => tools,
        };
        let search = SearchPorts { client: outbound::Client::new(web_allow.clone()), vault: vault.clone() };
        let tools = with_search(tools, settings.search.clone(), &search);
        let calendar = CalendarConfig { folder: settings.data_dir.join(CALENDARS), zone: TimeZone::system() };
        let tools = with_calendar(tools, calendar, &clock, &blobs);
        let mail = MailConfig { allow: web_allow, ..settings.mail.clone() };
        let tools = with_mail(tools, mail, MailPorts { vault, users: store.clone() });
        let mut tools = with_references(tools, &skills.packages).skills(skills.runtime);
        let traces = settings.otlp.as_deref().and_then(|endpoint| RunTraces::open(endpoint, store.clone(), tenant));
        let traces = traces.map(Arc::new);
        if let Some(traces) = traces.clone() {
            tools = tools.when_ended(move |run| traces.ended(run));
        }
        // Events of one tenant never pass by those who listen to another's.
        let bus: Arc<dyn EventBus> = Arc::new(CountingBus::new(Arc::new(InProcessBus::new()), metrics));
        let intent = IntentService::new(embedder.clone(), Arc::new(WorkspaceTables::default()), data.clone());
        let pricing = models.clone();
        let runs = RunService::new(Deps {
            limiter: Arc::default(),
            knowledge,
            data,
            personal_data: Arc::new(SharedDetector),
            tenant,
            store,
            models: models.clone(),
            tools: Arc::new(tools.build()?),
            embedder,
            intent: Arc::new(intent),
            bus,
            price: Arc::new(move |connection: &Connection| pricing.price(connection)),
            clock,
            ids,
            config: EngineConfig { node: shared.node.clone(), ..settings.engine.clone() },
        });
        Ok(Self {
            settings,
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
            browsers,
            python: skills.python,
            traces,
        })
    }

    /// The folder that file tools are confined to: that of the settings, else `workspace` in the data directory.
    pub fn workspace(&self) -> anyhow::Result<PathBuf> {
        let folder = workspace_of(&self.settings, self.tenant);
        if folder == own_workspace(&self.settings) {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        workspace_apart(Some(&folder), &own_places(&self.shared.settings))
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
        if let Some(browsers) = &self.browsers {
            browsers.close_all();
        }
        if let Err(error) = steward_app::seal_audit(&self.shared.store, self.tenant).await {
            tracing::warn!(%error, "the newest audit entries get their places at the next start");
        }
        if let Some(traces) = &self.traces {
            traces.close().await;
        }
    }
}

fn local_model(settings: &Settings) -> Supervisor {
    let options = [("--context", u64::from(LOCAL_WINDOW)), ("--idle-exit", settings.model_idle_s)];
    let command = ModelServer::command(&settings.program, &settings.model, &options);
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
async fn find_connections(settings: &Settings, client: &Client, installation: bool) -> Vec<Found> {
    let llm_key = settings.llm_key.clone();
    let mut environment =
        Environment::new(move |name| key_of(llm_key.as_ref(), name).map(|key| key.expose_secret().to_owned()));
    environment.own = settings.llm.clone();
    environment.local_model = Some(settings.model.clone());
    environment.local_window = LOCAL_WINDOW;
    if installation { discover(&environment, client).await } else { built_in(&environment).into_iter().collect() }
}
