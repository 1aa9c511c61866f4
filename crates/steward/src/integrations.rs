//! Tools that need other programs or services: web search, mail, the calendar, the browser.

use crate::settings::{MAIL, Settings, path_folders};
use jiff::tz::TimeZone;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::ports::{Blobs, Clock, Users, Vault};
use steward_sandbox::process::Helper;
use steward_tools::DispatcherBuilder;
use steward_tools::browser::{BrowserConfig, Browsers, find_browser};
use steward_tools::calendar::{CalendarConfig, with_calendar};
use steward_tools::mail::{MailAccounts, MailConfig, MailPorts, with_mail};
use steward_tools::outbound::{Client, HostPort};
use steward_tools::search::{SearchPorts, probe_search, with_search};

/// Folder of the calendars, in the data directory.
const CALENDARS: &str = "calendars";

pub struct IntegrationPorts {
    pub vault: Arc<dyn Vault>,
    pub users: Arc<dyn Users>,
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
    pub web_allow: Vec<HostPort>,
}

/// Adds the configured tools, and always the calendar.
pub fn tools(builder: DispatcherBuilder, settings: &Settings, ports: IntegrationPorts) -> DispatcherBuilder {
    let IntegrationPorts { vault, users, blobs, clock, web_allow } = ports;
    let search = SearchPorts { client: Client::new(web_allow.clone()), vault: Arc::clone(&vault) };
    let builder = with_search(builder, settings.integrations.search.clone(), &search);
    let calendar = CalendarConfig { folder: settings.data_dir.join(CALENDARS), zone: TimeZone::system() };
    let builder = with_calendar(builder, calendar, &clock, &blobs);
    let mail = MailConfig { allow: web_allow, ..settings.integrations.mail.clone() };
    with_mail(builder, mail, MailPorts { vault, users })
}

/// A line of `doctor`: its subject, and what works or what is wrong and what to do.
pub type Line = (String, Result<String, String>);

/// Checks for `doctor`. Mail accounts are tried by logging in; a search is not made.
pub async fn doctor(settings: &Settings, ports: MailPorts, clock: &dyn Clock, tenant: TenantId) -> Vec<Line> {
    let search = match settings.integrations.search.as_ref() {
        Some(config) => probe_search(config).await,
        None => Ok("not set up; choose an engine with STEWARD_SEARCH=searxng, brave or duckduckgo".to_owned()),
    };
    let mut lines = vec![("web search".to_owned(), search)];
    if settings.integrations.mail.accounts.is_empty() {
        let file = settings.data_dir.join(MAIL);
        let text = format!("not set up; describe an account in {}", file.display());
        lines.push(("mail".to_owned(), Ok(text)));
        return lines;
    }
    let accounts = MailAccounts::new(settings.integrations.mail.clone(), ports);
    for (name, tried) in accounts.probe(tenant, clock.now()).await {
        lines.push((format!("mail {name}"), tried));
    }
    lines
}

pub const BROWSER_HINT: &str =
    "install Chromium (package `chromium`), or name a Chromium or Chrome in STEWARD_CHROMIUM";

/// The browser's program; an error says why there is none.
pub fn browser_program(settings: &Settings) -> Result<PathBuf, String> {
    let search = path_folders();
    let wanted = settings.chromium.as_deref();
    find_browser(wanted, &search).ok_or_else(|| match wanted {
        Some(wanted) => format!("STEWARD_CHROMIUM is `{wanted}`, which is no program"),
        None => "neither Chromium nor Chrome is in PATH".to_owned(),
    })
}

/// Browsers for agents; `None` if there is no program for them.
pub fn browsers(settings: &Settings, sandbox_helper: Helper, allow: &[HostPort]) -> Option<Browsers> {
    let program = match browser_program(settings) {
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
