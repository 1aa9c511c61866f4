//! Calendars as iCalendar files (RFC 5545), one for each user, and the tools `calendar_…`.

mod create;
mod delete;
mod event;
mod ics;
mod import_export;
mod list;
mod occurrence;
mod of_user;
mod recurrence;
mod time;
mod zone;

pub use of_user::UserCalendars;

use crate::dispatcher::DispatcherBuilder;
use crate::error::{ToolsError, refused};
use crate::facts;
use crate::files::{Write, blocking};
use create::CalendarCreate;
use delete::CalendarDelete;
use event::{UndoRecord, settle_changes, undo_changes};
use ics::Component;
use import_export::{CalendarExport, CalendarImport};
use jiff::tz::TimeZone;
use list::CalendarList;
use serde_json::Value;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;
use steward_core::ports::{Blobs, Clock, Interrupted, ToolScope};
use steward_core::tool::Settled;
use steward_core::{TenantId, UserId};
use tokio::sync::Semaphore;

#[must_use]
pub fn with_calendar(
    builder: DispatcherBuilder,
    config: CalendarConfig,
    clock: &Arc<dyn Clock>,
    blobs: &Arc<dyn Blobs>,
) -> DispatcherBuilder {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let calendars = Arc::new(CalendarStore { config, clock: Arc::clone(clock), turn: Mutex::default(), places });
    builder
        .with(CalendarList(Arc::clone(&calendars)))
        .with(CalendarCreate(Arc::clone(&calendars)))
        .with(CalendarDelete(Arc::clone(&calendars)))
        .with(CalendarImport(Arc::clone(&calendars)))
        .with(CalendarExport { calendars, files: Write::new(Arc::clone(blobs)) })
}

const MAX_BYTES: usize = 8 << 20;
/// Calls that work on calendars at the same time.
const AT_ONCE: usize = 4;

#[derive(Debug, Clone)]
pub struct CalendarConfig {
    /// Folder of the calendars; created when needed.
    pub folder: PathBuf,
    /// The zone of times that name none.
    pub zone: TimeZone,
}

struct CalendarStore {
    config: CalendarConfig,
    clock: Arc<dyn Clock>,
    /// Locked while a file is read and written back.
    turn: Mutex<()>,
    /// Who waits for a turn waits without a thread.
    places: Arc<Semaphore>,
}

/// That of the run's user, whichever agent asks.
fn calendar_name(scope: &ToolScope) -> Result<String, ToolsError> {
    let user = scope.user.ok_or_else(|| {
        ToolsError::refused("a calendar is a user's, and no user in particular asked for this run; have a user ask")
    })?;
    Ok(user.to_string())
}

impl CalendarStore {
    fn zone(&self) -> &TimeZone {
        &self.config.zone
    }

    /// Runs blocking `work` on its own thread.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ToolsError> + Send + 'static,
    ) -> Result<T, ToolsError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let store = Arc::clone(self);
        blocking(move || {
            let _place = place;
            work(&store)
        })
        .await
    }

    async fn undo(self: &Arc<Self>, snapshot: &Value, scope: &ToolScope) -> Result<String, ToolsError> {
        let kept: UndoRecord = facts::snapshot(snapshot)?;
        if calendar_name(scope)? != kept.calendar {
            return Err(ToolsError::NoUndo("it was done in the calendar of another user".to_owned()));
        }
        let scope = scope.clone();
        self.blocking(move |store| store.change(&scope, &kept.calendar, |calendar| undo_changes(calendar, &kept))).await
    }

    /// Whether a call whose proof is an [`UndoRecord`] has happened.
    async fn settle(self: &Arc<Self>, call: Interrupted, scope: &ToolScope) -> Settled {
        let Some(staged) = call.staged else {
            return Settled::NotHappened("the calendar had not been written".to_owned());
        };
        let scope = scope.clone();
        let looked = self.blocking(move |store| {
            let kept: UndoRecord = facts::snapshot(&staged.proof)?;
            let calendar = store.read(&scope, &kept.calendar)?;
            Ok(settle_changes(&calendar, &kept))
        });
        looked.await.unwrap_or_else(|error| Settled::Unknown(error.to_string()))
    }

    fn path(&self, scope: &ToolScope, name: &str) -> Result<PathBuf, ToolsError> {
        // The name may come from a snapshot.
        if name.parse::<UserId>().is_err() {
            return Err(ToolsError::NoUndo(format!("`{name}` is no calendar")));
        }
        Ok(file_of(&self.config.folder, scope.tenant, name))
    }

    /// The calendar of this name; empty if there is none yet. Blocking.
    fn read(&self, scope: &ToolScope, name: &str) -> Result<Component, ToolsError> {
        let path = self.path(scope, name)?;
        match fs::read_to_string(&path) {
            Ok(text) => Component::read(&text).map_err(|error| {
                scope.consulted.outside("the calendar");
                refused!("the calendar {} is damaged: {error}", path.display())
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Component::calendar()),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    /// Changes a calendar; nothing is written if `work` fails. Blocking.
    fn change<T>(
        &self,
        scope: &ToolScope,
        name: &str,
        work: impl FnOnce(&mut Component) -> Result<T, ToolsError>,
    ) -> Result<T, ToolsError> {
        self.change_staged(scope, name, work, |_| Ok(()))
    }

    /// As [`Self::change`]; calls `stage` right before writing, and writes nothing if that fails.
    fn change_staged<T>(
        &self,
        scope: &ToolScope,
        name: &str,
        work: impl FnOnce(&mut Component) -> Result<T, ToolsError>,
        stage: impl FnOnce(&T) -> Result<(), ToolsError>,
    ) -> Result<T, ToolsError> {
        let _turn = lock(&self.turn);
        let path = self.path(scope, name)?;
        let before = self.read(scope, name)?;
        let mut calendar = before.clone();
        let done = work(&mut calendar)?;
        if calendar == before {
            return Ok(done);
        }
        let text = calendar.text();
        if text.len() > MAX_BYTES {
            return Err(refused!(
                "the calendar would be larger than {} MB; delete old events, or keep them in a file",
                MAX_BYTES >> 20
            ));
        }
        stage(&done)?;
        save(&path, &text).map_err(|error| failed(&path, &error))?;
        Ok(done)
    }
}

fn file_of(folder: &Path, tenant: TenantId, name: &str) -> PathBuf {
    folder.join(tenant.to_string()).join(format!("{name}.ics"))
}

fn failed(path: &Path, error: &std::io::Error) -> ToolsError {
    refused!("the calendar {} can't be kept: {error}; ask an operator to look at the data folder", path.display())
}

/// Writes atomically: readers see the old file or the new one.
fn save(path: &Path, text: &str) -> std::io::Result<()> {
    let Some(folder) = path.parent() else {
        return Err(ErrorKind::InvalidInput.into());
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(folder)?.sync_all()
}
