use super::read::PackageContents;
use steward_core::credential::CredentialKind;
use steward_core::package::Permissions;
use steward_core::skill::{DockerSpec, Skill, SkillSpec};
use url::Url;

/// What to declare or to leave out before the package can be activated.
pub fn undeclared(package: &PackageContents) -> Vec<String> {
    let allowed = &package.front.permissions;
    let mut missing = unknown_credential_kinds(allowed);
    for skill in &package.skills {
        let mut of_skill = Requirements::default();
        of_skill.of(&skill.spec);
        for host in &of_skill.hosts {
            if !allows_host(allowed, host) {
                missing.push(format!("the skill `{}` reaches {host}: add it to `permissions.network`", skill.name));
            }
        }
        if of_skill.runs && !allowed.scripts {
            missing.push(format!("the skill `{}` runs a program: set `permissions.scripts: true`", skill.name));
        }
        missing.extend(of_skill.refused.iter().map(|why| format!("the skill `{}` {why}", skill.name)));
        missing.extend(missing_credential_kind(skill, allowed));
    }
    for path in package.files.keys().filter(|path| path.starts_with(super::read::SKILLS)) {
        if takes_code_from_file(package, path) && !allowed.scripts {
            missing.push(format!("{path} runs a script of the package: set `permissions.scripts: true`"));
        }
    }
    missing
}

/// Whether a definition takes its code from a file. Read from the source, since the skill holds the code itself.
fn takes_code_from_file(package: &PackageContents, path: &str) -> bool {
    let Some(source) = package.files.get(path).and_then(|source| std::str::from_utf8(source).ok()) else {
        return false;
    };
    let source = source.trim_start_matches('\u{feff}');
    let value =
        serde_json::from_str(source).ok().or_else(|| super::front_matter::yaml(source).ok()).unwrap_or_default();
    let has = |one: &serde_json::Value| one["config"].get(super::read::FILE).is_some();
    value.as_array().map_or_else(|| has(&value), |list| list.iter().any(has))
}

fn unknown_credential_kinds(allowed: &Permissions) -> Vec<String> {
    let known = |name: &String| CredentialKind::ALL.iter().any(|kind| kind.as_str() == name);
    let all: Vec<_> = CredentialKind::ALL.iter().map(|kind| kind.as_str()).collect();
    allowed
        .credentials
        .iter()
        .filter(|name| !known(name))
        .map(|name| format!("`{name}` in `permissions.credentials` is no kind of credential: use {}", all.join(", ")))
        .collect()
}

fn missing_credential_kind(skill: &Skill, allowed: &Permissions) -> Option<String> {
    let wanted = skill.credential.as_ref()?;
    let Some(kind) = wanted.kind else {
        return Some(format!(
            "the skill `{}` wants a credential without saying of which kind: set `credential.kind`",
            skill.name
        ));
    };
    if allowed.credentials.iter().any(|name| name == kind.as_str()) {
        return None;
    }
    Some(format!("the skill `{}` uses a credential: add `{}` to `permissions.credentials`", skill.name, kind.as_str()))
}

/// Whether a host, or `host:port`, is declared: by name, by `*.domain`, or by `*`.
pub(crate) fn allows_host(allowed: &Permissions, host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    allowed.network.iter().any(|declared| {
        let declared = declared.trim().to_lowercase();
        declared == "*"
            || declared == host
            || declared == name
            || declared
                .strip_prefix("*.")
                .is_some_and(|domain| name.strip_suffix(domain).is_some_and(|left| left.ends_with('.')))
    })
}

#[derive(Default)]
struct Requirements {
    hosts: Vec<String>,
    runs: bool,
    refused: Vec<String>,
}

impl Requirements {
    fn of(&mut self, spec: &SkillSpec) {
        match spec {
            SkillSpec::Internal(_) | SkillSpec::Python(_) | SkillSpec::AgentDelegation(_) => {}
            SkillSpec::Http(spec) => self.web(&spec.url, &spec.allow),
            SkillSpec::Graphql(spec) => self.web(&spec.url, &spec.allow),
            SkillSpec::Huggingface(spec) => self.web(&spec.url, &spec.allow),
            SkillSpec::Scrape(spec) if spec.url.is_empty() => {
                self.private(&spec.allow);
                self.hosts.push("*".into());
            }
            SkillSpec::Scrape(spec) => self.web(&spec.url, &spec.allow),
            SkillSpec::Ssh(spec) => {
                self.runs = true;
                self.hosts.push(spec.host.to_lowercase());
                self.hosts.extend(spec.hosts.iter().map(|host| host.to_lowercase()));
                self.hosts.extend(spec.jump.iter().map(|jump| host_only(jump)));
            }
            SkillSpec::Sql(spec) => {
                if let Ok(url) = Url::parse(&spec.database) {
                    self.hosts.extend(url.host_str().map(str::to_lowercase));
                }
            }
            SkillSpec::Shell(_) => self.runs = true,
            SkillSpec::Ansible(spec) => {
                self.runs = true;
                if spec.network {
                    self.hosts.extend(inventory_hosts(&spec.inventory));
                }
            }
            SkillSpec::Docker(spec) => {
                self.runs = true;
                if let DockerSpec::Run { network: true, .. } = spec {
                    self.hosts.push("*".into());
                }
            }
            SkillSpec::Mcp(_) => self.refused.push(
                "is a tool of an MCP server: leave it out and attach it from the server, where a person accepts it"
                    .into(),
            ),
        }
    }

    fn web(&mut self, url: &str, allow: &[String]) {
        self.private(allow);
        // Placeholders come after the host only, but a URL may not contain their braces.
        let plain = url.replace(['{', '}', '|'], "_");
        match Url::parse(&plain).ok().and_then(|url| url.host_str().map(str::to_lowercase)) {
            Some(host) => self.hosts.push(host),
            None => self.refused.push(format!("has `{url}` as its address: write scheme and host as fixed text")),
        }
    }

    fn private(&mut self, allow: &[String]) {
        if !allow.is_empty() {
            self.refused
                .push("allows private hosts: leave `config.allow` out; an operator sets it after the import".into());
        }
    }
}

/// `[user@]host[:port]` without user and port.
fn host_only(text: &str) -> String {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
    host.to_lowercase()
}

/// Hosts of an inventory in INI form; a YAML inventory counts as any host, since its groups are free-form.
fn inventory_hosts(text: &str) -> Vec<String> {
    if text.trim_start().starts_with("---") || text.lines().any(|line| line.trim_end().ends_with(':')) {
        return vec!["*".into()];
    }
    let mut hosts = Vec::new();
    let mut of_hosts = true;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[') {
            of_hosts = !section.contains(":vars") && !section.contains(":children");
            continue;
        }
        let mut parts = line.split_whitespace();
        let first = parts.clone().next().filter(|_| of_hosts);
        let real = parts.find_map(|part| part.strip_prefix("ansible_host="));
        hosts.extend(real.or(first).map(host_only));
    }
    hosts.retain(|host| host != "localhost" && host != "127.0.0.1");
    hosts
}
