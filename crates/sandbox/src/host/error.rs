use std::io;
use std::path::PathBuf;

/// Why a place that somebody named can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HostPathError {
    #[error("`{0}` isn't an absolute path")]
    Relative(PathBuf),
    /// It is the program's own, or lies in what is.
    #[error("`{0}` belongs to Steward itself: its data, cache, settings or keys")]
    Own(PathBuf),
    #[error("`{0}` holds Steward's own data, cache, settings or keys, or would if they were there")]
    HoldsOwn(PathBuf),
    /// It opens this machine or other services, or tells of others on it.
    #[error("`{0}` is a secret of this machine: keys, passwords, or what its programs tell each other")]
    Secret(PathBuf),
    #[error("`{0}` holds secrets of this machine, such as keys and passwords, or would if they were there")]
    HoldsSecret(PathBuf),
    #[error("`{0}` has another name (a hard link) on the disk of Steward's own files, so it may be one of them")]
    Linked(PathBuf),
    /// Whoever may change it decides what the program itself does, or the machine.
    #[error(
        "`{0}` is, or holds, what Steward or this machine starts or lets people in by; it isn't given to others to change"
    )]
    Programs(PathBuf),
    #[error("there is a symbolic link in the path `{0}`, where there was none when it was named")]
    Link(PathBuf),
    #[error("`{0}` is neither a file nor a folder")]
    Kind(PathBuf),
    /// Such files tell of processes, with their keys and memory.
    #[error("`{0}` is in a file system that the kernel makes up, such as /proc")]
    Kernel(PathBuf),
    /// Nothing is written over.
    #[error("`{0}` is there already")]
    Exists(PathBuf),
    #[error("`{0}` is being written by somebody else right now")]
    Busy(PathBuf),
    #[error("`{path}` can't be opened: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
}

impl HostPathError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Relative(_) => "give an absolute path on the server, such as /srv/contracts",
            Self::Own(_) | Self::Secret(_) => "copy what you need to another folder, and name that one",
            Self::HoldsOwn(_) | Self::HoldsSecret(_) => "name folders further down that don't hold it",
            Self::Linked(_) => "copy the file, and name the copy",
            Self::Programs(_) => "name another folder, or one further down",
            Self::Link(_) => "check who put the link there; if it is meant, name the folder again",
            Self::Kind(_) => "name a file or a folder",
            Self::Kernel(_) => "name a file or a folder on a disk",
            Self::Exists(_) => "choose another name, or move the file away",
            Self::Busy(_) => "wait for its end, or choose another name",
            Self::Unreadable { .. } => "check that it is there, and that Steward may read it",
        }
    }
}
