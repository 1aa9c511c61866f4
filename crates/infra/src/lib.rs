//! What the program needs of the machine: the time, ids, live events, blobs and secrets in files, the log, traces that
//! leave it, what ends the process, and requests that come over NATS. All of it serves one node: the bus is inside the
//! process, and blobs are files.

mod blobs;
mod bus;
pub mod logs;
mod nats;
mod private_files;
mod process;
mod run_traces;

pub use blobs::FileBlobs;
pub use bus::InProcessBus;
pub use nats::{NatsConfig, NatsConnection, NatsRequest};
pub use private_files::{close_data_dir, delete_folder, make_data_dir, random, signing_key, write_private};
pub use process::{restart_command, stopped};
pub use run_traces::RunTraces;

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use steward_core::Timestamp;
use steward_core::ports::{Clock, Ids};
use uuid::Uuid;

#[derive(Debug, Clone)]
pub struct SystemClock {
    zone: TimeZone,
}

impl SystemClock {
    /// Reads the machine's time zone; UTC if there is none.
    pub fn new() -> Self {
        Self { zone: TimeZone::system() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that everyone else takes the time from")]
    fn now(&self) -> Timestamp {
        // A clock set before 1970 reads as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
        jiff::Timestamp::from_millisecond(at.0).map_or(0, |at| self.zone.to_offset(at).seconds().div_euclid(60))
    }

    fn zone_name(&self) -> Option<String> {
        self.zone.iana_name().map(str::to_owned)
    }
}

/// UUIDs of version 7. Those of one process sort in the order in which they were created.
#[derive(Debug, Clone, Copy, Default)]
pub struct UuidV7;

impl Ids for UuidV7 {
    #[expect(clippy::disallowed_methods, reason = "this is the port that everyone else takes ids from")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

#[cfg(test)]
mod clock_tests {
    use super::*;

    #[test]
    fn the_time_is_this_century_and_goes_on() {
        let clock = SystemClock::new();
        let first = clock.now();
        assert!(first.rfc3339().starts_with("20"), "{}", first.rfc3339());
        assert!(clock.now() >= first);
    }

    #[test]
    fn the_offset_follows_the_zone_and_its_seasons() {
        // 2026-01-15 and 2026-07-15, noon UTC.
        let (winter, summer) = (Timestamp(1_768_478_400_000), Timestamp(1_784_116_800_000));
        let offsets = |name: &str| {
            let clock = SystemClock { zone: TimeZone::get(name).unwrap() };
            [winter, summer].map(|at| clock.utc_offset_minutes(at))
        };
        assert_eq!(offsets("Europe/Berlin"), [60, 120]);
        assert_eq!(offsets("America/St_Johns"), [-210, -150]);
        assert_eq!(offsets("Asia/Kolkata"), [330, 330]);
        assert_eq!(offsets("UTC"), [0, 0]);
        let nonsense = SystemClock { zone: TimeZone::UTC };
        assert_eq!(nonsense.utc_offset_minutes(Timestamp(i64::MAX)), 0);
    }
}

#[cfg(test)]
mod ids_tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_grow_and_are_never_the_same() {
        let ids: Vec<_> = (0..10_000).map(|_| UuidV7.next()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn threads_do_not_share_ids() {
        let threads: Vec<_> =
            (0..8).map(|_| std::thread::spawn(|| (0..1000).map(|_| UuidV7.next()).collect::<Vec<_>>())).collect();
        let all: HashSet<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(all.len(), 8000);
    }
}
