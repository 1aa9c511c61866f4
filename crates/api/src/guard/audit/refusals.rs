//! A bound on the entries that strangers can make: whoever has no account can be refused as often as they like.

use std::collections::HashMap;
use std::sync::Mutex;
use steward_core::Timestamp;
use steward_core::locks::lock;

/// Most a minute from one address.
const PER_ADDRESS: u32 = 30;
/// Most a minute from all.
const PER_MINUTE: u32 = 300;
/// Addresses that are remembered before those of earlier minutes are forgotten.
const ADDRESSES: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    minute: i64,
    all: u32,
    by_address: HashMap<String, Count>,
}

#[derive(Debug, Default)]
struct Count {
    minute: i64,
    entries: u32,
    left_out: u32,
}

impl Refusals {
    /// Whether a refusal becomes an entry. `Some`: how many of this address were left out since its last one.
    pub fn admit(&self, address: Option<&str>, now: Timestamp) -> Option<u32> {
        let minute = now.0.div_euclid(60_000);
        let mut counts = lock(&self.0);
        if counts.minute != minute {
            counts.minute = minute;
            counts.all = 0;
        }
        if counts.by_address.len() >= ADDRESSES {
            counts.by_address.retain(|_, count| count.minute == minute);
        }
        let all = counts.all;
        let crowded = counts.by_address.len() >= ADDRESSES;
        let address = if crowded { "" } else { address.unwrap_or_default() };
        let count = counts.by_address.entry(address.to_owned()).or_default();
        if count.minute != minute {
            count.minute = minute;
            count.entries = 0;
        }
        if count.entries >= PER_ADDRESS || all >= PER_MINUTE {
            if count.left_out == 0 {
                tracing::warn!(address, "refused requests are left out of the audit trail: they are too many");
            }
            count.left_out += 1;
            return None;
        }
        count.entries += 1;
        let left_out = std::mem::take(&mut count.left_out);
        counts.all += 1;
        Some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::{ADDRESSES, PER_ADDRESS, PER_MINUTE, Refusals};
    use steward_core::Timestamp;

    #[test]
    fn a_flood_leaves_a_bounded_number_of_entries() {
        let refusals = Refusals::default();
        let (now, later) = (Timestamp(0), Timestamp(60_000));
        for _ in 0..PER_ADDRESS {
            assert_eq!(refusals.admit(Some("a"), now), Some(0));
        }
        for _ in 0..3 {
            assert_eq!(refusals.admit(Some("a"), now), None);
        }
        assert_eq!(refusals.admit(Some("b"), now), Some(0));
        assert_eq!(refusals.admit(Some("a"), later), Some(3));
        assert_eq!(refusals.admit(Some("a"), later), Some(0));
        let many =
            (0..2 * ADDRESSES).filter(|one| refusals.admit(Some(&one.to_string()), Timestamp(120_000)).is_some());
        assert_eq!(many.count(), PER_MINUTE as usize);
        assert!(refusals.0.lock().unwrap().by_address.len() <= ADDRESSES + 1);
    }
}
