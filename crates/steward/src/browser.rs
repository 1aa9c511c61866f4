use crate::settings::{path_folders, variable};
use anyhow::bail;
use std::path::PathBuf;
use steward_sandbox::process::Helper;
use steward_tools::browser::{BrowserConfig, Browsers, find_browser};
use steward_tools::outbound::{Client, HostPort};

pub const HINT: &str = "install Chromium (package `chromium`), or name a Chromium or Chrome in STEWARD_CHROMIUM";

/// The browser's program; an error says why there is none.
pub fn program() -> Result<PathBuf, String> {
    let search = path_folders();
    let wanted = variable("STEWARD_CHROMIUM");
    find_browser(wanted.as_deref(), &search).ok_or_else(|| match wanted {
        Some(wanted) => format!("STEWARD_CHROMIUM is `{wanted}`, which is no program"),
        None => "neither Chromium nor Chrome is in PATH".to_owned(),
    })
}

/// Browsers for agents; `None` if there is no program for them.
///
/// # Errors
/// If `STEWARD_BROWSERS` is no number from 1 to 100.
pub fn open(sandbox_helper: Helper, allow: &[HostPort]) -> anyhow::Result<Option<Browsers>> {
    let most = most(variable("STEWARD_BROWSERS").as_deref())?;
    let program = match program() {
        Ok(program) => program,
        Err(why) => {
            tracing::debug!(why, "agents have no browser");
            return Ok(None);
        }
    };
    let client = Client::new(allow.to_vec());
    let mut config = BrowserConfig::new(program, sandbox_helper, client);
    if let Some(most) = most {
        config.most = most;
    }
    Ok(Some(Browsers::new(config)))
}

fn most(text: Option<&str>) -> anyhow::Result<Option<usize>> {
    match text.map(str::parse) {
        None => Ok(None),
        Some(Ok(most @ 1..=100)) => Ok(Some(most)),
        Some(_) => bail!("STEWARD_BROWSERS is `{}`; set it to a number from 1 to 100", text.unwrap_or("")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::most;

    #[test]
    fn the_most_is_a_number() {
        assert_eq!(most(None).unwrap(), None);
        assert_eq!(most(Some("7")).unwrap(), Some(7));
        for wrong in ["0", "many", "1000", "-1"] {
            let error = most(Some(wrong)).unwrap_err().to_string();
            assert!(error.contains("1 to 100") && error.contains(wrong), "{error}");
        }
    }
}
