use std::time::Duration;

/// When a connection is left alone for a while, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterOptions {
    /// Failures in a row after which a connection is left alone. Where nobody listens, or where the
    /// endpoint says how long to wait, one is enough.
    pub failures: u32,
    /// How long, the first time; each further time without a success in between twice as long.
    pub cooldown: Duration,
    /// The same where nobody listens.
    pub dead_cooldown: Duration,
    /// Longest of these.
    pub longest_cooldown: Duration,
    /// How long after a fault of the settings: a wrong key, an unknown model. Other settings of the
    /// connection end it at once.
    pub settings_cooldown: Duration,
    /// Wait before the only connection is asked once more, where the endpoint names none.
    pub retry_wait: Duration,
    /// Longest wait of that kind; a longer one is the caller's, who is told how long.
    pub longest_retry_wait: Duration,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self {
            failures: 3,
            cooldown: Duration::from_secs(10),
            dead_cooldown: Duration::from_secs(15),
            longest_cooldown: Duration::from_mins(5),
            settings_cooldown: Duration::from_mins(5),
            retry_wait: Duration::from_millis(250),
            longest_retry_wait: Duration::from_secs(10),
        }
    }
}
