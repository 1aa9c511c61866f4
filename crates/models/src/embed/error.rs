use std::path::PathBuf;

/// What can go wrong with the embedder.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file of the model is not there.
    #[error(
        "the embedding model's file {} does not exist; run `make setup` to fetch it",
        path.display()
    )]
    FileMissing {
        /// The file.
        path: PathBuf,
    },
    /// A file of the model can't be used.
    #[error(
        "the embedding model's file {} cannot be loaded: {reason}; run `make setup` to fetch it again",
        path.display()
    )]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The model failed on valid input.
    #[error("the embedding model failed: {reason}")]
    Inference {
        /// The runtime's words.
        reason: String,
    },
}
