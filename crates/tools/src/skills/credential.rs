use super::SkillPorts;
use super::ssh::parse_jump;
use crate::credential::{CredentialUser, check_host};
use crate::error::{ToolsError, refused};
use crate::sql::target::{SQLITE_PREFIX, check_server};
use secrecy::{ExposeSecret, SecretString};
use std::slice;
use steward_core::credential::Credential;
use steward_core::ports::{OpenedCredential, RunUser, StoreError, ToolScope};
use steward_core::scrub::secrets_of;
use steward_core::skill::{CredentialWanted, GraphqlSpec, HttpSpec, HuggingfaceSpec, ScrapeSpec, Skill, SkillSpec};
use url::Url;

/// The credential of a call, if it has one.
pub(super) async fn open(
    ports: &SkillPorts,
    skill: &Skill,
    scope: &ToolScope,
) -> Result<Option<OpenedCredential>, ToolsError> {
    let Some(credential) = discover(ports, skill, scope).await? else {
        return Ok(None);
    };
    check_hosts(&credential, skill)?;
    let used = CredentialUser::tool(scope, &skill.name).uses(credential.id);
    Ok(Some(ports.vault.open(scope.tenant, credential.id, used).await?))
}

/// The secrets of a credential, and those derived from it.
pub(super) fn secrets(opened: Option<&OpenedCredential>) -> Vec<(String, SecretString)> {
    let Some(opened) = opened else {
        return Vec::new();
    };
    let mut all = secrets_of(opened);
    // A server that echoes a request returns these pairs, not the single fields.
    let text = |field: &str| opened.fields.get(field).map(ExposeSecret::expose_secret);
    for (user, password) in [("username", "password"), ("client_id", "client_secret")] {
        if let (Some(user), Some(secret)) = (text(user), text(password)) {
            all.push((format!("{}.{password}", opened.credential.name), format!("{user}:{secret}").into()));
        }
    }
    all
}

/// Nothing is opened. A skill that asks for none gets one only if its agent names one for it.
pub(super) async fn discover(
    ports: &SkillPorts,
    skill: &Skill,
    scope: &ToolScope,
) -> Result<Option<Credential>, ToolsError> {
    let named = CredentialWanted { optional: true, ..CredentialWanted::default() };
    let kinds = skill.kind().credentials();
    if skill.credential.is_none() && kinds.is_empty() {
        return Ok(None);
    }
    let agent = match ports.agents.agent(scope.tenant, scope.agent).await {
        Ok(agent) => agent,
        // A person tries the skill without an agent.
        Err(StoreError::NotFound(_)) if skill.credential.is_none() => return Ok(None),
        Err(StoreError::NotFound(_)) => {
            return Err(refused!("`{}` uses a credential; name the agent for which it is tried", skill.name));
        }
        Err(error) => return Err(error.into()),
    };
    let wanted = match &skill.credential {
        Some(wanted) => wanted,
        None if agent.credentials.contains_key(&skill.name) => &named,
        None => return Ok(None),
    };
    let kinds = wanted.kind.as_ref().map_or(kinds, slice::from_ref);
    let user = run_user(ports, scope).await?;
    Ok(ports.vault.discover(scope.tenant, &agent, user.as_ref(), &skill.name, kinds, wanted).await?)
}

/// Refuses a credential that names hosts, unless all that the skill may send it to are among them.
fn check_hosts(credential: &Credential, skill: &Skill) -> Result<(), ToolsError> {
    if credential.hosts.is_empty() {
        return Ok(());
    }
    let url = match &skill.spec {
        SkillSpec::Http(HttpSpec { url, .. })
        | SkillSpec::Graphql(GraphqlSpec { url, .. })
        | SkillSpec::Scrape(ScrapeSpec { url, .. })
        | SkillSpec::Huggingface(HuggingfaceSpec { url, .. }) => url,
        // Empty: the server stands in the credential itself.
        SkillSpec::Sql(spec) if spec.database.is_empty() || spec.database.starts_with(SQLITE_PREFIX) => return Ok(()),
        SkillSpec::Sql(spec) => return check_server(credential, &spec.database),
        SkillSpec::Ssh(spec) => {
            if let Some(jump) = &spec.jump {
                let place = parse_jump(jump)?.place;
                // Hosts of credentials have IPv6 addresses in brackets.
                let host = if place.host.contains(':') { format!("[{}]", place.host) } else { place.host };
                check_host(credential, &host, Some(place.port))?;
            }
            let mut hosts = std::iter::once(&spec.host).chain(&spec.hosts);
            return hosts.try_for_each(|host| check_host(credential, host, Some(spec.port)));
        }
        // Checked where the server is known.
        SkillSpec::Mcp(_) => return Ok(()),
        _ => {
            return Err(refused!(
                "the credential {} may only be sent to {}, and where a program sends it can't be told; `{}` needs one without hosts",
                credential.name,
                credential.hosts.join(", "),
                skill.name
            ));
        }
    };
    let parsed = Url::parse(url).ok();
    let target = parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default())));
    let Some((host, port)) = target else {
        return Err(refused!(
            "`{}` has no fixed host, so the credential {} can't be sent there; name the host in its url",
            skill.name,
            credential.name
        ));
    };
    check_host(credential, host, port)
}

/// The user behind the run; `None` for a run without one, or of one who is disabled.
async fn run_user(ports: &SkillPorts, scope: &ToolScope) -> Result<Option<RunUser>, ToolsError> {
    if let Some(id) = scope.user
        && let Some(user) = ports.users.user(scope.tenant, id).await?
        && !user.is_disabled()
    {
        let permissions = ports.grants.permissions(scope.tenant, id).await?;
        return Ok(Some(RunUser { role: user.role, permissions }));
    }
    Ok(None)
}
