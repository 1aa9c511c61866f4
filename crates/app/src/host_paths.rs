//! Places on the server's disk that callers name, such as a folder to scan.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use std::path::PathBuf;
use steward_tools::{HostPath, HostPathError};

impl App {
    /// Where it is, without links: what later openings take. `check` is what else must be true of it.
    pub(crate) async fn host_path(
        &self,
        caller: &Caller,
        field: &'static str,
        given: &str,
        check: fn(&HostPath) -> Result<(), HostPathError>,
    ) -> AppResult<PathBuf> {
        authorize(caller, Action::Write, Resource::ServerPaths)?;
        let (places, given) = (self.documents.places.clone(), given.to_owned());
        let found = tokio::task::spawn_blocking(move || {
            let found = places.resolve(&given)?;
            check(&found).map(|()| found.path().to_owned())
        });
        let found = found.await.map_err(|_| AppError::unavailable("the path could not be looked at"))?;
        found.map_err(|error| AppError::invalid(field, error.to_string(), error.hint()))
    }
}
