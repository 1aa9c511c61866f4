use crate::settings::{MAIL, Settings};
use jiff::tz::TimeZone;
use std::sync::Arc;
use steward_core::TenantId;
use steward_core::ports::{Blobs, Clock, Users, Vault};
use steward_tools::DispatcherBuilder;
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
