pub(crate) mod compose;
mod config;
mod connection;
mod draft;
mod imap;
mod inbox;
mod render;
mod send;
mod smtp;

pub use config::{MailAccount, MailConfig, MailServer, Security};
pub use draft::MailDraft;
pub use send::MailSend;

use crate::catalogue;
use crate::credential::{self, CredentialUser, scrubber_of};
use crate::dispatcher::DispatcherBuilder;
use crate::error::{ToolsError, refused};
use crate::handler::Context;
use futures::future::join_all;
use inbox::{ListArgs, MailboxTool, ReadArgs, SearchArgs};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::ports::{ToolScope, Users, Vault};
use steward_core::provenance::Consulted;
use steward_core::scrub::secrets_of;
use steward_core::tool::ToolSpec;
use steward_core::{TenantId, Timestamp};

/// Adds the tools that the configured accounts allow: sending with an SMTP server, reading with an IMAP server.
#[must_use]
pub fn with_mail(mut builder: DispatcherBuilder, config: MailConfig, ports: MailPorts) -> DispatcherBuilder {
    let accounts = Arc::new(MailAccounts::new(config, ports));
    if accounts.suitable(Purpose::Send).next().is_some() {
        builder = builder.with(MailSend(Arc::clone(&accounts)));
    }
    if accounts.suitable(Purpose::Read).next().is_some() {
        builder = builder
            .with(MailboxTool::<ListArgs>::new(&accounts))
            .with(MailboxTool::<SearchArgs>::new(&accounts))
            .with(MailboxTool::<ReadArgs>::new(&accounts));
    }
    builder
}

const CHECK_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct MailPorts {
    pub vault: Arc<dyn Vault>,
    pub users: Arc<dyn Users>,
}

pub struct MailAccounts {
    config: MailConfig,
    ports: MailPorts,
}

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Send,
    Read,
}

impl Purpose {
    fn server(self, account: &MailAccount) -> Option<&MailServer> {
        match self {
            Self::Send => account.smtp.as_ref(),
            Self::Read => account.imap.as_ref(),
        }
    }
}

#[derive(Debug)]
struct Login {
    pub user: String,
    pub password: SecretString,
    /// All that must be scrubbed from what is said of it, by name.
    pub secrets: Vec<(String, SecretString)>,
}

impl MailAccounts {
    pub fn new(config: MailConfig, ports: MailPorts) -> Self {
        Self { config, ports }
    }

    fn suitable(&self, purpose: Purpose) -> impl Iterator<Item = (&MailAccount, &MailServer)> {
        self.config.accounts.iter().filter_map(move |account| Some((account, purpose.server(account)?)))
    }

    /// A tool by its entry; with a parameter `account` if there is a choice.
    fn spec(&self, tool: &str, purpose: Purpose) -> ToolSpec {
        let mut spec = catalogue::spec(tool);
        let names: Vec<&str> = self.suitable(purpose).map(|(account, _)| account.name.as_str()).collect();
        if names.len() > 1 {
            Arc::make_mut(&mut spec.parameters)["properties"]["account"] = json!({
                "type": "string",
                "enum": names,
                "description": format!("Which mail account; {} if left out", names[0]),
            });
        }
        spec
    }

    /// The account with this name, else the first, of those that the run may use, with its server.
    async fn account(
        &self,
        name: Option<&str>,
        scope: &ToolScope,
        purpose: Purpose,
    ) -> Result<(&MailAccount, &MailServer), ToolsError> {
        let email = self.email(scope).await?;
        let may = |(account, _): &(&MailAccount, &MailServer)| {
            let own = |known: &String| Some(known.to_lowercase()) == email;
            account.users.is_empty() || account.users.iter().any(own)
        };
        let found = match name {
            None => self.suitable(purpose).find(may),
            Some(name) => {
                let found = self.suitable(purpose).find(|(account, _)| account.name == name);
                let known = || self.suitable(purpose).map(|(one, _)| one.name.as_str()).collect::<Vec<_>>();
                let found = found
                    .ok_or_else(|| refused!("there is no mail account {name}; there are {}", known().join(", ")))?;
                Some(found).filter(may)
            }
        };
        found.ok_or_else(|| {
            ToolsError::refused(
                "this mail account is not for the user of this run; an operator adds them to its `users`",
            )
        })
    }

