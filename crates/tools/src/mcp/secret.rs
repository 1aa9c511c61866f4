//! The credential of a server: found, opened, and put into the form that its transport takes.

use super::error::McpError;
use secrecy::{ExposeSecret as _, SecretString};
use steward_core::credential::{Credential, CredentialKind};
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{OpenedCredential, Vault, VaultError};
use steward_core::{CredentialId, TenantId, UserId};

/// A page of the vault.
const PAGE: u32 = 200;
/// Most pages that are looked through.
const PAGES: usize = 100;

pub(super) struct Secret {
    pub id: CredentialId,
    /// Name of the credential, which stands in for its secrets.
    pub label: String,
    /// The header that takes it; `None`: `Authorization: Bearer`.
    pub header: Option<String>,
    pub value: SecretString,
}

/// Name of the credential that a login makes.
pub(super) fn login_name(server: &McpServer, user: Option<UserId>) -> String {
    match user {
        Some(user) => format!("mcp_{}_{user}", server.name),
        None => format!("mcp_{}", server.name),
    }
}

/// The credential for `server`: the user's own where each has one, else the one that it names.
pub(super) async fn find(
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
            });
        };
        // A program that takes no secret still gets a folder and a process for each user.
        if matches!(server.transport, McpTransport::Stdio { secret_variable: None, .. }) {
            return Ok(None);
        }
        let own = by_name(vault, tenant, &login_name(server, Some(user))).await?;
        return own.map(Some).ok_or_else(|| McpError::Login {
            server: server.name.clone(),
            hint: super::open::login_hint(server, false),
        });
    }
    let Some(wanted) = &server.credential else {
        return Ok(None);
    };
    if let Some(name) = &wanted.name {
        return match by_name(vault, tenant, name).await? {
            Some(found) => Ok(Some(found)),
            None if wanted.optional => Ok(None),
            None => Err(VaultError::Unknown(name.clone()).into()),
        };
    }
    let suits =
        |one: &Credential| one.discoverable && wanted.kind.is_none_or(|kind| kind == one.kind) && header_of(one.kind);
    let mut found = all(vault, tenant, suits).await?;
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

fn header_of(kind: CredentialKind) -> bool {
    matches!(kind, CredentialKind::Token | CredentialKind::ApiKey | CredentialKind::Oauth2)
}

pub(super) async fn by_name(vault: &dyn Vault, tenant: TenantId, name: &str) -> Result<Option<Credential>, McpError> {
    Ok(all(vault, tenant, |one| one.name == name).await?.pop())
}

async fn all(
    vault: &dyn Vault,
    tenant: TenantId,
    suits: impl Fn(&Credential) -> bool,
) -> Result<Vec<Credential>, McpError> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    for _ in 0..PAGES {
        let page = vault.credentials(tenant, after.as_deref(), PAGE).await?;
        after = page.items.last().map(|one| one.name.clone());
        found.extend(page.items.into_iter().filter(|one| suits(one)));
        if !page.more || after.is_none() {
            break;
        }
    }
    Ok(found)
}

/// The secret of a credential that holds one itself. `OAuth` tokens are made: see [`super::oauth`].
pub(super) fn of(opened: &OpenedCredential) -> Result<Secret, McpError> {
    let credential = &opened.credential;
    let field = match credential.kind {
        CredentialKind::Token => "token",
        CredentialKind::ApiKey => "key",
        other => {
            return Err(McpError::Invalid(format!(
                "the credential {} is of the kind {}; an MCP server takes a token, an api_key or oauth2",
                credential.name,
                other.as_str()
            )));
        }
    };
    let value =
        opened.fields.get(field).cloned().ok_or_else(|| {
            McpError::Invalid(format!("the credential {} has no {field}; set it anew", credential.name))
        })?;
    let header = opened.fields.get("header").map(|text| text.expose_secret().to_owned());
    Ok(Secret {
        id: credential.id,
        label: credential.name.clone(),
        header: header.filter(|name| !name.is_empty()),
        value,
    })
}
