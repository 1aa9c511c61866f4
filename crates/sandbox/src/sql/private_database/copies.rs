//! The copy of a private database from before its last schema change, or from before it was cleared. No connection to
//! the file may be open here: to close another handle on it would drop the locks of the connection.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{PrivateDatabase, SqlError};
use crate::sql::open::beside;

/// Files beside a database that may hold rows of it.
const LEFT_BESIDE: &[&str] =
    &["-journal", ".half", ".before", ".source", ".import-journal", ".import.half", ".import.before", ".import"];

/// Durable when it returns, so that a power cut can't undo one of two renames and keep the other.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    match to.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

impl PrivateDatabase {
    fn copy_path(&self) -> PathBuf {
        beside(&self.path, ".before")
    }

    pub fn has_copy(&self) -> bool {
        self.copy_path().exists()
    }

    /// A copy that takes the place of the one before it only once the change is done: [`Self::keep_copy`].
    pub(super) fn begin_copy(&self) -> Result<PathBuf, SqlError> {
        let half = beside(&self.path, ".half");
        let copied = fs::copy(&self.path, &half).and_then(|_| File::open(&half)?.sync_all());
        copied.map_err(|error| self.failed(error))?;
        Ok(half)
    }

    /// Copies the file as it is between two calls. `false`: there is none.
    pub fn copy_to(&self, target: &Path) -> Result<bool, SqlError> {
        let _alone = self.alone();
        self.settle()?;
        if !self.exists() {
            return Ok(false);
        }
        fs::copy(&self.path, target).map(|_| true).map_err(|error| self.failed(error))
    }

    pub(super) fn keep_copy(&self, copy: &Path) -> Result<(), SqlError> {
        rename(copy, &self.copy_path()).map_err(|error| self.failed(error))
    }

    pub(super) fn put_copy_back(&self, call: i64) -> Result<String, SqlError> {
        let newest = self.open()?.newest_call()?;
        if newest != call {
            return Err(SqlError::NoUndo(
                "the database was written to since, and only the last change of tables can be taken back".to_owned(),
            ));
        }
        let copy = Self { path: self.copy_path(), ..self.clone() };
        if !copy.exists() || copy.open()?.newest_call()? + 1 != call {
            return Err(SqlError::NoUndo("the copy from before is gone".to_owned()));
        }
        rename(&copy.path, &self.path).map_err(|error| self.failed(error))?;
        Ok("the agent's database is as it was before".to_owned())
    }

    /// Sets the file aside, until a table is made again. `false` if there was none.
    pub fn clear(&self) -> Result<bool, SqlError> {
        let _alone = self.alone();
        self.settle()?;
        if !self.exists() {
            return Ok(false);
        }
        rename(&self.path, &self.copy_path()).map_err(|error| self.failed(error))?;
        Ok(true)
    }

    /// Puts back what [`Self::clear`] or the last schema change set aside; what is there now is set aside instead.
    pub fn restore_copy(&self) -> Result<(), SqlError> {
        let _alone = self.alone();
        self.settle()?;
        if !self.has_copy() {
            return Err(SqlError::NoUndo("there is no copy from before".to_owned()));
        }
        let (copy, half) = (self.copy_path(), beside(&self.path, ".half"));
        let swap = || {
            if self.path.exists() {
                rename(&self.path, &half)?;
            }
            rename(&copy, &self.path)?;
            if half.exists() { rename(&half, &copy) } else { Ok(()) }
        };
        swap().map_err(|error| self.failed(error))
    }

    /// Replaces the file by another one, which `fill` makes.
    pub(super) fn adopt(&self, fill: impl FnOnce(&PrivateDatabase) -> Result<(), SqlError>) -> Result<(), SqlError> {
        let fresh = Self { path: beside(&self.path, ".import"), ..self.clone() };
        fresh.remove()?;
        if let Err(error) = fill(&fresh) {
            fresh.remove()?;
            return Err(error);
        }
        let alone = self.alone();
        self.settle()?;
        if self.exists() {
            rename(&self.path, &self.copy_path()).map_err(|error| self.failed(error))?;
        }
        if fresh.exists() {
            rename(&fresh.path, &self.path).map_err(|error| self.failed(error))?;
        }
        drop(alone);
        // Copies from while it was filled.
        fresh.remove().map(|_| ())
    }

    /// The file, its copy and what an import that was cut off has left, for good. `false` if there was no file.
    pub fn remove(&self) -> Result<bool, SqlError> {
        let _alone = self.alone();
        let mut removed = false;
        for suffix in LEFT_BESIDE.iter().copied().chain([""]) {
            match fs::remove_file(beside(&self.path, suffix)) {
                Ok(()) => removed |= suffix.is_empty(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(removed)
    }
}
