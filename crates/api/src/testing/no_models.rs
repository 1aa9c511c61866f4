//! Connections of which there are none, and what works with models.

use async_trait::async_trait;
use std::path::Path;
use steward_core::event::Setup;
use steward_core::exam::{Check, ExamReport};
use steward_core::extracted::{ExtractFailure, Extracted, OcrEngine, PageReading};
use steward_core::governance::Classification;
use steward_core::model::{Auth, Connection, ModelError, ModelErrorClass, ModelRequest, Price};
use steward_core::ports::{
    ChunkStream, ConnectionHealth, ConnectionTest, ConnectionsError, EmbedError, Embedder, ExamState, Examiner,
    Extractor, Intent, IntentError, KnownConnection, ManagedConnections, ModelCall, Models, NoAnswer, Opened,
    PageReader, PictureModel, Proposal, Ranking, Recognised, Route, RouteRequest, Scored, StoreError, ToolScope,
    TypedKey,
};
use steward_core::tool::ToolSpec;
use steward_core::{ConnectionId, UserId};

pub(crate) struct NoModels;

fn no_model() -> ModelError {
    ModelError {
        class: ModelErrorClass::Connect,
        message: "there is no model in this test".to_owned(),
        hint: "test it elsewhere".to_owned(),
        detail: None,
        retry_after_ms: None,
        status: None,
    }
}

#[async_trait]
impl ManagedConnections for NoModels {
    async fn list(&self) -> Vec<KnownConnection> {
        Vec::new()
    }
    async fn save(&self, _: Connection, _: TypedKey) -> Result<(), ConnectionsError> {
        Err(StoreError::Backend("there are no connections in this test".to_owned()).into())
    }
    async fn remove(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Err(StoreError::Backend("there are no connections in this test".to_owned()).into())
    }
    async fn set_default(&self, _: ConnectionId) -> Result<(), ConnectionsError> {
        Err(StoreError::Backend("there are no connections in this test".to_owned()).into())
    }
    async fn test(&self, _: ConnectionId) -> Result<ConnectionTest, ModelError> {
        Err(no_model())
    }
}

#[async_trait]
impl Examiner for NoModels {
    async fn examine(
        &self,
        _: ConnectionId,
        _: &(dyn for<'c> Fn(&'c Check) + Send + Sync),
    ) -> Result<ExamReport, ModelError> {
        Err(no_model())
    }
    async fn report(&self, _: ConnectionId) -> Option<ExamReport> {
        None
    }
    async fn state(&self, _: ConnectionId, _: Option<Price>) -> ExamState {
        ExamState::Waiting { most_tokens: 0, most_cost: None }
    }
    async fn recognise(&self, _: &str, _: &Auth, _: TypedKey) -> Result<Recognised, ModelError> {
        Err(no_model())
    }
}

#[async_trait]
impl Models for NoModels {
    async fn select(&self, _: Option<ConnectionId>) -> Result<Connection, ModelError> {
        Err(no_model())
    }
    async fn route(&self, _: RouteRequest<'_>) -> Result<Route, ModelError> {
        Err(no_model())
    }
    async fn open(&self, _: ModelCall<'_>) -> Result<Opened, NoAnswer> {
        Err(NoAnswer { error: no_model(), attempts: Vec::new() })
    }
    async fn health(&self) -> Vec<ConnectionHealth> {
        Vec::new()
    }
    async fn stream(&self, _: ConnectionId, _: ModelRequest) -> Result<ChunkStream, ModelError> {
        Err(no_model())
    }
    async fn score(&self, _: ConnectionId, _: ModelRequest, _: &[String]) -> Result<Vec<Scored>, ModelError> {
        Err(no_model())
    }
}

#[async_trait]
impl Intent for NoModels {
    async fn rank(&self, _: &str, _: &[ToolSpec]) -> Ranking {
        Ranking { tools: Vec::new(), wants_tool: false }
    }
    async fn propose(&self, _: &str, _: &Setup, _: &ToolScope) -> Result<Proposal, IntentError> {
        Err(IntentError::Panicked)
    }
    fn files(&self, _: &Path) -> Vec<String> {
        Vec::new()
    }
    fn tries(&self, _: &[String], _: &str) -> Vec<String> {
        Vec::new()
    }
}

#[async_trait]
impl Embedder for NoModels {
    async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Missing("none in this test".to_owned()))
    }
    fn model(&self) -> &'static str {
        "nothing"
    }
    fn dimension(&self) -> usize {
        3
    }
}

#[async_trait]
impl PageReader for NoModels {
    fn engines(&self) -> Vec<OcrEngine> {
        Vec::new()
    }

    async fn read(&self, _: OcrEngine, _: &Path, _: u32) -> Result<PageReading, ExtractFailure> {
        Ok(PageReading::default())
    }

    async fn show(&self, _: &Path, _: u32) -> Result<Vec<u8>, ExtractFailure> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl PictureModel for NoModels {
    async fn read(
        &self,
        _: &[u8],
        _: Option<Classification>,
        _: Option<UserId>,
    ) -> Result<Option<String>, ExtractFailure> {
        Ok(None)
    }

    async fn is_there(&self) -> bool {
        false
    }
}

#[async_trait]
impl Extractor for NoModels {
    async fn extract(&self, _: &Path, _: &str) -> Result<Extracted, ExtractFailure> {
        Ok(Extracted::default())
    }
}
