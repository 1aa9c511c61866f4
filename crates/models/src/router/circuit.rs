//! The circuit breaker of one connection. Pure; the time is an argument.

use super::errors::Fault;
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::ports::Breaker;

/// Longest wait that an endpoint may ask for.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// When a connection is not asked for a while (its circuit opens), and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterOptions {
    /// Failures in a row that open the circuit; one is enough where nobody listens or a wait is asked for.
    pub failures: u32,
    /// First time; doubled each further time without a success in between.
    pub cooldown: Duration,
    /// The same where nobody listens.
    pub dead_cooldown: Duration,
    pub longest_cooldown: Duration,
    /// After a wrong key or an unknown model. New settings of the connection end it at once.
    pub settings_cooldown: Duration,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self {
            failures: 3,
            cooldown: Duration::from_secs(10),
            dead_cooldown: Duration::from_secs(15),
            longest_cooldown: Duration::from_mins(5),
            settings_cooldown: Duration::from_mins(5),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    Free,
    /// Tests whether the connection is back; one at a time.
    Probe,
    /// The circuit is open, but there is nobody else to ask.
    Forced,
}

/// Closed, open until a time, or half-open after it.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    failures: u32,
    openings: u32,
    open: Option<Open>,
    probing: bool,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    since: Timestamp,
    until: Timestamp,
}

impl Open {
    /// Also over if the clock was set back, which could otherwise keep it open for long.
    fn over(self, now: Timestamp) -> bool {
        now >= self.until || now < self.since
    }
}

impl Circuit {
    /// `None` while the circuit is open.
    pub fn admit(&mut self, now: Timestamp) -> Option<Pass> {
        if self.open.is_none() {
            return Some(Pass::Free);
        }
        if self.probing || self.open_until(now).is_some() {
            return None;
        }
        self.probing = true;
        Some(Pass::Probe)
    }

    /// Like [`Self::admit`], but never refuses.
    pub fn force(&mut self, now: Timestamp) -> Pass {
        self.admit(now).unwrap_or(Pass::Forced)
    }

    /// When [`Self::admit`] will let an attempt through.
    pub fn ready_at(&self, now: Timestamp) -> Timestamp {
        self.open_until(now).unwrap_or(now)
    }

    fn open_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.open.filter(|open| !open.over(now)).map(|open| open.until)
    }

    /// The attempt brought content. One that began before the circuit opened proves nothing.
    pub fn answered(&mut self, pass: Pass) {
        self.release(pass);
        if self.open.is_some() && pass != Pass::Free {
            // A running probe keeps the next one waiting, should the circuit open again.
            *self = Self { probing: self.probing, ..Self::default() };
        }
    }

    pub fn completed(&mut self) {
        if self.open.is_none() {
            self.failures = 0;
            self.openings = 0;
        }
    }

    /// The attempt ended and showed nothing about the connection.
    pub fn release(&mut self, pass: Pass) {
        if pass == Pass::Probe {
            self.probing = false;
        }
    }

    pub fn failed(&mut self, pass: Pass, fault: Fault, now: Timestamp, options: &RouterOptions) {
        self.release(pass);
        match fault {
            Fault::Unknown => {}
            Fault::Requests => {
                self.answered(pass);
                self.completed();
            }
            Fault::Once => {
                self.failures = self.failures.saturating_add(1);
                if self.failures >= options.failures || self.open.is_some() {
                    self.reopen(now, options.cooldown, options);
                }
            }
            Fault::Dead => self.reopen(now, options.dead_cooldown, options),
            Fault::Wait(wait) => self.open_for(now, wait.min(LONGEST_WAIT)),
            Fault::Settings => self.open_for(now, options.settings_cooldown),
        }
    }

    /// Opens for a time that doubles; an open circuit keeps its end.
    fn reopen(&mut self, now: Timestamp, first: Duration, options: &RouterOptions) {
        if self.open_until(now).is_some() {
            return;
        }
        let factor = 1_u32.checked_shl(self.openings).unwrap_or(u32::MAX);
        self.openings = self.openings.saturating_add(1);
        let cooldown = first.saturating_mul(factor).min(options.longest_cooldown);
        self.open = Some(Open { since: now, until: now.plus(cooldown) });
    }

    fn open_for(&mut self, now: Timestamp, wait: Duration) {
        let until = now.plus(wait);
        let until = self.open_until(now).map_or(until, |known| known.max(until));
        self.open = Some(Open { since: now, until });
    }

    /// The state, and how long the circuit stays open, milliseconds.
    pub fn state(&self, now: Timestamp) -> (Breaker, Option<u64>) {
        match self.open_until(now) {
            Some(until) => (Breaker::Open, u64::try_from(until.since(now).as_millis()).ok()),
            None if self.open.is_some() => (Breaker::HalfOpen, None),
            None => (Breaker::Closed, None),
        }
    }
}

#[cfg(test)]
mod tests;
