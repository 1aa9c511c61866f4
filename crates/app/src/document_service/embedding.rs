//! The models that vectors of documents are made with: the built-in one, another that lies in the models' folder, or one at
//! an endpoint. A name stands for the same model for as long as a collection has it; nothing falls to another by itself.

mod endpoint;

pub use endpoint::EndpointParts;
pub(super) use endpoint::Endpoints;

use super::classification::DocumentClassification;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::governance::Classification;
use steward_core::live::Live;
use steward_core::locks::lock;
use steward_core::model::Connection;
use steward_core::ports::{Clock, EmbedError, Embedder};
use steward_core::{Timestamp, UserId};
use steward_models::embed::ModelFolders;

/// What a name has in the place of a connection that the program is to choose.
const AUTO: &str = "auto";

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EmbeddingProblem {
    pub message: String,
    pub hint: String,
    /// Whether it may work another time.
    pub passing: bool,
    /// How long the endpoint wants to be left alone.
    pub wait: Option<Duration>,
}

impl EmbeddingProblem {
    pub(super) fn lasting(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), passing: false, wait: None }
    }
}

/// What vectors are wanted of, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Passages of documents.
    Passages(DocumentClassification, Option<UserId>),
    Question(Option<UserId>),
}

impl Purpose {
    pub(super) fn is_question(self) -> bool {
        matches!(self, Self::Question(_))
    }

    pub(super) fn user(self) -> Option<UserId> {
        let (Self::Passages(_, user) | Self::Question(user)) = self;
        user
    }
}

/// How a model did that is not in this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmbeddingHealth {
    /// The last failure, unless something worked after it.
    pub problem: Option<String>,
    pub failed_at: Option<Timestamp>,
}

/// How the models at endpoints did since the start, by name.
#[derive(Debug, Default)]
pub struct EmbeddingStatus(Mutex<BTreeMap<String, EmbeddingHealth>>);

impl EmbeddingStatus {
    pub fn all(&self) -> BTreeMap<String, EmbeddingHealth> {
        lock(&self.0).clone()
    }

    fn note(&self, model: &str, problem: Option<&EmbeddingProblem>, now: Timestamp) {
        let mut all = lock(&self.0);
        let one = all.entry(model.to_owned()).or_default();
        match problem {
            Some(problem) => {
                one.problem = Some(problem.message.clone());
                one.failed_at = Some(now);
            }
            None => *one = EmbeddingHealth::default(),
        }
    }
}

pub struct EmbeddingModels {
    built_in: Arc<dyn Embedder>,
    folders: Option<ModelFolders>,
    endpoints: Option<Endpoints>,
    /// The model of new collections; `None`: the built-in one.
    wanted: Live<Option<String>>,
    status: Arc<EmbeddingStatus>,
    clock: Arc<dyn Clock>,
}

impl EmbeddingModels {
    /// The built-in model alone.
    pub fn new(built_in: Arc<dyn Embedder>, clock: Arc<dyn Clock>) -> Self {
        Self { built_in, folders: None, endpoints: None, wanted: Live::default(), status: Arc::default(), clock }
    }

    #[must_use]
    pub fn with_folders(self, folders: ModelFolders) -> Self {
        Self { folders: Some(folders), ..self }
    }

    #[must_use]
    pub fn with_endpoints(self, parts: EndpointParts, status: Arc<EmbeddingStatus>) -> Self {
        Self { endpoints: Some(Endpoints::new(parts, Arc::clone(&self.clock))), status, ..self }
    }

    /// Makes it the model of collections that have none yet.
    #[must_use]
    pub fn preferring(self, model: impl Into<Live<Option<String>>>) -> Self {
        Self { wanted: model.into(), ..self }
    }

    pub(crate) fn built_in(&self) -> &Arc<dyn Embedder> {
        &self.built_in
    }

    pub(super) fn endpoints(&self) -> Option<&Endpoints> {
        self.endpoints.as_ref()
    }

    pub(crate) fn health_of(&self, model: &str) -> Option<EmbeddingHealth> {
        self.status.all().remove(model)
    }

