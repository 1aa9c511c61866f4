//! How often somebody may fail to log in. Failures are counted for an account and the network that they come from, so that
//! strangers can't lock anybody out; many networks at once count against an account too, but not for those that its user has
//! logged in from.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::locks::lock;

/// Failures of one network at an account.
const OF_ONE_NETWORK: usize = 5;
/// Failures of all networks at an account, which close it to those that are not known.
const OF_ALL_NETWORKS: usize = 50;
/// How long a network is known after a login.
const KNOWN_FOR: Duration = Duration::from_hours(30 * 24);

/// Attempts at accounts. A client is the [`network`] of an address; `None`: a program on this machine.
#[derive(Debug)]
pub(crate) struct AccountAttempts {
    of_one: LoginAttempts,
    of_all: LoginAttempts,
    /// When a network last logged in to an account.
    known: Mutex<HashMap<String, Timestamp>>,
}

impl AccountAttempts {
    pub fn new() -> Self {
        Self {
            of_one: LoginAttempts::new(OF_ONE_NETWORK),
            of_all: LoginAttempts::new(OF_ALL_NETWORKS),
            known: Mutex::default(),
        }
    }

    /// Seconds until this client may try this account again; `None`: now.
    pub fn closed(&self, account: &str, client: Option<&str>, now: Timestamp) -> Option<u64> {
        let key = pair(account, client);
        let strangers = if self.is_known(&key, now) { None } else { self.of_all.closed(account, now) };
        self.of_one.closed(&key, now).max(strangers)
    }

    pub fn failed(&self, account: &str, client: Option<&str>, now: Timestamp) {
        let key = pair(account, client);
        self.of_one.failed(&key, now);
        if !self.is_known(&key, now) {
            self.of_all.failed(account, now);
        }
    }

    /// Takes the latest failure back: it was none.
    pub fn forgive(&self, account: &str, client: Option<&str>) {
        self.of_one.forgive(&pair(account, client));
        self.of_all.forgive(account);
    }

    /// What others have failed at stays counted.
    pub fn succeeded(&self, account: &str, client: Option<&str>, now: Timestamp) {
        let key = pair(account, client);
        self.of_one.succeeded(&key);
        let mut known = lock(&self.known);
        if known.len() >= REMEMBERED && !known.contains_key(&key) {
            let oldest = known.iter().min_by_key(|(_, at)| **at).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        known.insert(key, now);
    }

    /// Whether this client has logged in to this account lately.
    pub fn is_known_client(&self, account: &str, client: Option<&str>, now: Timestamp) -> bool {
        self.is_known(&pair(account, client), now)
    }

    fn is_known(&self, key: &str, now: Timestamp) -> bool {
        lock(&self.known).get(key).is_some_and(|at| now.since(*at) <= KNOWN_FOR)
    }
}

fn pair(account: &str, client: Option<&str>) -> String {
    // No network has a space in it.
    format!("{} {account}", client.unwrap_or_default())
}

/// The client of an address: an IPv4 address, or the half of an IPv6 address that one household has.
pub(crate) fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

/// Failures count for this long, and a key stays closed for this long after the last one.
const WINDOW: Duration = Duration::from_mins(15);
/// Most keys that are remembered; then the one that failed longest ago is forgotten.
const REMEMBERED: usize = 10_000;

#[derive(Debug)]
pub(crate) struct LoginAttempts {
    allowed: usize,
    failures: Mutex<HashMap<String, Vec<Timestamp>>>,
}

impl LoginAttempts {
    /// Closes a key after `allowed` failures.
    pub fn new(allowed: usize) -> Self {
        Self { allowed, failures: Mutex::default() }
    }

    /// Seconds until `key` may try again; `None`: now.
    pub fn closed(&self, key: &str, now: Timestamp) -> Option<u64> {
        let mut all = lock(&self.failures);
        let times = all.get_mut(key)?;
        times.retain(|at| now.since(*at) < WINDOW);
        if times.len() < self.allowed {
            return None;
        }
        let last = times.last().copied()?;
        Some(WINDOW.saturating_sub(now.since(last)).as_secs().max(1))
    }

    pub fn failed(&self, key: &str, now: Timestamp) {
        let mut all = lock(&self.failures);
        if all.len() >= REMEMBERED && !all.contains_key(key) {
            all.retain(|_, times| times.last().is_some_and(|at| now.since(*at) < WINDOW));
            let oldest = all.iter().min_by_key(|(_, times)| times.last().copied()).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest.filter(|_| all.len() >= REMEMBERED) {
                all.remove(&oldest);
            }
        }
        all.entry(key.to_owned()).or_default().push(now);
    }

    /// Takes the latest failure back: it was none.
    pub fn forgive(&self, key: &str) {
        if let Some(times) = lock(&self.failures).get_mut(key) {
            times.pop();
        }
    }

    pub fn succeeded(&self, key: &str) {
        lock(&self.failures).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::{AccountAttempts, LoginAttempts, OF_ALL_NETWORKS, REMEMBERED};
    use steward_core::Timestamp;

    #[test]
    fn strangers_lock_nobody_out() {
        let attempts = AccountAttempts::new();
        let now = Timestamp(0);
        let closed = |client| attempts.closed("ada", Some(client), now).is_some();
        attempts.succeeded("ada", Some("home"), now);
        for _ in 0..5 {
            assert!(!closed("stranger"));
            attempts.failed("ada", Some("stranger"), now);
        }
        assert!(closed("stranger") && !closed("home") && !closed("elsewhere"));
        assert!(attempts.closed("bob", Some("stranger"), now).is_none());
        // Many of them close it to who is not known.
        for number in 5..OF_ALL_NETWORKS {
            attempts.failed("ada", Some(&number.to_string()), now);
        }
        assert!(closed("elsewhere") && !closed("home"));
        // Whoever is known may fail five times as well.
        for _ in 0..5 {
            attempts.failed("ada", Some("home"), now);
        }
        assert!(closed("home"));
        attempts.succeeded("ada", Some("home"), now);
        assert!(!closed("home") && closed("elsewhere"));
    }

    #[test]
    fn closes_after_failures_and_opens_again() {
        let attempts = LoginAttempts::new(3);
        let at = |minutes: i64| Timestamp(minutes * 60_000);
        for minute in 0..3 {
            assert_eq!(attempts.closed("a", at(minute)), None);
            attempts.failed("a", at(minute));
        }
        assert_eq!(attempts.closed("a", at(3)), Some(14 * 60));
        assert_eq!(attempts.closed("b", at(3)), None);
        assert_eq!(attempts.closed("a", at(17)), None);
        attempts.succeeded("a");
        attempts.failed("a", at(18));
        assert_eq!(attempts.closed("a", at(18)), None);
    }

    #[test]
    fn remembers_a_bounded_number() {
        let attempts = LoginAttempts::new(1);
        for number in 0..=i64::try_from(REMEMBERED).expect("small") {
            attempts.failed(&number.to_string(), Timestamp(number));
        }
        let now = Timestamp(20_000);
        assert_eq!(attempts.failures.lock().expect("lock").len(), REMEMBERED);
        assert_eq!(attempts.closed("0", now), None, "the oldest is forgotten");
        assert!(attempts.closed("1", now).is_some());
    }
}
