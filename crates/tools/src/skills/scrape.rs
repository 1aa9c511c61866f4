//! Skills of the type scrape: a page as text, links and tables. robots.txt (RFC 9309) is respected.

use super::http::{AuthorizedClient, Exchange, check_allow, origin};
use super::template::{self, Values, check_url};
use super::{Executor, SkillCall};
use crate::error::{ToolsError, refused};
use crate::files::blocking;
use crate::handler::Context;
use crate::outbound::{Client, HttpLimits, HttpRequest, HttpResponse, address_guard};
use crate::skills::executor::{in_config, spec_of};
use crate::web::html_tree::{self, SelectedPart};
use crate::web::{html_of, page_output};
use async_trait::async_trait;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::skill::{ScrapeSpec, Skill, SkillKind};
use steward_core::tool::{Preview, ToolOutput};
use url::{Position, Url};

pub struct ScrapeExecutor {
    client: AuthorizedClient,
    robots: Robots,
}

impl ScrapeExecutor {
    /// A skill may allow further hosts beside those of `client`.
    pub fn new(client: Client) -> Self {
        Self { client: AuthorizedClient::new(client), robots: Robots::default() }
    }
}

fn page_parts(mut page: HttpResponse, select: Option<&str>) -> Result<ToolOutput, ToolsError> {
    let Some(html) = html_of(&page) else {
        return match select {
            Some(_) => Err(ToolsError::refused("the answer is no page, so nothing can be selected from it")),
            None => page_output(&page),
        };
    };
    let SelectedPart { html: part, matches, tables, cut } = html_tree::selected_part(&html, select)?;
    if select.is_some() && matches == 0 {
        return Err(refused!("nothing on {} fits the selector; the page may have changed", origin(&page.url)));
    }
    if let Some(part) = part {
        page.bytes = part.into_bytes();
        page.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    }
    let mut output = page_output(&page)?;
    if cut {
        output.content.push_str("\n[the page took too long to read; the rest was left out]");
    }
    if let Some(data) = output.data.as_mut().filter(|_| !tables.is_empty()) {
        data["tables"] = json!(tables);
    }
    Ok(output)
}

spec_of!(Scrape, ScrapeSpec, "scrape");

fn page_url(spec: &ScrapeSpec, values: &Values<'_>) -> Result<Url, ToolsError> {
    if !spec.url.is_empty() {
        return Ok(template::url(&spec.url, values)?);
    }
    let url = values.arguments["url"].as_str();
    address_guard::parse_url(url.ok_or_else(|| ToolsError::refused("give the address of the page as `url`"))?)
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
            // An address that the model chooses can carry data to its host.
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
            check_url(&spec.url, &skill.parameters).map_err(in_config("url"))?;
        }
        if let Some(select) = &spec.select {
            html_tree::selector(select).map_err(in_config("select"))?;
        }
        check_allow(&spec.allow)
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, _: &ToolScope) -> Result<Preview, ToolsError> {
        let target = address_guard::checked_url(page_url(spec(skill)?, &Values::shown(skill, arguments))?)?;
        Ok(Preview {
            summary: format!("asks {} for {}", target.place(), target.url),
            reversible: true,
            ..Preview::default()
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let spec = spec(job.skill)?;
        let url = page_url(spec, &Values::of(job))?;
        let exchange = self.client.exchange(job.skill, context, &spec.allow, 1)?;
        if !spec.ignore_robots {
            self.robots.check(&url, &exchange).await?;
        }
        let mut request = HttpRequest::get(url.clone());
        request.headers.insert(ACCEPT, HeaderValue::from_static("text/html, text/*;q=0.8, */*;q=0.1"));
        let answer = self.client.send(request, &job, false, &exchange).await?;
        // A redirect may have led to a page that robots.txt excludes.
        if !spec.ignore_robots && answer.url != url {
            self.robots.check(&answer.url, &exchange).await?;
        }
        if !answer.status.is_success() {
            return Err(refused!(
                "{} answered with status {}; check the address",
                origin(&answer.url),
                answer.status.as_u16()
            ));
        }
        let select = spec.select.clone();
        blocking(move || page_parts(answer, select.as_deref())).await
    }
}

const ROBOT_NAME: &str = "steward";
/// How long a robots.txt is used; the RFC allows a day at most.
const CACHE_TIME: Duration = Duration::from_hours(1);
const MAX_SITES: usize = 500;
const MAX_ROBOTS_BYTES: usize = 500 << 10;
const ROBOTS_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RobotsRules(Vec<Rule>);

impl RobotsRules {
    /// Reads the groups with our name, or those for `*` if there are none.
    pub fn parse(text: &str) -> Self {
        let (mut ours, mut all) = (None::<Vec<Rule>>, Vec::new());
        let (mut for_us, mut for_all, mut in_rules) = (false, false, true);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or("").trim();
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            if name == "user-agent" {
                if in_rules {
                    (for_us, for_all, in_rules) = (false, false, false);
                }
                let agent = value.to_ascii_lowercase();
                for_all |= agent == "*";
                if agent.split(['/', ' ']).next() == Some(ROBOT_NAME) {
                    for_us = true;
                    ours.get_or_insert_default();
                }
            } else if matches!(name.as_str(), "allow" | "disallow") {
                in_rules = true;
                if value.is_empty() {
                    continue;
                }
                let rule = Rule { allow: name == "allow", pattern: value.to_owned() };
                match &mut ours {
                    Some(ours) if for_us => ours.push(rule),
                    _ if for_all => all.push(rule),
                    _ => {}
                }
            }
        }
        Self(ours.unwrap_or(all))
    }

    fn deny_all() -> Self {
        Self::parse("user-agent: *\ndisallow: /")
    }

    /// Whether a path with its query may be fetched: the longest matching rule decides, and a tie allows.
    pub fn allows(&self, path: &str) -> bool {
        let fitting = self.0.iter().filter(|rule| pattern_matches(&rule.pattern, path));
        let longest = fitting.max_by_key(|rule| (rule.pattern.len(), rule.allow));
        longest.is_none_or(|rule| rule.allow)
    }
}

