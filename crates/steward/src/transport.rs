//! How commands reach the API: the data directory itself if it is free, else the server that holds it.

use crate::api_state;
use crate::compose::{Composition, Options};
use crate::places::own_places;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::Context as _;
use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use http::{Request, Response};
use std::sync::Arc;
use std::time::Duration;
use steward_api::InProcessClient;
use steward_cli::client::{Absent, ByteStream, Client, Socket, Transport, workspace, workspace_apart};
use steward_cli::{Files, Needs};
use steward_core::ports::StoreError;
use steward_infra::{SystemClock, UuidV7};

/// How often a directory in use is tried again: a server may be starting or ending, or a command about to end.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

pub async fn open(settings: &Settings, needs: Needs, term: Term) -> anyhow::Result<Client> {
    let transport = transport(settings, &needs).await?;
    Ok(Client::new(transport, Arc::new(SystemClock::new()), Arc::new(UuidV7), term))
}

async fn transport(settings: &Settings, needs: &Needs) -> anyhow::Result<Box<dyn Transport>> {
    let mut tries = 0;
    loop {
        tries += 1;
        let web_allow = Some(needs.web_allow.clone());
        let options = Options { web_allow, intent_filter: needs.intent_filter, serving: false };
        let error = match Composition::open(settings, options).await {
            Ok(parts) => return Ok(Box::new(InProcess::new(parts, needs).await?)),
            Err(error) => error,
        };
        let Some(StoreError::InUse { pid, .. }) = error.downcast_ref::<StoreError>() else {
            return Err(error);
        };
        let last = tries == TRIES;
        match Socket::connect(&settings.data_dir, *pid, settings.api_key.clone()).await? {
            Ok(socket) => {
                needs.met_by_a_server()?;
                return Ok(Box::new(socket));
            }
            Err(Absent::Silent(why)) if last => return Err(why),
            Err(Absent::NoServer) if last => {
                return Err(error.context("commands work beside `steward serve`, but not beside each other"));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// The API in this process: the data directory is ours while the command runs.
struct InProcess {
    parts: Arc<Composition>,
    client: InProcessClient,
}

impl InProcess {
    async fn new(parts: Composition, needs: &Needs) -> anyhow::Result<Self> {
        let parts = Arc::new(parts);
        match Self::client(&parts, needs).await {
            Ok(client) => Ok(Self { parts, client }),
            Err(error) => {
                parts.close().await;
                Err(error)
            }
        }
    }

    async fn client(parts: &Arc<Composition>, needs: &Needs) -> anyhow::Result<InProcessClient> {
        // A new installation gets its first agent here as well.
        parts.default_agent().await?;
        let folder = match &needs.files {
            Files::Workspace(asked) => workspace_apart(asked.as_deref(), &own_places(&parts.settings.get()))?,
            Files::Current => workspace(None).context("the current folder can't be used")?,
            // No folder is needed, so any will do.
            Files::Unused => workspace(None).unwrap_or_default(),
        };
        api_state::in_process(parts, &folder).await
    }
}

#[async_trait]
impl Transport for InProcess {
    async fn send(&self, request: Request<Bytes>) -> anyhow::Result<Response<ByteStream>> {
        let response = self.client.send(request).await;
        Ok(response.map(|body| body.map_err(Into::into).boxed()))
    }

    async fn close(&self) {
        self.parts.close().await;
    }
}
