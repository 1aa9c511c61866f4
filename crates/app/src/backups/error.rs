use crate::app::{AppError, ErrorKind};
use std::io;
use steward_core::ports::StoreError;
use steward_tools::HostPathError;

/// Why a backup can't be made or used.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("this file is no backup of Steward")]
    NotABackup,
    #[error("the backup is damaged: {what} (at byte {at})")]
    Damaged { at: u64, what: String },
    #[error("the backup was made by a newer program, steward {program}")]
    Newer { program: String },
    #[error(
        "the database of the backup was made by other steps than those of this program (step `{step}`, steward {program})"
    )]
    OtherSteps { step: String, program: String },
    #[error("the backup is sealed with a passphrase")]
    NeedsPassphrase,
    #[error("the passphrase isn't that of this backup")]
    WrongPassphrase,
    #[error("the backup holds `{0}`, which no backup holds")]
    Unknown(String),
    #[error("{needed} MB are needed, and {free} MB are free")]
    NoRoom { needed: u64, free: u64 },
    #[error("it was stopped")]
    Stopped,
    /// Of the backup's file.
    #[error("the backup can't be read: {0}")]
    Input(io::Error),
    #[error("can't be written: {0}")]
    Write(io::Error),
    #[error("`{0}` can't be read: {1}")]
    Read(String, io::Error),
    #[error(transparent)]
    Place(#[from] HostPathError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a part of the work was cut off")]
    CutOff,
}

impl BackupError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotABackup => "name a file that `steward backup` made".to_owned(),
            Self::Damaged { .. } | Self::Unknown(_) => {
                "take another copy of it or an older backup; nothing of this one was put in place".to_owned()
            }
            Self::Newer { .. } => "restore it with that version or a newer one".to_owned(),
            Self::OtherSteps { program, .. } => format!("restore it with steward {program}, which made it"),
            Self::NeedsPassphrase => "type it when you are asked, or give it by --passphrase-fd NUMBER".to_owned(),
            Self::WrongPassphrase => "type the one that the backup was made with".to_owned(),
            Self::NoRoom { .. } => "free space there, or choose another disk".to_owned(),
            Self::Stopped => "nothing was kept of it; begin again when you want".to_owned(),
            Self::Input(_) | Self::Read(..) => {
                "check that the file is there and may be read, then try again".to_owned()
            }
            Self::Write(_) => "free space there, or choose another disk, then try again".to_owned(),
            Self::Place(error) => error.hint().to_owned(),
            Self::Store(_) => "see `steward doctor`, then try again".to_owned(),
            Self::CutOff => "the log says why; try again".to_owned(),
        }
    }
}

impl From<BackupError> for AppError {
    fn from(error: BackupError) -> Self {
        let (title, hint) = (error.to_string(), error.hint());
        match error {
            BackupError::Place(_) => Self::invalid("path", title, hint),
            BackupError::NoRoom { .. } => Self::new(ErrorKind::StorageFull, title, hint).code("disk_full"),
            BackupError::Store(error) => error.into(),
            _ => Self::new(ErrorKind::Unavailable, title, hint),
        }
    }
}
