//! What this process does when its settings are changed: by the studio, the API or a command, in the file of settings, or by
//! another node. Whatever reads a setting is made ready first; only if all of it can be used is anything changed.

use crate::compose::{Composition, Shared};
use crate::live::together;
use crate::nats::Answering;
use crate::serving::Serving;
use crate::settings::{Settings, variable};
use crate::tenants::Opener;
use anyhow::{Context as _, anyhow, bail};
use async_trait::async_trait;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use steward_api::{ApiState, Hosts, Tls};
use steward_app::config::{Apply, Layers, Reconfigure, names};
use steward_core::live::Live;
use steward_core::ports::LoginSecrets;
use steward_infra::{NatsConnection, logs};
use tokio::sync::Mutex;

/// How long a NATS server that a changed setting names may take to take the connection.
const CONNECTED: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// All that reads settings.
pub struct Process {
    pub shared: Shared,
    /// Those of the default tenant. Whoever holds them ends with them, so they are not held here.
    pub parts: Weak<Composition>,
    /// With the other tenants.
    pub opener: Arc<OnceLock<Weak<Opener>>>,
    /// Empty where nobody listens.
    pub server: Weak<OnceLock<ServerParts>>,
}

impl Process {
    async fn prepare_all(&self, layers: &Layers) -> anyhow::Result<Apply> {
        if let Some(filter) = layers.set("LOG_LEVEL") {
            logs::check(filter).map_err(anyhow::Error::msg)?;
        }
        let now = self.shared.settings.get();
        let next = now.with(layers)?;
        if !self.shared.serving {
            // A command ends before anything is read from them again.
            return Ok(together(Vec::new()));
        }
        let mut all = vec![self.shared.prepare(&next).await?];
        let parts = self.parts.upgrade().context("the program is ending")?;
        all.push(parts.prepare(&next).await?);
        if let Some(opener) = self.opener.get().and_then(Weak::upgrade) {
            for parts in opener.running().await {
                all.push(parts.prepare(&next).await?);
            }
        }
        let server = self.server.upgrade();
        if let Some(server) = server.as_ref().and_then(|server| server.get()) {
            all.push(server.prepare(&now, &next).await?);
        }
        let filter = next.layers.value("LOG_LEVEL").unwrap_or(logs::SERVING).to_owned();
        all.push(Box::new(move || {
            Box::pin(async move {
                logs::change(&filter);
            })
        }));
        Ok(together(all))
    }
}

#[async_trait]
impl Reconfigure for Process {
    async fn prepare(&self, layers: &Layers) -> Result<Apply, String> {
        self.prepare_all(layers).await.map_err(|error| format!("{error:#}"))
    }

    fn reread(&self, now: &Layers) -> Result<Layers, String> {
        self.shared.settings.get().reread(now).map_err(|error| format!("{error:#}"))
    }

    fn secrets(&self) -> Option<Arc<dyn LoginSecrets>> {
        Some(self.shared.vault_keys.clone())
    }

    fn restart_command(&self) -> String {
        steward_infra::restart_command(variable("INVOCATION_ID").is_some())
    }
}

/// What a server has besides its application.
pub struct ServerParts {
    pub address: SocketAddr,
    pub hosts: Live<Hosts>,
    pub tls: Live<Option<Arc<Tls>>>,
    pub nats: NatsParts,
    pub announced: Arc<Serving>,
}

#[derive(Clone)]
pub struct NatsParts {
    pub connection: Live<Option<Arc<NatsConnection>>>,
    pub answering: Arc<Mutex<Option<Answering>>>,
    pub state: ApiState,
}

/// Which names and origins the server is reached by.
pub fn hosts(address: SocketAddr, settings: &Settings) -> Hosts {
    let dialect_origins = names(&settings.layers, "V1_ORIGINS");
    Hosts { dialect_origins, ..Hosts::of(address, &names(&settings.layers, "CORS_ORIGINS")) }
}

pub fn open_tls(settings: &Settings) -> anyhow::Result<Option<Arc<Tls>>> {
    let files = settings.tls.clone();
    let opened = files.map(|(certificate, key)| Tls::open(certificate, key)).transpose();
    Ok(opened.map_err(|why| anyhow!("{why}; correct STEWARD_TLS_CERT and STEWARD_TLS_KEY"))?.map(Arc::new))
}

impl ServerParts {
    async fn prepare(&self, now: &Settings, next: &Settings) -> anyhow::Result<Apply> {
        let hosts = hosts(self.address, next);
        let tls = if now.tls == next.tls { None } else { Some(open_tls(next)?) };
        let used = ["NATS_URL", "NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_ACT_AS"];
        let nats = if used.into_iter().all(|name| now.layers.value(name) == next.layers.value(name)) {
            None
        } else {
            let connection = crate::nats::open(next).await?;
            if let Some(connection) = &connection {
                wait_until_connected(connection).await?;
            }
            Some((connection, next.nats_act_as.clone()))
        };
        let (live_hosts, live_tls, parts, announced) =
            (self.hosts.clone(), self.tls.clone(), self.nats.clone(), Arc::clone(&self.announced));
        Ok(Box::new(move || {
            Box::pin(async move {
                live_hosts.replace(hosts);
                if let Some(tls) = tls {
                    announced.renew(tls.as_ref().map(|tls| tls.status().fingerprint).as_deref());
                    live_tls.replace(tls);
                }
                if let Some((connection, act_as)) = nats {
                    parts.change(connection, act_as.as_deref()).await;
                }
            })
        }))
    }
}

impl NatsParts {
    /// Requests that came over the connection before are still answered there.
    pub async fn change(&self, connection: Option<Arc<NatsConnection>>, act_as: Option<&str>) {
        let mut answering = self.answering.lock().await;
        let state = || self.state.clone();
        let begun = connection.clone().map(|connection| Answering::start(connection, state(), act_as));
        self.connection.replace(connection);
        if let Some(before) = std::mem::replace(&mut *answering, begun) {
            tokio::spawn(before.stop());
        }
    }

    pub async fn stop(&self) {
        if let Some(answering) = self.answering.lock().await.take() {
            answering.stop().await;
        }
    }
}

async fn wait_until_connected(connection: &NatsConnection) -> anyhow::Result<()> {
    let connected = async {
        while connection.status().is_err() {
            tokio::time::sleep(PAUSE).await;
        }
    };
    if tokio::time::timeout(CONNECTED, connected).await.is_err() {
        let why = connection.status().err().unwrap_or_default();
        bail!("NATS can't be used: {why}");
    }
    Ok(())
}
