//! What `scripts/setup.sh test` put into the cache folder (`STEWARD_CACHE`, by default `~/.cache/steward`).

use std::path::{Path, PathBuf};

pub fn cache() -> PathBuf {
    std::env::var_os("STEWARD_CACHE").filter(|value| !value.is_empty()).map_or_else(
        || {
            let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
            home.join(".cache/steward")
        },
        PathBuf::from,
    )
}

/// A file or folder that set-up makes in the cache folder.
///
/// # Panics
/// If it is missing, with the command that makes it.
pub fn set_up(place: impl AsRef<Path>) -> PathBuf {
    let path = cache().join(place);
    assert!(path.exists(), "{} is missing; run: scripts/setup.sh test", path.display());
    path
}
