//! The tools of a tenant, as its settings say. They are put together anew when those change.

use crate::settings::Settings;
use jiff::tz::TimeZone;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::live::Live;
use steward_infra::RunTraces;
use steward_sandbox::process::Helper;
use steward_tools::browser::{Browsers, with_browser};
use steward_tools::calendar::{CalendarConfig, with_calendar};
use steward_tools::mail::{MailConfig, MailPorts, with_mail};
use steward_tools::outbound::HostPort;
use steward_tools::package::{Packages, with_references};
use steward_tools::search::{SearchPorts, with_search};
use steward_tools::{Dispatcher, Ports, SkillRuntime, ToolsConfig, standard_builder};

/// What stays, whatever the settings are.
pub struct Toolset {
    pub helper: Helper,
    pub calendars: PathBuf,
    pub ports: Ports,
    pub search: SearchPorts,
    pub mail: MailPorts,
    pub packages: Arc<Packages>,
    pub skills: Arc<SkillRuntime>,
    pub traces: Live<Option<Arc<RunTraces>>>,
    /// Private hosts and ports that web tools may reach.
    pub web_allow: Live<Vec<HostPort>>,
}

impl Toolset {
    pub fn build(
        &self,
        settings: &Settings,
        web_allow: Vec<HostPort>,
        browsers: Option<&Browsers>,
    ) -> anyhow::Result<Dispatcher> {
        let (clock, blobs) = (&self.ports.clock, &self.ports.blobs);
        let config = ToolsConfig {
            web_allow: web_allow.clone(),
            terminal: settings.terminal.clone(),
            sandbox_helper: self.helper.clone(),
        };
        let tools = standard_builder(config, &self.ports)?;
        #[cfg(feature = "failpoints")]
        let tools = crate::crash::tools(tools);
        let tools = match browsers {
            Some(browsers) => with_browser(tools, browsers, blobs),
            None => tools,
        };
        let tools = with_search(tools, settings.search.clone(), &self.search);
        let calendar = CalendarConfig { folder: self.calendars.clone(), zone: TimeZone::system() };
        let tools = with_calendar(tools, calendar, clock, blobs);
        let mail = MailConfig { allow: web_allow, ..settings.mail.clone() };
        let tools = with_mail(tools, mail, self.mail.clone());
        let traces = self.traces.clone();
        let tools = with_references(tools, &self.packages).skills(self.skills.clone()).when_ended(move |run| {
            if let Some(traces) = &*traces.get() {
                traces.ended(run);
            }
        });
        Ok(tools.build()?)
    }
}
