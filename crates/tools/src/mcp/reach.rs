//! From a server and who wants it to a connection with the right credential.

use super::call::Call;
use super::connection::Connection;
use super::error::McpError;
use super::hub::McpHub;
use super::oauth::{Guarded, Wanted};
use super::open::{allowed, open};
use super::pool::Key;
use super::secret::{self, Secret};
use crate::handler::Context;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use steward_core::credential::{CredentialKind, CredentialUse};
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{OpenedCredential, ToolScope};
use steward_core::scrub::Scrubber;
use steward_core::{AgentId, CredentialId, RunId, TenantId, UserId, hash};

/// Who reaches for a server, and what it is told of the secrets that are opened.
pub(super) struct Who<'a> {
    pub tenant: TenantId,
    user: Option<UserId>,
    run: Option<RunId>,
    agent: Option<AgentId>,
    tool: &'a str,
    context: Option<&'a Context>,
    /// The skill's own credential, opened by the runtime.
    secret: Option<&'a OpenedCredential>,
    /// What was opened for a person, who has no context.
    opened: Mutex<Vec<(String, SecretString)>>,
}

impl<'a> Who<'a> {
    pub fn person(tenant: TenantId, user: Option<UserId>) -> Self {
        Self {
            tenant,
            user,
            run: None,
            agent: None,
            tool: "mcp",
            context: None,
            secret: None,
            opened: Mutex::default(),
        }
    }

    pub fn caller(call: &Call<'a>, context: &'a Context) -> Self {
        let ToolScope { tenant, user, run, agent, .. } = &context.scope;
        Self {
            tenant: *tenant,
            user: *user,
            run: *run,
            agent: Some(*agent),
            tool: call.tool,
            context: Some(context),
            secret: call.secret,
            opened: Mutex::default(),
        }
    }

    /// What was opened leaves with nothing of the call.
    fn learned(&self, label: &str, secret: &SecretString) {
        if let Some(context) = self.context {
            context.learned(label, secret.clone());
        } else {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.push((label.to_owned(), secret.clone()));
        }
    }

    /// `text` without what was opened for a person: a server may repeat it in an error. What a run sees is scrubbed
    /// by the runtime.
    pub fn conceal(&self, text: &str) -> String {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = opened.iter();
        Scrubber::new(secrets.map(|(label, secret)| (label.as_str(), secret.expose_secret()))).scrub(text).into_owned()
    }
}

impl McpHub {
    /// The connection for `who`; with `anew`, a token that can be renewed is.
    pub(super) async fn reach(
        &self,
        server: &McpServer,
        who: &Who<'_>,
        anew: bool,
    ) -> Result<(Key, Arc<Connection>), McpError> {
        let (secret, stamp) = self.secret(server, who, anew).await?;
        let settings = serde_json::to_value(&server.transport).unwrap_or_default();
        let key = Key {
            tenant: who.tenant,
            server: server.id,
            user: who.user.filter(|_| server.per_user),
            credential: secret.as_ref().map(|secret| secret.id),
            stamp: hash::of_json(&json!([settings, stamp])),
        };
        if let Some(secret) = &secret {
            who.learned(&secret.label, &secret.value);
        }
        // The first exchange with a server is a large future.
        let opening = Box::pin(open(&self.config, server, key.user, secret.as_ref()));
        let connection = self.pool.get(key.clone(), self.config.idle, opening).await?;
        Ok((key, connection))
    }

    /// The server's secret, and what tells one secret from another.
    async fn secret(&self, server: &McpServer, who: &Who<'_>, anew: bool) -> Result<(Option<Secret>, Value), McpError> {
        let vault = self.ports.vault.as_ref();
        let now = self.ports.clock.now();
        let used = |credential: CredentialId| CredentialUse {
            credential,
            run: who.run,
            agent: who.agent,
            tool: who.tool.to_owned(),
            at: now,
        };
        let found;
        let opened = if let Some(own) = who.secret {
            own
        } else {
            let Some(credential) = secret::find(vault, who.tenant, server, who.user).await? else {
                return Ok((None, Value::Null));
            };
            found = vault.open(who.tenant, credential.id, used(credential.id)).await?;
            &found
        };
        let credential = &opened.credential;
        for (field, value) in &opened.fields {
            if !credential.kind.shows(field) && field != "access_until" {
                who.learned(&credential.name, value);
            }
        }
        if credential.kind != CredentialKind::Oauth2 {
            let stamp = json!([credential.id, credential.changed_at]);
            return Ok((Some(secret::of(opened)?), stamp));
        }
        let McpTransport::Http { url, allow } = &server.transport else {
            return Err(McpError::Invalid(format!(
                "`{}` is a local program; give it a token or an api_key",
                server.name
            )));
        };
        let guarded = Guarded { allow: allowed(allow)? };
        let wanted = Wanted {
            tenant: who.tenant,
            server: &server.name,
            resource: Some(url),
            opened,
            used: used(credential.id),
            now,
            anew,
        };
        let token = self.tokens.token(vault, &guarded, &wanted).await?;
        let stamp = json!([credential.id, hash::sha256(token.expose_secret().as_bytes())]);
        let secret = Secret { id: credential.id, label: credential.name.clone(), header: None, value: token };
        Ok((Some(secret), stamp))
    }
}
