use crate::propose::propose;
use crate::rank::{by_words, rank};
use crate::replies::Replies;
use crate::view;
use async_trait::async_trait;
use futures::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use steward_core::event::Setup;
use steward_core::ports::{DataSlot, Embedder, Intent, IntentError, Proposal, Ranking, ToolScope, WorkspaceReader};
use steward_core::tool::ToolSpec;

pub struct IntentService {
    embedder: Arc<dyn Embedder>,
    reader: Arc<dyn WorkspaceReader>,
    data: DataSlot,
}

impl IntentService {
    /// `data`: the domains that requests may be about.
    pub fn new(embedder: Arc<dyn Embedder>, reader: Arc<dyn WorkspaceReader>, data: DataSlot) -> Self {
        Self { embedder, reader, data }
    }
}

#[async_trait]
impl Intent for IntentService {
    async fn rank(&self, request: &str, tools: &[ToolSpec]) -> Ranking {
        match rank(request, tools, self.embedder.as_ref()).await {
            Ok(ranking) => ranking,
            Err(error) => {
                tracing::warn!(%error, "tools are ranked by their words");
                Ranking { tools: by_words(request, tools), wants_tool: true }
            }
        }
    }

    async fn propose(&self, request: &str, setup: &Setup, scope: &ToolScope) -> Result<Proposal, IntentError> {
        let work = propose(request, setup, scope, self.embedder.as_ref(), &self.reader, &self.data);
        AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("reading a request panicked");
            Err(IntentError::Panicked)
        })
    }

    fn files(&self, workspace: &Path) -> Vec<String> {
        view::telling(&self.reader.entries(workspace))
    }

    fn tries(&self, files: &[String], language: &str) -> Vec<String> {
        Replies::shipped().tries(files, language)
    }
}