/// `*` matches anything, `$` at the end matches the end.
fn pattern_matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    for (at, piece) in pieces.iter().enumerate() {
        if to_end && at + 1 == pieces.len() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(found) => rest = &rest[found + piece.len()..],
            None => return false,
        }
    }
    !to_end || rest.is_empty()
}

#[derive(Default)]
struct Robots {
    sites: Mutex<BTreeMap<String, (Instant, Arc<RobotsRules>)>>,
}

impl Robots {
    pub async fn check(&self, url: &Url, exchange: &Exchange<'_>) -> Result<(), ToolsError> {
        let rules = self.rules(url, exchange).await?;
        if url.path() == "/robots.txt" || rules.allows(&url[Position::BeforePath..Position::AfterQuery]) {
            return Ok(());
        }
        Err(refused!(
            "{} asks programs not to read {} (robots.txt); use another page, or the site's API",
            url.origin().ascii_serialization(),
            url.path()
        ))
    }

    async fn rules(&self, url: &Url, exchange: &Exchange<'_>) -> Result<Arc<RobotsRules>, ToolsError> {
        let site = url.origin().ascii_serialization();
        {
            let sites = lock(&self.sites);
            if let Some((_, rules)) = sites.get(&site).filter(|(at, _)| at.elapsed() < CACHE_TIME) {
                return Ok(Arc::clone(rules));
            }
        }
        let mut file = url.clone();
        file.set_path("/robots.txt");
        file.set_query(None);
        file.set_fragment(None);
        // No answer if the site can't be reached, an error if it may not be.
        let fetching = async {
            exchange.client.checked_addresses(&file).await?;
            let timeout = exchange.context.left().min(ROBOTS_TIMEOUT);
            let limits = HttpLimits { max_bytes: MAX_ROBOTS_BYTES, timeout, ..HttpLimits::default() };
            let consulted = &exchange.context.scope.consulted;
            Ok::<_, ToolsError>(exchange.client.send(HttpRequest::get(file), limits, consulted).await.ok())
        };
        let answer = tokio::select! {
            answer = fetching => answer?,
            () = exchange.context.halt() => return Err(ToolsError::Stopped(exchange.skill.name.clone())),
        };
        let rules = Arc::new(match answer {
            Some(answer) if answer.status.is_success() => RobotsRules::parse(&String::from_utf8_lossy(&answer.bytes)),
            Some(answer) if answer.status.is_client_error() => RobotsRules::default(),
            // The site has trouble: nothing is read, and its robots.txt is fetched again next time.
            _ => return Ok(Arc::new(RobotsRules::deny_all())),
        });
        let mut sites = lock(&self.sites);
        if sites.len() >= MAX_SITES {
            sites.clear();
        }
        sites.insert(site, (Instant::now(), Arc::clone(&rules)));
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use super::{RobotsRules, pattern_matches};

    #[test]
    fn patterns() {
        for (pattern, path, fine) in [
            ("/", "/x", true),
            ("/fish", "/fish.html", true),
            ("/fish", "/Fish", false),
            ("/fish/", "/fish", false),
            ("/*.php", "/a/b.php?x", true),
            ("/*.php$", "/a.php?x", false),
            ("/*.php$", "/a.php.php", true),
            ("/a*b*c", "/axxbyyc/", true),
            ("/a*b*c", "/axxc", false),
            ("/x$", "/x", true),
            ("/x$", "/xy", false),
            ("*", "/any", true),
        ] {
            assert_eq!(pattern_matches(pattern, path), fine, "{pattern} {path}");
        }
    }

    #[test]
    fn groups_and_precedence() {
        let file = "User-agent: other\nDisallow: /\n\nUser-Agent: *\nUser-agent: third\nDisallow: /private # not here\nAllow: /private/open\nDisallow:\nSitemap: https://x.example/\n";
        let rules = RobotsRules::parse(file);
        for (path, fine) in [("/", true), ("/private/x", false), ("/private/open/y", true)] {
            assert_eq!(rules.allows(path), fine, "{path}");
        }
        let own = RobotsRules::parse(&format!("{file}\nUser-agent: Steward/1.0\nDisallow: /q\n"));
        assert!(own.allows("/private/x") && !own.allows("/q?x=1"));
        assert!(!RobotsRules::parse("user-agent: *\ndisallow: /a\nallow: /").allows("/a"));
        assert!(RobotsRules::parse("user-agent: *\ndisallow: /a\nallow: /a").allows("/a"));
        assert!(RobotsRules::parse("user-agent: steward\nuser-agent: *\ndisallow:").allows("/a"));
        assert!(RobotsRules::parse("disallow: /").allows("/a") && RobotsRules::parse("").allows("/"));
        assert!(!RobotsRules::deny_all().allows("/"));
    }
}
