//! The work on one document: read, cut, embed. A crash at any point leads to the same rows when it is taken up again.

use super::DocumentService;
use super::embedding::{EmbeddingProblem, Purpose};
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

/// Most that an endpoint may have us wait.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

impl DocumentService {
    /// Works on the document that waits longest for this work; `false`: none does.
    pub(super) async fn work_on_next(&self, work: IngestWork) -> StoreResult<bool> {
        if let Some(shortage) = self.disk.shortage() {
            tracing::debug!(?shortage, "documents wait for room on the disk");
            self.indexes.catch_up().await;
            return Ok(false);
        }
        let now = self.clock.now();
        let claimed = self.store.claim_document(self.tenant, work, self.ids.next(), now, now.plus(CLAIM)).await?;
        let Some(claimed) = claimed else {
            self.indexes.catch_up().await;
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
                Err(Failure::Passing(problem, wait)) => self.again(document, problem, wait),
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
        self.indexes.catch_up().await;
        if matches!(end, ClaimEnd::Ocr(_)) {
            self.pictures.notify_one();
        }
        if document.origin == DocumentOrigin::Workspace {
            // Nobody waits for it, and whoever works here needs the processors.
            let rest = (self.clock.now().since(now) * self.workers).min(LONGEST_REST);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = self.woken.notified() => {}
            }
        }
        Ok(true)
    }

    fn again(&self, document: &Document, problem: DocumentProblem, wait: Duration) -> ClaimEnd {
        match PAUSES.get(document.attempts.saturating_sub(1) as usize) {
            Some(pause) => ClaimEnd::Again { problem, at: self.clock.now().plus((*pause).max(wait.min(LONGEST_WAIT))) },
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
        // One that is ready lacks vectors of the collection's next model.
        let has_chunks = matches!(document.status, DocumentStatus::Embedding | DocumentStatus::Ready);
        let is_read = has_chunks && (work == IngestWork::Text || !wants_ocr(&facts));
        if !is_read {
            let content = self.open(document).await.map_err(|problem| Failure::Passing(problem, Duration::ZERO))?;
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
            if work == IngestWork::Text {
                return Ok(ClaimEnd::Read);
            }
            self.indexes.catch_up().await;
        }
        self.embed(claimed).await?;
        Ok(if work == IngestWork::Text && wants_ocr(&facts) { ClaimEnd::Ocr(facts) } else { ClaimEnd::Ready })
    }

    /// `pictures`: pages whose characters are recognised later.
    async fn cut(&self, document: &Document, extracted: Extracted, pictures: u32) -> Result<ReadDocument, Failure> {
        let collection = self.store.collection(self.tenant, document.collection).await?;
        let chunking = collection.map_or_else(Chunking::default, |collection| collection.chunking);
        let count = self.embedding.built_in().token_counter();
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

    /// Makes the vectors that are not made yet, of the model that the collection has or is on its way to.
    async fn embed(&self, claimed: &ClaimedDocument) -> Result<(), Failure> {
        let document = &claimed.document;
        let gone = || StoreError::NotFound(format!("collection {}", document.collection));
        let collection = self.store.collection(self.tenant, document.collection).await?.ok_or_else(gone)?;
        let wanted = match (&collection.re_embedding, &collection.embedding_model) {
            (Some(next), _) => next.model.clone(),
            (None, Some(model)) => model.clone(),
            (None, None) => self.embedding.of_new_collections().await.map_err(|problem| without_vectors(&problem))?,
        };
        let model = self.store.fix_embedding_model(self.tenant, collection.id, &wanted).await?;
        let chunks = self.store.document_chunks(self.tenant, document.number).await?;
        let made = self.store.document_vectors(self.tenant, document.number, &model).await?;
        let made: std::collections::HashSet<u32> = made.into_iter().map(|one| one.chunk).collect();
        let open: Vec<(u32, String)> = (0u32..)
            .zip(&chunks)
            .filter(|(index, _)| !made.contains(index))
            .map(|(index, row)| (index, embedding_text(&row.headings, &row.text)))
            .collect();
        let classification = self.classification_of(document, Some(&collection), &self.labels().await?);
        let purpose = Purpose::Passages(classification, document.added_by);
        let mut dimension = None;
        for batch in open.chunks(BATCH) {
            let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            let vectors = self.embedding.embed(&model, &texts, purpose).await;
            let vectors = vectors.map_err(|problem| without_vectors(&problem))?;
            let numbers = vectors.first().map_or(0, |vector| u32::try_from(vector.len()).unwrap_or(u32::MAX));
            let wanted = match dimension {
                Some(known) => known,
                None => self.store.fix_dimension(self.tenant, collection.id, &model, numbers).await?,
            };
            dimension = Some(wanted);
            if numbers != wanted {
                return Err(Failure::Lasting(problem(
                    format!("`{model}` makes vectors of {numbers} numbers, those of the collection have {wanted}"),
                    "Something else answers there now. Mend the endpoint, or change the collection to another embedding \
                     model: all its vectors are made anew then.",
                )));
            }
            let vectors: Vec<ChunkVector> =
                batch.iter().zip(vectors).map(|((chunk, _), vector)| ChunkVector { chunk: *chunk, vector }).collect();
            self.store.save_vectors(self.tenant, claimed, &model, &vectors).await?;
        }
        Ok(())
    }
}

fn without_vectors(problem: &EmbeddingProblem) -> Failure {
    let told = DocumentProblem {
        message: format!("its vectors could not be made: {}", problem.message),
        hint: format!("It is found by words meanwhile. {}", problem.hint),
    };
    if problem.passing { Failure::Passing(told, problem.wait.unwrap_or_default()) } else { Failure::Lasting(told) }
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
    if facts.warnings.is_empty() {
        return problem("it has no text", "Check whether it is the right file.");
    }
    let why = facts.warnings.join(" ");
    let message = format!("it has no text that can be read. {}", why.trim_end_matches('.'));
    problem(message, "Save it in another format and add that.")
}