    async fn email(&self, scope: &ToolScope) -> Result<Option<String>, ToolsError> {
        let Some(user) = scope.user else {
            return Ok(None);
        };
        let user = self.ports.users.user(scope.tenant, user).await?;
        Ok(user.filter(|user| !user.is_disabled()).map(|user| user.email.to_lowercase()))
    }

    /// The login of an account for a call of `tool`, whose result is scrubbed of it.
    async fn login_for(
        &self,
        account: &MailAccount,
        context: &Context,
        tool: &str,
    ) -> Result<Option<Login>, ToolsError> {
        let login = self.login(account, CredentialUser::tool(&context.scope, tool)).await?;
        context.learned_all(login.iter().flat_map(|login| login.secrets.clone()));
        Ok(login)
    }

    async fn login(&self, account: &MailAccount, by: CredentialUser<'_>) -> Result<Option<Login>, ToolsError> {
        let Some(name) = &account.credential else {
            return Ok(None);
        };
        let opened = credential::open(self.ports.vault.as_ref(), by, name).await?;
        for server in account.smtp.iter().chain(&account.imap) {
            credential::check_host(&opened.credential, &server.host, Some(server.port))?;
        }
        if opened.credential.kind != CredentialKind::Password {
            return Err(refused!(
                "the credential {name} is of the kind {}; a mail server takes a password",
                opened.credential.kind.as_str()
            ));
        }
        let user = credential::field(&opened, "username")?.expose_secret().to_owned();
        let password = credential::field(&opened, "password")?;
        // The encoded forms in which a server may repeat the login.
        let plain = format!("\0{user}\0{}", password.expose_secret());
        let mut secrets = secrets_of(&opened);
        secrets.push((format!("{name}.password"), plain.into()));
        Ok(Some(Login { user, password, secrets }))
    }

    /// Checks each account by logging in, without sending or reading. Returns its name, and what works or what doesn't.
    pub async fn probe(&self, tenant: TenantId, now: Timestamp) -> Vec<(String, Result<String, String>)> {
        let tries = self.config.accounts.iter().map(async |account| {
            let tried = tokio::time::timeout(CHECK_TIMEOUT, self.try_account(account, tenant, now)).await;
            let late = || format!("no answer within {} s", CHECK_TIMEOUT.as_secs());
            (account.name.clone(), tried.unwrap_or_else(|_| Err(late())))
        });
        join_all(tries).await
    }

    async fn try_account(&self, account: &MailAccount, tenant: TenantId, now: Timestamp) -> Result<String, String> {
        let by = CredentialUser { tenant, run: None, agent: None, at: now, tool: "doctor" };
        let login = self.login(account, by).await.map_err(|error| error.to_string())?;
        let (allow, consulted) = (&self.config.allow, Consulted::default());
        let result = async {
            let mut works = Vec::new();
            if let Some(server) = &account.smtp {
                smtp::connect(account, server, login.as_ref(), allow, &consulted).await?.quit().await;
                works.push(format!("sends over {server}"));
            }
            if let Some(server) = &account.imap {
                imap::connect(account, server, login.as_ref(), allow, &consulted).await?.logout().await;
                works.push(format!("reads over {server}"));
            }
            Ok::<_, ToolsError>(works.join(", "))
        };
        let done = result.await;
        let scrubber = scrubber_of(login.into_iter().flat_map(|login| login.secrets));
        done.map_err(|error| scrubber.scrub(&error.to_string()).into_owned())
    }
}
