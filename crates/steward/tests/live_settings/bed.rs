use crate::tls::Files;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use steward::api_state::{Front, state};
use steward::application::{Tokens, access, signing_key};
use steward::compose::{Composition, Options};
use steward::reconfigure::{NatsParts, ServerParts, hosts};
use steward::serving::Serving;
use steward::settings::Settings;
use steward_access::LoginLimits;
use steward_api::ApiState;
use steward_app::App;
use steward_app::config::{Layers, Source, named};
use steward_core::live::Live;
use steward_core::locks::lock;
use steward_core::ports::{NewCredential, Vault as _};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

pub const EMAIL: &str = "root@example.org";
pub const PASSWORD: &str = "a long enough password";

pub type Values = Vec<(&'static str, String)>;

/// A server without its socket.
pub struct Bed {
    pub parts: Arc<Composition>,
    pub app: App,
    pub state: ApiState,
    pub server: Arc<OnceLock<ServerParts>>,
    /// What clients said to the NATS server of the test.
    pub said: Arc<Mutex<Vec<String>>>,
    /// Of somebody who is logged in.
    pub token: String,
    base: Layers,
    dir: TempDir,
    files: Files,
    /// Something that takes connections, and a NATS server.
    open: SocketAddr,
    nats: SocketAddr,
}

impl Bed {
    pub async fn open() -> Self {
        steward_infra::logs::init(Some("warn"), true, false);
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["data", "cache/models/own", "other-cache", "work", "programs"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("cache/models/own/model.onnx"), "").unwrap();
        let model = steward_testkit::cache().join("models/SmolLM2-135M-Instruct.Q4_1.gguf");
        for name in ["model.gguf", "other.gguf"] {
            std::os::unix::fs::symlink(&model, at(name)).unwrap();
        }
        for name in ["chromium", "chrome"] {
            std::fs::write(at(name), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::write(at("mail-accounts.toml"), "[accounts.work]\nfrom = 'a@b.c'\nsmtp = 'smtp://127.0.0.1'\n")
            .unwrap();
        std::fs::write(at("commands.toml"), "[uname]\nrisk = \"write\"\n").unwrap();
        let mut base = Layers::default();
        for (name, folder) in [("DATA_DIR", "data"), ("NFS_BASE_PATH", "data/workspace"), ("CACHE_DIR", "cache")] {
            base.set_default(name, at(folder).display().to_string());
        }
        base.set_default("LOCAL_MODEL_FILE", at("model.gguf").display().to_string());
        base.give("CHROMIUM", Source::File, "steward.toml", at("chromium").display().to_string());
        let global = steward::cli::Global {
            data_dir: Some(at("data")),
            database: None,
            connection: None,
            model_file: None,
            log: None,
        };
        let mut settings = Settings::read(&global).unwrap();
        settings.database = None;
        settings.program = env!("CARGO_BIN_EXE_steward").into();
        let settings = settings.with(&base).unwrap();
        let options = Options { serving: true, ..Options::default() };
        let parts = Arc::new(Composition::open(&settings, options).await.unwrap());
        let folder = parts.workspace().unwrap();
        parts.default_agent().await.unwrap();
        let tokens = Tokens { limits: LoginLimits::default(), signing_key: signing_key(&settings).unwrap() };
        let access = access(&parts, &tokens);
        access.first_start(Some((EMAIL, PASSWORD))).await.unwrap();
        let login = steward_access::LogIn { email: EMAIL, password: PASSWORD, client: None, label: "" };
        let token = access.log_in(login).await.unwrap().access_token;
        let key = json!({"name": "search", "kind": "api_key", "fields": {"key": "secret"}});
        let key: NewCredential = serde_json::from_value(key).unwrap();
        parts.shared.vault_keys.keep(parts.tenant, key).await.unwrap();
        let server = Arc::new(OnceLock::new());
        let (open, said) = (listen(None).await, Arc::default());
        let nats = listen(Some(Arc::clone(&said))).await;
        let hosts = Live::new(hosts(open, &settings));
        let front = Front {
            access,
            tokens,
            workspace: &folder,
            hosts: hosts.clone(),
            server: Arc::downgrade(&server),
            checks: Box::new(Vec::new),
        };
        let state = state(&parts, front).await.unwrap();
        let connected = NatsParts { connection: Live::default(), answering: Arc::default(), state: state.clone() };
        let announced = Arc::new(Serving::announce(&at("data"), open, None).unwrap());
        let server_parts = ServerParts { address: open, hosts, tls: Live::default(), nats: connected, announced };
        assert!(server.set(server_parts).is_ok());
        let app = state.tenants.installation().clone();
        Self { parts, app, state, server, said, token, base, files: Files::new(), open, nats, dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// As the file of settings would say it.
    pub async fn put(&self, values: &[(&'static str, String)]) -> Result<(), String> {
        let mut layers = self.base.without(Source::Database);
        let mut saved = BTreeMap::new();
        for (name, value) in values {
            if named(name).unwrap().saved {
                saved.insert(*name, value.clone());
            } else {
                layers = without(&layers, name);
                layers.give(name, Source::File, "steward.toml", value.clone());
            }
        }
        self.app.config.change(layers.with_saved(saved)).await
    }

    /// Another value of a setting, and what must be set beside it.
    pub fn values(&self, name: &'static str) -> (Values, Values) {
        let at = |file: &str| self.path(file).display().to_string();
        let text = |text: &str| text.to_owned();
        let (open, nats) = (format!("http://{}", self.open), format!("nats://{}", self.nats));
        let llm = || vec![("LLM_BASE_URL", format!("{open}/v1")), ("LLM_DEFAULT_MODEL", text("one"))];
        let search = || vec![("SEARCH_ENGINE", text("searxng")), ("SEARCH_URL", open.clone())];
        let own = self.files.certificate().display().to_string();
        let key = self.files.key().display().to_string();
        let one = |value: &str| vec![(name, value.to_owned())];
        match name {
            "CORS_ORIGINS" | "V1_ORIGINS" => (one("https://studio.example.org"), vec![]),
            "AUTH_SECRET_KEY" => (one("0123456789abcdef0123456789abcdef"), vec![]),
            "TLS_CERT" | "TLS_KEY" => (vec![("TLS_CERT", own), ("TLS_KEY", key)], vec![]),
            "LOG_LEVEL" => (one("error"), vec![("LOG_LEVEL", text("warn"))]),
            "METRICS_TOKEN" => {
                // As it is saved.
                let hash = steward_core::hash::sha256(b"0123456789abcdef");
                (one(&format!("sha256:{hash}")), vec![])
            }
            "METRICS_LOOPBACK" => (one("true"), vec![]),
            "OTEL_EXPORTER_OTLP_ENDPOINT" => (one(&open), vec![]),
            "NATS_URL" => (one(&nats), vec![]),
            "NATS_USER" | "NATS_PASSWORD" => {
                (vec![("NATS_USER", text("ann")), ("NATS_PASSWORD", text("quiet"))], vec![("NATS_URL", nats)])
            }
            "NATS_TOKEN" => (one("a-token-of-ours"), vec![("NATS_URL", nats)]),
            "NATS_ACT_AS" => (one(EMAIL), vec![("NATS_URL", nats)]),
            "LLM_BASE_URL" => (llm(), vec![]),
            "LLM_DEFAULT_MODEL" => (one("two"), llm()),
            "LLM_API_KEY" => (one("a-key"), llm()),
            "DEFAULT_CONNECTION" => (one("local"), llm()),
            "PLANNER_MODEL_SPEC" | "EXECUTOR_MODEL_SPEC" => (one("llm"), llm()),
            "EMBEDDING_MODEL" => (one("own"), vec![]),
            "EXAMINE_CONNECTIONS" | "DEEP_AGENT_PLANNING_ENABLED" => (one("false"), vec![]),
            "LOCAL_MODEL_FILE" => (one(&at("other.gguf")), vec![]),
            "LOCAL_MODEL_IDLE_SECONDS" | "LEASE_SECONDS" | "BROWSERS" | "DISK_RESERVE_MB" => (one("7"), vec![]),
            "MAX_RUNS" | "STORAGE_PER_USER_MB" | "STORAGE_PER_ORGANISATION_MB" => (one("8"), vec![]),
            "DEEP_AGENT_MAX_PLAN_STEPS" => (one("9"), vec![]),
            "DEEP_AGENT_PLAN_STYLE" => (one("concise"), vec![]),
            "SEARCH_ENGINE" => (search(), vec![]),
            "SEARCH_URL" => (one(&format!("http://localhost:{}", self.open.port())), search()),
            "SEARCH_KEY" => (one("a-key"), search()),
            // The one that is in the vault takes the place of another.
            "SEARCH_CREDENTIAL" => (one("search"), search()),
            "WEB_ALLOW" => (one("127.0.0.1:9"), vec![]),
            "CHROMIUM" => (one(&at("chrome")), vec![]),
            "PYTHON" => (one("/usr/bin/python3"), vec![]),
            "PROGRAMS" => (one(&at("programs")), vec![]),
            "TERMINAL_FILE" => (one(&at("commands.toml")), vec![]),
            "MAIL_FILE" => (one(&at("mail-accounts.toml")), vec![]),
            "OCR_LANGUAGES" => (one("fra"), vec![]),
            "OCR_VISION" => (one("any"), vec![]),
            "KEY_VARIABLES" => (one("OFFICE_*"), vec![]),
            "NFS_BASE_PATH" => (one(&at("work")), vec![]),
            "CACHE_DIR" => (one(&at("other-cache")), vec![]),
            _ => panic!(
                "{name} is a new setting: write which other value it takes here, and in observed.rs where it is used"
            ),
        }
    }

    pub async fn close(self) {
        if let Some(server) = self.server.get() {
            server.nats.stop().await;
        }
        self.parts.close().await;
    }

    pub fn folder(&self) -> &Path {
        self.dir.path()
    }
}

/// Without what is given for one setting.
fn without(layers: &Layers, name: &str) -> Layers {
    let mut kept = layers.without(Source::File);
    for field in steward_app::config::FIELDS.iter().filter(|field| field.name != name) {
        if let Some(given) = layers.fixed(field.name) {
            kept.give(field.name, given.source, given.by.clone(), given.value.clone());
        }
    }
    kept
}

/// Something that takes connections; with `said` it speaks as a NATS server does.
async fn listen(said: Option<Arc<Mutex<Vec<String>>>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some(said) = said.clone() else { continue };
            tokio::spawn(async move {
                let (read, mut write) = stream.into_split();
                let port = address.port();
                let info = format!(
                    r#"INFO {{"server_id":"T","server_name":"T","version":"2.10.0","go":"1","host":"127.0.0.1","port":{port},"headers":true,"max_payload":1048576,"proto":1,"client_id":1}}"#
                );
                let _ = write.write_all(format!("{info}\r\n").as_bytes()).await;
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if line.starts_with("PING") {
                        let _ = write.write_all(b"PONG\r\n").await;
                    } else if line.starts_with("CONNECT") {
                        lock(&said).push(line);
                    }
                }
            });
        }
    });
    address
}
