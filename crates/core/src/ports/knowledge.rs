use super::documents::ChunkRow;
use super::store_result::StoreError;
use crate::document::DocumentOrigin;
use crate::extracted::{ExtractFailure, Extracted, OcrEngine, PageReading};
use crate::governance::{Classification, FoundData, PiiKind};
use crate::{AgentId, DocumentId, UserId};
use async_trait::async_trait;
use std::path::Path;
use std::sync::{Arc, OnceLock};

#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model is not installed: {0}; run `make setup`")]
    Missing(String),
    #[error("the embedding model cannot be used: {0}")]
    Broken(String),
}

/// A text and the labels that it is an example of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Labelled {
    pub text: String,
    pub labels: Vec<usize>,
}

/// Scores how much a text resembles the examples of each label.
#[async_trait]
pub trait Classifier: Send + Sync {
    /// One score per label, around 0 for no match and 1 for a sure one.
    async fn scores(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Turns texts into vectors of length 1.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector per text, in order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
    /// Like [`Self::embed`] for recurring texts that are nobody's, such as tool descriptions; may be cached in a file.
    async fn embed_lasting(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(texts).await
    }
    /// Counts what the model reads of a text, without loading more of it than that takes.
    fn token_counter(&self) -> Arc<dyn TokenCounter> {
        Arc::new(RoughCounter)
    }
    /// Fails if it was fitted to another model, or the embedder classifies nothing.
    fn classifier(&self, _fitted: &'static [u8]) -> Result<Arc<dyn Classifier>, EmbedError> {
        Err(EmbedError::Missing("it classifies nothing".to_owned()))
    }
    /// Name of the model, stored beside each vector.
    fn model(&self) -> &str;
    fn dimension(&self) -> usize;
}

/// How much of a text a model reads.
pub trait TokenCounter: Send + Sync {
    /// Tokens of the text, without those that the model adds itself.
    fn count(&self, text: &str) -> usize;
    /// What is beyond is cut off.
    fn max_tokens(&self) -> usize;
}

/// Three bytes a token: more than most texts have.
#[derive(Debug)]
pub struct RoughCounter;

impl TokenCounter for RoughCounter {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }

    fn max_tokens(&self) -> usize {
        254
    }
}

/// Finds personal data and secrets in text.
pub trait PersonalData: Send + Sync {
    /// The kinds that a text has, each once.
    fn kinds_in(&self, text: &str) -> Vec<PiiKind>;
    /// Each place of it, in order, none within another.
    fn find(&self, text: &str) -> Vec<FoundData>;
}

/// Reads documents of any format.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// `name` is what people call the file. Dropping the future ends the work.
    async fn extract(&self, file: &Path, name: &str) -> Result<Extracted, ExtractFailure>;
}

/// Reads the characters of pages that are pictures, one page at a time.
#[async_trait]
pub trait PageReader: Send + Sync {
    /// The engines that there are, in the order in which they are asked.
    fn engines(&self) -> Vec<OcrEngine>;
    /// Has an engine of these read a page, from 1. Dropping the future ends the work.
    async fn read(&self, engine: OcrEngine, file: &Path, page: u32) -> Result<PageReading, ExtractFailure>;
    /// The page as a PNG, upright, as large as a model looks at.
    async fn show(&self, file: &Path, page: u32) -> Result<Vec<u8>, ExtractFailure>;
}

/// A model that reads a page from its picture.
#[async_trait]
pub trait PictureModel: Send + Sync {
    /// Its text, paragraphs parted by empty lines; `None`: no model may be shown what is so confidential, or none sees.
    /// `user`: for whom, `None`: for nobody who is known.
    async fn read(
        &self,
        png: &[u8],
        classification: Option<Classification>,
        user: Option<UserId>,
    ) -> Result<Option<String>, ExtractFailure>;
    /// Whether there is one for anything.
    async fn is_there(&self) -> bool;
}

/// What a run wants of documents.
#[derive(Debug, Clone, Copy)]
pub struct PassageQuery<'a> {
    pub text: &'a str,
    pub agent: AgentId,
    /// Whose rights hold; `None`: the program asks by itself.
    pub user: Option<UserId>,
    /// The folder whose files the agent may read with its tools; that of another program has no documents here.
    pub workspace: Option<&'a str>,
    /// Only these documents, whichever agents they are linked to; empty: any.
    pub documents: &'a [DocumentId],
    /// Whether all that the user may search is looked through; else only the workspace and what the agent is linked to.
    pub everything: bool,
    /// Whether it is worth the time to look closely: the answer is no more than what is found.
    pub closely: bool,
    pub limit: usize,
}

/// A passage that may answer.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPassage {
    pub document: DocumentId,
    pub name: String,
    pub origin: DocumentOrigin,
    pub source: String,
    /// What it is to be kept as, and the name of the collection.
    pub classification: Option<Classification>,
    pub collection: String,
    /// Its place in the document, from 0.
    pub index: u32,
    pub chunk: ChunkRow,
    /// The part of it that answers best.
    pub quote: String,
    /// How near that part is: its cosine and its share of the question's words, added.
    pub nearest: f32,
    pub cosine: Option<f32>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundPassages {
    /// The best first.
    pub passages: Vec<DocumentPassage>,
    /// Documents that were looked through.
    pub documents: u64,
    /// Why they were not looked through as usual.
    pub problem: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    #[error("the index of documents can't be used: {0}")]
    Index(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where the documents of a tenant are put once they are there; empty: there are none.
pub type KnowledgeSlot = Arc<OnceLock<Arc<dyn Knowledge>>>;

/// Documents, as runs ask them.
#[async_trait]
pub trait Knowledge: Send + Sync {
    /// Passages near to a question, of documents that its user may search.
    async fn passages(&self, query: PassageQuery<'_>) -> Result<FoundPassages, KnowledgeError>;
}
