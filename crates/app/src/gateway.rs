mod data_policy;
mod reservation;
mod usage_writer;

use crate::app::App;
use steward_core::ports::{Embedder, ModelCall, NoAnswer, Opened};

pub use data_policy::NotPassed;
pub use reservation::Reservation;
pub(crate) use usage_writer::Settlement;
pub use usage_writer::UsageWriter;

impl App {
    pub fn embedder(&self) -> &dyn Embedder {
        &*self.deps().embedder
    }

    /// Asks models by Steward's own request, for endpoints that don't speak the dialect of OpenAI.
    pub async fn open_model(&self, call: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        self.deps().models.open(call).await
    }
}
