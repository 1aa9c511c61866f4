//! `/api/documents`: files that are found by their content.

use super::files::{FileBody, OCTETS, attachment};
use crate::dto::documents::{
    AddedDocument, BatchScan, Chunk, DocumentDetails, DocumentLink, DocumentSearch, JobRetried, Requeued, SearchResult,
    VectorStoreStats, WatchInput,
};
use crate::extract::{
    broken, file_of, form_of, holds_file, is_form, length_of, limited, next_field, no_file, second_file, text_field,
    unknown_field,
};
use crate::guard::MAX_DOCUMENT;
use crate::problem::ProblemBody;
use crate::response::saved_file;
use crate::routes::prelude::*;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use std::time::Duration;
use steward_app::{DocumentUpload, DocumentWish, Whose};
use steward_core::document::{Document, DocumentOrigin, DocumentStatus, IngestJob, JobState, WatchedPath};
use steward_core::ports::DocumentFilter;
use steward_core::{AgentId, CollectionId, DocumentId, IngestJobId, WatchedPathId};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(upload))
        .routes(routes!(list))
        .routes(routes!(search))
        .routes(routes!(link))
        .routes(routes!(batch_scan))
        .routes(routes!(register_path))
        .routes(routes!(watched_paths))
        .routes(routes!(unwatch))
        .routes(routes!(embed_pending))
        .routes(routes!(reindex_all))
        .routes(routes!(stats))
        .routes(routes!(jobs))
        .routes(routes!(job))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(cancel))
        .routes(routes!(retry))
        .routes(routes!(get, remove))
        .routes(routes!(content))
        .routes(routes!(chunks))
        .routes(routes!(process))
}

/// Which file it is, and where it goes. In a form these may be fields too.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct UploadQuery {
    /// The file's name; in a form its own is taken where this is left out.
    #[param(min_length = 1, max_length = 255, nullable = false)]
    name: Option<String>,
    /// The collection, by id or name; `Documents` if left out, which is made where there is none.
    #[param(min_length = 1, max_length = 200, nullable = false)]
    collection: Option<String>,
    /// An agent that it is linked to, by id or name.
    #[param(max_length = 200, nullable = false)]
    agent_id: Option<String>,
    /// Seconds to wait until it is read and can be asked. The answer comes as soon as it is, or has failed.
    #[param(minimum = 0, maximum = 120, default = 0)]
    #[serde(default)]
    wait: u64,
}

/// Longest wait for a document to be read, seconds.
const MAX_WAIT: u64 = 120;

/// A form with a document, for the document of this interface.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct DocumentForm {
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    #[schema(nullable = false)]
    name: Option<String>,
    #[schema(nullable = false)]
    collection: Option<String>,
    #[schema(nullable = false)]
    agent_id: Option<String>,
}

/// Takes a document in, up to 256 MB, and has it read: the body, or the file of a form. The same file again is no second
/// document.
#[utoipa::path(post, path = "/api/documents/upload", tag = "documents", operation_id = "uploadDocument",
    params(UploadQuery),
    request_body(content(
        (inline(FileBody) = "application/octet-stream"), (inline(DocumentForm) = "multipart/form-data"))),
    responses((status = 201, description = "What became of it", body = AddedDocument),
        (status = 507, description = "A quota or the disk is full", body = ProblemBody, content_type = "application/problem+json")))]
