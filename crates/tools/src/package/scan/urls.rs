//! Addresses: whom the package knows.

use super::rules::{Place, Rules};
use super::{Found, excerpt};
use crate::package::permissions::reaches;
use regex::Regex;
use std::sync::OnceLock;
use steward_core::package::{Permissions, Severity};
use url::{Host, Url};

fn address() -> Option<&'static Regex> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    REGEX.get_or_init(|| Regex::new(r#"(?i)\b(?:https?|ftp|wss?)://[^\s<>"'`\]\)}]+"#).ok()).as_ref()
}

pub(super) fn look(path: &str, text: &str, place: Place, permissions: &Permissions, rules: &Rules, found: &mut Found) {
    for (index, line) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        for hit in address().into_iter().flat_map(|regex| regex.find_iter(line)) {
            let Some((severity, rule, why)) = judge(hit.as_str(), place, permissions, rules) else {
                continue;
            };
            found.add(severity, path, number, rule, format!("{why}: {}", excerpt(hit.as_str())));
        }
    }
}

fn judge(
    text: &str,
    place: Place,
    permissions: &Permissions,
    rules: &Rules,
) -> Option<(Severity, &'static str, &'static str)> {
    let url = Url::parse(text.trim_end_matches(['.', ',', ';', ':', '!', '?'])).ok()?;
    let host = url.host()?;
    let name = url.host_str()?.to_lowercase();
    if reaches(permissions, &name) {
        return None;
    }
    if !matches!(host, Host::Domain(_)) {
        return Some((Severity::Warning, "address", "an address by number instead of by name"));
    }
    if !url.username().is_empty() {
        return Some((
            Severity::Warning,
            "address",
            "an address with a user name before the host, which misleads readers",
        ));
    }
    if name.split('.').any(|part| part.starts_with("xn--")) {
        return Some((
            Severity::Warning,
            "address",
            "a host with letters of other scripts, which may look like another host",
        ));
    }
    // Names of this kind are nobody's: RFC 2606 and 6761.
    let reserved = [".example", ".test", ".invalid", ".localhost", ".internal"];
    let known = rules
        .hosts
        .iter()
        .any(|known| name == *known || name.strip_suffix(known.as_str()).is_some_and(|left| left.ends_with('.')));
    if known || reserved.iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let severity = match place {
        Place::Reference | Place::Comment => Severity::Info,
        Place::Prompt | Place::Script => Severity::Warning,
    };
    Some((severity, "unknown_host", "a host that the package doesn't declare (`permissions.network`)"))
}
