use crate::settings::{Settings, path_folders};
use std::path::PathBuf;
use steward_sandbox::process::Helper;
use steward_tools::browser::{BrowserConfig, Browsers, find_browser};
use steward_tools::outbound::{Client, HostPort};

pub const HINT: &str = "install Chromium (package `chromium`), or name a Chromium or Chrome in STEWARD_CHROMIUM";

/// The browser's program; an error says why there is none.
pub fn program(settings: &Settings) -> Result<PathBuf, String> {
    let search = path_folders();
    let wanted = settings.chromium.as_deref();
    find_browser(wanted, &search).ok_or_else(|| match wanted {
        Some(wanted) => format!("STEWARD_CHROMIUM is `{wanted}`, which is no program"),
        None => "neither Chromium nor Chrome is in PATH".to_owned(),
    })
}

/// Browsers for agents; `None` if there is no program for them.
pub fn open(settings: &Settings, sandbox_helper: Helper, allow: &[HostPort]) -> Option<Browsers> {
    let program = match program(settings) {
        Ok(program) => program,
        Err(why) => {
            tracing::debug!(why, "agents have no browser");
            return None;
        }
    };
    let client = Client::new(allow.to_vec());
    let mut config = BrowserConfig::new(program, sandbox_helper, client);
    if let Some(most) = settings.browsers {
        config.most = most;
    }
    Some(Browsers::new(config))
}
