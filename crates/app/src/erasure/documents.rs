//! What a person has added to documents: told to them, and what only they could see is removed with them. The rest is the
//! organisation's, and stays without their name.

use super::{Lines, line};
use crate::app::{App, AppError};
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
        for collection in self.documents.store.collections(self.tenant(), None).await? {
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
        let mut filter = DocumentFilter { added_by: Some(user), limit: PAGE, ..DocumentFilter::default() };
        let mut count = 0;
        loop {
            let page = self.documents.store.documents(self.tenant(), &filter).await?;
            let shared = page.items.iter().filter(|document| own.iter().all(|one| one.id != document.collection));
            count += shared.count() as u64;
            filter.after = page.items.last().map(|last| last.id);
            if !page.more {
                return Ok(count);
            }
        }
    }

    /// Answers how many documents went.
    pub(super) async fn remove_own_documents(&self, user: UserId) -> Result<u64, AppError> {
        // Questions of theirs may be kept with what they found.
        self.documents.clear_cache(None, None);
        let mut removed = 0;
        for collection in self.own_collections(user).await? {
            let filter = DocumentFilter { collection: Some(collection.id), limit: PAGE, ..DocumentFilter::default() };
            loop {
                let page = self.documents.store.documents(self.tenant(), &filter).await?;
                for document in &page.items {
                    match self.documents.remove(document.id).await {
                        Ok(()) => removed += 1,
                        Err(StoreError::NotFound(_)) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                if page.items.is_empty() {
                    break;
                }
            }
            match self.documents.store.remove_collection(self.tenant(), collection.id).await {
                Ok(()) | Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(removed)
    }

    /// Collections they made, documents they added with what these say, and jobs they began.
    pub(super) async fn export_documents(&self, user: UserId, lines: &mut Lines) -> Result<(), AppError> {
        let (tenant, store) = (self.tenant(), &self.documents.store);
        for collection in store.collections(tenant, None).await? {
            if collection.created_by == Some(user) {
                line(lines, "collection", json!(collection)).await?;
            }
        }
        let mut filter = DocumentFilter { added_by: Some(user), limit: PAGE, ..DocumentFilter::default() };
        loop {
            let page = store.documents(tenant, &filter).await?;
            for document in &page.items {
                line(lines, "document", json!(document)).await?;
                // What lies elsewhere, or came with a package, is no text of theirs.
                if document.origin == DocumentOrigin::Upload {
                    for chunk in store.document_chunks(tenant, document.number).await? {
                        line(lines, "chunk", json!({"document": document.id, "text": chunk.text})).await?;
                    }
                }
            }
            filter.after = page.items.last().map(|last| last.id);
            if !page.more {
                break;
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
                return Ok(());
            }
        }
    }
}
