use super::pinned;
use super::requests::{ByteStream, Transport};
use anyhow::{Context, bail};
use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use http::{Request, Response, header};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::time::Duration;
use steward_core::locks::{read, write};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Longest wait for a connection; the server is on this machine.
const CONNECT: Duration = Duration::from_secs(5);

pub struct Socket {
    data_dir: PathBuf,
    /// The key to send; `None`: that of the server's owner, in the data directory.
    own_key: Option<SecretString>,
    address: RwLock<Address>,
}

#[derive(Clone)]
struct Address {
    /// Trusts the certificate of this server and no other.
    http: reqwest::Client,
    url: String,
    key: SecretString,
}

#[derive(Debug)]
pub enum Absent {
    /// No server has announced itself, or another process holds the directory.
    NoServer,
    /// It has announced itself but does not answer; it may be ending.
    Silent(anyhow::Error),
}

#[derive(Deserialize)]
struct AuthStatus {
    version: String,
}

impl Socket {
    /// Connects to the server of process `holder`. Another process's file is stale: its address must not get the key.
    /// `own_key` is sent in the place of the key in the data directory.
    pub async fn connect(
        data_dir: &Path,
        holder: u32,
        own_key: Option<SecretString>,
    ) -> anyhow::Result<Result<Self, Absent>> {
        let Some(file) = ServeFile::read(data_dir)?.filter(|file| file.pid == holder) else {
            return Ok(Err(Absent::NoServer));
        };
        same_version(&file.version, &file)?;
        let address = Address::of(&file, data_dir, own_key.as_ref())?;
        let version = address.version().await;
        let socket = Self { data_dir: data_dir.to_owned(), own_key, address: RwLock::new(address) };
        match version {
            Ok(version) => same_version(&version, &file)?,
            Err(error) => {
                return Ok(Err(Absent::Silent(error.context(format!(
                    "a steward server (pid {holder}) uses {} but does not answer at {}; wait for it, or stop it",
                    data_dir.display(),
                    file.url
                )))));
            }
        }
        Ok(Ok(socket))
    }

    fn address(&self) -> Address {
        read(&self.address).clone()
    }
}

impl Address {
    fn of(file: &ServeFile, data_dir: &Path, own_key: Option<&SecretString>) -> anyhow::Result<Self> {
        let key = key(data_dir, own_key)?;
        Ok(Self { http: http(file.certificate.as_deref())?, url: file.url.clone(), key })
    }

    async fn version(&self) -> anyhow::Result<String> {
        let answer = self
            .http
            .get(format!("{}/api/auth/status", self.url))
            .header(header::HOST, "localhost")
            .timeout(CONNECT)
            .send()
            .await?
            .error_for_status()?;
        Ok(answer.json::<AuthStatus>().await?.version)
    }
}

#[async_trait]
impl Transport for Socket {
    async fn send(&self, request: Request<Bytes>) -> anyhow::Result<Response<ByteStream>> {
        let address = self.address();
        let (parts, body) = request.into_parts();
        let mut request = address
            .http
            .request(parts.method, format!("{}{}", address.url, parts.uri))
            .headers(parts.headers)
            // Every listener accepts this name.
            .header(header::HOST, "localhost")
            .bearer_auth(address.key.expose_secret());
        if !body.is_empty() {
            request = request.body(body);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let mut response = Response::new(answer.bytes_stream().map_err(Into::into).boxed());
        *response.status_mut() = status;
        Ok(response)
    }

    fn server_url(&self) -> Option<String> {
        Some(self.address().url)
    }

    fn key_hint(&self) -> Option<String> {
        if self.own_key.is_some() {
            return Some("the server does not take the key in STEWARD_API_KEY; make another in the studio".to_owned());
        }
        Some(format!(
            "the server does not take the key in {}; delete that file and restart `steward serve`, which makes a new one",
            self.data_dir.join("api-key").display()
        ))
    }

    /// A restarted server may have another port and key.
    async fn reconnect(&self) {
        let Ok(Some(file)) = ServeFile::read(&self.data_dir) else {
            return;
        };
        let Ok(address) = Address::of(&file, &self.data_dir, self.own_key.as_ref()) else {
            return;
        };
        if address.version().await.is_ok_and(|version| version == VERSION) {
            *write(&self.address) = address;
        }
    }
}

/// `certificate`: the SHA-256 of the only one that is trusted; `None`: there is none.
fn http(certificate: Option<&str>) -> anyhow::Result<reqwest::Client> {
    // A second call changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().no_proxy().tcp_nodelay(true).connect_timeout(CONNECT);
    let builder = match certificate {
        // The name of the host is set by hand, which is only possible in HTTP/1.1.
        Some(fingerprint) => builder.tls_backend_preconfigured(pinned::config(fingerprint)?).http1_only(),
        // Without one nothing is encrypted, so the certificates of this machine need not be read.
        None => builder.tls_certs_only([]),
    };
    builder.build().context("cannot make requests")
}

fn key(data_dir: &Path, own: Option<&SecretString>) -> anyhow::Result<SecretString> {
    if let Some(own) = own {
        return Ok(own.clone());
    }
    let path = data_dir.join("api-key");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(SecretString::from(text.trim().to_owned())),
        Err(error) => bail!(
            "cannot read the key of the running server, {}: {error}; restart `steward serve`, which makes a new one",
            path.display()
        ),
    }
}

fn same_version(version: &str, file: &ServeFile) -> anyhow::Result<()> {
    if version != VERSION {
        bail!(
            "the server at {} (pid {}) is steward {version}, this program is {VERSION}; restart the server with this program, or use that one's",
            file.url,
            file.pid
        );
    }
    Ok(())
}

/// `DATA/serve.json`: where a running server can be reached by other commands of its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServeFile {
    /// Such as `http://127.0.0.1:8800`.
    pub url: String,
    pub pid: u32,
    pub version: String,
    /// SHA-256 of the server's certificate, hexadecimal; `None`: it speaks plain HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

impl ServeFile {
    pub const NAME: &str = "serve.json";

    /// `None` if the data directory has none.
    pub fn read(data_dir: &Path) -> anyhow::Result<Option<Self>> {
        let path = data_dir.join(Self::NAME);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        serde_json::from_str(&text)
            .map(Some)
            .with_context(|| format!("{} is damaged; restart `steward serve`, which writes it anew", path.display()))
    }
}
