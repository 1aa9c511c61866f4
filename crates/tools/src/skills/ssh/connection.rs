use super::command_plan::CommandPlan;
use super::known_hosts::{FileHostKeys, SshAddress, host_key_refusal};
use crate::error::{ToolsError, refused};
use russh::MethodKind;
use russh::client::{self, AuthResult, Config, Handle, KeyboardInteractiveAuthResponse as Reply};
use russh::keys::{HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKey, PublicKeyOrCertificate, decode_secret_key};
use secrecy::{ExposeSecret, SecretString};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::locks::lock;
use steward_core::ports::OpenedCredential;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// Why there is no connection; nothing was run.
pub(super) type Refusal = String;

/// Checks the host key of one server. The reason of a refusal is stored, since the library only knows "no".
pub(super) struct HostKeyCheck {
    keys: Arc<FileHostKeys>,
    place: SshAddress,
    refused: Arc<Mutex<Option<Refusal>>>,
}

impl HostKeyCheck {
    async fn refusal_of(&self, key: &PublicKey) -> Option<Refusal> {
        let offered = key.fingerprint(HashAlg::Sha256).to_string();
        match self.keys.pinned(&self.place).await {
            Ok(pinned) => host_key_refusal(&self.place, pinned.as_deref(), &offered),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl client::Handler for HostKeyCheck {
    type Error = russh::Error;

    async fn check_server_key(&mut self, offered: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        let verdict = match offered {
            PublicKeyOrCertificate::PublicKey { key, .. } => self.refusal_of(key).await,
            PublicKeyOrCertificate::Certificate(_) => Some(format!(
                "{} shows a certificate instead of a host key, which is not supported; ask its administrator",
                self.place
            )),
        };
        let fine = verdict.is_none();
        *lock(&self.refused) = verdict;
        Ok(fine)
    }
}

pub(super) struct SshConnection {
    pub handle: Handle<HostKeyCheck>,
    /// Carries the connection, which ends when this is dropped.
    _through: Option<Handle<HostKeyCheck>>,
}

pub(super) async fn connect(
    keys: &Arc<FileHostKeys>,
    order: &CommandPlan,
    login: &Login,
) -> Result<SshConnection, Refusal> {
    let Some(jump) = &order.jump else {
        let socket = connect_tcp(&order.place).await?;
        let handle = authenticate(keys, socket, &order.place, login, &login.user).await?;
        return Ok(SshConnection { handle, _through: None });
    };
    let socket = connect_tcp(&jump.place).await?;
    let user = jump.user.as_deref().unwrap_or(&login.user);
    let through = authenticate(keys, socket, &jump.place, login, user).await?;
    let port = u32::from(order.place.port);
    let opened = through.channel_open_direct_tcpip(&order.place.host, port, "127.0.0.1", 0);
    let channel = within(opened).await?.map_err(|error| {
        format!(
            "{} did not let through to {}: {error}; does it allow TCP forwarding, and is that server up?",
            jump.place, order.place
        )
    })?;
    let handle = authenticate(keys, channel.into_stream(), &order.place, login, &login.user).await?;
    Ok(SshConnection { handle, _through: Some(through) })
}

async fn within<T>(work: impl Future<Output = T>) -> Result<T, Refusal> {
    tokio::time::timeout(CONNECT_TIMEOUT, work)
        .await
        .map_err(|_| format!("no answer within {} s; is the server up?", CONNECT_TIMEOUT.as_secs()))
}

async fn connect_tcp(place: &SshAddress) -> Result<TcpStream, Refusal> {
    let socket = within(TcpStream::connect((place.host.as_str(), place.port)))
        .await
        .and_then(|done| done.map_err(|error| error.to_string()))
        .map_err(|error| format!("can't reach {place}: {error}"))?;
    // Packets are small; waiting to fill them only costs time.
    let _ = socket.set_nodelay(true);
    Ok(socket)
}

async fn authenticate(
    keys: &Arc<FileHostKeys>,
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    place: &SshAddress,
    login: &Login,
    user: &str,
) -> Result<Handle<HostKeyCheck>, Refusal> {
    let config = Arc::new(Config {
        keepalive_interval: Some(KEEPALIVE_INTERVAL),
        keepalive_max: 3,
        nodelay: true,
        ..Config::default()
    });
    let refused = Arc::new(Mutex::new(None));
    let gate = HostKeyCheck { keys: keys.clone(), place: place.clone(), refused: refused.clone() };
    let mut handle = match within(client::connect_stream(config, socket, gate)).await? {
        Ok(handle) => handle,
        Err(error) => {
            let own = lock(&refused).take();
            return Err(own.unwrap_or_else(|| format!("{place} does not speak ssh with us: {error}")));
        }
    };
    let entered = within(login.log_in(&mut handle, user)).await?;
    if entered.map_err(|error| format!("the login on {place} broke off: {error}"))? {
        return Ok(handle);
    }
    Err(format!(
        "{place} refused the login of {user} with the credential {}; check the user name and the credential, or ask the server's administrator",
        login.credential
    ))
}

/// Rounds of questions that a server may ask.
const MAX_PROMPT_ROUNDS: usize = 5;

pub(super) struct Login {
    pub user: String,
    pub credential: String,
    proof: LoginProof,
    pub sudo: Option<SecretString>,
}

enum LoginProof {
    Key(Arc<PrivateKey>),
    Password(SecretString),
}

impl Login {
    /// From the credential of a call; decrypts the key.
    pub async fn of(secret: Option<&OpenedCredential>, user: Option<&str>) -> Result<Self, ToolsError> {
        let Some(opened) = secret else {
            return Err(ToolsError::refused(
                "an ssh skill needs a credential of the kind ssh_key or password; ask an operator to add one with `steward credential add`",
            ));
        };
        let name = &opened.credential.name;
        let field = |name: &str| opened.fields.get(name).filter(|text| !text.expose_secret().is_empty());
        let missing = |field: &str| refused!("the credential {name} has no {field}; ask an operator to set it");
        let user = match user {
            Some(user) => user.to_owned(),
            None => field("username").map(|user| user.expose_secret().to_owned()).ok_or_else(|| missing("username"))?,
        };
        super::command_plan::check_user(&user).map_err(ToolsError::Refused)?;
        let proof = match opened.credential.kind {
            CredentialKind::SshKey => {
                let key = field("private_key").ok_or_else(|| missing("private_key"))?;
                LoginProof::Key(read_key(name, key.clone(), field("passphrase").cloned()).await?)
            }
            CredentialKind::Password => {
                LoginProof::Password(field("password").ok_or_else(|| missing("password"))?.clone())
            }
            _ => {
                return Err(refused!(
                    "the credential {name} is no login for ssh; use one of the kind ssh_key or password"
                ));
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
    async fn log_in(&self, handle: &mut Handle<HostKeyCheck>, user: &str) -> Result<bool, russh::Error> {
        match &self.proof {
            LoginProof::Key(key) => {
                let hash = if key.algorithm().is_rsa() {
                    let best = handle.best_supported_rsa_hash().await?.flatten();
                    // Servers that don't announce it have supported SHA-256 since 2016.
                    best.or(Some(HashAlg::Sha256))
                } else {
                    None
                };
                let key = PrivateKeyWithHashAlg::new(key.clone(), hash);
                Ok(handle.authenticate_publickey(user, key).await?.success())
            }
            LoginProof::Password(password) => {
                let text = password.expose_secret();
                match handle.authenticate_password(user, text).await? {
                    AuthResult::Success => Ok(true),
                    AuthResult::Failure { remaining_methods, .. }
                        if remaining_methods.contains(&MethodKind::KeyboardInteractive) =>
                    {
                        answer_questions(handle, user, text).await
                    }
                    AuthResult::Failure { .. } => Ok(false),
                }
            }
        }
    }
}

async fn answer_questions(handle: &mut Handle<HostKeyCheck>, user: &str, password: &str) -> Result<bool, russh::Error> {
    let mut reply = handle.authenticate_keyboard_interactive_start(user, None).await?;
    let mut told = false;
    for _ in 0..MAX_PROMPT_ROUNDS {
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

/// Reads a key. The library's errors are not shown, since they could repeat parts of the key.
async fn read_key(
    name: &str,
    key: SecretString,
    passphrase: Option<SecretString>,
) -> Result<Arc<PrivateKey>, ToolsError> {
    let locked = passphrase.is_some();
    // Deriving a key from a passphrase is slow on purpose.
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
    Err(refused!("the private key of the credential {name} {problem}"))
}
