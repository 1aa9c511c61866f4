//! robots.txt (RFC 9309): what a site asks programs to leave alone.

use crate::error::ToolsError;
use crate::skills::http::Exchange;
use crate::web::{Answer, Ask, Caps, Client};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

/// Our name in robots.txt.
const NAME: &str = "steward";
/// How long a file is believed; the RFC asks for a day at most.
const FRESH: Duration = Duration::from_hours(1);
/// Sites remembered.
const SITES: usize = 500;
/// Bytes that are read of a file.
const BYTES: usize = 500 << 10;
/// Longest wait for one.
const WALL: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: String,
}

/// The rules that apply to us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules(Vec<Rule>);

impl Rules {
    /// Reads the groups of our name; those of `*` where there are none.
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
                if agent.split(['/', ' ']).next() == Some(NAME) {
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

    fn nothing() -> Self {
        Self::parse("user-agent: *\ndisallow: /")
    }

    /// Whether a path with its query may be fetched: the longest rule decides, and allows on a tie.
    pub fn allows(&self, path: &str) -> bool {
        let fitting = self.0.iter().filter(|rule| fits(&rule.pattern, path));
        let longest = fitting.max_by_key(|rule| (rule.pattern.len(), rule.allow));
        longest.is_none_or(|rule| rule.allow)
    }
}

/// `*` stands for anything, `$` at the end for the end.
fn fits(pattern: &str, path: &str) -> bool {
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

/// Rules by site, for a while.
#[derive(Default)]
pub(super) struct Robots {
    sites: Mutex<BTreeMap<String, (Instant, Arc<Rules>)>>,
}

impl Robots {
    /// Refuses what the site asks programs to leave alone.
    pub async fn check(&self, url: &Url, exchange: &Exchange<'_>) -> Result<(), ToolsError> {
        let rules = self.rules(url, exchange).await?;
        let query = url.query().map_or(String::new(), |query| format!("?{query}"));
        let path = format!("{}{query}", url.path());
        if url.path() == "/robots.txt" || rules.allows(&path) {
            return Ok(());
        }
        Err(ToolsError::Refused(format!(
            "{} asks programs not to read {} (robots.txt); use another page, or the site's API",
            url.origin().ascii_serialization(),
            url.path()
        )))
    }

    async fn rules(&self, url: &Url, exchange: &Exchange<'_>) -> Result<Arc<Rules>, ToolsError> {
        let site = url.origin().ascii_serialization();
        {
            let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, rules)) = sites.get(&site).filter(|(at, _)| at.elapsed() < FRESH) {
                return Ok(Arc::clone(rules));
            }
        }
        let mut file = url.clone();
        file.set_path("/robots.txt");
        file.set_query(None);
        file.set_fragment(None);
        let answer = ask(exchange.client, file, exchange.context.left().min(WALL));
        let answer = tokio::select! {
            answer = answer => answer?,
            () = exchange.context.halt() => return Err(ToolsError::Stopped(exchange.skill.name.clone())),
        };
        let rules = Arc::new(match answer {
            Some(answer) if answer.status.is_success() => Rules::parse(&String::from_utf8_lossy(&answer.bytes)),
            Some(answer) if answer.status.is_client_error() => Rules::default(),
            // A site in trouble is left alone, and asked again next time.
            _ => return Ok(Arc::new(Rules::nothing())),
        });
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() >= SITES {
            sites.clear();
        }
        sites.insert(site, (Instant::now(), Arc::clone(&rules)));
        Ok(rules)
    }
}

/// The file; `None` where the site can't be reached, an error where it may not be.
async fn ask(client: &Client, file: Url, wall: Duration) -> Result<Option<Answer>, ToolsError> {
    client.admit(&file).await?;
    let caps = Caps { bytes: BYTES, wall, ..Caps::default() };
    Ok(client.send(Ask::get(file), caps).await.ok())
}

#[cfg(test)]
mod tests {
    use super::{Rules, fits};

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
            assert_eq!(fits(pattern, path), fine, "{pattern} {path}");
        }
    }

    #[test]
    fn groups_and_precedence() {
        let file = "User-agent: other\nDisallow: /\n\nUser-Agent: *\nUser-agent: third\nDisallow: /private # not here\nAllow: /private/open\nDisallow:\nSitemap: https://x.example/\n";
        let rules = Rules::parse(file);
        for (path, fine) in [("/", true), ("/private/x", false), ("/private/open/y", true)] {
            assert_eq!(rules.allows(path), fine, "{path}");
        }
        let own = Rules::parse(&format!("{file}\nUser-agent: Steward/1.0\nDisallow: /q\n"));
        assert!(own.allows("/private/x") && !own.allows("/q?x=1"));
        assert!(!Rules::parse("user-agent: *\ndisallow: /a\nallow: /").allows("/a"));
        assert!(Rules::parse("user-agent: *\ndisallow: /a\nallow: /a").allows("/a"));
        assert!(Rules::parse("user-agent: steward\nuser-agent: *\ndisallow:").allows("/a"));
        assert!(Rules::parse("disallow: /").allows("/a") && Rules::parse("").allows("/"));
        assert!(!Rules::nothing().allows("/"));
    }
}
