//! Rows of documents and the files that were sent for them, which lie outside of the database by the hash of their content.
//! Whoever notes a file and whoever takes one away hold the same lock, so that no row is left without its file.

use super::collections::source_key;
use super::document_changes::number;
use super::documents::{add, has_content};
use crate::codec::{page_size, to_json};
use crate::store::Store;
use crate::tx::{Tx, args};
use std::fmt;
use std::sync::Arc;
use steward_core::document::DocumentProblem;
use steward_core::ports::{Added, NewDocument, StoreResult};
use steward_core::{DocumentId, TenantId, Timestamp};

/// Something quick to do with a file while its hash is locked.
pub struct FileStep<T>(Arc<dyn Fn() -> T + Send + Sync>);

impl<T> FileStep<T> {
    /// It may be done several times.
    pub fn new(step: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(step))
    }
}

impl<T> Clone for FileStep<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for FileStep<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileStep")
    }
}

/// A document whose file was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub added: Added,
    /// Hash of content that it had before, and that no document has now.
    pub unused: Option<String>,
}

/// The file of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    pub document: DocumentId,
    pub number: u32,
    pub sha256: String,
    pub name: String,
    /// Whether it was found missing.
    pub lost: bool,
}

impl Store {
    /// Notes a document whose file was sent; `None`: `is_there` says that the file is gone, and nothing was noted.
    pub async fn add_kept_document(
        &self,
        tenant: TenantId,
        document: &NewDocument,
        is_there: FileStep<bool>,
    ) -> StoreResult<Option<Kept>> {
        self.write((tenant, document.clone(), is_there), |(tenant, document, is_there), tx| {
            Box::pin(add_kept(tx, *tenant, document, is_there))
        })
        .await
    }

    /// Takes a file away, by `take`, unless a document has its content; answers whether it was taken.
    pub async fn take_unused_original<E>(
        &self,
        tenant: TenantId,
        sha256: &str,
        take: FileStep<Result<(), E>>,
    ) -> StoreResult<Result<bool, E>>
    where
        E: Send + Sync + 'static,
    {
        self.write((tenant, sha256.to_owned(), take), |(tenant, sha256, take), tx| {
            Box::pin(async move {
                lock_content(tx, *tenant, sha256).await?;
                if has_content(tx, *tenant, sha256).await? {
                    return Ok(Ok(false));
                }
                Ok((take.0)().map(|()| true))
            })
        })
        .await
    }

    /// Documents whose files were sent, by their numbers.
    pub async fn originals(&self, tenant: TenantId, after: u32, limit: u32) -> StoreResult<Vec<Original>> {
        let sql = "select id, number, sha256, name, lost_at from documents
                   where tenant_id = $1 and number > $2 and origin in ('upload', 'package') order by number limit $3";
        self.all(sql, args![tenant, after, page_size(limit)], |row| {
            Ok(Original {
                document: DocumentId(row.id(0)?),
                number: number(row, 1)?,
                sha256: row.text(2)?,
                name: row.text(3)?,
                lost: row.opt_int(4)?.is_some(),
            })
        })
        .await
    }

    /// Says of a document that its file is missing, or (without a problem) that it is there again. What else is wrong with it
    /// is more important.
    pub async fn mark_lost(
        &self,
        tenant: TenantId,
        id: DocumentId,
        problem: Option<&DocumentProblem>,
        at: Timestamp,
    ) -> StoreResult<()> {
        let Some(problem) = problem else {
            let sql = "update documents set problem = case when status = 'failed' then problem end, lost_at = null
                       where tenant_id = $1 and id = $2 and lost_at is not null";
            return self.run(sql, args![tenant, id]).await;
        };
        let sql = "update documents set problem = coalesce(problem, $3), lost_at = $4
                   where tenant_id = $1 and id = $2 and lost_at is null";
        self.run(sql, args![tenant, id, to_json(problem)?, at]).await
    }

    /// How many documents were found to be without their files.
    pub async fn lost_documents(&self, tenant: TenantId) -> StoreResult<u64> {
        self.count("select count(*) from documents where tenant_id = $1 and lost_at is not null", args![tenant]).await
    }
}

/// Until the end of the transaction, on all nodes. On SQLite one transaction writes at a time.
async fn lock_content(tx: &mut Tx<'_>, tenant: TenantId, sha256: &str) -> StoreResult<()> {
    if matches!(tx, Tx::Postgres(_)) {
        let name = format!("original {tenant} {sha256}");
        tx.rows("select pg_advisory_xact_lock(hashtextextended($1, 0))::text", args![name]).await?;
    }
    Ok(())
}

async fn add_kept(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    new: &NewDocument,
    is_there: &FileStep<bool>,
) -> StoreResult<Option<Kept>> {
    lock_content(tx, tenant, &new.sha256).await?;
    if !(is_there.0)() {
        return Ok(None);
    }
    let sql = "select sha256 from documents where tenant_id = $1 and collection_id = $2 and source_key = $3";
    let row = tx.row(sql, args![tenant, new.collection, source_key(new.origin, &new.source)]).await?;
    let before = row.map(|row| row.text(0)).transpose()?;
    let added = add(tx, tenant, new).await?;
    let unused = match before {
        Some(before) if !has_content(tx, tenant, &before).await? => Some(before),
        _ => None,
    };
    Ok(Some(Kept { added, unused }))
}
