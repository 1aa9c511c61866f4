use super::file_of;
use std::fs;
use std::io::{ErrorKind, Result};
use std::path::PathBuf;
use steward_core::{TenantId, UserId};

/// The calendars of people, for an export of their data and for their erasure.
#[derive(Debug, Clone)]
pub struct UserCalendars {
    folder: PathBuf,
}

impl UserCalendars {
    /// `folder`: that of [`super::CalendarConfig`].
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn exists(&self, tenant: TenantId, user: UserId) -> Result<bool> {
        self.path(tenant, user).try_exists()
    }

    /// As iCalendar; `None`: there is none.
    pub fn text(&self, tenant: TenantId, user: UserId) -> Result<Option<String>> {
        match fs::read(self.path(tenant, user)) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `false`: there is none.
    pub fn delete(&self, tenant: TenantId, user: UserId) -> Result<bool> {
        match fs::remove_file(self.path(tenant, user)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn path(&self, tenant: TenantId, user: UserId) -> PathBuf {
        file_of(&self.folder, tenant, &user.to_string())
    }
}
