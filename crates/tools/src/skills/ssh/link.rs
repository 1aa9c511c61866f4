//! A connection: name, jump host, host key, login.

use super::known::{HostKeys, Place, verdict};
use super::login::Login;
use super::order::Order;
use russh::client::{self, Config, Handle};
use russh::keys::{HashAlg, PublicKey, PublicKeyOrCertificate};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Longest wait for a server to answer.
const CONNECT: Duration = Duration::from_secs(15);
/// How often a silent server is asked whether it is there.
const ALIVE: Duration = Duration::from_secs(10);

/// Why there is no connection. Nothing was run.
pub(super) type Refusal = String;

/// Checks the host key of one server. A refusal is kept, since the library only knows "no".
pub(super) struct Gate {
    keys: Arc<dyn HostKeys>,
    place: Place,
    refused: Arc<Mutex<Option<Refusal>>>,
}

impl Gate {
    async fn judge(&self, key: &PublicKey) -> Option<Refusal> {
        let offered = key.fingerprint(HashAlg::Sha256).to_string();
        match self.keys.pinned(&self.place).await {
            Ok(pinned) => verdict(&self.place, pinned.as_deref(), &offered),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl client::Handler for Gate {
    type Error = russh::Error;

    async fn check_server_key(&mut self, offered: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        let verdict = match offered {
            PublicKeyOrCertificate::PublicKey { key, .. } => self.judge(key).await,
            PublicKeyOrCertificate::Certificate(_) => Some(format!(
                "{} shows a certificate instead of a host key, which is not supported; ask its administrator",
                self.place
            )),
        };
        let fine = verdict.is_none();
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = verdict;
        Ok(fine)
    }
}

/// A login on a server, and the one on the way to it.
pub(super) struct Link {
    pub handle: Handle<Gate>,
    /// Carries the connection; ends it when dropped.
    _through: Option<Handle<Gate>>,
}

pub(super) async fn open(keys: &Arc<dyn HostKeys>, order: &Order, login: &Login) -> Result<Link, Refusal> {
    let Some(jump) = &order.jump else {
        let socket = dial(&order.place).await?;
        let handle = enter(keys, socket, &order.place, login, &login.user).await?;
        return Ok(Link { handle, _through: None });
    };
    let socket = dial(&jump.place).await?;
    let user = jump.user.as_deref().unwrap_or(&login.user);
    let through = enter(keys, socket, &jump.place, login, user).await?;
    let port = u32::from(order.place.port);
    let opened = through.channel_open_direct_tcpip(&order.place.host, port, "127.0.0.1", 0);
    let channel = within(opened).await?.map_err(|error| {
        format!(
            "{} did not let through to {}: {error}; does it allow TCP forwarding, and is that server up?",
            jump.place, order.place
        )
    })?;
    let handle = enter(keys, channel.into_stream(), &order.place, login, &login.user).await?;
    Ok(Link { handle, _through: Some(through) })
}

async fn within<T>(work: impl Future<Output = T>) -> Result<T, Refusal> {
    tokio::time::timeout(CONNECT, work)
        .await
        .map_err(|_| format!("no answer within {} s; is the server up?", CONNECT.as_secs()))
}

async fn dial(place: &Place) -> Result<TcpStream, Refusal> {
    let socket = within(TcpStream::connect((place.host.as_str(), place.port)))
        .await
        .and_then(|done| done.map_err(|error| error.to_string()))
        .map_err(|error| format!("can't reach {place}: {error}"))?;
    // Small packets back and forth: waiting to fill them only costs time.
    let _ = socket.set_nodelay(true);
    Ok(socket)
}

async fn enter<S>(
    keys: &Arc<dyn HostKeys>,
    socket: S,
    place: &Place,
    login: &Login,
    user: &str,
) -> Result<Handle<Gate>, Refusal>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config =
        Arc::new(Config { keepalive_interval: Some(ALIVE), keepalive_max: 3, nodelay: true, ..Config::default() });
    let refused = Arc::new(Mutex::new(None));
    let gate = Gate { keys: keys.clone(), place: place.clone(), refused: refused.clone() };
    let mut handle = match within(client::connect_stream(config, socket, gate)).await? {
        Ok(handle) => handle,
        Err(error) => {
            let own = refused.lock().unwrap_or_else(PoisonError::into_inner).take();
            return Err(own.unwrap_or_else(|| format!("{place} does not speak ssh with us: {error}")));
        }
    };
    let entered = within(login.enter(&mut handle, user)).await?;
    if entered.map_err(|error| format!("the login on {place} broke off: {error}"))? {
        return Ok(handle);
    }
    Err(format!(
        "{place} refused the login of {user} with the credential {}; check the user name and the credential, or ask the server's administrator",
        login.credential
    ))
}
