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

/// [`workspace`], which must not hold the program's `own` files and folders: tools could read its keys and change its
/// models there. What isn't there doesn't count.
pub fn workspace_apart(dir: Option<&Path>, own: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let workspace = workspace(dir)?;
    if let Some(held) = own.iter().filter_map(|own| own.canonicalize().ok()).find(|own| own.starts_with(&workspace)) {
        bail!(
            "the workspace {} holds Steward's own files ({}), its data, cache, settings or keys; choose another folder with --workspace DIR, or move these (--data-dir, STEWARD_CACHE)",
            workspace.display(),
            held.display()
        );
    }
    Ok(workspace)
}

#[cfg(test)]
mod tests {
    use super::workspace_apart;
    use std::path::Path;

    #[test]
    fn a_workspace_does_not_hold_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let data = top.join("data");
        std::fs::create_dir_all(data.join("workspace")).unwrap();
        std::fs::create_dir_all(top.join("work/cache")).unwrap();
        let apart = |dir: &Path| workspace_apart(Some(dir), &[data.clone(), top.join("work/cache"), top.join("none")]);
        assert_eq!(apart(&data.join("workspace")).unwrap(), data.join("workspace"));
        assert!(apart(&data).unwrap_err().to_string().contains("holds Steward's own files"));
        assert!(apart(&top).is_err() && apart(&top.join("work")).is_err());
    }
}
