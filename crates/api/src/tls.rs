//! TLS of the server's own. Certificate and key are files; when these change they are taken in without a restart, and
//! what can't be used of them leaves those before in force.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use steward_core::Timestamp;
use steward_core::hash::sha256;
use steward_core::locks::{read, write};
use tokio_rustls::TlsAcceptor;
use x509_parser::parse_x509_certificate;

/// What a connection can speak, best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Marks requests that came over TLS of our own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverTls;

pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    state: RwLock<State>,
}

struct State {
    served: Served,
    /// The hash of the files when they were last looked at.
    seen: String,
    not_taken: Option<String>,
}

#[derive(Clone)]
struct Served {
    config: Arc<ServerConfig>,
    expires_at: Timestamp,
    fingerprint: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsStatus {
    pub certificate: PathBuf,
    /// When the certificate ends that is served.
    pub expires_at: Timestamp,
    /// SHA-256 of it, hexadecimal.
    pub fingerprint: String,
    /// Why the files as they are now were not taken in.
    pub not_taken: Option<String>,
    /// Whether others of this machine may read the key.
    pub key_is_exposed: bool,
}

/// What another look at the files came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reloaded {
    Same,
    Taken,
    /// Why not; it is told once.
    Refused(String),
}

impl Tls {
    pub fn open(certificate: PathBuf, key: PathBuf) -> Result<Self, String> {
        let files = read_files(&certificate, &key)?;
        let served = read_pair(&certificate, &key, &files)?;
        let state = State { served, seen: hash(&files), not_taken: None };
        let tls = Self { certificate, key, state: RwLock::new(state) };
        if tls.status().key_is_exposed {
            tracing::warn!(
                "the key of the server's certificate can be read by everybody on this machine; run chmod 600 on it"
            );
        }
        Ok(tls)
    }

    /// Looks at the files, and takes them in if they have changed and are fit. Connections that are open go on.
    pub fn reload(&self) -> Reloaded {
        let files = read_files(&self.certificate, &self.key);
        let seen = files.as_ref().map_or_else(Clone::clone, hash);
        if read(&self.state).seen == seen {
            return Reloaded::Same;
        }
        let read = files.and_then(|files| read_pair(&self.certificate, &self.key, &files));
        let mut state = write(&self.state);
        state.seen = seen;
        match read {
            Ok(served) => {
                let same = state.served.fingerprint == served.fingerprint;
                let recovered = state.not_taken.take().is_some();
                state.served = served;
                if same && recovered { Reloaded::Same } else { Reloaded::Taken }
            }
            Err(why) => {
                state.not_taken = Some(why.clone());
                Reloaded::Refused(why)
            }
        }
    }

    pub fn status(&self) -> TlsStatus {
        let state = read(&self.state);
        let mode = std::fs::metadata(&self.key).map_or(0, |meta| meta.permissions().mode());
        TlsStatus {
            certificate: self.certificate.clone(),
            expires_at: state.served.expires_at,
            fingerprint: state.served.fingerprint.clone(),
            not_taken: state.not_taken.clone(),
            key_is_exposed: mode & 0o007 != 0,
        }
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let state = read(&self.state);
        TlsAcceptor::from(Arc::clone(&state.served.config))
    }
}

type Files = (Vec<u8>, Vec<u8>);

fn read_files(certificate: &Path, key: &Path) -> Result<Files, String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    Ok((read(certificate)?, read(key)?))
}

fn hash((certificate, key): &Files) -> String {
    format!("{} {}", sha256(certificate), sha256(key))
}

fn read_pair(certificate: &Path, key: &Path, (certificate_pem, key_pem): &Files) -> Result<Served, String> {
    let file = certificate.display();
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificate_pem)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("{file} is not PEM: {error}"))?;
    let leaf = chain.first().ok_or_else(|| {
        format!("{file} holds no certificate; it is PEM: the server's certificate first, then those in between")
    })?;
    let (_, read) = parse_x509_certificate(leaf).map_err(|error| format!("the certificate in {file}: {error}"))?;
    let expires_at = Timestamp(read.validity().not_after.timestamp().saturating_mul(1000));
    let fingerprint = sha256(leaf);
    let secret = PrivateKeyDer::from_pem_slice(key_pem).map_err(|_| {
        format!("{} holds no private key that can be used; it is PEM without a passphrase", key.display())
    })?;
    let misfit = |error: rustls::Error| match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("the key in {} is not the one of the certificate in {file}", key.display())
        }
        other => format!("certificate {file} and key {} can't be used: {other}", key.display()),
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(misfit)?
        .with_no_client_auth()
        .with_single_cert(chain.clone(), secret)
        .map_err(misfit)?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(Served { config: Arc::new(config), expires_at, fingerprint })
}
