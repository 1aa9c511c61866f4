use super::McpConfig;
use super::connection::{Connection, scope_error};
use super::error::McpError;
use super::failure::{Failure, read_start_failure, stderr_text};
use super::program::find_program_places;
use super::task_support::{MESSAGE, TaskMarkingClient, mark_output};
use crate::outbound::PinnedClient;
use crate::skills::parse_allow_list;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, serve_client_with_lifecycle};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::{CredentialId, UserId};
use steward_sandbox::host::{HostMount, HostPathError};
use steward_sandbox::process::{CommandSpec, Limits};

/// CPU seconds of a server's process; an idle one uses none.
const CPU: u64 = 24 * 3600;
/// Address space of a server's process: runtimes reserve far more than they use.
const MEMORY: u64 = 64 << 30;
const PROCESSES: u64 = 256;
/// Bytes of stderr that are kept for an error.
const STDERR: usize = 16 << 10;
/// Attempts to reopen a broken event stream.
const TRIES: usize = 3;

#[derive(Default)]
pub(super) struct Secrets {
    /// That of the server's credential, or of the user's login.
    pub own: Option<Secret>,
    /// By the variables that take them.
    pub further: Vec<(String, Secret)>,
}

impl Secrets {
    pub fn all(&self) -> impl Iterator<Item = &Secret> {
        self.own.iter().chain(self.further.iter().map(|(_, secret)| secret))
    }
}

pub(super) struct Secret {
    pub id: CredentialId,
    pub label: String,
    /// The header that carries it; `None`: `Authorization: Bearer`.
    pub header: Option<String>,
    pub value: SecretString,
    /// Differs once the secret does.
    pub stamp: Value,
}

pub(super) async fn open_connection(
    config: &McpConfig,
    server: &McpServer,
    user: Option<UserId>,
    secrets: &Secrets,
) -> Result<Connection, McpError> {
    match &server.transport {
        McpTransport::Stdio { command, secret_variable, env, network, read, write, .. } => {
            let mut spec = CommandSpec::new(command.iter().cloned(), folder(config, server, user)?);
            spec.network = *network;
            spec.mounts = mounts(config, server, read, write).await?;
            spec.env = environment(server, secret_variable.as_deref(), secrets)?;
            add_settings(&mut spec.env, env, command);
            spec.limits = Limits {
                cpu_s: CPU,
                memory_bytes: MEMORY,
                processes: PROCESSES,
                output_bytes: STDERR,
                ..Limits::default()
            };
            stdio(config, server, spec).await
        }
        McpTransport::Http { url, allow } => http(config, server, url, allow, secrets.own.as_ref()).await,
    }
}

/// What the server may read and change besides its own folder, looked at anew for each start. What is read may come into being
/// later where the server may write.
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
    let later = |path: &&String| {
        let path = Path::new(path.as_str());
        !write.iter().any(|folder| path.starts_with(folder)) || path.exists()
    };
    let read: Vec<String> = read.iter().filter(later).cloned().collect();
    let named = [named(&read, false), named(write, true)].concat();
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
    secrets: &Secrets,
) -> Result<BTreeMap<String, String>, McpError> {
    let text = |secret: &Secret| secret.value.expose_secret().to_owned();
    let mut env: BTreeMap<String, String> =
        secrets.further.iter().map(|(name, secret)| (name.clone(), text(secret))).collect();
    match (variable, &secrets.own) {
        (Some(name), Some(secret)) => {
            env.insert(name.to_owned(), text(secret));
        }
        (None, Some(_)) => {
            return Err(McpError::Invalid(format!(
                "the MCP server `{}` has a credential, but no variable that takes it; name one in `secret_variable`",
                server.name
            )));
        }
        (_, None) => {}
    }
    Ok(env)
}

