use crate::app::{App, AppResult, Caller};
use crate::heavy_work::work_apart;
use std::sync::Arc;
use steward_core::governance::PiiKind;

impl App {
    /// Does the work on an input of so many bytes for who asks, when it is their turn.
    pub(crate) async fn work_for<T: Send + 'static>(
        &self,
        caller: &Caller,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> AppResult<T> {
        Ok(work_apart((self.tenant(), caller.user()), bytes, work).await?)
    }

    /// The kinds of personal data that a text has.
    pub(crate) async fn personal_data_in(&self, caller: &Caller, text: &str) -> AppResult<Vec<PiiKind>> {
        let (detector, text) = (Arc::clone(&self.deps().personal_data), text.to_owned());
        self.work_for(caller, text.len(), move || detector.kinds_in(&text)).await
    }
}
