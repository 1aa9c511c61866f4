//! Requests and tokens a minute that a virtual key may take, counted in this process: several nodes count separately. A
//! request is counted when it arrives, tokens when a call has used them; so parallel calls can take more than a
//! minute's tokens, and the next ones wait for it.

use crate::locks::lock;
use crate::ports::VirtualKey;
use crate::{KeyId, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// Length of the window, seconds.
const WINDOW: i64 = 60;
/// Keys that are remembered before those that were idle for a whole window are dropped.
const KEYS: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Second {
    at: i64,
    requests: u64,
    tokens: u64,
}

#[derive(Debug, Default)]
pub struct RateLimiter(Mutex<HashMap<KeyId, VecDeque<Second>>>);

#[derive(Debug, PartialEq, Eq)]
pub struct TooMany {
    pub message: String,
    /// Seconds until a retry makes sense.
    pub wait_s: u64,
}

impl RateLimiter {
    /// Admits and counts a request, or says how long to wait.
    pub fn admit(&self, key: &VirtualKey, now: Timestamp) -> Result<(), TooMany> {
        if key.requests_per_minute.is_none() && key.tokens_per_minute.is_none() {
            return Ok(());
        }
        self.with(key.id, now, |seconds, second| {
            type Count = fn(&Second) -> u64;
            let limits: [(&str, Option<u32>, Count); 2] = [
                ("requests", key.requests_per_minute, |second| second.requests),
                ("tokens", key.tokens_per_minute, |second| second.tokens),
            ];
            for (what, most, of) in limits {
                if let Some(most) = most.map(u64::from)
                    && let Some(wait_s) = wait(seconds, second, most, of)
                {
                    return Err(TooMany {
                        message: format!(
                            "the key `{}` may take {most} {what} a minute and has taken them; \
                             try again in {wait_s} s, or ask its owner to raise the limit",
                            key.name
                        ),
                        wait_s,
                    });
                }
            }
            add(seconds, second, 1, 0);
            Ok(())
        })
    }

    /// Counts the tokens of a finished call.
    pub fn took(&self, key: KeyId, tokens: u64, now: Timestamp) {
        self.with(key, now, |seconds, second| add(seconds, second, 0, tokens));
    }

    fn with<T>(&self, key: KeyId, now: Timestamp, work: impl FnOnce(&mut VecDeque<Second>, i64) -> T) -> T {
        let second = now.0.div_euclid(1000);
        let mut keys = lock(&self.0);
        if keys.len() >= KEYS && !keys.contains_key(&key) {
            keys.retain(|_, seconds| seconds.back().is_some_and(|last| last.at > second - WINDOW));
        }
        let seconds = keys.entry(key).or_default();
        while seconds.front().is_some_and(|first| first.at <= second - WINDOW) {
            seconds.pop_front();
        }
        work(seconds, second)
    }
}

fn add(seconds: &mut VecDeque<Second>, at: i64, requests: u64, tokens: u64) {
    match seconds.back_mut() {
        // After the clock was set back, counts go to the last second.
        Some(last) if last.at >= at => {
            last.requests += requests;
            last.tokens = last.tokens.saturating_add(tokens);
        }
        _ => seconds.push_back(Second { at, requests, tokens }),
    }
}

/// Seconds until less than `most` was used within a minute; `None` if that is so now.
fn wait(seconds: &VecDeque<Second>, now: i64, most: u64, of: fn(&Second) -> u64) -> Option<u64> {
    let mut left = seconds.iter().fold(0_u64, |sum, second| sum.saturating_add(of(second)));
    if left < most {
        return None;
    }
    for second in seconds {
        left = left.saturating_sub(of(second));
        if left < most {
            let wait = second.at + WINDOW - now;
            return Some(u64::try_from(wait).unwrap_or(0).max(1));
        }
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::RateLimiter;
    use crate::ports::VirtualKey;
    use crate::{KeyId, Timestamp, UserId};
    use uuid::Uuid;

    fn key(number: u128, requests: Option<u32>, tokens: Option<u32>) -> VirtualKey {
        VirtualKey {
            id: KeyId(Uuid::from_u128(number)),
            name: "n".to_owned(),
            user: UserId(Uuid::from_u128(9)),
            prefix: String::new(),
            connections: Vec::new(),
            agents: None,
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            created_at: Timestamp(0),
            expires_at: None,
            revoked_at: None,
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp(1_000_000_000_000 + seconds * 1000)
    }

    fn waits(limiter: &RateLimiter, key: &VirtualKey, seconds: i64) -> Option<u64> {
        limiter.admit(key, at(seconds)).err().map(|too| too.wait_s)
    }

    #[test]
    fn a_minute_has_so_many_requests() {
        let (limiter, one, other) = (RateLimiter::default(), key(1, Some(2), None), key(2, Some(2), None));
        assert_eq!(waits(&limiter, &one, 0), None);
        assert_eq!(waits(&limiter, &one, 20), None);
        assert_eq!(waits(&limiter, &one, 30), Some(30));
        assert_eq!(waits(&limiter, &other, 30), None);
        assert_eq!(waits(&limiter, &one, 59), Some(1));
        assert_eq!(waits(&limiter, &one, 60), None, "the first is a minute ago");
        assert_eq!(waits(&limiter, &one, 61), Some(19));
        let free = key(3, None, None);
        for _ in 0..500 {
            assert_eq!(waits(&limiter, &free, 0), None);
        }
    }

    #[test]
    fn a_minute_has_so_many_tokens() {
        let (limiter, one) = (RateLimiter::default(), key(1, None, Some(100)));
        assert_eq!(waits(&limiter, &one, 0), None);
        limiter.took(one.id, 99, at(1));
        assert_eq!(waits(&limiter, &one, 2), None);
        limiter.took(one.id, 500, at(10));
        assert_eq!(waits(&limiter, &one, 11), Some(59));
        assert_eq!(waits(&limiter, &one, 69), Some(1));
        assert_eq!(waits(&limiter, &one, 70), None);
    }
}