async fn upload(
    Call(state, caller): Call,
    Params(query): Params<UploadQuery>,
    request: Request,
) -> Created<AddedDocument> {
    if query.wait > MAX_WAIT {
        return Err(Problem::invalid(
            "wait",
            format!("`wait` is 0 to {MAX_WAIT} seconds"),
            "ask GET /api/documents/{id} from time to time for what takes longer",
        ));
    }
    let wait = Duration::from_secs(query.wait);
    let mut wish = DocumentWish { name: query.name, collection: query.collection, agent: query.agent_id };
    if !is_form(&request) {
        wish.named()?;
        let mut upload = state.begin_document(&caller, &wish, length_of(&request)).await?;
        receive(&mut upload, file_of(request, MAX_DOCUMENT)).await?;
        let added = upload.finish(&caller, &wish).await?;
        return created(state.await_upload(added, wait).await?);
    }
    let mut form = form_of(request).await?;
    let mut received = None;
    while let Some(field) = next_field(&mut form).await? {
        if !holds_file(&field) {
            // Beside the file, before it or after it.
            let (name, text) = text_field(field).await?;
            match name.as_str() {
                "name" => wish.name = Some(text),
                "collection" => wish.collection = Some(text),
                "agent_id" => wish.agent = Some(text),
                other => return Err(unknown_field(other, "`name`, `collection` and `agent_id`")),
            }
            continue;
        }
        if received.is_some() {
            return Err(second_file());
        }
        if wish.name.is_none() {
            wish.name = field.file_name().map(str::to_owned);
        }
        let mut upload = state.begin_document(&caller, &wish, None).await?;
        receive(&mut upload, limited(field.map_err(broken), MAX_DOCUMENT)).await?;
        received = Some(upload);
    }
    let upload = received.ok_or_else(no_file)?;
    let added = upload.finish(&caller, &wish).await?;
    created(state.await_upload(added, wait).await?)
}

async fn receive(
    upload: &mut DocumentUpload,
    mut pieces: impl Stream<Item = Result<Bytes, Problem>> + Unpin,
) -> Result<(), Problem> {
    while let Some(piece) = pieces.next().await {
        upload.write(&piece?).await?;
    }
    Ok(())
}

/// Which documents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Of this collection.
    #[param(nullable = false)]
    collection: Option<CollectionId>,
    /// That have come this far.
    #[param(nullable = false)]
    status: Option<DocumentStatus>,
    /// Of this job.
    #[param(nullable = false)]
    job: Option<IngestJobId>,
    /// That are linked to this agent.
    #[param(nullable = false)]
    agent_id: Option<AgentId>,
    /// That came from there.
    #[param(nullable = false)]
    origin: Option<DocumentOrigin>,
    /// Whose name, title or source holds this.
    #[param(nullable = false, max_length = 200)]
    search: Option<String>,
}

/// Documents that one may see, the newest first.
#[utoipa::path(get, path = "/api/documents", tag = "documents", operation_id = "listDocuments",
    params(Wanted, Paging), responses((status = 200, description = "The newest first", body = Page<Document>)))]
async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<Document> {
    let filter = DocumentFilter {
        visible_to: None,
        collection: wanted.collection,
        status: wanted.status,
        job: wanted.job,
        agent: wanted.agent_id,
        origin: wanted.origin,
        added_by: None,
        text: wanted.search,
        after: paging.after::<DocumentId>()?,
        limit: paging.limit(),
    };
    Ok(Page::after_last(state.documents(&caller, filter).await?, |document| document.id))
}

/// Finds chunks by words and by meaning, joined by reciprocal rank fusion.
#[utoipa::path(post, path = "/api/documents/search", tag = "documents", operation_id = "searchDocuments",
    request_body = DocumentSearch, responses((status = 200, description = "The best first", body = SearchResult)))]
async fn search(Call(state, caller): Call, Body(input): Body<DocumentSearch>) -> Answer<SearchResult> {
    Ok(Json(state.search_documents(&caller, input).await?))
}

/// Links a document to an agent, or takes the link away.
#[utoipa::path(post, path = "/api/documents/links", tag = "documents", operation_id = "linkDocument",
    request_body = DocumentLink, responses((status = 200, description = "As it is now", body = DocumentDetails)))]
async fn link(Call(state, caller): Call, Body(input): Body<DocumentLink>) -> Answer<DocumentDetails> {
    Ok(Json(state.link_document(&caller, input).await?))
}

/// Has all files of a folder on the server read, as a job.
#[utoipa::path(post, path = "/api/documents/batch-scan", tag = "documents", operation_id = "batchScan",
    request_body = BatchScan, responses((status = 201, description = "Begun", body = IngestJob)))]
async fn batch_scan(Call(state, caller): Call, Body(input): Body<BatchScan>) -> Created<IngestJob> {
    created(state.scan_folder(&caller, input).await?)
}

/// Watches a folder on the server: what comes, changes or goes there does so as a document.
#[utoipa::path(post, path = "/api/documents/register-path", tag = "documents", operation_id = "registerPath",
    request_body = WatchInput, responses(
        (status = 201, description = "Watched from now on", body = WatchedPath),
        (status = 409, description = "It is watched already")))]
