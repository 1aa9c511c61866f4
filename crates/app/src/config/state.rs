use super::check::switch;
use super::fields::{Effect, FIELDS, Field};
use super::layers::Layers;
use async_trait::async_trait;
use futures::future::BoxFuture;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use steward_core::hash::sha256;
use steward_core::locks::{read, write};
use steward_core::ports::LoginSecrets;
use tokio::sync::Mutex;

/// What is shown of a secret.
pub const MASK: &str = "••••••••";
/// After so long values that can't be used are tried again: a server that they name may be there now.
const TRIED_AGAIN: Duration = Duration::from_mins(1);
/// How a token is saved.
pub(super) const HASHED: &str = "sha256:";

/// Puts values into force that were found fit.
pub type Apply = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Values that somebody else gave, by the file or another node, and that can't be used.
pub(super) struct Refused {
    pub why: String,
    /// `None`: they can't even be read.
    pub layers: Option<Layers>,
    pub at: Instant,
}

impl Refused {
    /// Getting them ready again would take time for nothing.
    pub fn still_holds(&self, layers: &Layers) -> bool {
        self.layers.as_ref() == Some(layers) && self.at.elapsed() < TRIED_AGAIN
    }
}

/// What the binary does with settings.
#[async_trait]
pub trait Reconfigure: Send + Sync {
    /// Gets everything ready that reads these values; nothing is changed yet. The error says why they can't be used.
    async fn prepare(&self, layers: &Layers) -> Result<Apply, String>;

    /// The values as whoever starts the program gives them now: the file is read anew.
    fn reread(&self, now: &Layers) -> Result<Layers, String> {
        Ok(now.clone())
    }

    /// Seals the secrets among the values that are saved.
    fn secrets(&self) -> Option<Arc<dyn LoginSecrets>> {
        None
    }

    /// How this process is started anew.
    fn restart_command(&self) -> String;
}

pub struct Configuration {
    /// With what the process started.
    started: Layers,
    now: RwLock<Layers>,
    pub(super) file: String,
    pub(super) program: Box<dyn Reconfigure>,
    /// Held from reading the values until a change is in force. Why values that somebody else gave are not in force.
    pub(super) changing: Mutex<Option<Refused>>,
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configuration").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Configuration {
    /// `started`: what the program was put together by.
    pub fn new(started: Layers, file: String, program: Box<dyn Reconfigure>) -> Self {
        Self { now: RwLock::new(started.clone()), started, file, program, changing: Mutex::default() }
    }

    pub fn layers(&self) -> Layers {
        read(&self.now).clone()
    }

    /// The value of a setting that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        read(&self.now).value(name)?.parse().ok()
    }

    /// Puts values into force that nobody saves; the error says why they can't be.
    pub async fn change(&self, layers: Layers) -> Result<(), String> {
        let ready = self.program.prepare(&layers).await?;
        self.put(ready, layers).await;
        Ok(())
    }

    /// What `prepare` made ready, and what it was made of.
    pub(super) async fn put(&self, apply: Apply, layers: Layers) {
        apply().await;
        *write(&self.now) = layers;
    }

    /// Whether a program may read the metrics that shows this token, or none, and comes from this address.
    pub fn may_read_metrics(&self, token: Option<&str>, peer: Option<IpAddr>) -> bool {
        let now = read(&self.now);
        let wanted = now.set("METRICS_TOKEN").map(|set| match now.fixed("METRICS_TOKEN") {
            Some(_) => sha256(set.as_bytes()),
            None => set.trim_start_matches(HASHED).to_owned(),
        });
        if let (Some(token), Some(wanted)) = (token, wanted) {
            // Hashes tell nothing by the time that comparing them takes.
            return sha256(token.as_bytes()) == wanted;
        }
        let near = peer.is_some_and(|peer| peer.to_canonical().is_loopback());
        token.is_none() && near && now.value("METRICS_LOOPBACK").and_then(switch).unwrap_or(false)
    }

    /// Changes that act after a restart.
    pub(super) fn pending(&self, now: &Layers) -> Vec<&'static str> {
        let waits = |field: &&Field| {
            field.effect == Effect::AfterRestart && self.started.value(field.name) != now.value(field.name)
        };
        FIELDS.iter().filter(waits).map(|field| field.name).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{Apply, Configuration, HASHED, Layers, Reconfigure};
    use crate::config::Source;
    use std::collections::BTreeMap;
    use std::net::IpAddr;
    use steward_core::hash::sha256;

    struct Nothing;

    #[async_trait::async_trait]
    impl Reconfigure for Nothing {
        async fn prepare(&self, _: &Layers) -> Result<Apply, String> {
            Ok(Box::new(|| Box::pin(async {})))
        }

        fn restart_command(&self) -> String {
            String::new()
        }
    }

    fn layers(saved: &[(&'static str, &str)]) -> Layers {
        let saved: BTreeMap<_, _> = saved.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Layers::default().with_saved(saved)
    }

    #[test]
    fn metrics_are_for_those_with_the_token_or_on_this_machine() {
        let near: Option<IpAddr> = Some("127.0.0.1".parse().unwrap());
        let far: Option<IpAddr> = Some("192.0.2.1".parse().unwrap());
        let of = |layers: Layers| Configuration::new(layers, String::new(), Box::new(Nothing));
        let nobody = of(layers(&[]));
        assert!(!nobody.may_read_metrics(None, near) && !nobody.may_read_metrics(Some("x"), near));
        let near_only = of(layers(&[("METRICS_LOOPBACK", "true")]));
        assert!(near_only.may_read_metrics(None, near));
        assert!(!near_only.may_read_metrics(None, far) && !near_only.may_read_metrics(None, None));
        let hash = format!("{HASHED}{}", sha256(b"a-long-token-of-ours"));
        let saved = of(layers(&[("METRICS_TOKEN", &hash)]));
        let mut given = layers(&[]);
        given.give("METRICS_TOKEN", Source::Environment, "STEWARD_METRICS_TOKEN", "a-long-token-of-ours");
        for configuration in [saved, of(given)] {
            assert!(configuration.may_read_metrics(Some("a-long-token-of-ours"), far));
            assert!(!configuration.may_read_metrics(Some(&hash), far), "the hash opens nothing");
            assert!(!configuration.may_read_metrics(Some(""), far) && !configuration.may_read_metrics(None, near));
        }
    }
}
