//! What is asked before something takes room on the disk.

use crate::app::{App, AppError, AppResult};
use crate::quotas::UploadPlace;
use std::path::Path;
use steward_core::UserId;

/// Rows of files that are compared with the workspace at a time.
const PAGE: u32 = 500;

impl App {
    /// Refuses whatever takes more room, once only the reserve of the disk is left.
    pub(crate) fn require_disk_room(&self) -> AppResult<()> {
        match self.disk.shortage() {
            None => Ok(()),
            Some(shortage) => Err(shortage.into()),
        }
    }

    /// A place for an upload of the user within the quotas; `length`: its bytes, if they are known.
    pub(crate) async fn begin_counting(&self, user: UserId, length: Option<u64>) -> AppResult<UploadPlace> {
        self.require_disk_room()?;
        let length = length.unwrap_or(1);
        let place = self.open_place(user).await?;
        if place.check(length).is_ok() {
            return Ok(place);
        }
        drop(place);
        // Files may have been removed in the workspace since.
        self.forget_removed_uploads().await?;
        let place = self.open_place(user).await?;
        place.check(length)?;
        Ok(place)
    }

    async fn open_place(&self, user: UserId) -> AppResult<UploadPlace> {
        let mut place = UploadPlace::open(&self.uploads, user);
        place.set_used(self.store.uploaded_bytes(self.tenant(), user).await?, &self.config);
        Ok(place)
    }

    /// Forgets rows whose files are gone.
    async fn forget_removed_uploads(&self) -> AppResult<()> {
        let mut after: Option<String> = None;
        loop {
            let page = self.store.uploads(self.tenant(), None, after.as_deref(), PAGE).await?;
            let paths: Vec<String> = page.items.into_iter().map(|file| file.path).collect();
            after = paths.last().cloned();
            let workspace = self.workspace.copy();
            let gone = move |path: &String| !Path::new(&workspace).join(path).is_file();
            let gone = tokio::task::spawn_blocking(move || paths.into_iter().filter(gone).collect::<Vec<_>>());
            let gone = gone.await.map_err(|_| AppError::unavailable("the workspace could not be looked at"))?;
            for path in gone {
                self.store.forget_upload(self.tenant(), &path).await?;
            }
            if !page.more {
                return Ok(());
            }
        }
    }
}
