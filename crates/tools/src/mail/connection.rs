//! TCP and TLS to mail servers of the operator's choice, without address guard; no TLS only where that is allowed.

use super::config::{MailServer, Security};
use crate::error::{ToolsError, refused};
use crate::outbound::HostPort;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(super) const CONNECT: Duration = Duration::from_secs(10);

pub(super) trait MailStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> MailStream for T {}

/// Connects; without TLS only where that is allowed.
pub(super) async fn connect_tcp(server: &MailServer, allow: &[HostPort]) -> Result<TcpStream, ToolsError> {
    let place = (server.host.as_str(), server.port);
    let unreachable = |why: String| refused!("the mail server {server} can't be reached ({why}); try again later");
    let stream = tokio::time::timeout(CONNECT, TcpStream::connect(place))
        .await
        .map_err(|_| unreachable(format!("no answer within {} s", CONNECT.as_secs())))?
        .map_err(|error| unreachable(error.to_string()))?;
    let peer = stream.peer_addr().map_err(|error| unreachable(error.to_string()))?;
    let allowed = || allow.iter().any(|entry| entry.to_string() == server.to_string());
    if server.security == Security::Plain && !peer.ip().is_loopback() && !allowed() {
        return Err(refused!(
            "{server} is not on this machine, so passwords and mail could be read on the way; use TLS, or an operator allows {server} with --allow"
        ));
    }
    // Without it each short line waits until the one before is acknowledged.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

pub(super) fn extra_roots(ca: Option<&[u8]>) -> Result<Vec<CertificateDer<'static>>, ToolsError> {
    let Some(pem) = ca else {
        return Ok(Vec::new());
    };
    let bad = |why: String| refused!("the `ca` of the mail account is no certificate in PEM ({why})");
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| bad(error.to_string()))?;
    if all.is_empty() {
        return Err(bad("it holds none".to_owned()));
    }
    Ok(all)
}

pub(super) async fn wrap_tls(
    stream: impl MailStream + 'static,
    server: &MailServer,
    ca: Option<&[u8]>,
) -> Result<Box<dyn MailStream>, ToolsError> {
    let failed = |why: String| {
        refused!("no safe connection to the mail server {server} ({why}); check its name and its certificate")
    };
    let roots = extra_roots(ca)?;
    let connect = async {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&provider))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        let name = ServerName::try_from(server.host.clone())?;
        Ok::<_, Box<dyn Error + Send + Sync>>(TlsConnector::from(Arc::new(config)).connect(name, stream).await?)
    };
    match tokio::time::timeout(CONNECT, connect).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed(format!("no answer within {} s", CONNECT.as_secs()))),
    }
}
