//! Starting Chromium: in namespaces, with no network but our proxy's gate, and a profile in memory only.

use super::cdp::Cdp;
use super::error::BrowserError;
use super::page::Page;
use super::page_state::PageState;
use super::proxy::Proxy;
use crate::outbound::Client;
use crate::text::tail;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_sandbox::process::{Access, CommandSpec, Helper, Limits, Sandbox, Session};
use tempfile::TempDir;
use tokio::sync::watch;

/// CPU seconds of each of its processes.
const CPU: u64 = 1200;
/// Address space of each process: script engines reserve far more than they use.
const ADDRESSES: u64 = 1 << 50;
/// Memory of all processes together; an ordinary page takes a quarter.
const MEMORY: u64 = 2 << 30;
/// Processes and threads; some 200 are usual. The other browsers of the same system user count too.
const PROCESSES: u64 = 2000;
/// Bytes of its profile, its temporary files and its shared memory, each.
const FILES: u64 = 512 << 20;
const STDERR: usize = 16 << 10;
/// Configuration outside /usr that it reads where it exists.
const READABLE_FOLDERS: &[&str] = &["/etc/chromium.d", "/etc/fonts", "/var/cache/fontconfig"];
/// How long a failed browser may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
const STDERR_CHARS: usize = 400;

/// A running browser; dropping it kills all of its processes and deletes its files.
#[derive(Debug)]
pub(super) struct Process {
    pub session: Session,
    pub proxy: Proxy,
    _folder: TempDir,
}

pub(super) async fn start(config: &BrowserConfig) -> Result<(Process, Page), BrowserError> {
    let folder = tempfile::Builder::new().prefix("steward-browser-").tempdir().map_err(failed)?;
    // It is empty; the user that the sandbox changes to must see it.
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).map_err(failed)?;
    let mut session = config.sandbox.open(spec(config, folder.path())).await?;
    let missing = || BrowserError::Start("a stream of it is missing".to_owned());
    let gate = session.gate().ok_or_else(missing)?;
    let port = gate.local_addr().map_err(failed)?.port();
    let (input, output) = session.streams().ok_or_else(missing)?;
    let proxy = Proxy::begin(gate, config.client.clone());
    let mut process = Process { session, proxy, _folder: folder };
    let begun = async {
        let state = Arc::new(watch::Sender::new(PageState::default()));
        let heard = Arc::clone(&state);
        let cdp = Cdp::begin(input, output, move |from, method, params| {
            let mut told = None;
            heard.send_modify(|state| {
                // Events of downloads have no session.
                if from.is_empty() || from == state.session {
                    told = state.take(method, params);
                }
            });
            told
        });
        Page::attach(cdp, state, port).await
    };
    let begun = tokio::time::timeout(config.start, begun).await;
    let late = || BrowserError::Start(format!("no answer within {} s", config.start.as_secs()));
    match begun.unwrap_or_else(|_| Err(late())) {
        Ok(page) => {
            tracing::debug!(tier = ?process.session.tier, "browser started");
            Ok((process, page))
        }
        Err(BrowserError::Gone(_)) => Err(BrowserError::Start(process.stderr_text().await)),
        Err(error) => Err(error),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn failed(error: std::io::Error) -> BrowserError {
    BrowserError::Start(error.to_string())
}

fn spec(config: &BrowserConfig, folder: &Path) -> CommandSpec {
    // Its commands come in at descriptor 3 and its answers go out at 4.
    let script = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#;
    let program = config.program.display().to_string();
    let flags = include_str!("../../data/browser-flags.txt").lines().filter(|line| !line.starts_with('#'));
    let argv = ["/bin/sh", "-c", script, &program].into_iter().chain(flags);
    let mut spec = CommandSpec::new(argv, folder);
    spec.access = Access::ReadOnly;
    spec.gate = true;
    spec.env =
        [("HOME", "/tmp"), ("LANG", "en_US.UTF-8")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    spec.read_paths = read_paths(&config.program);
    spec.limits = Limits {
        cpu_s: CPU,
        memory_bytes: ADDRESSES,
        resident_bytes: Some(MEMORY),
        processes: PROCESSES,
        file_bytes: FILES,
        output_bytes: STDERR,
        ..Limits::default()
    };
    spec
}

/// Read-only paths beside the system's folders: configuration, and the program's own folder.
fn read_paths(program: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = READABLE_FOLDERS.iter().map(PathBuf::from).filter(|path| path.exists()).collect();
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    if !real.starts_with("/usr")
        && let Some(folder) = real.parent()
    {
        paths.push(folder.to_owned());
    }
    paths
}

impl Process {
    pub async fn stderr_text(&mut self) -> String {
        match tokio::time::timeout(EXIT_TIMEOUT, self.session.ending()).await {
            Err(_) => "it gives no answer".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Ok(Ok((exit, stderr))) => {
                let tail = tail(stderr.text().trim(), STDERR_CHARS);
                if tail.is_empty() {
                    format!("it ended with {exit:?}")
                } else {
                    format!("it ended with {exit:?} and wrote: {tail}")
                }
            }
        }
    }
}

/// Program names that systems use, first choice first.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

#[derive(Clone)]
pub struct BrowserConfig {
    pub program: PathBuf,
    pub sandbox: Sandbox,
    pub client: Client,
    pub most: usize,
    /// A browser that is unused for so long is closed.
    pub idle: Duration,
    pub start: Duration,
    pub load: Duration,
}

impl BrowserConfig {
    /// With the program that [`find_browser`] finds; the error says why there is none.
    pub fn find(wanted: Option<&str>, search: &[PathBuf], helper: Helper, client: Client) -> Result<Self, String> {
        let program = find_browser(wanted, search).ok_or_else(|| match wanted {
            Some(wanted) => format!("STEWARD_CHROMIUM is `{wanted}`, which is no program"),
            None => "neither Chromium nor Chrome is in PATH".to_owned(),
        })?;
        Ok(Self::new(program, helper, client))
    }

    /// Four browsers, ten minutes until idle, thirty seconds to start and as many to load a page.
    pub fn new(program: PathBuf, helper: Helper, client: Client) -> Self {
        Self {
            program,
            sandbox: Sandbox::new(helper),
            client,
            most: 4,
            idle: Duration::from_mins(10),
            start: Duration::from_mins(1),
            load: Duration::from_secs(30),
        }
    }
}

/// Finds the browser: `wanted` (a path or a name), else the first known name, in the folders `search`.
pub fn find_browser(wanted: Option<&str>, search: &[PathBuf]) -> Option<PathBuf> {
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
    use super::find_browser;
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
        assert_eq!(find_browser(None, &search), None);
        put("chromium", 0o644);
        assert_eq!(find_browser(None, &search), None);
        let chrome = put("google-chrome", 0o755);
        assert_eq!(find_browser(None, &search).unwrap(), chrome);
        let own = put("own", 0o755);
        assert_eq!(find_browser(Some("own"), &search).unwrap(), own);
        assert_eq!(find_browser(Some(own.to_str().unwrap()), &[]).unwrap(), own);
        assert_eq!(find_browser(Some("/nowhere/chromium"), &search), None);
        assert_eq!(find_browser(Some("nothing"), &search), None);
    }
}
