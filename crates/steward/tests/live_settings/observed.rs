use super::bed::Bed;
use secrecy::ExposeSecret as _;
use serde_json::json;
use std::net::IpAddr;
use steward_core::AgentId;
use steward_core::agent::PlanStyle;
use steward_core::locks::lock;
use steward_core::ports::ToolScope;
use steward_core::tool::{CallSource, ToolCall};
use steward_tools::search::SearchKey;
use uuid::Uuid;

impl Bed {
    /// How a setting is where it is used.
    pub async fn observe(&self, name: &str) -> String {
        let (parts, live) = (&self.parts, &self.parts.live);
        let server = self.server.get().unwrap();
        let engine = parts.runs.deps().config.get();
        match name {
            "CORS_ORIGINS" => format!("{:?}", self.state.hosts.get().names),
            "V1_ORIGINS" => format!("{:?}", self.state.hosts.get().dialect_origins),
            "AUTH_SECRET_KEY" => self.app.access.identify(&self.token).await.is_ok().to_string(),
            "TLS_CERT" | "TLS_KEY" => server.tls.get().is_some().to_string(),
            "LOG_LEVEL" => tracing::level_filters::LevelFilter::current().to_string(),
            "METRICS_TOKEN" => self.app.config.may_read_metrics(Some("0123456789abcdef"), None).to_string(),
            "METRICS_LOOPBACK" => {
                self.app.config.may_read_metrics(None, Some(IpAddr::from([127, 0, 0, 1]))).to_string()
            }
            "OTEL_EXPORTER_OTLP_ENDPOINT" => live.traces.get().is_some().to_string(),
            "NATS_URL" => server.nats.connection.get().is_some().to_string(),
            "NATS_USER" | "NATS_PASSWORD" | "NATS_TOKEN" => lock(&self.said).last().cloned().unwrap_or_default(),
            "NATS_ACT_AS" => {
                let answering = server.nats.answering.lock().await;
                format!("{:?}", answering.as_ref().map(|answering| answering.act_as.clone()))
            }
            "LLM_BASE_URL" | "LLM_DEFAULT_MODEL" => {
                let known = parts.connections.known();
                let found = known.iter().find(|known| known.connection.name == "llm");
                format!("{:?}", found.map(|found| (&found.connection.base_url, &found.connection.model)))
            }
            "LLM_API_KEY" => {
                let key = parts.settings.get().llm_key.as_ref().map(|key| key.expose_secret().to_owned());
                let known = parts.connections.named("llm").ok().map(|known| format!("{:?}", known.connection.auth));
                format!("{key:?} {known:?}")
            }
            "DEFAULT_CONNECTION" => parts.models.default_connection().map(|one| one.name).unwrap_or_default(),
            "EMBEDDING_MODEL" => live.documents.get().unwrap().embedding.preferred(),
            "EXAMINE_CONNECTIONS" => parts.connections.settings().examines.to_string(),
            "KEY_VARIABLES" => parts.connections.settings().variables.check("OFFICE_DOOR").is_ok().to_string(),
            "LOCAL_MODEL_FILE" | "LOCAL_MODEL_IDLE_SECONDS" => format!("{:?}", parts.shared.local.command()),
            "PLANNER_MODEL_SPEC" => format!("{:?}", engine.planner),
            "EXECUTOR_MODEL_SPEC" => format!("{:?}", engine.executor),
            "MAX_RUNS" => engine.max_runs.to_string(),
            "LEASE_SECONDS" => format!("{:?}", engine.lease),
            "DEEP_AGENT_PLANNING_ENABLED" => engine.deep.enabled.to_string(),
            "DEEP_AGENT_MAX_PLAN_STEPS" => engine.deep.max_steps.to_string(),
            "DEEP_AGENT_PLAN_STYLE" => (engine.deep.style == PlanStyle::Concise).to_string(),
            "NFS_BASE_PATH" => self.app.workspace.copy(),
            "STORAGE_PER_USER_MB" | "STORAGE_PER_ORGANISATION_MB" | "DISK_RESERVE_MB" => {
                format!("{:?}", self.app.config.number(name))
            }
            "OCR_LANGUAGES" => parts.shared.pages.languages(),
            "OCR_VISION" => format!("{:?}", live.vision.get()),
            "CACHE_DIR" => parts.shared.embedder.folder().display().to_string(),
            _ => self.observe_tools(name).await,
        }
    }

    async fn observe_tools(&self, name: &str) -> String {
        let live = &self.parts.live;
        match name {
            "SEARCH_ENGINE" => self.has_tool("web_search").to_string(),
            "MAIL_FILE" => self.has_tool("mail_send").to_string(),
            "SEARCH_URL" => self.preview("web_search", json!({"query": "x"})).await,
            "SEARCH_KEY" | "SEARCH_CREDENTIAL" => match &self.parts.settings.get().search.as_ref().unwrap().key {
                SearchKey::Plain(key) => key.expose_secret().to_owned(),
                SearchKey::Credential(name) => name.clone(),
                SearchKey::None => String::new(),
            },
            "TERMINAL_FILE" => self.preview("terminal", json!({"command": "uname"})).await,
            "WEB_ALLOW" => format!("{:?} {:?}", self.parts.shared.web_allow.get(), live.toolset.web_allow.get()),
            "BROWSERS" => {
                format!("{:?}", live.browsers.get().as_ref().as_ref().map(steward_tools::browser::Browsers::most))
            }
            "CHROMIUM" => {
                let browsers = live.browsers.get();
                format!("{:?}", browsers.as_ref().as_ref().map(steward_tools::browser::Browsers::program))
            }
            "PYTHON" => format!("{:?}", self.parts.python.interpreter()),
            "PROGRAMS" => format!("{:?}", live.programs.own()),
            _ => panic!("{name} is a new setting: look here at where it is used"),
        }
    }

    fn has_tool(&self, name: &str) -> bool {
        self.parts.runs.deps().tools.catalogue().iter().any(|tool| tool.name == name)
    }

    async fn preview(&self, tool: &str, arguments: serde_json::Value) -> String {
        let call = ToolCall::new("1", tool, arguments, CallSource::Native);
        let scope = ToolScope {
            tenant: self.parts.tenant,
            run: None,
            agent: AgentId(Uuid::nil()),
            conversation: None,
            workspace: self.folder().to_owned(),
            folder: String::new(),
            now: self.parts.shared.clock.now(),
            utc_offset_minutes: 0,
            timeout_ms: 1_000,
            user: None,
            kept_for: None,
            provenance: steward_core::provenance::Provenance::default(),
            consulted: steward_core::provenance::Consulted::default(),
            marked_files: [].into(),
            references: 0,
            skill: None,
            cancellation: steward_core::Cancellation::default(),
        };
        self.parts.runs.deps().tools.preview(&call, &scope).await.summary
    }
}