async fn register_path(Call(state, caller): Call, Body(input): Body<WatchInput>) -> Created<WatchedPath> {
    created(state.watch_path(&caller, input).await?)
}

/// The folders that are watched.
#[utoipa::path(get, path = "/api/documents/watched-paths", tag = "documents", operation_id = "listWatchedPaths",
    responses((status = 200, description = "By path", body = Page<WatchedPath>)))]
async fn watched_paths(Call(state, caller): Call) -> Listed<WatchedPath> {
    Ok(Page::whole(state.watched_paths(&caller).await?))
}

/// Watches a folder no more. Its documents stay.
#[utoipa::path(delete, path = "/api/documents/watched-paths/{id}", tag = "documents", operation_id = "unwatchPath",
    params(("id" = Uuid, Path)), responses((status = 204, description = "No more")))]
async fn unwatch(Call(state, caller): Call, PathId(id): PathId<WatchedPathId>) -> Done {
    done(state.unwatch_path(&caller, id).await)
}

/// Whose documents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OfAgent {
    /// Those that are linked to this agent, by id or name; all if left out.
    #[param(nullable = false, max_length = 200)]
    agent_id: Option<String>,
    /// Those of this collection, by id or name; all if left out.
    #[param(nullable = false, max_length = 200)]
    collection: Option<String>,
}

impl OfAgent {
    fn whose(&self) -> Whose<'_> {
        Whose { agent: self.agent_id.as_deref(), collection: self.collection.as_deref() }
    }
}

/// Has documents read again that failed, or that have chunks without vectors, and references of packages taken in that are
/// missing.
#[utoipa::path(post, path = "/api/documents/embed-pending", tag = "documents", operation_id = "embedPending",
    params(OfAgent), responses((status = 200, description = "What was set off", body = Requeued)))]
async fn embed_pending(Call(state, caller): Call, Params(of): Params<OfAgent>) -> Answer<Requeued> {
    Ok(Json(state.embed_pending(&caller, of.whose()).await?))
}

/// Has all documents read, cut and embedded again, with the settings of their collections.
#[utoipa::path(post, path = "/api/documents/reindex-all", tag = "documents", operation_id = "reindexAll",
    params(OfAgent), responses((status = 200, description = "What was set off", body = Requeued)))]
async fn reindex_all(Call(state, caller): Call, Params(of): Params<OfAgent>) -> Answer<Requeued> {
    Ok(Json(state.reindex_all(&caller, of.whose()).await?))
}

/// What is really in use: the index, the embedding model, and how much of it.
#[utoipa::path(get, path = "/api/documents/vector-store/stats", tag = "documents", operation_id = "vectorStoreStats",
    responses((status = 200, description = "As it is now", body = VectorStoreStats)))]
async fn stats(Call(state, caller): Call) -> Answer<VectorStoreStats> {
    Ok(Json(state.vector_store_stats(&caller).await?))
}

/// Documents that were handed in together, the newest first.
#[utoipa::path(get, path = "/api/documents/jobs", tag = "documents", operation_id = "listIngestJobs",
    params(Paging), responses((status = 200, description = "The newest first", body = Page<IngestJob>)))]
async fn jobs(Call(state, caller): Call, paging: Paging) -> Listed<IngestJob> {
    let page = state.ingest_jobs(&caller, paging.after::<IngestJobId>()?, paging.limit()).await?;
    Ok(Page::after_last(page, |job| job.id))
}

/// How far a job is.
#[utoipa::path(get, path = "/api/documents/jobs/{id}", tag = "documents", operation_id = "getIngestJob",
    params(("id" = Uuid, Path)), responses((status = 200, description = "As it is now", body = IngestJob)))]
async fn job(Call(state, caller): Call, PathId(id): PathId<IngestJobId>) -> Answer<IngestJob> {
    Ok(Json(state.ingest_job(&caller, id).await?))
}

/// Begins no further document of a job until it is resumed.
#[utoipa::path(post, path = "/api/documents/jobs/{id}/pause", tag = "documents", operation_id = "pauseIngestJob",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "Paused", body = IngestJob),
        (status = 409, description = "It was cancelled")))]