    /// What new collections get, as it is set.
    pub fn preferred(&self) -> String {
        self.wanted.copy().unwrap_or_else(|| self.built_in.model().to_owned())
    }

    /// Other folders of models, if there are any.
    pub fn change_folder(&self, dir: PathBuf) {
        if let Some(folders) = &self.folders {
            folders.change_folder(dir);
        }
    }

    /// The model of collections that have none yet.
    pub(crate) async fn of_new_collections(&self) -> Result<String, EmbeddingProblem> {
        self.resolve(&self.preferred()).await
    }

    /// Whether collections can have this model; the error says why not.
    pub async fn check_model(&self, name: &str) -> Result<(), String> {
        self.resolve(name).await.map(drop).map_err(|problem| format!("{}; {}", problem.message, problem.hint))
    }

    /// The full name of a model; an error if there is none of this name. `MODEL@auto` is at Ollama, if that was found, else
    /// at the connection that is used by default.
    pub(crate) async fn resolve(&self, name: &str) -> Result<String, EmbeddingProblem> {
        let name = name.trim();
        if name == self.built_in.model() {
            return Ok(name.to_owned());
        }
        if let Some((model, connection)) = name.rsplit_once('@') {
            let endpoints = self.endpoints.as_ref().ok_or_else(|| unknown(name))?;
            if model.is_empty() || model.chars().any(char::is_control) {
                return Err(unknown(name));
            }
            let connection =
                if connection == AUTO { endpoints.first().await? } else { endpoints.named(connection).await? };
            return Ok(format!("{model}@{}", connection.name));
        }
        let known = self.folders.as_ref().and_then(|folders| folders.find(name));
        known.map(|_| name.to_owned()).ok_or_else(|| unknown(name))
    }

    /// The connection that a model is at; `None`: it is in this process.
    pub(crate) async fn connection_of(&self, model: &str) -> Result<Option<Connection>, EmbeddingProblem> {
        match (model.rsplit_once('@'), &self.endpoints) {
            (Some((_, connection)), Some(endpoints)) => endpoints.named(connection).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Whether a collection of this classification may have the model.
    pub(crate) async fn may_have(
        &self,
        model: &str,
        classification: Option<Classification>,
    ) -> Result<(), EmbeddingProblem> {
        match (self.connection_of(model).await?, &self.endpoints) {
            (Some(connection), Some(endpoints)) => {
                endpoints
                    .check_data(
                        &connection,
                        &[],
                        Purpose::Passages(DocumentClassification::of_collection(classification), None),
                    )
                    .await
            }
            _ => Ok(()),
        }
    }

    /// A vector of length 1 for each text. Asks once.
    pub(crate) async fn embed(
        &self,
        model: &str,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, EmbeddingProblem> {
        if model == self.built_in.model() {
            return self.built_in.embed(texts).await.map_err(|error| in_process(&error));
        }
        if let Some((name, connection)) = model.rsplit_once('@') {
            let endpoints = self.endpoints.as_ref().ok_or_else(|| unknown(model))?;
            let made = endpoints.embed(name, connection, texts, purpose).await;
            self.status.note(model, made.as_ref().err(), self.clock.now());
            return made;
        }
        let folder = self.folders.as_ref().and_then(|folders| folders.find(model)).ok_or_else(|| unknown(model))?;
        folder.embed(texts, purpose.is_question()).await.map_err(|error| in_process(&error))
    }
}

fn in_process(error: &EmbedError) -> EmbeddingProblem {
    EmbeddingProblem {
        message: error.to_string(),
        hint: "See Health for what the embedding model lacks.".to_owned(),
        passing: true,
        wait: None,
    }
}

fn unknown(name: &str) -> EmbeddingProblem {
    EmbeddingProblem::lasting(
        format!("there is no embedding model `{name}`"),
        "Name a folder of the models' folder that has model.onnx and tokenizer.json, or a model and its connection as \
         `MODEL@CONNECTION`.",
    )
}
