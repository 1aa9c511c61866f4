use super::McpConfig;
use super::connection::{Connection, McpService};
use super::credentials::Secret;
use super::error::McpError;
use crate::outbound::PinnedClient;
use crate::skills::parse_allow_list;
use crate::text::tail;
use http::{HeaderName, HeaderValue};
use rmcp::service::{ClientInitializeError, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::ExposeSecret as _;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_core::UserId;
use steward_core::mcp::{McpServer, McpTransport};
use steward_sandbox::host::{HostMount, HostPathError};
use steward_sandbox::process::{CommandSpec, Limits, Session};

const MESSAGE: usize = 4 << 20;
/// CPU seconds of a server's process; an idle one uses none.
const CPU: u64 = 24 * 3600;
/// Address space of a server's process: runtimes reserve far more than they use.
const MEMORY: u64 = 64 << 30;
const PROCESSES: u64 = 256;
/// Bytes of stderr that are kept for an error.
const STDERR: usize = 16 << 10;
/// Attempts to reopen a broken event stream.
const TRIES: usize = 3;

pub(super) async fn open_connection(
    config: &McpConfig,
    server: &McpServer,
    user: Option<UserId>,
    secret: Option<&Secret>,
) -> Result<Connection, McpError> {
    match &server.transport {
        McpTransport::Stdio { command, secret_variable, network, read, write } => {
            let mut spec = CommandSpec::new(command.iter().cloned(), folder(config, server, user)?);
            spec.network = *network;
            spec.mounts = mounts(config, server, read, write).await?;
            spec.env = environment(server, secret_variable.as_deref(), secret)?;
            spec.limits = Limits {
                cpu_s: CPU,
                memory_bytes: MEMORY,
                processes: PROCESSES,
                output_bytes: STDERR,
                ..Limits::default()
            };
            stdio(config, server, spec).await
        }
        McpTransport::Http { url, allow } => http(config, server, url, allow, secret).await,
    }
}

/// What the server may read and change besides its own folder, looked at anew for each start.
async fn mounts(
    config: &McpConfig,
    server: &McpServer,
    read: &[String],
    write: &[String],
) -> Result<Vec<HostMount>, McpError> {
    let places = config.places.clone();
    let named = |paths: &[String], write: bool| {
        paths.iter().map(|path| (PathBuf::from(path), write)).collect::<Vec<(PathBuf, bool)>>()
    };
    let named = [named(read, false), named(write, true)].concat();
    let mounted = tokio::task::spawn_blocking(move || {
        named.iter().map(|(path, write)| places.open(path)?.mount(*write)).collect::<Result<_, HostPathError>>()
    });
    let mounted = mounted.await.map_err(|error| unreachable(server, error.to_string()))?;
    mounted.map_err(|error| unreachable(server, format!("{error}; {}", error.hint())))
}

/// Ends the name of a folder with one for each user. A dot can't be part of a server's name.
const USERS: &str = ".users";

/// The server's own folder, one per user where users have own connections, so that nothing is shared between them.
fn folder(config: &McpConfig, server: &McpServer, user: Option<UserId>) -> Result<PathBuf, McpError> {
    let folder = match user {
        Some(user) => config.folder.join(format!("{}{USERS}", server.name)).join(user.to_string()),
        None => config.folder.join(&server.name),
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| unreachable(server, format!("its folder {} can't be made: {error}", folder.display())))?;
    Ok(folder)
}

/// Removes the folders of a user at all servers, also at those that are gone. Blocking.
pub(super) fn remove_folders(folder: &Path, user: UserId) -> io::Result<()> {
    let servers = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        servers => servers?,
    };
    for server in servers {
        let server = server?;
        if !server.file_name().to_string_lossy().ends_with(USERS) {
            continue;
        }
        match fs::remove_dir_all(server.path().join(user.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn environment(
    server: &McpServer,
    variable: Option<&str>,
    secret: Option<&Secret>,
) -> Result<BTreeMap<String, String>, McpError> {
    match (variable, secret) {
        (Some(name), Some(secret)) => Ok(BTreeMap::from([(name.to_owned(), secret.value.expose_secret().to_owned())])),
        (None, Some(_)) => Err(McpError::Invalid(format!(
            "the MCP server `{}` has a credential, but no variable that takes it; name one in `secret_variable`",
            server.name
        ))),
        (_, None) => Ok(BTreeMap::new()),
    }
}

async fn stdio(config: &McpConfig, server: &McpServer, spec: CommandSpec) -> Result<Connection, McpError> {
    let started = config.sandbox.open(spec).await;
    let mut program = started.map_err(|error| unreachable(server, error.to_string()))?;
    let Some((stdin, stdout)) = program.streams() else {
        return Err(unreachable(server, "it has no streams".to_owned()));
    };
    tracing::debug!(server = server.name, tier = ?program.tier, "MCP server started");
    let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MESSAGE);
    match handshake(config, server, None, serve_client(Arc::default(), transport)).await {
        Ok(service) => Ok(Connection::new(server, service, Some(program))),
        Err(McpError::Unreachable { reason, .. }) => {
            Err(unreachable(server, format!("{reason}{}", stderr_text(&mut program).await)))
        }
        Err(error) => Err(error),
    }
}

/// How a program ended, with the end of its stderr; empty while it runs.
pub(super) async fn stderr_text(program: &mut Session) -> String {
    const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
    const SHOWN_CHARS: usize = 400;
    match tokio::time::timeout(EXIT_TIMEOUT, program.ending()).await {
        Err(_) => String::new(),
        Ok(Err(error)) => format!("; {error}; name the folders that it is installed in under `read`"),
        Ok(Ok((exit, stderr))) => {
            let tail = tail(stderr.text().trim(), SHOWN_CHARS);
            if tail.is_empty() {
                format!("; it ended with {exit:?}")
            } else {
                format!("; it ended with {exit:?} and wrote: {tail}{}", advice(&tail))
            }
        }
    }
}

fn advice(said: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["EAI_AGAIN", "ENOTFOUND", "EPERM: operation not permitted, socket", "ENETUNREACH"]) {
        " (it wants the network, as npx and uvx do to fetch a server: switch `network` on)"
    } else if says(&["EACCES", "EROFS", "Permission denied", "ENOENT", "No such file"]) {
        " (name what it may read under `read`, and what it may change under `write`)"
    } else {
        ""
    }
}

async fn http(
    config: &McpConfig,
    server: &McpServer,
    url: &str,
    allow: &[String],
    secret: Option<&Secret>,
) -> Result<Connection, McpError> {
    let allow = parse_allow_list(allow)?;
    let pinned = PinnedClient::connect(url, &allow).await?;
    if pinned.plaintext && secret.is_some() {
        return Err(McpError::Invalid(format!(
            "the credential of `{}` is not sent over plain http; use https, or allow the host by name and port",
            server.name
        )));
    }
    let mut settings = StreamableHttpClientTransportConfig::with_uri(pinned.url.as_str())
        .max_sse_event_size(MESSAGE)
        // A new session may be with a changed server, so we reconnect and compare its tools first.
        .reinit_on_expired_session(false);
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(TRIES);
    settings.retry_config = Arc::new(retry);
    if let Some(secret) = secret {
        settings = with_credential(settings, secret)?;
    }
    let transport = StreamableHttpClientTransport::with_client(pinned.client, settings);
    let service = handshake(config, server, secret, serve_client(Arc::default(), transport)).await?;
    Ok(Connection::new(server, service, None))
}

pub(super) fn login_hint(server: &McpServer, had: bool) -> String {
    let name = &server.name;
    match (had, server.per_user) {
        (true, _) => format!("what it has is not accepted; log in anew (steward mcp login {name})"),
        (false, true) => format!("each user logs in once (steward mcp login {name})"),
        (false, false) => format!("log in (steward mcp login {name}) or give it a credential"),
    }
}

fn with_credential(
    settings: StreamableHttpClientTransportConfig,
    secret: &Secret,
) -> Result<StreamableHttpClientTransportConfig, McpError> {
    let bad = || {
        McpError::Invalid(format!(
            "the credential {} can't be sent as a header; keep it anew without line breaks and odd characters",
            secret.label
        ))
    };
    let text = secret.value.expose_secret();
    let mut value = HeaderValue::from_str(text).map_err(|_| bad())?;
    let Some(header) = &secret.header else {
        return Ok(settings.auth_header(text));
    };
    value.set_sensitive(true);
    let name = HeaderName::try_from(header.as_str()).map_err(|_| bad())?;
    Ok(settings.custom_headers(HashMap::from([(name, value)])))
}

/// `secret`: what the server was shown.
async fn handshake(
    config: &McpConfig,
    server: &McpServer,
    secret: Option<&Secret>,
    serving: impl Future<Output = Result<McpService, ClientInitializeError>>,
) -> Result<McpService, McpError> {
    match tokio::time::timeout(config.start, serving).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) if error.is_authorization_required() => {
            Err(McpError::Login { server: server.name.clone(), hint: login_hint(server, secret.is_some()) })
        }
        Ok(Err(error)) => Err(unreachable(server, error_chain(&error))),
        Err(_) => Err(unreachable(server, format!("it gave no answer within {} s", config.start.as_secs()))),
    }
}

pub(super) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut inner = error.source();
    while let Some(cause) = inner {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        inner = cause.source();
    }
    text.chars().take(600).collect()
}

fn unreachable(server: &McpServer, reason: String) -> McpError {
    McpError::Unreachable { server: server.name.clone(), reason }
}
