use super::McpHub;
use super::connect::{Secret, Secrets, login_hint, open_connection};
use super::connection::Connection;
use super::error::McpError;
use super::oauth_token::{LoginHttp, TokenRequest};
use super::pool::PoolKey;
use crate::credential::{self, CredentialUser};
use crate::handler::Context;
use crate::skills::{SkillCall, parse_allow_list};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use steward_core::credential::{Credential, CredentialKind};
use steward_core::locks::lock;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{OpenedCredential, Vault, VaultError};
use steward_core::scrub::Scrubber;
use steward_core::{TenantId, Timestamp, UserId, hash};

pub(super) struct Caller<'a> {
    pub by: CredentialUser<'a>,
    user: Option<UserId>,
    /// `None`: a person, not a run.
    pub context: Option<&'a Context>,
    /// The skill's own credential, opened by the runtime.
    secret: Option<&'a OpenedCredential>,
    /// Secrets opened for a person, who has no context.
    opened: Mutex<Vec<(String, SecretString)>>,
}

impl<'a> Caller<'a> {
    pub fn of_person(tenant: TenantId, user: Option<UserId>, at: Timestamp) -> Self {
        let by = CredentialUser { tenant, run: None, agent: None, at, tool: "mcp" };
        Self { by, user, context: None, secret: None, opened: Mutex::default() }
    }

    pub fn of_call(job: SkillCall<'a>, context: &'a Context, at: Timestamp) -> Self {
        let by = CredentialUser { at, ..CredentialUser::tool(&context.scope, &job.skill.name) };
        let user = context.scope.user;
        Self { by, user, context: Some(context), secret: job.secret, opened: Mutex::default() }
    }

    /// Whose login it is; nobody's own where all users share one.
    pub fn owner(&self, server: &McpServer) -> Option<UserId> {
        self.user.filter(|_| server.per_user)
    }

    fn learned(&self, label: &str, secret: &SecretString) {
        if let Some(context) = self.context {
            context.learned(label, secret.clone());
        } else {
            let mut opened = lock(&self.opened);
            opened.push((label.to_owned(), secret.clone()));
        }
    }

    /// Scrubs what was opened for a person, since an error may repeat it. The runtime scrubs what a run sees.
    pub fn scrub(&self, text: &str) -> String {
        let opened = lock(&self.opened);
        let secrets = opened.iter();
        Scrubber::new(secrets.map(|(label, secret)| (label.as_str(), secret.expose_secret()))).scrub(text).into_owned()
    }
}

impl McpHub {
    /// The connection for `who`; with `anew`, a renewable token is renewed first.
    pub(super) async fn connect(
        &self,
        server: &McpServer,
        who: &Caller<'_>,
        anew: bool,
    ) -> Result<(PoolKey, Arc<Connection>), McpError> {
        let own = self.secret(server, who, anew).await?;
        let secrets = Secrets { own, further: self.further_secrets(server, who).await? };
        let stamp: Vec<&Value> = secrets.all().map(|secret| &secret.stamp).collect();
        let settings = serde_json::to_value(&server.transport).unwrap_or_default();
        let key = PoolKey {
            tenant: who.by.tenant,
            server: server.id,
            user: who.owner(server),
            credential: secrets.own.as_ref().map(|secret| secret.id),
            stamp: hash::of_json(&json!([settings, stamp])),
        };
        for secret in secrets.all() {
            who.learned(&secret.label, &secret.value);
        }
        // Boxed, since connecting is a large future.
        let opening = Box::pin(open_connection(&self.config, server, key.user, &secrets));
        let connection = self.pool.get(key.clone(), self.config.idle, opening).await?;
        Ok((key, connection))
    }

    /// The secrets of the variables that name a credential each.
    async fn further_secrets(&self, server: &McpServer, who: &Caller<'_>) -> Result<Vec<(String, Secret)>, McpError> {
        let McpTransport::Stdio { secrets, .. } = &server.transport else {
            return Ok(Vec::new());
        };
        let (vault, tenant) = (self.ports.vault.as_ref(), who.by.tenant);
        let mut found = Vec::new();
        for (variable, name) in secrets {
            let credential = credential::by_name(vault, tenant, name).await?;
            let credential = credential.ok_or_else(|| VaultError::Unknown(name.clone()))?;
            check_server(&credential, server)?;
            let opened = vault.open(tenant, credential.id, who.by.uses(credential.id)).await?;
            found.push((variable.clone(), secret_of(&opened)?));
        }
        Ok(found)
    }

    async fn secret(&self, server: &McpServer, who: &Caller<'_>, anew: bool) -> Result<Option<Secret>, McpError> {
        let (vault, tenant) = (self.ports.vault.as_ref(), who.by.tenant);
        let found;
        let opened = if let Some(own) = who.secret {
            own
        } else {
            let Some(credential) = find_credential(vault, tenant, server, who.user).await? else {
                return Ok(None);
            };
            found = vault.open(tenant, credential.id, who.by.uses(credential.id)).await?;
            &found
        };
        let credential = &opened.credential;
        check_server(credential, server)?;
        for (field, value) in &opened.fields {
            if !credential.kind.shows(field) && field != "access_until" {
                who.learned(&credential.name, value);
            }
        }
        if credential.kind != CredentialKind::Oauth2 {
            let http = matches!(server.transport, McpTransport::Http { .. });
            if http && credential.kind == CredentialKind::Password {
                return Err(McpError::Invalid(format!(
                    "the credential {} is a password, which is not sent over HTTP; an address takes a token, an api_key or oauth2",
                    credential.name
                )));
            }
            return Ok(Some(secret_of(opened)?));
        }
        let McpTransport::Http { url, allow } = &server.transport else {
            return Err(McpError::Invalid(format!(
                "`{}` is a local program; give it a token or an api_key",
                server.name
            )));
        };
        let guarded = LoginHttp { allow: parse_allow_list(allow)? };
        let wanted = TokenRequest { by: who.by, server: &server.name, resource: url, opened, anew };
        let token = self.tokens.token(vault, &guarded, wanted).await?;
        let stamp = json!([credential.id, hash::sha256(token.expose_secret().as_bytes())]);
        Ok(Some(Secret { id: credential.id, label: credential.name.clone(), header: None, value: token, stamp }))
    }
}

