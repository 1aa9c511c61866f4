//! The executor.

use super::robots::Robots;
use super::tree::{self, Part};
use crate::error::ToolsError;
use crate::files::blocking;
use crate::handler::Context;
use crate::skills::http::{Authorizer, Exchange, allowed, check_allow, origin};
use crate::skills::template::{self, Values, check_url};
use crate::skills::{Executor, Job};
use crate::web::{Ask, Client, Page, Shown, guard, show};
use async_trait::async_trait;
use reqwest::header::{ACCEPT, HeaderValue};
use serde_json::{Value, json};
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::skill::{ScrapeSpec, Skill, SkillKind, SkillSpec};
use steward_core::tool::{Preview, ToolError, ToolOutput};
use url::Url;

/// Reads pages.
pub struct ScrapeExecutor {
    client: Client,
    robots: Robots,
    authorizer: Authorizer,
}

impl ScrapeExecutor {
    /// `client` allows what the installation allows; a skill may add hosts of its own.
    pub fn new(client: Client) -> Self {
        Self { client, robots: Robots::default(), authorizer: Authorizer::default() }
    }

    async fn carry_out(&self, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let url = address(spec, &Values::of(job))?;
        let client = self.client.allowing(allowed(&spec.allow)?);
        let exchange = Exchange { client: &client, skill: job.skill, context, retries: 1 };
        if !spec.ignore_robots {
            self.robots.check(&url, &exchange).await?;
        }
        let mut ask = Ask::get(url.clone());
        let accept = HeaderValue::from_static("text/html, text/*;q=0.8, */*;q=0.1");
        ask.headers.insert(ACCEPT, accept);
        let answer = self.authorizer.send(ask, &job, false, &exchange).await?;
        // A redirect may have led to what the site asks to leave alone.
        if !spec.ignore_robots && answer.url != url {
            self.robots.check(&answer.url, &exchange).await?;
        }
        if !answer.status.is_success() {
            return Err(ToolsError::Refused(format!(
                "{} answered with status {}; check the address",
                origin(&answer.url),
                answer.status.as_u16()
            )));
        }
        let select = spec.select.clone();
        blocking(move || read(answer.into(), select.as_deref())).await
    }
}

/// Text, links and tables of a page or of a part of it.
fn read(page: Page, select: Option<&str>) -> Result<ToolOutput, ToolsError> {
    let Shown::Html(html) = Shown::of(&page) else {
        return match select {
            Some(_) => Err(ToolsError::refused("the answer is no page, so nothing can be selected from it")),
            None => show(&page),
        };
    };
    let Part { html: part, matches, tables, cut } = tree::part(&html, select)?;
    if select.is_some() && matches == 0 {
        return Err(ToolsError::Refused(format!(
            "nothing on {} fits the selector; the page may have changed",
            origin(&page.url)
        )));
    }
    let mut output = match part {
        Some(part) => show(&Page {
            bytes: part.into_bytes(),
            charset: Some("utf-8".to_owned()),
            media: "text/html".to_owned(),
            ..page
        })?,
        None => show(&page)?,
    };
    if cut {
        output.content.push_str("\n[the page took too long to read; the rest was left out]");
    }
    if let Some(data) = output.data.as_mut().filter(|_| !tables.is_empty()) {
        data["tables"] = json!(tables);
    }
    Ok(output)
}

fn spec(skill: &Skill) -> Result<&ScrapeSpec, ToolsError> {
    match &skill.spec {
        SkillSpec::Scrape(spec) => Ok(spec),
        _ => Err(ToolsError::refused("this is no scrape skill")),
    }
}

fn address(spec: &ScrapeSpec, values: &Values<'_>) -> Result<Url, ToolsError> {
    if !spec.url.is_empty() {
        return Ok(template::url(&spec.url, values)?);
    }
    let url = values.arguments["url"].as_str();
    guard::parse(url.ok_or_else(|| ToolsError::refused("give the address of the page as `url`"))?)
}

#[async_trait]
impl Executor for ScrapeExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Scrape
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        if spec.url.is_empty() {
            if skill.parameters["properties"]["url"].is_null() {
                return Err("config.url: give an address, or an input `url` in the parameters".to_owned());
            }
            // An address that the model chooses tells its host something.
            if skill.risk == RiskClass::Read {
                return Err("risk: the model chooses the address, which can carry data away; use external".to_owned());
            }
            if skill.credential.is_some() {
                return Err(
                    "credential: the model chooses the address, so a secret could go anywhere; fix the host in config.url"
                        .to_owned(),
                );
            }
        } else {
            check_url(&spec.url, &skill.parameters).map_err(|error| format!("config.url: {error}"))?;
        }
        if let Some(select) = &spec.select {
            tree::selector(select).map_err(|error| format!("config.select: {error}"))?;
        }
        check_allow(&spec.allow)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Preview {
        let values = Values::shown(skill, arguments);
        let checked = spec(skill).and_then(|spec| address(spec, &values)).and_then(guard::target);
        match checked {
            Ok(target) => Preview {
                summary: format!("asks {} for {}", target.place(), target.url),
                reversible: true,
                ..Preview::default()
            },
            Err(error) => Preview { summary: format!("would fail: {error}"), ..Preview::default() },
        }
    }

    async fn run(&self, job: Job<'_>, context: &Context) -> Result<ToolOutput, ToolError> {
        Ok(self.carry_out(job, context).await?)
    }
}
