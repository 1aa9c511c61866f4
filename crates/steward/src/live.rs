//! Settings while the program runs: each part gets ready for other values before any of them is put into force, so that a
//! value that can't be used changes nothing. What is in progress ends with the values that it began with.

use crate::application;
use crate::compose::{
    CROSS_ENCODER, Composition, Shared, browser_config, find_connections, local_model_command, ocr_engines,
    open_traces, open_workspace, python_config, registry_settings, sandbox_helper, vectors_file, web_allow,
};
use crate::places::host_rules;
use crate::settings::{Settings, path_folders};
use anyhow::{Context as _, anyhow, bail};
use http::Uri;
use secrecy::ExposeSecret as _;
use std::sync::Arc;
use std::time::Duration;
use steward_app::RegistrySettings;
use steward_app::config::Apply;
use steward_core::TenantId;
use steward_engine::EngineConfig;
use steward_models::embed::CrossEncoder;
use steward_models::local::fit;
use steward_sandbox::python::PythonPool;
use steward_tools::browser::{BrowserConfig, Browsers};
use steward_tools::search::probe_search;
use tokio::net::TcpStream;

/// How long a server that a changed setting names may take to take a connection.
const REACHED: Duration = Duration::from_secs(5);

/// What several parts have made ready.
pub fn together(all: Vec<Apply>) -> Apply {
    Box::new(move || {
        Box::pin(async move {
            for apply in all {
                apply().await;
            }
        })
    })
}

impl Shared {
    /// What all tenants share. `next` is the installation's.
    pub async fn prepare(&self, next: &Settings) -> anyhow::Result<Apply> {
        let now = self.settings.get();
        let model = (now.model != next.model || now.model_idle_s != next.model_idle_s).then(|| next.clone());
        if now.model != next.model && next.layers.set("LOCAL_MODEL_FILE").is_some() {
            let file = next.model.clone();
            let looked = tokio::task::spawn_blocking(move || fit(&file).map(drop).map_err(|error| error.to_string()));
            looked.await?.map_err(|why| anyhow!("{} can't be the local model: {why}", next.model.display()))?;
        }
        let allow = web_allow(next)?;
        let (shared, next) = (self.clone(), next.clone());
        Ok(Box::new(move || {
            Box::pin(async move {
                if let Some(settings) = model {
                    shared.local.change(local_model_command(&settings)).await;
                }
                if now.cache_dir != next.cache_dir {
                    shared.embedder.change_folder(&next.embedding_dir, Some(vectors_file(&next)));
                    shared.cross_encoder.replace(CrossEncoder::find(&next.models_dir().join(CROSS_ENCODER)));
                }
                shared.pages.change_engines(ocr_engines(&next));
                shared.web_allow.replace(allow);
                shared.settings.replace(next);
            })
        }))
    }
}

impl Composition {
    /// `next` is the installation's. Put into force after that of [`Shared::prepare`].
    pub async fn prepare(self: &Arc<Self>, next: &Settings) -> anyhow::Result<Apply> {
        let (now, installed) = (self.settings.get(), next.clone());
        let next = self.shared.settings_of(self.tenant, next);
        self.check_servers(&now, &next).await?;
        let folder = open_workspace(&next, &installed, self.tenant)?;
        let allow = if self.tenant == TenantId::DEFAULT { web_allow(&next)? } else { Vec::new() };
        let browsers = self.next_browsers(&next)?;
        let tools = self.live.toolset.build(&next, allow, browsers.as_ref().map(|(browsers, _)| browsers))?;
        let registry = self.next_registry(&now, &next).await?;
        let traces = if now.otlp == next.otlp { None } else { Some(open_traces(&next, &self.shared, self.tenant)?) };
        if now.python != next.python {
            let tried = PythonPool::new(sandbox_helper(&next), python_config(&next)).warm().await;
            tried.map_err(|error| anyhow!("PYTHON can't be used: {error}"))?;
        }
        let parts = Arc::clone(self);
        Ok(Box::new(move || {
            Box::pin(async move {
                let live = &parts.live;
                live.folder_text.replace(folder.display().to_string());
                live.folder.replace(folder.clone());
                parts.places.replace(host_rules(&installed, folder));
                let node = live.engine.get().node.clone();
                live.engine.replace(EngineConfig { node, ..next.engine.clone() });
                live.vision.replace(next.ocr_vision);
                live.embedding_model.replace(next.embedding_model.clone());
                live.programs.change(&next.programs, &path_folders());
                if now.python != next.python {
                    parts.python.change(python_config(&next)).await;
                }
                if let Some(traces) = traces {
                    let before = live.traces.replace(traces);
                    // What is being sent is sent.
                    tokio::spawn(async move {
                        if let Some(before) = &*before {
                            before.close().await;
                        }
                    });
                }
                if let Some((browsers, config)) = &browsers {
                    browsers.change(config.clone());
                }
                live.browsers.replace(browsers.map(|(browsers, _)| browsers));
                live.tools.replace(tools);
                if let (Some(documents), true) = (live.documents.get(), now.cache_dir != next.cache_dir) {
                    documents.embedding.change_folder(next.models_dir());
                }
                if let (Some(access), true) = (live.access.get(), signing_key(&now) != signing_key(&next)) {
                    match application::signing_key(&next) {
                        Ok(key) => access.change_signing_key(key),
                        Err(error) => tracing::error!(%error, "logins are signed as before"),
                    }
                }
                parts.settings.replace(next);
                // After the settings, which its keys are read from.
                if let Err(error) = parts.connections.change(registry).await {
                    tracing::error!(%error, "the connections of the settings are taken in at the next change");
                }
                if let Some((health, checks)) = live.health.get() {
                    health.change(checks(parts.as_ref())).await;
                }
            })
        }))
    }

