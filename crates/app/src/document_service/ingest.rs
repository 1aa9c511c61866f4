//! The work on one document: read, cut, embed. A crash at any point leads to the same rows when it is taken up again.

use super::DocumentService;
use super::problems::{Failure, failure, problem};
use super::recognition::{no_engine, ocr_facts, wants_ocr};
use std::time::Duration;
use steward_core::document::{
    ChunkArea, Chunking, Document, DocumentOrigin, DocumentProblem, DocumentStatus, ReadingFacts,
};
use steward_core::extracted::Extracted;
use steward_core::ports::{
    ChunkRow, ChunkVector, ClaimEnd, ClaimedDocument, IngestWork, ReadDocument, StoreError, StoreResult,
};
use steward_knowledge::{Chunk, ChunkMethod, ChunkSettings, chunk, embedding_text};

/// How long a claim lasts that nobody extends.
const CLAIM: Duration = Duration::from_mins(1);
/// How long reading or a batch of vectors may take before the claim is extended.
const EXTEND: Duration = Duration::from_secs(15);
/// Longest pause after a file of the workspace; else it is as long as the work on it took.
const LONGEST_REST: Duration = Duration::from_secs(20);
/// Chunks whose vectors are made and saved together.
const BATCH: usize = 64;
/// A document that fails as often is left alone until somebody has it read again.
const MAX_ATTEMPTS: u32 = 5;
/// What comes after each failed attempt.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(2), Duration::from_secs(4), Duration::from_secs(8), Duration::from_secs(15)];

impl DocumentService {
    /// Works on the document that waits longest for this work; `false`: none does.
    pub(super) async fn work_on_next(&self, work: IngestWork) -> StoreResult<bool> {
        let now = self.clock.now();
        let claimed = self.store.claim_document(self.tenant, work, self.ids.next(), now, now.plus(CLAIM)).await?;
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
            match self.with_claim(&claimed, self.work_on(&claimed, work)).await {
                Ok(end) => end,
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
        if matches!(end, ClaimEnd::Ocr(_)) {
            self.pictures.notify_one();
        }
        if document.origin == DocumentOrigin::Workspace {
            // Nobody waits for it, and whoever works here needs the processors.
            tokio::select! {
                () = tokio::time::sleep(self.clock.now().since(now).min(LONGEST_REST)) => {}
                () = self.woken() => {}
            }
        }
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

    async fn work_on(&self, claimed: &ClaimedDocument, work: IngestWork) -> Result<ClaimEnd, Failure> {
        let document = &claimed.document;
        let mut facts = document.facts.clone();
        let is_read = document.status == DocumentStatus::Embedding && (work == IngestWork::Text || !wants_ocr(&facts));
        if !is_read {
            let content = self.open(document).await.map_err(Failure::Passing)?;
            let extracted = self.extractor.extract(content.path(), &document.name).await;
            let mut extracted = extracted.map_err(|error| failure(&error))?;
            let pictures = match work {
                IngestWork::Text => self.pictures_to_read(&mut extracted).await,
                IngestWork::Ocr => self.read_pictures(claimed, &content, &mut extracted).await.map(|()| 0)?,
            };
            let read = self.cut(document, extracted, pictures).await?;
            facts = read.facts.clone();
            if read.chunks.is_empty() {
                // What there is of it stays until its pictures are read.
                return if wants_ocr(&facts) {
                    Ok(ClaimEnd::Ocr(facts))
                } else {
                    Err(Failure::Lasting(nothing_in(&facts)))
                };
            }
            self.store.save_chunks(self.tenant, claimed, &read, self.clock.now()).await?;
            self.index.catch_up().await;
        }
        self.embed(claimed).await?;
        Ok(if work == IngestWork::Text && wants_ocr(&facts) { ClaimEnd::Ocr(facts) } else { ClaimEnd::Ready })
    }

    /// `pictures`: pages whose characters are recognised later.
    async fn cut(&self, document: &Document, extracted: Extracted, pictures: u32) -> Result<ReadDocument, Failure> {
        let collection = self.store.collection(self.tenant, document.collection).await?;
        let chunking = collection.map_or_else(Chunking::default, |collection| collection.chunking);
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
        Ok(ReadDocument { facts: facts(&extracted, pictures), chunks: chunks.into_iter().map(row).collect() })
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

fn facts(extracted: &Extracted, pictures: u32) -> ReadingFacts {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    ReadingFacts {
        doc_type: extracted.doc_type.clone(),
        title: extracted.title.clone(),
        pages: count(extracted.pages.len()),
        scans: count(extracted.pages.iter().filter(|page| page.is_scan && page.ocr.is_none()).count()),
        ocr: ocr_facts(extracted, pictures),
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
        return no_engine();
    }
    if facts.ocr.is_some() {
        return problem("its pages are pictures on which no text was found", "Check whether it is the right file.");
    }
    problem("it has no text", "Check whether it is the right file.")
}
