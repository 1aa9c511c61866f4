use std::time::{Duration, Instant};

use super::SupervisorOptions;

/// Counts fast crashes in a row and says when the next start is allowed.
#[derive(Debug, Default)]
pub(super) struct Crashes {
    in_row: u32,
    last: Option<Instant>,
}

/// Whether to start now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Start after this wait.
    After(Duration),
    /// Not before this much time is over.
    Refuse(Duration),
}

impl Crashes {
    /// Notes the end of a child that lived for `lived` and did not end by its own will.
    pub fn note(&mut self, lived: Duration, now: Instant, options: &SupervisorOptions) {
        if lived >= options.fast_crash {
            self.in_row = 0;
        }
        self.in_row += 1;
        self.last = Some(now);
    }

    pub fn reset(&mut self) {
        *self = Self::default();
    }

    pub fn in_row(&self) -> u32 {
        self.in_row
    }

    pub fn verdict(&self, now: Instant, options: &SupervisorOptions) -> Verdict {
        let Some(last) = self.last else {
            return Verdict::After(Duration::ZERO);
        };
        let since = now.saturating_duration_since(last);
        if self.in_row >= options.max_crashes {
            return match options.cooldown.checked_sub(since) {
                Some(rest) if rest > Duration::ZERO => Verdict::Refuse(rest),
                // One more attempt; another fast crash refuses again.
                _ => Verdict::After(Duration::ZERO),
            };
        }
        let factor = 4_u32.saturating_pow(self.in_row.saturating_sub(1));
        Verdict::After(options.backoff.saturating_mul(factor).saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_then_it_is_left_alone() {
        let options = SupervisorOptions::new("/x", "t".to_owned().into());
        let now = Instant::now();
        let mut crashes = Crashes::default();
        assert_eq!(crashes.verdict(now, &options), Verdict::After(Duration::ZERO));
        crashes.note(Duration::ZERO, now, &options);
        assert_eq!(crashes.verdict(now, &options), Verdict::After(options.backoff));
        crashes.note(Duration::ZERO, now, &options);
        assert_eq!(crashes.verdict(now, &options), Verdict::After(options.backoff * 4));
        crashes.note(Duration::ZERO, now, &options);
        assert_eq!(crashes.verdict(now, &options), Verdict::Refuse(options.cooldown));
        let later = now + options.cooldown;
        assert_eq!(crashes.verdict(later, &options), Verdict::After(Duration::ZERO));
        crashes.note(Duration::ZERO, later, &options);
        assert_eq!(crashes.verdict(later, &options), Verdict::Refuse(options.cooldown));
        crashes.note(options.fast_crash, later, &options);
        assert_eq!(crashes.verdict(later, &options), Verdict::After(options.backoff));
    }
}
