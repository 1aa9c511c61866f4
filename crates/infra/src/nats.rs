//! The client of a NATS server: requests come from there, each to one of the programs that share a group.

use async_nats::{Client, ConnectOptions, Event, Message, ServerAddr, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::SelectAll;
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::locks::lock;
use tokio_util::task::TaskTracker;

/// Replicas have the same, so that the server gives each message to one of them.
const GROUP: &str = "steward";
/// Longest pause between two tries to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// How long requests at work may take once the program stops.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Debug, Clone)]
pub struct NatsConfig {
    servers: Vec<ServerAddr>,
    login: NatsLogin,
}

/// Who this program is for the server.
#[derive(Debug, Clone)]
enum NatsLogin {
    Nobody,
    User { name: String, password: SecretString },
    Token(SecretString),
}

impl NatsConfig {
    /// From `STEWARD_NATS_URL` and who this program is there; `None` if no server is named.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let [user, password, token] = ["STEWARD_NATS_USER", "STEWARD_NATS_PASSWORD", "STEWARD_NATS_TOKEN"];
        let Some(servers) = variable("STEWARD_NATS_URL") else {
            let mut needing = [user, password, token, "STEWARD_NATS_ACT_AS"].into_iter();
            return match needing.find(|name| variable(name).is_some()) {
                Some(name) => {
                    Err(format!("{name} is set without STEWARD_NATS_URL; set that to the address of the NATS server"))
                }
                None => Ok(None),
            };
        };
        let login = match (variable(user), variable(password), variable(token)) {
            (None, None, None) => NatsLogin::Nobody,
            (Some(name), Some(password), None) => NatsLogin::User { name, password: password.into() },
            (None, None, Some(token)) => NatsLogin::Token(token.into()),
            (Some(_), None, _) | (None, Some(_), _) => {
                return Err(format!("set both {user} and {password}, or neither"));
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(format!("set {token}, or {user} and {password}, not all of them"));
            }
        };
        let config = Self::new(&servers, login);
        config.map(Some).map_err(|why| format!("STEWARD_NATS_URL can't be used; {why}"))
    }

    /// `servers`: `nats://HOST:PORT`, or `tls://` for an encrypted connection; several of a cluster separated by commas.
    /// The error says what to write instead.
    fn new(servers: &str, login: NatsLogin) -> Result<Self, String> {
        let read = |text: &str| {
            let server: Option<ServerAddr> = text.parse().ok();
            let plain = |server: &ServerAddr| {
                let is_nats = matches!(server.scheme(), "nats" | "tls") && text.contains("://");
                is_nats && !server.host().is_empty() && !server.has_user_pass()
            };
            // It may hold a password, so it is not repeated.
            server.filter(plain).ok_or_else(|| {
                "write addresses such as nats://nats.example.org:4222 or tls://nats.example.org:4222, without a user or a password, separated by commas".to_owned()
            })
        };
        let servers: Vec<ServerAddr> = servers.split(',').map(|one| read(one.trim())).collect::<Result<_, _>>()?;
        Ok(Self { servers, login })
    }
}

impl fmt::Display for NatsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<String> = self.servers.iter().map(|one| format!("{}:{}", one.host(), one.port())).collect();
        f.write_str(&places.join(", "))
    }
}

/// A message that somebody waits for an answer to.
#[derive(Debug, Clone)]
pub struct NatsRequest {
    pub subject: String,
    /// Its header `Authorization`.
    pub authorization: Option<String>,
    pub payload: Bytes,
    /// Longest answer that the server carries, bytes.
    pub longest_answer: usize,
}

pub struct NatsConnection {
    client: Client,
    /// Where it leads.
    places: String,
    trouble: Arc<Trouble>,
    answered: Arc<AtomicU64>,
}

/// Why there is no connection; `None`: there is one, or none was tried yet.
#[derive(Debug, Default)]
struct Trouble(Mutex<Option<String>>);

impl Trouble {
    fn set(&self, why: Option<String>) -> Option<String> {
        std::mem::replace(&mut *lock(&self.0), why)
    }

    fn get(&self) -> Option<String> {
        lock(&self.0).clone()
    }

