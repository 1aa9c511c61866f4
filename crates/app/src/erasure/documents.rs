//! What a person has added to documents, and sent into the workspace: told to them, and what only they could see is removed with them. The rest is the
//! organisation's, and stays without their name.

use super::{Lines, line};
use crate::app::{App, AppResult};
use futures::TryStreamExt as _;
use serde_json::json;
use steward_core::UserId;
use steward_core::document::{Collection, DocumentOrigin};
use steward_core::permission::Grantee;
use steward_core::ports::{DocumentFilter, JobFilter, StoreError, StoreResult};

const PAGE: u32 = 200;

impl App {
    /// Collections that nobody has a grant for but this person.
    pub(super) async fn own_collections(&self, user: UserId) -> StoreResult<Vec<Collection>> {
        let mut own = Vec::new();
        for collection in self.store.collections(self.tenant(), None).await? {
            let access = self.store.access_list(self.tenant(), collection.id.into()).await?;
            let theirs = access.grants.iter().all(|grant| grant.grantee == Grantee::User(user));
            if access.restricted && theirs && !access.grants.is_empty() {
                own.push(collection);
            }
        }
        Ok(own)
    }

    /// How many they added to collections that others have as well.
    pub(super) async fn shared_documents(&self, user: UserId, own: &[Collection]) -> StoreResult<u64> {
        let (mut count, mut pages) = (0, self.documents.document_pages(added_by(user)));
        while let Some(page) = pages.try_next().await? {
            let shared = page.iter().filter(|document| own.iter().all(|one| one.id != document.collection));
            count += shared.count() as u64;
        }
        Ok(count)
    }

    /// Answers how many documents went.
    pub(super) async fn remove_own_documents(&self, user: UserId) -> AppResult<u64> {
        // Questions of theirs may be kept with what they found.
        self.documents.clear_cache(None, None);
        let mut removed = 0;
        for collection in self.own_collections(user).await? {
            let filter = DocumentFilter { collection: Some(collection.id), ..DocumentFilter::default() };
            removed += self.documents.remove_all(filter).await?;
            match self.store.remove_collection(self.tenant(), collection.id).await {
                Ok(()) | Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(removed)
    }

    /// Collections they made, documents they added with what these say, jobs they began, and files they sent.
    pub(super) async fn export_documents(&self, user: UserId, lines: &mut Lines) -> AppResult<()> {
        let (tenant, store) = (self.tenant(), &self.store);
        for collection in store.collections(tenant, None).await? {
            if collection.created_by == Some(user) {
                line(lines, "collection", json!(collection)).await?;
            }
        }
        let mut pages = self.documents.document_pages(added_by(user));
        while let Some(page) = pages.try_next().await? {
            for document in &page {
                line(lines, "document", json!(document)).await?;
                // What lies elsewhere, or came with a package, is no text of theirs.
                if document.origin == DocumentOrigin::Upload {
                    for chunk in store.document_chunks(tenant, document.number).await? {
                        line(lines, "chunk", json!({"document": document.id, "text": chunk.text})).await?;
                    }
                }
            }
        }
        let mut filter = JobFilter { created_by: Some(user), limit: PAGE, ..JobFilter::default() };
        loop {
            let page = store.jobs(tenant, &filter).await?;
            for job in &page.items {
                line(lines, "ingest_job", json!(job)).await?;
            }
            filter.after = page.items.last().map(|last| last.id);
            if !page.more {
                break;
            }
        }
        let mut after: Option<String> = None;
        loop {
            let page = store.uploads(tenant, Some(user), after.as_deref(), PAGE).await?;
            for file in &page.items {
                line(lines, "file_in_the_workspace", json!(file)).await?;
            }
            after = page.items.last().map(|last| last.path.clone());
            if !page.more {
                return Ok(());
            }
        }
    }
}

fn added_by(user: UserId) -> DocumentFilter {
    DocumentFilter { added_by: Some(user), limit: PAGE, ..DocumentFilter::default() }
}