/// Plain settings, never in the place of a secret; and programs beside one that is named by its whole path are found, as
/// `node` beside `npx`.
fn add_settings(env: &mut BTreeMap<String, String>, settings: &BTreeMap<String, String>, command: &[String]) {
    for (name, value) in settings {
        env.entry(name.clone()).or_insert_with(|| value.clone());
    }
    let program = command.first().map(Path::new).filter(|program| program.is_absolute());
    if let Some(folder) = program.and_then(Path::parent) {
        env.entry("PATH".to_owned()).or_insert_with(|| format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    }
}

async fn stdio(config: &McpConfig, server: &McpServer, spec: CommandSpec) -> Result<Connection, McpError> {
    match start_program(config, server, spec.clone(), ClientLifecycleMode::Initialize).await {
        // A program that knows no handshake any more may say so and end; it is asked anew.
        Err((McpError::Unreachable { reason, .. }, true)) => {
            let newest = start_program(config, server, spec, newest_only()).await;
            newest.map_err(|_| unreachable(server, reason))
        }
        done => done.map_err(|(error, _)| error),
    }
}

/// With an error comes whether the program answered by refusing this beginning.
async fn start_program(
    config: &McpConfig,
    server: &McpServer,
    spec: CommandSpec,
    lifecycle: ClientLifecycleMode,
) -> Result<Connection, (McpError, bool)> {
    let missing = missing_places(config, &spec);
    let failed = |reason: String| (unreachable(server, format!("{reason}{missing}")), false);
    let started = config.sandbox.open(spec).await;
    let mut program = started.map_err(|error| failed(error.to_string()))?;
    let Some((stdin, stdout)) = program.streams() else {
        return Err(failed("it has no streams".to_owned()));
    };
    tracing::debug!(server = server.name, tier = ?program.tier, "MCP server started");
    let transport = AsyncRwTransport::new_client(mark_output(stdout), stdin).with_max_line_length(MESSAGE);
    let serving = serve_client_with_lifecycle(Arc::default(), transport, lifecycle);
    match tokio::time::timeout(config.start, serving).await {
        Ok(Ok(service)) => Ok(Connection::new(server, service, Some(program)).await),
        Ok(Err(error)) => {
            let refused = matches!(
                error,
                ClientInitializeError::JsonRpcError(_) | ClientInitializeError::NoCompatibleProtocolVersion { .. }
            );
            let reason = read_start_failure(&error).into_words();
            let (error, _) = failed(format!("{reason}{}", stderr_text(&mut program).await));
            Err((error, refused))
        }
        Err(_) => Err(failed(format!("{}{}", late(config), stderr_text(&mut program).await))),
    }
}

/// What the program needs by its whole path and isn't shown, for an error.
fn missing_places(config: &McpConfig, spec: &CommandSpec) -> String {
    let Some(program) = spec.argv.first() else { return String::new() };
    let shown = |path: &PathBuf| spec.mounts.iter().any(|mount| path.starts_with(mount.path()));
    let missing = find_program_places(&config.places, program).read.into_iter().filter(|path| !shown(path));
    let missing: Vec<String> = missing.map(|path| path.display().to_string()).collect();
    if missing.is_empty() { String::new() } else { format!("; it needs {} under `read`", missing.join(" and ")) }
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
    let begin = async |lifecycle: ClientLifecycleMode| {
        let transport =
            StreamableHttpClientTransport::with_client(TaskMarkingClient(pinned.client.clone()), settings.clone());
        serve_client_with_lifecycle(Arc::default(), transport, lifecycle).await
    };
    let attempt = async {
        let first = begin(either_lifecycle()).await.map_err(|error| read_start_failure(&error));
        match first {
            // Some servers answer with an error of their own to what they don't know.
            Err(Failure::Refused(_) | Failure::Other(_)) => {
                begin(ClientLifecycleMode::Initialize).await.map_err(|error| read_start_failure(&error))
            }
            first => first,
        }
    };
    let failure = match tokio::time::timeout(config.start, attempt).await {
        Ok(Ok(service)) => return Ok(Connection::new(server, service, None).await),
        Ok(Err(failure)) => failure,
        Err(_) => Failure::Other(late(config)),
    };
    Err(match failure {
        Failure::Login(challenge) => {
            McpError::Login { server: server.name.clone(), hint: login_hint(server, secret.is_some()), challenge }
        }
        Failure::Scope(challenge) => scope_error(&server.name, challenge),
        Failure::Refused(reason) if answers_old_transport(&pinned).await => {
            unreachable(server, format!("{OLD_TRANSPORT} ({reason})"))
        }
        other => unreachable(server, other.into_words()),
    })
}

const OLD_TRANSPORT: &str = "at this address is the older SSE transport, which MCP has replaced and Steward doesn't speak; look up the server's address for streamable HTTP, which often ends in /mcp";

/// Whether the address sends an event stream without being asked for anything, as servers of the transport of 2024 do.
async fn answers_old_transport(pinned: &PinnedClient) -> bool {
    const TIMEOUT: Duration = Duration::from_secs(5);
    let asked = pinned.client.get(pinned.url.clone()).header(ACCEPT, "text/event-stream").timeout(TIMEOUT).send().await;
    let streams = |answer: reqwest::Response| {
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        answer.status().is_success() && kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
    };
    asked.is_ok_and(streams)
}

/// The revision without a handshake where the server speaks it, else the newest with one.
fn either_lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

fn newest_only() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
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

fn late(config: &McpConfig) -> String {
    format!("it gave no answer within {} s", config.start.as_secs())
}

fn unreachable(server: &McpServer, reason: String) -> McpError {
    McpError::Unreachable { server: server.name.clone(), reason }
}

#[cfg(test)]
mod tests {
    use super::add_settings;
    use std::collections::BTreeMap;

    #[test]
    fn a_setting_never_takes_the_place_of_a_secret() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let mut env = map(&[("TOKEN", "canary")]);
        add_settings(&mut env, &map(&[("TOKEN", "plain"), ("LEVEL", "2")]), &["npx".to_owned()]);
        assert_eq!(env, map(&[("TOKEN", "canary"), ("LEVEL", "2")]));
        add_settings(&mut env, &map(&[]), &["/opt/node/bin/npx".to_owned()]);
        assert_eq!(env["PATH"], "/opt/node/bin:/usr/local/bin:/usr/bin:/bin");
    }
}