async fn pause(Call(state, caller): Call, PathId(id): PathId<IngestJobId>) -> Answer<IngestJob> {
    Ok(Json(state.set_job_state(&caller, id, JobState::Paused).await?))
}

/// Goes on with a job.
#[utoipa::path(post, path = "/api/documents/jobs/{id}/resume", tag = "documents", operation_id = "resumeIngestJob",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "It goes on", body = IngestJob),
        (status = 409, description = "It was cancelled")))]
async fn resume(Call(state, caller): Call, PathId(id): PathId<IngestJobId>) -> Answer<IngestJob> {
    Ok(Json(state.set_job_state(&caller, id, JobState::Running).await?))
}

/// Ends a job: documents that wait are removed, those that are done stay.
#[utoipa::path(post, path = "/api/documents/jobs/{id}/cancel", tag = "documents", operation_id = "cancelIngestJob",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Ended", body = IngestJob)))]
async fn cancel(Call(state, caller): Call, PathId(id): PathId<IngestJobId>) -> Answer<IngestJob> {
    Ok(Json(state.set_job_state(&caller, id, JobState::Cancelled).await?))
}

/// Has the documents of a job read again that failed.
#[utoipa::path(post, path = "/api/documents/jobs/{id}/retry", tag = "documents", operation_id = "retryIngestJob",
    params(("id" = Uuid, Path)), responses((status = 200, description = "How many", body = JobRetried)))]
async fn retry(Call(state, caller): Call, PathId(id): PathId<IngestJobId>) -> Answer<JobRetried> {
    Ok(Json(state.retry_job(&caller, id).await?))
}

/// One document.
#[utoipa::path(get, path = "/api/documents/{id}", tag = "documents", operation_id = "getDocument",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = DocumentDetails)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<DocumentId>) -> Answer<DocumentDetails> {
    Ok(Json(state.document(&caller, id).await?))
}

/// Removes a document for good, with its chunks, vectors, links and the file that was sent.
#[utoipa::path(delete, path = "/api/documents/{id}", tag = "documents", operation_id = "removeDocument",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<DocumentId>) -> Done {
    done(state.remove_document(&caller, id).await)
}

/// The file itself, always as bytes to be kept: nothing in it is ever run by a browser.
#[utoipa::path(get, path = "/api/documents/{id}/content", tag = "documents", operation_id = "downloadDocument",
    params(("id" = Uuid, Path)), responses(
        (status = 200, description = "Its content", content_type = "application/octet-stream", body = inline(FileBody)),
        (status = 404, description = "There is no such document, or its file is gone", body = ProblemBody, content_type = "application/problem+json"),
    ))]
async fn content(Call(state, caller): Call, PathId(id): PathId<DocumentId>) -> Result<Response, Problem> {
    let (name, file, bytes) = state.document_content(&caller, id).await?;
    Ok(saved_file(OCTETS, attachment(&name), file, bytes))
}

/// Which part of a document.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct OnPage {
    /// Only what stands on this page, from 1.
    #[param(nullable = false, minimum = 1)]
    page: Option<u32>,
}

/// What was made of a document, in order.
#[utoipa::path(get, path = "/api/documents/{id}/chunks", tag = "documents", operation_id = "listChunks",
    params(("id" = Uuid, Path), OnPage, Paging),
    responses((status = 200, description = "In order", body = Page<Chunk>)))]
async fn chunks(
    Call(state, caller): Call,
    PathId(id): PathId<DocumentId>,
    Params(on): Params<OnPage>,
    paging: Paging,
) -> Listed<Chunk> {
    let found = state.document_chunks(&caller, id, on.page, paging.after::<u32>()?, paging.limit()).await?;
    Ok(Page::after_last(found, |chunk| chunk.index))
}

/// Has a document read, cut and embedded again. What there is of it is found until then.
#[utoipa::path(post, path = "/api/documents/{id}/process", tag = "documents", operation_id = "processDocument",
    params(("id" = Uuid, Path)), responses((status = 200, description = "It waits for its turn", body = Document)))]
async fn process(Call(state, caller): Call, PathId(id): PathId<DocumentId>) -> Answer<Document> {
    Ok(Json(state.process_document(&caller, id).await?))
}
