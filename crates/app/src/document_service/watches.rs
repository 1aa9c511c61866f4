//! Tells when something happens below folders, where the kernel tells (inotify). What it does not tell, the next look finds.

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::statfs;
use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::unix::AsyncFd;

/// Folders that are watched at most: the kernel has some for all programs of a user, at times as few as 8,192.
const MAX_FOLDERS: usize = 4096;
/// File systems whose changes all come through this kernel: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs.
const LOCAL: [u64; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010];

pub(super) struct Watches {
    fd: AsyncFd<OwnedFd>,
    /// Something has happened that was not told yet.
    pending: AtomicBool,
    /// Roots that were seen to be on a local file system.
    local: HashSet<PathBuf>,
    watched: HashSet<i32>,
    /// Whether all folders of the last look are watched.
    complete: bool,
}

impl Watches {
    /// `None`: the kernel has none left, or no inotify.
    pub fn new() -> Option<Self> {
        let fd = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        #[expect(deprecated, reason = "the descriptor is owned, as it must be; the other function is unsafe to call")]
        let fd = fd.and_then(|fd| AsyncFd::new(fd).map_err(|_| rustix::io::Errno::IO));
        match fd {
            Ok(fd) => Some(Self {
                fd,
                pending: AtomicBool::new(false),
                local: HashSet::new(),
                watched: HashSet::new(),
                complete: false,
            }),
            Err(error) => {
                tracing::info!(%error, "folders are looked through from time to time only");
                None
            }
        }
    }

    /// Watches the folders that a look found, and these alone. Answers whether some were not watched before: what
    /// happened there since they were looked into was not told.
    pub fn follow(&mut self, roots: &[PathBuf], folders: &[PathBuf]) -> bool {
        self.local.retain(|root| roots.contains(root));
        for root in roots {
            if !self.local.contains(root) && is_local(root) {
                self.local.insert(root.clone());
            }
        }
        // A root that is not there, or is a file, is none of the folders.
        let sound = |root: &PathBuf| self.local.contains(root) && folders.contains(root);
        self.complete = folders.len() <= MAX_FOLDERS && roots.iter().all(sound);
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let mut now = HashSet::new();
        for folder in folders.iter().take(MAX_FOLDERS) {
            match inotify::add_watch(self.fd.get_ref(), folder.as_path(), flags) {
                Ok(watch) => {
                    now.insert(watch);
                }
                // It went meanwhile, which its parent tells.
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                Err(error) => {
                    tracing::debug!(%error, folder = %folder.display(), "a folder can't be watched");
                    self.complete = false;
                    break;
                }
            }
        }
        for gone in self.watched.difference(&now) {
            // Of folders that are not there any more the kernel has ended it.
            let _ended = inotify::remove_watch(self.fd.get_ref(), *gone);
        }
        let more = now.iter().any(|watch| !self.watched.contains(watch));
        self.watched = now;
        more
    }

    /// Whether all that happens will be told.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns once something has happened that [`Self::told`] has not told yet. Nothing is lost if it is dropped.
    pub async fn changed(&self) {
        while !self.pending.load(Ordering::Relaxed) {
            let Ok(mut ready) = self.fd.readable().await else {
                return std::future::pending().await;
            };
            self.take();
            ready.clear_ready();
        }
    }

    /// Whether something has happened since this was last asked.
    pub fn told(&self) -> bool {
        self.take();
        self.pending.swap(false, Ordering::Relaxed)
    }

    fn take(&self) {
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(self.fd.get_ref(), &mut space);
        while let Ok(event) = reader.next() {
            // Of a folder that is watched no more.
            if !event.events().contains(ReadFlags::IGNORED) {
                self.pending.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn is_local(root: &Path) -> bool {
    // The type's width differs between processors.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "its type differs between processors")]
    let kind = |stat: rustix::fs::StatFs| stat.f_type as u64 & 0xffff_ffff;
    statfs(root).is_ok_and(|stat| LOCAL.contains(&kind(stat)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Watches;
    use std::time::Duration;

    async fn told(watches: &Watches) -> bool {
        tokio::time::timeout(Duration::from_secs(3), watches.changed()).await.is_ok() && watches.told()
    }

    #[tokio::test]
    async fn what_happens_below_a_folder_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (root, below) = (dir.path().to_owned(), dir.path().join("below"));
        std::fs::create_dir(&below).unwrap();
        let Some(mut watches) = Watches::new() else { return };
        let both = [root.clone(), below.clone()];
        assert!(watches.follow(std::slice::from_ref(&root), &both), "they are new");
        assert!(!watches.follow(std::slice::from_ref(&root), &both), "they are known");
        std::fs::write(below.join("a.txt"), "text").unwrap();
        assert!(told(&watches).await);
        std::fs::remove_file(below.join("a.txt")).unwrap();
        assert!(told(&watches).await);
        assert!(!watches.follow(std::slice::from_ref(&root), std::slice::from_ref(&root)));
        std::fs::write(below.join("b.txt"), "text").unwrap();
        let quiet = tokio::time::timeout(Duration::from_millis(300), watches.changed()).await;
        assert!(quiet.is_err(), "it is watched no more");
    }
}
