//! Logins by a directory (LDAP, Active Directory): somebody is looked for and binds with their password, or binds at once.

mod connection;
mod distinguished_name;

pub(crate) use connection::check_directory;
pub(crate) use distinguished_name::{DistinguishedName, same_value};

use secrecy::{ExposeSecret, SecretString};
use steward_core::ports::{LoginError, User};
use steward_core::sign_on::Directory;

use super::external::{DIRECTORY_SOURCE, ExternalProfile, NotAdmitted};
use super::saved::{SavedDirectory, Tried};
use super::{Access, AccessError};
use connection::{DirectoryProblem, Found, find, look};

/// Longest name that is looked for, and longest password, bytes.
const MAX_LOGIN: usize = 256;
const MAX_PASSWORD: usize = 1000;

impl Access {
    /// The user with this name and password in the directory. `None`: there is no such one, they are not admitted, or
    /// there is no directory; which of these, nobody is told.
    pub(crate) async fn directory_user(&self, login: &str, password: &str) -> Result<Option<User>, LoginError> {
        let saved = self.directory().await.map_err(|error| LoginError::Unavailable(error.to_string()))?;
        let Some(saved) = saved.filter(|saved| saved.settings.enabled) else {
            return Ok(None);
        };
        let login = login.trim();
        // A bind without a password succeeds as nobody (RFC 4513, 5.1.2).
        if password.is_empty() || password.len() > MAX_PASSWORD || login.is_empty() || login.len() > MAX_LOGIN {
            return Ok(None);
        }
        let found = match self.ask_directory(&saved, login, password).await {
            Ok(found) => found,
            Err(DirectoryProblem::Wrong) => return Ok(None),
            Err(DirectoryProblem::Unusable(why)) => {
                tracing::warn!(why, "the directory can't be used");
                return Err(LoginError::Unavailable(
                    "the directory does not answer; accounts with a password of Steward still work".to_owned(),
                ));
            }
        };
        let profile = profile_of(found);
        match self.admit(&profile, &saved.settings.admission).await {
            Ok(user) => Ok(Some(user)),
            Err(NotAdmitted::Unavailable(error)) => Err(error),
            Err(refused) => {
                tracing::warn!(
                    reason = %refused,
                    entry = profile.subject,
                    has_email = profile.email.is_some(),
                    "somebody whose password the directory accepts was not admitted"
                );
                Ok(None)
            }
        }
    }

    /// What these settings lead to, whether they are saved or not. The password that is kept is only shown to the server that
    /// it is kept for.
    pub async fn try_directory(
        &self,
        settings: &Directory,
        secret: Option<SecretString>,
        login: Option<&str>,
    ) -> Result<Tried, AccessError> {
        AccessError::refuse(settings.problem())?;
        check_directory(settings)?;
        let saved = self.directory().await?.filter(|saved| {
            let (kept, wanted) = (&saved.settings, settings);
            (&kept.url, kept.start_tls, &kept.ca, &kept.bind_dn)
                == (&wanted.url, wanted.start_tls, &wanted.ca, &wanted.bind_dn)
        });
        let secret = match (secret.filter(|secret| !secret.expose_secret().is_empty()), saved) {
            (Some(secret), _) => Some(secret),
            (None, Some(saved)) => self.login_secrets.login_secret(self.tenant, saved.id).await?,
            (None, None) => None,
        };
        if settings.bind_dn.is_some() && secret.is_none() {
            return Err(AccessError::invalid("password", "type the password of the account that looks for people"));
        }
        let login = login.map(str::trim).filter(|login| !login.is_empty() && login.len() <= MAX_LOGIN);
        let secret = secret.as_ref().map(ExposeSecret::expose_secret);
        Ok(match look(settings, secret, login).await {
            Ok((mut found, person)) => {
                if let Some(person) = person {
                    found.push(match self.find_account(&profile_of(person), &settings.admission).await {
                        Ok((role, _)) => format!("they would enter as {}", role.as_str()),
                        Err(refused) => format!("they would not enter, though their password were right: {refused}"),
                    });
                }
                Tried { works: true, found }
            }
            Err(DirectoryProblem::Wrong) => Tried::failed("the account that looks for people has another password"),
            Err(DirectoryProblem::Unusable(why)) => Tried::failed(why),
        })
    }

    async fn ask_directory(
        &self,
        saved: &SavedDirectory,
        login: &str,
        password: &str,
    ) -> Result<Found, DirectoryProblem> {
        let secret = match saved.settings.bind_dn {
            Some(_) => self.login_secrets.login_secret(self.tenant, saved.id).await,
            None => Ok(None),
        };
        let secret = secret.map_err(|error| DirectoryProblem::Unusable(AccessError::from(error).to_string()))?;
        let secret = secret.as_ref().map(ExposeSecret::expose_secret);
        find(&saved.settings, secret, login, password).await
    }
}

fn profile_of(found: Found) -> ExternalProfile {
    ExternalProfile {
        source: DIRECTORY_SOURCE.to_owned(),
        issuer: DIRECTORY_SOURCE.to_owned(),
        subject: found.id,
        email: found.email.map(|email| email.trim().to_lowercase()),
        name: found.name,
        groups: found.groups,
    }
}
