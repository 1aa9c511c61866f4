//! New ids.

use steward_core::ports::Ids;
use uuid::Uuid;

/// UUIDs of version 7, from the machine's clock and its source of randomness. Those of one process
/// sort by the order they were made in.
#[derive(Debug, Clone, Copy, Default)]
pub struct UuidV7;

impl Ids for UuidV7 {
    #[expect(clippy::disallowed_methods, reason = "this is the port that everyone else takes ids from")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

#[cfg(test)]
mod tests {
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
