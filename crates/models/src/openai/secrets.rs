use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret, SecretString};
use steward_core::TenantId;
use steward_core::model::{ACCESS_KEY_FIELD, Auth, Connection, KEY_FIELD, SESSION_FIELD};
use steward_core::ports::{Clock, ConnectionKeys, TypedKey};
use steward_core::scrub::Scrubber;

use super::auth::NoCredential;

type Lookup = dyn Fn(&str) -> Option<SecretString> + Send + Sync;
type Check = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// Where keys of connections lie: in the vault, or in environment variables. They are looked for at each
/// call, so that a changed key needs no restart.
#[derive(Clone)]
pub struct Secrets {
    lookup: Arc<Lookup>,
    check: Arc<Check>,
    vault: Option<(TenantId, Arc<dyn ConnectionKeys>)>,
    clock: Option<Arc<dyn Clock>>,
}

impl Secrets {
    /// Asks `lookup` for variables.
    pub fn new(lookup: impl Fn(&str) -> Option<SecretString> + Send + Sync + 'static) -> Self {
        Self { lookup: Arc::new(lookup), check: Arc::new(|_| Ok(())), vault: None, clock: None }
    }

    /// Knows none.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// Only variables that `check` lets through are looked for.
    #[must_use]
    pub fn checked(mut self, check: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.check = Arc::new(check);
        self
    }

    /// Keys that lie in the vault are found as well.
    #[must_use]
    pub fn with_vault(mut self, tenant: TenantId, vault: Arc<dyn ConnectionKeys>) -> Self {
        self.vault = Some((tenant, vault));
        self
    }

    /// Signed requests have this time.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The time of a signature; without a clock, long ago.
    pub(super) fn now(&self) -> SystemTime {
        let ms = self.clock.as_ref().map_or(0, |clock| clock.now().0);
        SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    /// What proves who `connection` is: `typed`, if anything was.
    pub(super) async fn fields(
        &self,
        connection: &Connection,
        typed: Option<&TypedKey>,
    ) -> Result<TypedKey, NoCredential> {
        match &connection.auth {
            Auth::None => Ok(TypedKey::new()),
            Auth::AwsEnv { .. } => {
                let needed = [(ACCESS_KEY_FIELD, "AWS_ACCESS_KEY_ID"), (KEY_FIELD, "AWS_SECRET_ACCESS_KEY")];
                let mut found = TypedKey::new();
                for (field, name) in needed {
                    found.insert(field.to_owned(), self.required(name)?);
                }
                if let Some(token) = self.variable("AWS_SESSION_TOKEN") {
                    found.insert(SESSION_FIELD.to_owned(), token);
                }
                Ok(found)
            }
            auth => match auth.variable() {
                Some(name) => {
                    (self.check)(name).map_err(NoCredential::Refused)?;
                    Ok([(KEY_FIELD.to_owned(), self.required(name)?)].into())
                }
                None => self.sealed(connection, typed).await,
            },
        }
    }

    async fn sealed(&self, connection: &Connection, typed: Option<&TypedKey>) -> Result<TypedKey, NoCredential> {
        if let Some(typed) = typed {
            return Ok(typed.clone());
        }
        let Some((tenant, vault)) = &self.vault else {
            return Err(NoCredential::NotKept);
        };
        let opened = vault.open_key(*tenant, connection.id).await;
        match opened {
            Ok(opened) => Ok(opened.fields),
            Err(steward_core::ports::VaultError::Missing(_)) => Err(NoCredential::NotKept),
            Err(error) => Err(NoCredential::Sealed(error.to_string())),
        }
    }

    fn required(&self, name: &str) -> Result<SecretString, NoCredential> {
        self.variable(name).ok_or_else(|| NoCredential::Missing(name.to_owned()))
    }

    /// The variable of this name, if it is set and not blank.
    fn variable(&self, name: &str) -> Option<SecretString> {
        (self.lookup)(name).filter(|key| !key.expose_secret().trim().is_empty())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

/// Longest raw text that an error keeps, bytes.
const DETAIL_LIMIT: usize = 2048;

/// Finds secrets in whatever form an endpoint repeats them.
pub(super) fn scrubber(secrets: &[SecretString]) -> Scrubber {
    Scrubber::new(secrets.iter().map(|secret| ("key", secret.expose_secret().trim())))
}

/// `text` without the secrets, cut to what an error keeps.
pub(super) fn scrub(text: &str, secrets: &[SecretString]) -> String {
    let text = scrubber(secrets).scrub(text).into_owned();
    if text.len() <= DETAIL_LIMIT {
        return text;
    }
    let end = text.floor_char_boundary(DETAIL_LIMIT);
    format!("{}… [{} bytes cut]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn keys_are_taken_out_before_the_cut() {
        let key = [SecretString::from("sk-1234567890")];
        let long = format!("{}sk-1234567890", "é".repeat(1020));
        let kept = scrub(&long, &key);
        assert!(!kept.contains("sk-12"), "{kept}");
        assert!(kept.len() < 2100);
        for said in ["key sk-1234567890 is wrong", "key c2stMTIzNDU2Nzg5MA== is wrong"] {
            assert_eq!(scrub(said, &key), "key [secret key] is wrong");
        }
    }

    #[test]
    fn blank_keys_are_none() {
        assert!(Secrets::new(|_| Some(" ".into())).variable("X").is_none());
        assert!(Secrets::none().variable("X").is_none());
        assert_eq!(format!("{:?}", Secrets::new(|_| Some("k3y".into()))), "Secrets");
    }
}
