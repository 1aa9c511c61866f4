use super::check::switch;
use super::fields::{Effect, FIELDS, Field};
use super::layers::Layers;
use std::fmt;
use std::net::IpAddr;
use std::sync::RwLock;
use steward_core::hash::sha256;
use steward_core::locks::{read, write};
use tokio::sync::Mutex;

/// What is shown of a secret.
pub const MASK: &str = "••••••••";
/// How a token is saved.
pub(super) const HASHED: &str = "sha256:";

/// What the binary does with settings.
pub trait Live: Send + Sync {
    /// Whether the program could start with these.
    fn check(&self, layers: &Layers) -> Result<(), String>;
    /// Puts those into force that need no restart.
    fn apply(&self, layers: &Layers);
    /// How this process is started anew.
    fn restart_command(&self) -> String;
}

pub struct Configuration {
    /// With what the process started.
    started: Layers,
    now: RwLock<Layers>,
    pub(super) file: String,
    pub(super) live: Box<dyn Live>,
    /// Held from reading the values until a change is saved.
    pub(super) changing: Mutex<()>,
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configuration").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Configuration {
    pub fn new(started: Layers, file: String, live: Box<dyn Live>) -> Self {
        live.apply(&started);
        Self { now: RwLock::new(started.clone()), started, file, live, changing: Mutex::default() }
    }

    pub fn layers(&self) -> Layers {
        read(&self.now).clone()
    }

    /// The value of a setting that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        read(&self.now).value(name)?.parse().ok()
    }

    pub(super) fn put(&self, layers: Layers) {
        self.live.apply(&layers);
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

    /// Saved changes that count from the next start on.
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

    use super::{Configuration, HASHED, Layers, Live};
    use crate::config::Source;
    use std::collections::BTreeMap;
    use std::net::IpAddr;
    use steward_core::hash::sha256;

    struct Nothing;

    impl Live for Nothing {
        fn check(&self, _: &Layers) -> Result<(), String> {
            Ok(())
        }

        fn apply(&self, _: &Layers) {}

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