    /// Whether servers that changed settings name are there.
    async fn check_servers(&self, now: &Settings, next: &Settings) -> anyhow::Result<()> {
        let address = |settings: &Settings| settings.llm.as_ref().map(|own| own.base_url.clone());
        for (name, before, after) in [
            ("LLM_BASE_URL", address(now), address(next)),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", now.otlp.clone(), next.otlp.clone()),
        ] {
            if let Some(after) = after.filter(|after| before.as_ref() != Some(after)) {
                reach(&after).await.with_context(|| format!("{name} can't be used"))?;
            }
        }
        let searching = ["SEARCH_ENGINE", "SEARCH_URL", "SEARCH_CREDENTIAL", "SEARCH_KEY"];
        if let Some(search) = &next.search
            && searching.into_iter().any(|name| now.layers.value(name) != next.layers.value(name))
        {
            let at = self.shared.clock.now();
            let found = probe_search(search, &*self.shared.vault_keys, self.tenant, at).await;
            found.map_err(|why| anyhow!("web search can't be used: {why}"))?;
        }
        if let (Some(model), Some(documents)) = (&next.embedding_model, self.live.documents.get())
            && now.embedding_model.as_ref() != Some(model)
        {
            let found = documents.embedding.check_model(model).await;
            found.map_err(|why| anyhow!("EMBEDDING_MODEL can't be used: {why}"))?;
        }
        Ok(())
    }

    /// Those that are open stay open.
    fn next_browsers(&self, next: &Settings) -> anyhow::Result<Option<(Browsers, BrowserConfig)>> {
        let config = match browser_config(next, &self.live.toolset.web_allow) {
            Ok(config) => config,
            Err(why) if next.chromium.is_some() => bail!("{why}"),
            Err(_) => return Ok(None),
        };
        let browsers = self.live.browsers.copy().unwrap_or_else(|| Browsers::new(config.clone()));
        Ok(Some((browsers, config)))
    }

    async fn next_registry(&self, now: &Settings, next: &Settings) -> anyhow::Result<RegistrySettings> {
        let key = |settings: &Settings| settings.llm_key.as_ref().map(|key| key.expose_secret().to_owned());
        let same = now.llm == next.llm && key(now) == key(next) && now.model == next.model;
        let found = if same {
            self.connections.settings().found.clone()
        } else {
            find_connections(next, self.models.client(), self.tenant == TenantId::DEFAULT).await
        };
        let registry = registry_settings(next, found);
        self.connections.check(&registry).await?;
        Ok(registry)
    }
}

fn signing_key(settings: &Settings) -> Option<String> {
    settings.signing_key.as_ref().map(|key| key.expose_secret().to_owned())
}

/// Whether somebody listens at the host and port of this address.
async fn reach(address: &str) -> anyhow::Result<()> {
    let url: Uri = address.parse()?;
    let usual = if url.scheme_str() == Some("http") { 80 } else { 443 };
    let (host, port) = (url.host().unwrap_or_default(), url.port_u16().unwrap_or(usual));
    let place = (host.trim_start_matches('[').trim_end_matches(']').to_owned(), port);
    let connected = tokio::time::timeout(REACHED, TcpStream::connect(place)).await;
    let connected = connected.map_err(|_| anyhow!("no connection to {host}:{port} within {} s", REACHED.as_secs()))?;
    connected.map(drop).with_context(|| format!("nobody answers at {host}:{port}"))
}