    /// Logs what is new: a server that is away is tried every few seconds.
    fn note(&self, event: Event, places: &str) {
        match event {
            Event::Connected => {
                self.set(None);
                tracing::info!(server = places, "connected to NATS");
            }
            Event::Disconnected => {
                self.set(Some("the connection was lost".to_owned()));
                tracing::warn!(server = places, "the connection to NATS was lost; trying again");
            }
            Event::ClientError(error) => self.failed(&error.to_string(), places),
            Event::ServerError(error) => self.failed(&error.to_string(), places),
            Event::SlowConsumer(_) => tracing::warn!("requests over NATS were dropped: too many are waiting"),
            Event::LameDuckMode | Event::Draining | Event::Closed => tracing::debug!(%event, "NATS"),
        }
    }

    fn failed(&self, why: &str, places: &str) {
        if self.set(Some(why.to_owned())).as_deref() != Some(why) {
            tracing::warn!(server = places, why, "NATS does not work as it should; trying again");
        }
    }
}

impl NatsConnection {
    /// Does not wait for the server: one that is not there is tried again and again, as after a connection is lost. The
    /// error says what is wrong with the configuration.
    pub async fn open(config: &NatsConfig) -> Result<Self, String> {
        let (trouble, places) = (Arc::new(Trouble::default()), config.to_string());
        let (noting, at) = (Arc::clone(&trouble), places.clone());
        let options = ConnectOptions::new()
            .name("steward")
            .retry_on_initial_connect()
            .max_reconnects(None)
            .reconnect_delay_callback(pause)
            .event_callback(move |event| {
                noting.note(event, &at);
                std::future::ready(())
            });
        let options = match &config.login {
            NatsLogin::Nobody => options,
            NatsLogin::User { name, password } => {
                options.user_and_password(name.clone(), password.expose_secret().to_owned())
            }
            NatsLogin::Token(token) => options.token(token.expose_secret().to_owned()),
        };
        let client = options.connect(config.servers.as_slice()).await.map_err(|error| error.to_string())?;
        Ok(Self { client, places, trouble, answered: Arc::default() })
    }

    /// How it is; the error says why there is no connection.
    pub fn status(&self) -> Result<String, String> {
        if self.client.connection_state() == async_nats::connection::State::Connected {
            let answered = self.answered.load(Ordering::Relaxed);
            return Ok(format!("connected to {}; {answered} requests were answered", self.places));
        }
        let why = self.trouble.get().unwrap_or_else(|| "it was not reached yet".to_owned());
        Err(format!("no connection to {}: {why}", self.places))
    }

    /// Answers requests until `stop` is done; those at work then get a moment.
    pub async fn serve<F>(
        &self,
        subjects: &[&'static str],
        answer: impl Fn(NatsRequest) -> F,
        stop: impl Future<Output = ()>,
    ) -> Result<(), String>
    where
        F: Future<Output = Vec<u8>> + Send + 'static,
    {
        let mut messages: SelectAll<Subscriber> = SelectAll::new();
        for subject in subjects {
            let subscribed = self.client.queue_subscribe(*subject, GROUP.to_owned()).await;
            messages.push(subscribed.map_err(|error| error.to_string())?);
        }
        let (tasks, mut stop, mut stopping) = (TaskTracker::new(), std::pin::pin!(stop), false);
        let mut late = std::pin::pin!(tokio::time::sleep(GRACE));
        loop {
            tokio::select! {
                () = &mut stop, if !stopping => {
                    stopping = true;
                    late.as_mut().reset(tokio::time::Instant::now() + GRACE);
                    // Those that are here already are answered yet.
                    for subscriber in &mut messages {
                        let _gone = tokio::time::timeout(GRACE, subscriber.unsubscribe()).await;
                    }
                }
                // A server that is away does not end what it sends.
                () = &mut late, if stopping => break,
                message = messages.next() => match message {
                    Some(message) => self.take(message, &answer, &tasks),
                    None => break,
                },
            }
        }
        tasks.close();
        // Those who take longer are cut off.
        let _in_time = tokio::time::timeout(GRACE, tasks.wait()).await;
        let _sent = tokio::time::timeout(GRACE, self.client.flush()).await;
        Ok(())
    }

    fn take<F>(&self, message: Message, answer: &impl Fn(NatsRequest) -> F, tasks: &TaskTracker)
    where
        F: Future<Output = Vec<u8>> + Send + 'static,
    {
        let Some(reply) = message.reply else {
            // Nobody could be told whether it worked.
            tracing::debug!(subject = %message.subject, "a message over NATS names no place for its answer; it is left");
            return;
        };
        let authorization = message.headers.as_ref().and_then(|headers| headers.get("Authorization"));
        let work = answer(NatsRequest {
            authorization: authorization.map(|value| value.as_str().to_owned()),
            subject: message.subject.to_string(),
            payload: message.payload,
            longest_answer: self.client.max_payload(),
        });
        let (client, answered) = (self.client.clone(), Arc::clone(&self.answered));
        tasks.spawn(async move {
            let bytes = work.await;
            answered.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = client.publish(reply, bytes.into()).await {
                tracing::warn!(%error, "an answer over NATS was not sent");
            }
        });
    }
}

/// Longer and longer, and not the same for all replicas.
fn pause(tries: usize) -> Duration {
    let doubled = Duration::from_millis(100) * 2_u32.pow(u32::try_from(tries.min(10)).unwrap_or(10));
    doubled.min(LONGEST_PAUSE).mul_f64(rand::random_range(0.5..1.0))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_PAUSE, NatsConfig, NatsConnection, NatsLogin, pause};
    use std::time::Duration;

