//! The work on one document: read, cut, embed. A crash at any point leads to the same rows when it is taken up again.

use super::DocumentService;
use std::time::Duration;
use steward_core::document::{ChunkArea, Chunking, Document, DocumentProblem, DocumentStatus, ReadingFacts};
use steward_core::extracted::{ExtractFailure, Extracted};
use steward_core::ports::{ChunkRow, ChunkVector, ClaimEnd, ClaimedDocument, ReadDocument, StoreError, StoreResult};
use steward_knowledge::{Chunk, ChunkMethod, ChunkSettings, chunk, embedding_text};

/// How long a claim lasts that nobody extends.
const CLAIM: Duration = Duration::from_mins(1);
/// How long reading or a batch of vectors may take before the claim is extended.
const EXTEND: Duration = Duration::from_secs(15);
/// Chunks whose vectors are made and saved together.
const BATCH: usize = 64;
/// A document that fails as often is left alone until somebody has it read again.
const MAX_ATTEMPTS: u32 = 5;
/// What comes after each failed attempt.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8), Duration::from_secs(15)];

/// Why the work on a document did not come to its end.
enum Failure {
    /// It may work another time.
    Passing(DocumentProblem),
    /// It is the document's own fault.
    Lasting(DocumentProblem),
    /// The claim was lost, or the database fails.
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl DocumentService {
    /// Works on the document that waits longest; `false`: none does.
    pub(super) async fn work_on_next(&self) -> StoreResult<bool> {
        let now = self.clock.now();
        let claimed = self.store.claim_document(self.tenant, self.ids.next(), now, now.plus(CLAIM)).await?;
        let Some(claimed) = claimed else {
            self.index.catch_up().await;
            return Ok(false);
        };
        let document = &claimed.document;
        let end = if document.attempts > MAX_ATTEMPTS {
            // Each of these attempts took the program down with it, or was cut off.
            ClaimEnd::Failed(problem(
                "its reading was cut off five times",
                "Look into the log for what ended it, then have the document read again.",
            ))
        } else {
            match self.with_claim(&claimed, self.work_on(&claimed)).await {
                Ok(()) => ClaimEnd::Ready,
                Err(Failure::Lasting(problem)) => ClaimEnd::Failed(problem),
                Err(Failure::Passing(problem)) => self.again(document, problem),
                Err(Failure::Store(StoreError::NotFound(_))) => return Ok(true),
                Err(Failure::Store(error)) => return Err(error),
            }
        };
        if let ClaimEnd::Failed(problem) | ClaimEnd::Again { problem, .. } = &end {
            tracing::warn!(document = %document.id, attempt = document.attempts, reason = %problem.message, "ingest failed");
        }
        match self.store.end_claim(self.tenant, &claimed, &end, self.clock.now()).await {
            // Removed, or begun anew with other content, meanwhile.
            Ok(()) | Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
        self.index.catch_up().await;
        Ok(true)
    }

    fn again(&self, document: &Document, problem: DocumentProblem) -> ClaimEnd {
        match PAUSES.get(document.attempts.saturating_sub(1) as usize) {
            Some(pause) => ClaimEnd::Again { problem, at: self.clock.now().plus(*pause) },
            None => ClaimEnd::Failed(problem),
        }
    }

    /// Does the work, extending the claim for as long as it takes.
    async fn with_claim<T>(
        &self,
        claimed: &ClaimedDocument,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(EXTEND) => {
                    self.store.extend_claim(self.tenant, claimed, self.clock.now().plus(CLAIM)).await?;
                }
            }
        }
    }

    async fn work_on(&self, claimed: &ClaimedDocument) -> Result<(), Failure> {
        let document = &claimed.document;
        if document.status != DocumentStatus::Embedding {
            let read = self.read(document).await?;
            self.store.save_chunks(self.tenant, claimed, &read, self.clock.now()).await?;
            self.index.catch_up().await;
        }
        self.embed(claimed).await
    }

