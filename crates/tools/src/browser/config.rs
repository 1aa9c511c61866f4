//! Which browser, and how many of it.

use crate::web::Client;
use std::path::{Path, PathBuf};
use std::time::Duration;
use steward_sandbox::process::{Helper, Sandbox};

/// Names under which systems install it, first choice first.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

#[derive(Clone)]
pub struct BrowserConfig {
    pub program: PathBuf,
    pub sandbox: Sandbox,
    pub client: Client,
    pub most: usize,
    /// A browser that is not used for so long is closed.
    pub idle: Duration,
    /// How long it may take to start.
    pub start: Duration,
    pub load: Duration,
}

impl BrowserConfig {
    /// Four browsers, ten minutes of idling, thirty seconds to start and as many for a page.
    pub fn new(program: PathBuf, helper: Helper, client: Client) -> Self {
        Self {
            program,
            sandbox: Sandbox::new(helper),
            client,
            most: 4,
            idle: Duration::from_mins(10),
            start: Duration::from_secs(30),
            load: Duration::from_secs(30),
        }
    }
}

/// The browser's program: `wanted`, a path or a name, else the first known name, in the folders of `search`.
pub fn find(wanted: Option<&str>, search: &[PathBuf]) -> Option<PathBuf> {
    let named =
        |name: &str| search.iter().map(|folder| folder.join(name)).find(|path| path.is_absolute() && is_program(path));
    match wanted {
        Some(path) if path.contains('/') => Path::new(path).canonicalize().ok().filter(|path| is_program(path)),
        Some(name) => named(name),
        None => NAMES.iter().find_map(|name| named(name)),
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::find;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn by_name_by_path_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let search = [dir.path().to_owned()];
        let put = |name: &str, mode: u32| {
            let path = dir.path().join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path.canonicalize().unwrap()
        };
        assert_eq!(find(None, &search), None);
        put("chromium", 0o644);
        assert_eq!(find(None, &search), None);
        let chrome = put("google-chrome", 0o755);
        assert_eq!(find(None, &search).unwrap(), chrome);
        let own = put("own", 0o755);
        assert_eq!(find(Some("own"), &search).unwrap(), own);
        assert_eq!(find(Some(own.to_str().unwrap()), &[]).unwrap(), own);
        assert_eq!(find(Some("/nowhere/chromium"), &search), None);
        assert_eq!(find(Some("nothing"), &search), None);
    }
}
