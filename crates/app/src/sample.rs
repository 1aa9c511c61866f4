//! What a new conversation offers: things to try here, and a small sample workspace.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::files::{SampleChange, Start};
use std::path::Path;
use std::sync::Arc;
use steward_tools::sample;

const TRIES: usize = 6;

impl App {
    /// What can be tried in this workspace, in this language, and whether the sample lies in it.
    pub async fn tries(&self, caller: &Caller, language: String) -> AppResult<Start> {
        authorize(caller, Action::Read, Resource::Sample)?;
        let folder = self.workspace.copy();
        let intent = Arc::clone(&self.deps().intent);
        blocking(move || {
            let files = intent.files(Path::new(&folder));
            let mut tries = intent.tries(&files, &language);
            tries.truncate(TRIES);
            Ok::<_, String>(Start { empty: files.is_empty(), sample: sample::is_present(&folder), tries })
        })
        .await
    }

    /// Adds the sample workspace; nothing is overwritten.
    pub async fn add_sample(&self, caller: &Caller) -> AppResult<SampleChange> {
        authorize(caller, Action::Write, Resource::Sample)?;
        let folder = self.workspace.copy();
        blocking(move || sample::add(&folder).map(SampleChange::from)).await
    }

    /// Removes the files of the sample that nobody has changed.
    pub async fn remove_sample(&self, caller: &Caller) -> AppResult<SampleChange> {
        authorize(caller, Action::Write, Resource::Sample)?;
        let folder = self.workspace.copy();
        blocking(move || sample::remove(&folder).map(SampleChange::from)).await
    }
}

async fn blocking<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> AppResult<T> {
    let failed = |why: String| {
        let hint = "see that the server may write in its workspace, and try again";
        AppError::conflict("workspace", format!("the workspace can't be used: {why}"), hint)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
