//! Which backend a command gets.

use super::Backend;
use super::client::{Absent, Client};
use crate::compose::{App, Options};
use crate::settings::{Settings, apart, workspace};
use crate::term::Term;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::StoreError;

/// How often a directory that is in use is looked at again: a server may be starting or ending, a
/// short command may be at its end.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
struct About {
    workspace: String,
}

impl Backend {
    /// The data directory itself if it is free, else the server that holds it.
    pub async fn open(settings: &Settings, options: Options, term: Term) -> anyhow::Result<Self> {
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match App::open(settings, options.clone()).await {
                Ok(app) => return Ok(Self::InProcess(Box::new(app))),
                Err(error) => error,
            };
            let Some(StoreError::InUse { pid, .. }) = error.downcast_ref::<StoreError>() else {
                return Err(error);
            };
            let last = tries == TRIES;
            match Client::connect(&settings.data_dir, *pid, term).await? {
                Ok(client) => return remote(client, &options),
                Err(Absent::Silent(why)) if last => return Err(why),
                Err(Absent::NoServer) if last => {
                    return Err(error.context("commands work beside `steward serve`, but not beside each other"));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Whether the work is done by a running server.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }

    /// The folder that file tools are confined to: the one asked for, or the server's.
    pub async fn workspace(&self, asked: Option<&Path>, here: bool, term: Term) -> anyhow::Result<PathBuf> {
        let client = match self {
            Self::Remote(client) => client,
            Self::InProcess(app) => {
                let own = workspace(asked)?;
                apart(&own, &app.data_dir)?;
                term.say(&term.dim(&format!("works in {} (no server is running)", own.display())));
                return Ok(own);
            }
        };
        let about: About = client.get("/api/about").await?;
        let own = PathBuf::from(about.workspace);
        if here && workspace(None)? != own {
            // The log of every run is the server's, and so is the folder that they work in.
            bail!(
                "a running server works in {}, and its runs stay there; stop it, start it with `steward serve --workspace DIR`, or give this run a log of its own: steward --data-dir ~/.steward-here ask --here \"…\"",
                own.display()
            );
        }
        if let Some(asked) = asked {
            let asked = workspace(Some(asked))?;
            if asked != own {
                bail!(
                    "the running server works in {}, not in {}; leave --workspace out, start the server with `steward serve --workspace {}`, or stop it and try again",
                    own.display(),
                    asked.display(),
                    asked.display()
                );
            }
        }
        term.say(&term.dim(&format!("works in {}, the workspace of the running server", own.display())));
        Ok(own)
    }

    /// Lets go of what is held.
    pub async fn close(self) {
        if let Self::InProcess(app) = self {
            app.close().await;
        }
    }
}

fn remote(client: Client, options: &Options) -> anyhow::Result<Backend> {
    if let Some(host) = options.web_allow.first() {
        bail!(
            "a running server does the work, and it takes no --allow from here; start it with `steward serve --allow {host}`, or stop it and try again"
        );
    }
    Ok(Backend::Remote(Arc::new(client)))
}

/// What a `--connection` of the command means for a server: `None` where nothing was said.
impl Backend {
    /// The id of a connection by name; `None` for `None`.
    pub async fn connection_named(&self, name: Option<&str>) -> anyhow::Result<Option<steward_core::ConnectionId>> {
        let Some(name) = name else { return Ok(None) };
        let all = self.connections().await?;
        let names: Vec<&str> = all.iter().map(|one| one.connection.name.as_str()).collect();
        all.iter()
            .find(|one| one.connection.name == name)
            .map(|one| Some(one.connection.id))
            .with_context(|| format!("there is no connection `{name}`; there are: {}", names.join(", ")))
    }
}