/// The host of a server, for the credential of a login there; empty for a local program.
pub(super) fn hosts_of(server: &McpServer) -> Vec<String> {
    host_and_port(server).into_iter().map(|(host, port)| format!("{host}:{port}")).collect()
}

fn host_and_port(server: &McpServer) -> Option<(String, u16)> {
    let McpTransport::Http { url, .. } = &server.transport else {
        return None;
    };
    let url = url::Url::parse(url).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
}

/// Refuses a credential that names other hosts than the server's.
fn check_server(credential: &Credential, server: &McpServer) -> Result<(), McpError> {
    let goes = |(host, port): (String, u16)| credential.may_go_to(&host, Some(port));
    if credential.hosts.is_empty() || host_and_port(server).is_some_and(goes) {
        return Ok(());
    }
    Err(McpError::Invalid(format!(
        "the credential {} may only be sent to {}, and `{}` is not there; an operator can add its host",
        credential.name,
        credential.hosts.join(", "),
        server.name
    )))
}

pub(super) fn login_name(server: &McpServer, user: Option<UserId>) -> String {
    match user {
        Some(user) => format!("mcp_{}_{user}", server.name),
        None => format!("mcp_{}", server.name),
    }
}

pub(super) async fn logins_of(
    vault: &dyn Vault,
    tenant: TenantId,
    user: UserId,
) -> Result<Vec<Credential>, VaultError> {
    // The end of `login_name`, whatever the server was called when they logged in.
    let end = format!("_{user}");
    let theirs = |one: &Credential| {
        one.kind == CredentialKind::Oauth2 && one.name.starts_with("mcp_") && one.name.ends_with(&end)
    };
    credential::matching(vault, tenant, theirs).await
}

/// The credential for `server`: the user's own where each has one, else the one that it names.
pub(super) async fn find_credential(
    vault: &dyn Vault,
    tenant: TenantId,
    server: &McpServer,
    user: Option<UserId>,
) -> Result<Option<Credential>, McpError> {
    if server.per_user {
        let Some(user) = user else {
            return Err(McpError::Login {
                server: server.name.clone(),
                hint: "each user has a token of their own there, and this run has no user".to_owned(),
                challenge: None,
            });
        };
        // A program that takes no secret still gets a folder and a process for each user.
        if matches!(server.transport, McpTransport::Stdio { secret_variable: None, .. }) {
            return Ok(None);
        }
        let own = credential::by_name(vault, tenant, &login_name(server, Some(user))).await?;
        return own.map(Some).ok_or_else(|| McpError::Login {
            server: server.name.clone(),
            hint: login_hint(server, false),
            challenge: None,
        });
    }
    let Some(wanted) = &server.credential else {
        return Ok(None);
    };
    if let Some(name) = &wanted.name {
        return match credential::by_name(vault, tenant, name).await? {
            Some(found) => Ok(Some(found)),
            None if wanted.optional => Ok(None),
            None => Err(VaultError::Unknown(name.clone()).into()),
        };
    }
    let fits_header = |kind| matches!(kind, CredentialKind::Token | CredentialKind::ApiKey | CredentialKind::Oauth2);
    let suits =
        |one: &Credential| one.discoverable && wanted.kind.is_none_or(|kind| kind == one.kind) && fits_header(one.kind);
    let mut found = credential::matching(vault, tenant, suits).await?;
    match found.len() {
        1 => Ok(found.pop()),
        0 if wanted.optional => Ok(None),
        0 => Err(VaultError::Missing(format!(
            "there is no credential for the MCP server `{}`; name one in its settings",
            server.name
        ))
        .into()),
        _ => {
            let names: Vec<String> = found.into_iter().map(|one| one.name).collect();
            Err(VaultError::Ambiguous(names.join(", ")).into())
        }
    }
}

/// The secret in a credential of the kind token or api_key. OAuth tokens are requested: see [`super::oauth_token`].
pub(super) fn secret_of(opened: &OpenedCredential) -> Result<Secret, McpError> {
    let credential = &opened.credential;
    let field = match credential.kind {
        CredentialKind::Token => "token",
        CredentialKind::ApiKey => "key",
        // For programs of this machine only.
        CredentialKind::Password => "password",
        other => {
            return Err(McpError::Invalid(format!(
                "the credential {} is of the kind {}; an MCP server takes a token, an api_key, a password (local programs) or oauth2 (addresses)",
                credential.name,
                other.as_str()
            )));
        }
    };
    let Some(value) = opened.fields.get(field).cloned() else {
        return Err(McpError::Invalid(format!("the credential {} has no {field}; set it anew", credential.name)));
    };
    let header = opened.fields.get("header").map(|text| text.expose_secret().to_owned());
    let header = header.filter(|name| !name.is_empty());
    let stamp = json!([credential.id, credential.changed_at]);
    Ok(Secret { id: credential.id, label: credential.name.clone(), header, value, stamp })
}
