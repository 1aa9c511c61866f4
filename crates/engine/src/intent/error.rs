use steward_core::ports::EmbedError;

/// Why a request could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum IntentError {
    /// No similarity without the embedder.
    #[error("the intent filter cannot compare the request with the tools: {0}")]
    Embed(#[from] EmbedError),
    /// The embedder gave another number of vectors than texts.
    #[error("the embedder returned {got} vectors for {asked} texts; it is not usable")]
    Vectors {
        /// Texts given.
        asked: usize,
        /// Vectors returned.
        got: usize,
    },
    /// `data/intent.toml` of this build is broken.
    #[error("the intent rules are broken: {0}; correct crates/engine/data/intent.toml")]
    Settings(String),
}
