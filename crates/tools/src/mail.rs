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
pub use inbox::{MailList, MailRead, MailSearch};
pub use send::MailSend;

use crate::catalogue;
use crate::credential::{self, CredentialUser, Secrets};
use crate::dispatcher::DispatcherBuilder;
use crate::error::{ToolsError, refused};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::ports::{ToolScope, Users, Vault};
use steward_core::tool::ToolSpec;
use steward_core::{TenantId, Timestamp};

/// Adds the tools that the configured accounts allow: sending with an SMTP server, reading with an IMAP server.
#[must_use]
pub fn with_mail(mut builder: DispatcherBuilder, config: MailConfig, ports: MailPorts) -> DispatcherBuilder {
    let sends = config.accounts.iter().any(|account| account.smtp.is_some());
    let looks = config.accounts.iter().any(|account| account.imap.is_some());
    let accounts = Arc::new(MailAccounts::new(config, ports));
    if sends {
        builder = builder.with(MailSend(Arc::clone(&accounts)));
    }
    if looks {
        builder = builder
            .with(MailList(Arc::clone(&accounts)))
            .with(MailSearch(Arc::clone(&accounts)))
            .with(MailRead(accounts));
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Send,
    Read,
}

#[derive(Debug, Clone)]
struct Login {
    pub user: String,
    pub password: SecretString,
}

impl MailAccounts {
    pub fn new(config: MailConfig, ports: MailPorts) -> Self {
        Self { config, ports }
    }

    fn can_serve(account: &MailAccount, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Send => account.smtp.is_some(),
            Purpose::Read => account.imap.is_some(),
        }
    }

    /// A tool by its entry; with a parameter `account` if there is a choice.
    fn spec(&self, tool: &str, purpose: Purpose) -> ToolSpec {
        let mut spec = catalogue::spec(tool);
        let all = self.config.accounts.iter().filter(|account| Self::can_serve(account, purpose));
        let names: Vec<&str> = all.map(|account| account.name.as_str()).collect();
        if names.len() > 1 {
            Arc::make_mut(&mut spec.parameters)["properties"]["account"] = json!({
                "type": "string",
                "enum": names,
                "description": format!("Which mail account; {} if left out", names[0]),
            });
        }
        spec
    }

    /// The account with this name, else the first, of those that the run may use.
    async fn account(
        &self,
        name: Option<&str>,
        scope: &ToolScope,
        purpose: Purpose,
    ) -> Result<&MailAccount, ToolsError> {
        let all = self.config.accounts.iter();
        let suitable: Vec<&MailAccount> = all.filter(|one| Self::can_serve(one, purpose)).collect();
        let email = self.email(scope).await?;
        let may = |account: &MailAccount| {
            let own = |known: &String| Some(known.to_lowercase()) == email;
            account.users.is_empty() || account.users.iter().any(own)
        };
        let found = match name {
            None => suitable.iter().find(|account| may(account)),
            Some(name) => {
                let found = suitable.iter().find(|account| account.name == name);
                let known = || suitable.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
                let found = found
                    .ok_or_else(|| refused!("there is no mail account {name}; there are {}", known().join(", ")))?;
                Some(found).filter(|account| may(account))
            }
        };
        found.copied().ok_or_else(|| {
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

    /// The login of an account; its secrets are added to `secrets`.
    async fn login(
        &self,
        account: &MailAccount,
        by: CredentialUser<'_>,
        secrets: &mut Secrets,
    ) -> Result<Option<Login>, ToolsError> {
        let Some(name) = &account.credential else {
            return Ok(None);
        };
        let opened = credential::open(self.ports.vault.as_ref(), by, name).await?;
        *secrets = Secrets::of(&opened);
        for server in account.smtp.iter().chain(&account.imap) {
            credential::check_host(&opened.credential, &server.host, Some(server.port))?;
        }
        if opened.credential.kind != CredentialKind::Password {
            return Err(refused!(
                "the credential {name} is of the kind {}; a mail server takes a password",
                opened.credential.kind.as_str()
            ));
        }
        let field = |field: &str| {
            opened
                .fields
                .get(field)
                .cloned()
                .ok_or_else(|| refused!("the credential {name} has no {field}; set it anew"))
        };
        let (user, password) = (field("username")?, field("password")?);
        let user = user.expose_secret().to_owned();
        // The encoded forms in which a server may repeat the login.
        let plain = format!("\0{user}\0{}", password.expose_secret());
        secrets.add(format!("{name}.password"), plain.into());
        Ok(Some(Login { user, password }))
    }

    /// Checks each account by logging in, without sending or reading. Returns its name, and what works or what doesn't.
    pub async fn probe(&self, tenant: TenantId, now: Timestamp) -> Vec<(String, Result<String, String>)> {
        let mut found = Vec::new();
        for account in &self.config.accounts {
            let tried = tokio::time::timeout(CHECK_TIMEOUT, self.try_account(account, tenant, now)).await;
            let late = || format!("no answer within {} s", CHECK_TIMEOUT.as_secs());
            found.push((account.name.clone(), tried.unwrap_or_else(|_| Err(late()))));
        }
        found
    }

    async fn try_account(&self, account: &MailAccount, tenant: TenantId, now: Timestamp) -> Result<String, String> {
        let by = CredentialUser { tenant, run: None, agent: None, at: now, tool: "doctor" };
        let mut secrets = Secrets::default();
        let result = async {
            let login = self.login(account, by, &mut secrets).await?;
            let mut works = Vec::new();
            if let Some(server) = &account.smtp {
                smtp::connect(account, server, login.as_ref(), &self.config.allow).await?.quit().await;
                works.push(format!("sends over {server}"));
            }
            if let Some(server) = &account.imap {
                imap::connect(account, server, login.as_ref(), &self.config.allow).await?.logout().await;
                works.push(format!("reads over {server}"));
            }
            Ok::<_, ToolsError>(works.join(", "))
        };
        let done = result.await;
        secrets.clean_text(done.map_err(|error| error.to_string()))
    }
}
