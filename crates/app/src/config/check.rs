//! What is wrong with a value, before anything is saved.

use super::fields::{Field, Kind};
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use steward_tools::outbound::HostPort;
use url::Url;

/// Longest value, characters.
const LONGEST: usize = 2_000;
/// Shortest token that programs show, and shortest key that signs logins, characters.
const TOKEN: usize = 16;
const SIGNING_KEY: usize = 32;

/// What is wrong, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub title: String,
    pub hint: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.title, self.hint)
    }
}

/// `None`: nothing.
pub fn problem(field: &Field, text: &str) -> Option<Wrong> {
    let hint = if text.trim() != text || text.is_empty() {
        Some("write a value without spaces at its ends, or null for the default".to_owned())
    } else if text.chars().count() > LONGEST || text.chars().any(char::is_control) {
        Some(format!("write one line of at most {LONGEST} characters"))
    } else {
        expected(field, text)
    }?;
    // A secret is never repeated.
    let shown: String = text.chars().take(80).collect();
    let what = if field.secret { "the value".to_owned() } else { format!("`{shown}`") };
    Some(Wrong { title: format!("{what} can't be {}", field.name), hint })
}

fn expected(field: &Field, text: &str) -> Option<String> {
    match field.kind {
        Kind::Text | Kind::Filter => None,
        Kind::Whole(least, most) => {
            let fits = text.parse().is_ok_and(|number: i64| (least..=most).contains(&number));
            (!fits).then(|| format!("write a whole number from {least} to {most}"))
        }
        Kind::Seconds(least, most) => {
            let fits = text.parse().is_ok_and(|number: f64| (least..=most).contains(&number));
            (!fits).then(|| format!("write a number of seconds from {least} to {most}"))
        }
        Kind::Switch => switch(text).is_none().then(|| "write true or false".to_owned()),
        Kind::Choice(words) => (!words.contains(&text)).then(|| format!("choose {}", words.join(", "))),
        Kind::Url => (!is_address(text)).then(|| {
            "write an address such as http://127.0.0.1:8000/v1, without a user, a password or a fragment".to_owned()
        }),
        Kind::Folder => {
            let path = Path::new(text);
            (!path.is_absolute() || !path.is_dir())
                .then(|| "write the absolute path of a folder that is there".to_owned())
        }
        Kind::File => (!Path::new(text).is_file()).then(|| "write the path of a file that is there".to_owned()),
        Kind::Host => {
            let fits = text == "localhost" || text.parse::<IpAddr>().is_ok();
            (!fits).then(|| {
                "write an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them".to_owned()
            })
        }
        Kind::List => list(text).find(|one| !is_name(one)).map(|one| {
            format!(
                "`{one}` is no name; write names, or origins such as https://studio.example.org, separated by commas"
            )
        }),
        Kind::HostPorts => list(text).find_map(|one| one.parse::<HostPort>().err().map(|error| error.to_string())),
        Kind::Folders => {
            let wrong = text.split(':').find(|one| !Path::new(one).is_absolute() || !Path::new(one).is_dir());
            wrong.map(|one| format!("`{one}` is no folder; write absolute paths of folders, separated by colons"))
        }
        Kind::Token => {
            let least = if field.name == "AUTH_SECRET_KEY" { SIGNING_KEY } else { TOKEN };
            let fits = text.len() >= least && text.chars().all(|c| c.is_ascii_graphic());
            (!fits)
                .then(|| format!("choose {least} characters or more, without spaces: `openssl rand -hex 24` makes one"))
        }
    }
}

pub fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

fn is_address(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none()
    })
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "-._*:/[]".contains(c))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::problem;
    use crate::config::fields::{Effect, FIELDS, Group, named};
    use std::collections::HashSet;

    #[test]
    fn the_table_is_sound() {
        let mut names = HashSet::new();
        for field in FIELDS {
            assert!(names.insert(field.name), "{} twice", field.name);
            assert!(field.help.ends_with('.'), "{}", field.name);
            if let Some(default) = field.default {
                assert_eq!(problem(field, default), None, "{}", field.name);
            }
            assert!(field.in_file || !field.saved, "{}", field.name);
            assert_eq!(field.effect == Effect::AfterRestart, !field.why_restart.is_empty(), "{}", field.name);
        }
        for group in Group::ALL {
            assert!(FIELDS.iter().any(|field| field.group == group));
        }
    }

    #[test]
    fn values_are_checked_by_their_kind() {
        for (name, good, bad) in [
            ("API_PORT", vec!["0", "8800", "65535"], vec!["-1", "65536", "many", "8800 ", ""]),
            ("API_HOST", vec!["127.0.0.1", "::1", "localhost"], vec!["steward.example", "1.2.3", "a b"]),
            ("CORS_ORIGINS", vec!["studio.example.org", "https://a.b, c.d"], vec!["a b", "x\u{7}", "ü.example"]),
            ("METRICS_LOOPBACK", vec!["true", "Off", "1"], vec!["maybe"]),
            ("METRICS_TOKEN", vec!["0123456789abcdef"], vec!["short", "0123456789 bcdef"]),
            ("AUTH_SECRET_KEY", vec!["0123456789abcdef0123456789abcdef"], vec!["0123456789abcdef"]),
            ("LEASE_SECONDS", vec!["0.3", "15"], vec!["0", "NaN", "inf", "3601"]),
            ("DEEP_AGENT_PLAN_STYLE", vec!["concise"], vec!["long", "Concise"]),
            (
                "LLM_BASE_URL",
                vec!["http://127.0.0.1:8000/v1"],
                vec!["ftp://x", "127.0.0.1:8000", "http://u:p@x/", "http://"],
            ),
            ("NFS_BASE_PATH", vec!["/tmp"], vec!["/nowhere/at/all", "tmp", "/etc/passwd"]),
            ("PROGRAMS", vec!["/tmp:/"], vec!["/tmp:bin", "/nowhere/at/all"]),
            ("WEB_ALLOW", vec!["127.0.0.1:8080, wiki.example:443"], vec!["127.0.0.1", "x:0"]),
        ] {
            let field = named(name).unwrap();
            for value in good {
                assert_eq!(problem(field, value), None, "{name} {value}");
            }
            for value in bad {
                let wrong = problem(field, value).unwrap_or_else(|| panic!("{name} takes {value:?}"));
                assert!(wrong.title.contains(name) && !wrong.hint.is_empty(), "{wrong}");
                assert!(!field.secret || value.is_empty() || !wrong.to_string().contains(value), "{wrong}");
            }
        }
    }
}
