//! Who logs in, and by what: key, password, or questions that are answered with the password.

use crate::error::ToolsError;
use russh::client::{AuthResult, Handle, Handler, KeyboardInteractiveAuthResponse as Reply};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, decode_secret_key};
use russh::{MethodKind, MethodSet};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use steward_core::credential::CredentialKind;
use steward_core::ports::OpenedCredential;

/// Rounds of questions that a server may ask.
const ROUNDS: usize = 5;

/// A login, ready to be used.
pub(super) struct Login {
    pub user: String,
    /// Name of the credential, for errors.
    pub credential: String,
    proof: Proof,
    pub sudo: Option<SecretString>,
}

enum Proof {
    Key(Arc<PrivateKey>),
    Password(SecretString),
}

impl Login {
    /// From the credential of a call; a key is decrypted here.
    pub async fn of(secret: Option<&OpenedCredential>, user: Option<&str>) -> Result<Self, ToolsError> {
        let Some(opened) = secret else {
            return Err(ToolsError::refused(
                "an ssh skill needs a credential of the kind ssh_key or password; ask an operator to add one with `steward credential add`",
            ));
        };
        let name = &opened.credential.name;
        let field = |name: &str| opened.fields.get(name).filter(|text| !text.expose_secret().is_empty());
        let missing = |field: &str| {
            ToolsError::Refused(format!("the credential {name} has no {field}; ask an operator to set it"))
        };
        let user = match user {
            Some(user) => user.to_owned(),
            None => field("username").map(|user| user.expose_secret().to_owned()).ok_or_else(|| missing("username"))?,
        };
        super::order::check_user(&user).map_err(ToolsError::Refused)?;
        let proof = match opened.credential.kind {
            CredentialKind::SshKey => {
                let key = field("private_key").ok_or_else(|| missing("private_key"))?;
                Proof::Key(read_key(name, key.clone(), field("passphrase").cloned()).await?)
            }
            CredentialKind::Password => Proof::Password(field("password").ok_or_else(|| missing("password"))?.clone()),
            _ => {
                return Err(ToolsError::Refused(format!(
                    "the credential {name} is no login for ssh; use one of the kind ssh_key or password"
                )));
            }
        };
        Ok(Self {
            user,
            credential: name.clone(),
            proof,
            sudo: field("sudo_password").or_else(|| field("password")).cloned(),
        })
    }

    /// Logs in on a connection whose host key was accepted.
    pub async fn enter<H: Handler>(&self, handle: &mut Handle<H>, user: &str) -> Result<bool, russh::Error> {
        match &self.proof {
            Proof::Key(key) => {
                let hash = if key.algorithm().is_rsa() {
                    let best = handle.best_supported_rsa_hash().await?.flatten();
                    // Servers that say nothing of it have known SHA-256 since 2016.
                    best.or(Some(russh::keys::HashAlg::Sha256))
                } else {
                    None
                };
                let key = PrivateKeyWithHashAlg::new(key.clone(), hash);
                Ok(handle.authenticate_publickey(user, key).await?.success())
            }
            Proof::Password(password) => {
                let text = password.expose_secret();
                match handle.authenticate_password(user, text).await? {
                    AuthResult::Success => Ok(true),
                    AuthResult::Failure { remaining_methods, .. } if asks(&remaining_methods) => {
                        answer(handle, user, text).await
                    }
                    AuthResult::Failure { .. } => Ok(false),
                }
            }
        }
    }
}

fn asks(methods: &MethodSet) -> bool {
    methods.contains(&MethodKind::KeyboardInteractive)
}

/// Answers hidden questions with the password, once; others with nothing.
async fn answer<H: Handler>(handle: &mut Handle<H>, user: &str, password: &str) -> Result<bool, russh::Error> {
    let mut reply = handle.authenticate_keyboard_interactive_start(user, None).await?;
    let mut told = false;
    for _ in 0..ROUNDS {
        let prompts = match reply {
            Reply::Success => return Ok(true),
            Reply::Failure { .. } => return Ok(false),
            Reply::InfoRequest { prompts, .. } => prompts,
        };
        let answers = prompts.iter().map(|prompt| {
            if prompt.echo || told {
                return String::new();
            }
            told = true;
            password.to_owned()
        });
        let answers = answers.collect();
        reply = handle.authenticate_keyboard_interactive_respond(answers).await?;
    }
    Ok(matches!(reply, Reply::Success))
}

/// Reads a key. What the library says of it stays here: it could repeat parts of the key.
async fn read_key(
    name: &str,
    key: SecretString,
    passphrase: Option<SecretString>,
) -> Result<Arc<PrivateKey>, ToolsError> {
    let locked = passphrase.is_some();
    // Deriving a key from a passphrase takes a while on purpose.
    let read = tokio::task::spawn_blocking(move || {
        let passphrase = passphrase.as_ref().map(ExposeSecret::expose_secret);
        decode_secret_key(key.expose_secret(), passphrase)
    });
    let problem = match read.await {
        Ok(Ok(key)) => return Ok(Arc::new(key)),
        Ok(Err(russh::keys::Error::KeyIsEncrypted)) => "is encrypted; set the credential's passphrase",
        Ok(Err(_)) if locked => {
            "can't be read; the passphrase may be wrong, or it is no private key (OpenSSH or PEM form)"
        }
        Ok(Err(_)) | Err(_) => "can't be read; give it in the OpenSSH or PEM form, with its first and last line",
    };
    Err(ToolsError::Refused(format!("the private key of the credential {name} {problem}")))
}