    async fn read(&self, document: &Document) -> Result<ReadDocument, Failure> {
        let collection = self.store.collection(self.tenant, document.collection).await?;
        let chunking = collection.map_or_else(Chunking::default, |collection| collection.chunking);
        let content = self.open(document).await.map_err(Failure::Passing)?;
        let extracted =
            self.extractor.extract(content.path(), &document.name).await.map_err(|error| failure(&error))?;
        let count = self.embedder.token_counter();
        let cut = tokio::task::spawn_blocking(move || {
            let settings = ChunkSettings {
                max_chars: chunking.max_chars as usize,
                overlap: chunking.overlap as usize,
                max_tokens: count.max_tokens(),
                ..ChunkSettings::default()
            };
            let chunks = chunk(&extracted, &settings, &|text| count.count(text));
            (extracted, chunks)
        });
        let (extracted, chunks) = cut.await.map_err(|_| {
            Failure::Lasting(problem("its text could not be cut", "Report the file, if you may pass it on."))
        })?;
        let facts = facts(&extracted);
        if chunks.is_empty() {
            return Err(Failure::Lasting(nothing_in(&facts)));
        }
        Ok(ReadDocument { facts, chunks: chunks.into_iter().map(row).collect() })
    }

    async fn embed(&self, claimed: &ClaimedDocument) -> Result<(), Failure> {
        let document = &claimed.document;
        let model = self.store.fix_embedding_model(self.tenant, document.collection, self.embedder.model()).await?;
        if model != self.embedder.model() {
            return Err(Failure::Lasting(problem(
                format!("the collection's vectors are of the model {model}, this server has {}", self.embedder.model()),
                "Have all documents of the collection read again (reindex-all) to change the model.",
            )));
        }
        let chunks = self.store.document_chunks(self.tenant, document.number).await?;
        let made = self.store.document_vectors(self.tenant, document.number, &model).await?;
        let made: std::collections::HashSet<u32> = made.into_iter().map(|one| one.chunk).collect();
        let open: Vec<(u32, String)> = (0u32..)
            .zip(&chunks)
            .filter(|(index, _)| !made.contains(index))
            .map(|(index, row)| (index, embedding_text(&row.headings, &row.text)))
            .collect();
        for batch in open.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let vectors = self.embedder.embed(&texts).await.map_err(|error| {
                Failure::Passing(problem(
                    format!("its vectors could not be made: {error}"),
                    "It is found by words meanwhile. See Health for what the embedding model lacks.",
                ))
            })?;
            let vectors: Vec<ChunkVector> =
                batch.iter().zip(vectors).map(|((chunk, _), vector)| ChunkVector { chunk: *chunk, vector }).collect();
            self.store.save_vectors(self.tenant, claimed, &model, &vectors).await?;
        }
        Ok(())
    }
}

fn facts(extracted: &Extracted) -> ReadingFacts {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    ReadingFacts {
        doc_type: extracted.doc_type.clone(),
        title: extracted.title.clone(),
        pages: count(extracted.pages.len()),
        scans: count(extracted.pages.iter().filter(|page| page.is_scan).count()),
        warnings: extracted.warnings.clone(),
    }
}

fn row(chunk: Chunk) -> ChunkRow {
    let area = |(page, area): (u32, steward_core::extracted::Area)| ChunkArea {
        page,
        x: area.x,
        y: area.y,
        width: area.width,
        height: area.height,
    };
    let method = match chunk.method {
        ChunkMethod::Semantic => "semantic",
        ChunkMethod::Fixed => "fixed",
    };
    ChunkRow {
        text: chunk.text,
        headings: chunk.headings,
        first_page: chunk.first_page,
        last_page: chunk.last_page,
        areas: chunk.areas.into_iter().map(area).collect(),
        method: method.to_owned(),
    }
}

fn nothing_in(facts: &ReadingFacts) -> DocumentProblem {
    if facts.scans > 0 {
        return problem(
            "its pages are pictures without text",
            "Have its characters recognised by another program (OCR), and add what that saves.",
        );
    }
    problem("it has no text", "Check whether it is the right file.")
}

fn problem(message: impl Into<String>, hint: impl Into<String>) -> DocumentProblem {
    DocumentProblem { message: message.into(), hint: hint.into() }
}

fn failure(error: &ExtractFailure) -> Failure {
    let problem = problem(error.message.clone(), error.hint.clone());
    if error.kind.may_pass() { Failure::Passing(problem) } else { Failure::Lasting(problem) }
}
