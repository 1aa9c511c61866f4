//! How confidential the passages of a document are, before they are sent to a model.

use super::DocumentService;
use crate::data_rules::read_data_rules;
use serde_json::json;
use steward_core::document::{Collection, Document, DocumentOrigin};
use steward_core::governance::{Classification, DataRules, Seen};
use steward_core::ports::{RunStore as _, StoreResult};
use steward_core::run::{FileProvenance, provenance_of_files};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DocumentClassification {
    /// What it or its collection is said to be.
    pub said: Option<Classification>,
    /// What labels say of its file, or what a run had seen that wrote it.
    pub labelled: Option<Classification>,
}

impl DocumentClassification {
    pub fn of_collection(said: Option<Classification>) -> Self {
        Self { said, labelled: None }
    }

    pub fn higher(self, other: Self) -> Self {
        Self { said: self.said.max(other.said), labelled: self.labelled.max(other.labelled) }
    }
}

/// The labels, and the files that runs wrote which had seen confidential data.
pub(super) struct Labels {
    rules: DataRules,
    written: Vec<FileProvenance>,
}

impl DocumentService {
    pub(super) async fn labels(&self) -> StoreResult<Labels> {
        let rules = read_data_rules(&self.store, self.tenant).await?;
        let written = self.store.file_provenance(self.tenant, &self.workspace.get()).await?;
        Ok(Labels { rules, written })
    }

    pub(super) fn classification_of(
        &self,
        document: &Document,
        collection: Option<&Collection>,
        labels: &Labels,
    ) -> DocumentClassification {
        let path = json!({ "path": document.source });
        let seen = Seen {
            tool: if document.origin == DocumentOrigin::Workspace { "read" } else { "documents" },
            arguments: Some(&path),
            workspace: &self.workspace.get(),
            ..Seen::default()
        };
        let by_label = labels.rules.classify(&seen).map(|found| found.classification);
        let reads = [document.source.clone()];
        let by_run = provenance_of_files(&reads, &self.workspace.get(), &labels.written).level;
        DocumentClassification {
            said: document.classification.max(collection.and_then(|one| one.classification)),
            labelled: by_label.max(by_run.map(|found| found.classification)),
        }
    }
}
