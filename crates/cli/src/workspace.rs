use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

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
