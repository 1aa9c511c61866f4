//! Room on the disk. Uploads, documents and new runs leave a reserve alone, so that logins, deletions and whatever stops
//! somebody can still be written when the disk is full for everything else.

use crate::config::Configuration;
use crate::error::{AppError, ErrorKind};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;

/// The reserve where nobody set one: hundredths of the disk, at least and at most so many bytes.
const HUNDREDTHS: u64 = 1;
const LEAST: u64 = 512 * MB;
const MOST: u64 = 4 << 30;
/// How long a look at the disk is as good as a new one.
const FRESH: Duration = Duration::from_millis(100);
const MB: u64 = 1_000_000;

/// The setting of the reserve, MB.
const RESERVE: &str = "DISK_RESERVE_MB";

/// A disk as it is at a moment, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    pub free: u64,
    pub total: u64,
}

/// Too little is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskShortage {
    pub free: u64,
    pub reserve: u64,
}

type Probe = Box<dyn Fn() -> io::Result<Vec<DiskSpace>> + Send + Sync>;

/// Looks at the disks that data is written to.
pub struct DiskRoom {
    probe: Probe,
    config: Arc<Configuration>,
    last: Mutex<Option<(Instant, Option<DiskShortage>)>>,
}

impl DiskRoom {
    /// Of the disks that these folders are on.
    pub fn of_folders(folders: impl Fn() -> Vec<PathBuf> + Send + Sync + 'static, config: Arc<Configuration>) -> Self {
        let probe = move || {
            let space = |folder: &PathBuf| {
                let found = rustix::fs::statvfs(folder)?;
                let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
                Ok(DiskSpace { free: bytes(found.f_bavail), total: bytes(found.f_blocks) })
            };
            // One that isn't there yet is made when it is needed.
            folders().iter().filter(|folder| folder.is_dir()).map(space).collect()
        };
        Self::new(probe, config)
    }

    /// As `probe` says.
    pub fn new(
        probe: impl Fn() -> io::Result<Vec<DiskSpace>> + Send + Sync + 'static,
        config: Arc<Configuration>,
    ) -> Self {
        Self { probe: Box::new(probe), config, last: Mutex::default() }
    }

    /// `None`: there is room. What can't be looked at is taken for it, since writing tells then.
    pub fn shortage(&self) -> Option<DiskShortage> {
        let mut last = lock(&self.last);
        if let Some((at, found)) = *last
            && at.elapsed() < FRESH
        {
            return found;
        }
        let chosen = self.config.number(RESERVE).map(|megabytes| megabytes * MB);
        let found = match (self.probe)() {
            Ok(disks) => disks.into_iter().find_map(|disk| find_shortage(disk, chosen)),
            Err(error) => {
                tracing::warn!(%error, "the room on the disk can't be looked at");
                None
            }
        };
        *last = Some((Instant::now(), found));
        found
    }
}

fn find_shortage(disk: DiskSpace, chosen: Option<u64>) -> Option<DiskShortage> {
    let usual = (disk.total / 100 * HUNDREDTHS).clamp(LEAST, MOST);
    // Half of a small disk at most, or nothing could be written to it.
    let reserve = chosen.unwrap_or(usual).min(disk.total / 2);
    (disk.free < reserve).then_some(DiskShortage { free: disk.free, reserve })
}

impl From<DiskShortage> for AppError {
    fn from(DiskShortage { free, reserve }: DiskShortage) -> Self {
        let title =
            format!("the server's disk is full: {} MB are free, and {} MB stay reserved", free / MB, reserve / MB);
        let hint = "delete documents, files or conversations, or have an administrator make room on the disk";
        Self::new(ErrorKind::StorageFull, title, hint).code("disk_full")
    }
}

#[cfg(test)]
mod tests {
    use super::{DiskShortage, DiskSpace, find_shortage};

    const MB: u64 = 1_000_000;
    const GB: u64 = 1000 * MB;

    #[test]
    fn the_usual_reserve_grows_with_the_disk_within_bounds_and_a_chosen_one_is_kept() {
        let reserve =
            |total, chosen| find_shortage(DiskSpace { free: 0, total }, chosen).map_or(0, |found| found.reserve);
        assert_eq!(reserve(80 * MB, None), 40 * MB);
        assert_eq!(reserve(10 * GB, None), 512 * MB);
        assert_eq!(reserve(100 * GB, None), GB);
        assert_eq!(reserve(10_000 * GB, None), 4 << 30);
        assert_eq!(reserve(100 * GB, Some(64 * MB)), 64 * MB);
        assert_eq!(reserve(100 * GB, Some(20 * GB)), 20 * GB);
        assert_eq!(reserve(80 * MB, Some(64 * MB)), 40 * MB);
        let free = |free| find_shortage(DiskSpace { free, total: 10 * GB }, None);
        assert_eq!(free(512 * MB), None);
        assert_eq!(free(512 * MB - 1), Some(DiskShortage { free: 512 * MB - 1, reserve: 512 * MB }));
    }
}
