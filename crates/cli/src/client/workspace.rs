use super::Client;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct About {
    workspace: PathBuf,
}

impl Client {
    pub async fn folder(&self) -> anyhow::Result<PathBuf> {
        let about: About = self.get("/api/about").await?;
        Ok(about.workspace)
    }

    /// A running server keeps its own folder: another one, or `here` while it is not the current one, is refused.
    pub async fn workspace(&self, asked: Option<&Path>, here: bool) -> anyhow::Result<PathBuf> {
        let own = self.folder().await?;
        let term = self.term;
        if self.server_url().is_none() {
            term.note(&format!("works in {} (no server is running)", own.display()));
            return Ok(own);
        }
        if here && workspace(None)? != own {
            // The log of every run belongs to the server, and so does the folder that they work in.
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
        term.note(&format!("works in {}, the workspace of the running server", own.display()));
        Ok(own)
    }
}

/// The folder that file tools are confined to: an existing directory, absolute.
pub fn workspace(dir: Option<&Path>) -> anyhow::Result<PathBuf> {
    let dir = dir.unwrap_or(Path::new("."));
    let full = dir.canonicalize().with_context(|| {
        format!("the workspace {} is not there; choose a folder with --workspace DIR", dir.display())
    })?;
    if !full.is_dir() {
        bail!("the workspace {} is not a folder; choose one with --workspace DIR", dir.display());
    }
    if full.parent().is_none() {
        bail!("the workspace must not be the root folder; choose one with --workspace DIR");
    }
    Ok(full)
}