    #[tokio::test]
    async fn a_stop_ends_though_the_server_is_away() {
        // Nothing listens at port 9 of this machine.
        let config = NatsConfig::new("nats://127.0.0.1:9", NatsLogin::Nobody).unwrap();
        let connection = NatsConnection::open(&config).await.unwrap();
        let answer = |_| std::future::ready(Vec::new());
        let served = connection.serve(&["oos.cmd.global"], answer, std::future::ready(()));
        assert!(tokio::time::timeout(Duration::from_mins(2), served).await.is_ok());
    }

    #[test]
    fn addresses_are_read() {
        for good in ["nats://127.0.0.1:4222", "tls://a.example, nats://b.example:4223"] {
            assert!(NatsConfig::new(good, NatsLogin::Nobody).is_ok(), "{good}");
        }
        let shown = NatsConfig::new("tls://a.example, nats://b.example:4223", NatsLogin::Nobody).unwrap().to_string();
        assert_eq!(shown, "a.example:4222, b.example:4223");
        for bad in
            ["127.0.0.1:4222", "http://a:4222", "ws://a:4222", "nats://me:secret@a:4222", "nats://", "", "nats://a,"]
        {
            let why = NatsConfig::new(bad, NatsLogin::Nobody).unwrap_err();
            assert!(why.contains("write addresses") && !why.contains("secret"), "{bad}: {why}");
        }
    }

    #[test]
    fn a_server_and_a_login_are_read() {
        let read = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            NatsConfig::read(&value).map(|config| config.map(|config| config.to_string()))
        };
        let url = ("STEWARD_NATS_URL", "tls://nats.example.org:4222");
        let (user, password) = (("STEWARD_NATS_USER", "u"), ("STEWARD_NATS_PASSWORD", "p"));
        let token = ("STEWARD_NATS_TOKEN", "t");
        assert_eq!(read(&[]).unwrap(), None);
        for set in [vec![url], vec![url, user, password], vec![url, token]] {
            assert_eq!(read(&set).unwrap().unwrap(), "nats.example.org:4222");
        }
        for (set, expect) in [
            (vec![token], "without STEWARD_NATS_URL"),
            (vec![("STEWARD_NATS_ACT_AS", "ada@example.org")], "without STEWARD_NATS_URL"),
            (vec![url, user], "both STEWARD_NATS_USER and"),
            (vec![url, user, password, token], "not all of them"),
            (vec![("STEWARD_NATS_URL", "nats://u:p@x")], "STEWARD_NATS_URL can't be used; write addresses"),
        ] {
            let error = read(&set).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        assert!(pause(0) < Duration::from_millis(101));
        for tries in [7, 100, usize::MAX] {
            assert!((LONGEST_PAUSE / 2..LONGEST_PAUSE).contains(&pause(tries)), "{tries}");
        }
    }
}
