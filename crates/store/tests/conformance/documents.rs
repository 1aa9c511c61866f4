use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{LATER, NOW, TENANT, id};
use std::time::Duration;
use steward_core::document::{
    Chunking, Collection, Document, DocumentOrigin, DocumentProblem, DocumentStatus, IngestJob, JobProgress, JobState,
    OcrFacts, OcrPage, ReadingFacts, Rerank, SearchWeights, WatchedPath,
};
use steward_core::extracted::OcrEngine;
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant, ResourceRef};
use steward_core::ports::{
    Added, ChunkKey, ChunkRow, ChunkVector, ClaimEnd, ClaimedDocument, CollectionChange, DocumentFilter, IngestWork,
    JobFilter, NewDocument, ReadDocument, StoreError,
};
use steward_core::{AgentId, CollectionId, DocumentId, IngestJobId, TenantId, Timestamp, UserId, WatchedPathId};
use steward_store::FileStep;
use uuid::Uuid;

const OTHER: TenantId = TenantId(Uuid::from_u128(2));
const MODEL: &str = "mini";

fn collection(name: &str) -> Collection {
    Collection {
        id: CollectionId(id()),
        name: name.to_owned(),
        description: String::new(),
        chunking: Chunking::default(),
        weights: SearchWeights::default(),
        embedding_model: None,
        embedding_dimension: None,
        re_embedding: None,
        rerank: Rerank::default(),
        classification: None,
        created_by: None,
        created_at: NOW,
        documents: 0,
        chunks: 0,
    }
}

fn new(collection: CollectionId, source: &str, content: &str) -> NewDocument {
    NewDocument {
        id: DocumentId(id()),
        collection,
        name: source.to_owned(),
        origin: DocumentOrigin::Path,
        source: source.to_owned(),
        bytes: content.len() as u64,
        sha256: steward_core::hash::sha256(content.as_bytes()),
        classification: None,
        job: None,
        added_by: None,
        at: NOW,
    }
}

fn read(texts: &[&str]) -> ReadDocument {
    let chunk = |text: &&str| ChunkRow {
        text: (*text).to_owned(),
        headings: vec!["Top".to_owned()],
        first_page: 1,
        last_page: 2,
        areas: Vec::new(),
        method: "paragraphs".to_owned(),
    };
    let facts = ReadingFacts { doc_type: "text".to_owned(), title: Some("Über uns".to_owned()), ..Default::default() };
    ReadDocument { facts, chunks: texts.iter().map(chunk).collect() }
}

fn problem() -> DocumentProblem {
    DocumentProblem { message: "it is broken".to_owned(), hint: "mend it".to_owned() }
}

async fn add(bed: &Bed, document: &NewDocument) -> Document {
    bed.store().add_document(TENANT, document).await.unwrap().document().clone()
}

async fn claimed(bed: &Bed, now: Timestamp) -> Option<ClaimedDocument> {
    claimed_for(bed, IngestWork::Text, now).await
}

async fn claimed_for(bed: &Bed, work: IngestWork, now: Timestamp) -> Option<ClaimedDocument> {
    bed.store().claim_document(TENANT, work, id(), now, now.plus(Duration::from_mins(1))).await.unwrap()
}

/// Reads and embeds the document whose turn it is.
async fn ingest(bed: &Bed, texts: &[&str]) -> Document {
    let store = bed.store();
    let claim = claimed(bed, NOW).await.unwrap();
    store.save_chunks(TENANT, &claim, &read(texts), NOW).await.unwrap();
    let vectors: Vec<ChunkVector> =
        (0..).zip(texts).map(|(chunk, _)| ChunkVector { chunk, vector: vec![0.6, -0.8] }).collect();
    store.save_vectors(TENANT, &claim, MODEL, &vectors).await.unwrap();
    store.end_claim(TENANT, &claim, &ClaimEnd::Ready, LATER).await.unwrap();
    store.document(TENANT, claim.document.id).await.unwrap().unwrap()
}

pub async fn collections_have_unique_names_and_are_seen_by_grant(bed: Bed) {
    let store = bed.store();
    let (open, shut) = (collection("Open"), collection("Élan"));
    for one in [&open, &shut] {
        store.create_collection(TENANT, one).await.unwrap();
    }
    let taken = store.create_collection(TENANT, &collection("oPEN")).await;
    assert!(matches!(taken, Err(StoreError::Conflict(_))), "{taken:?}");
    let (ann, group) = (UserId(id()), ResourceRef::from(shut.id));
    store.set_restricted(TENANT, group, true).await.unwrap();
    let seen = async |user| -> Vec<String> {
        store.collections(TENANT, user).await.unwrap().into_iter().map(|one| one.name).collect()
    };
    assert_eq!(seen(None).await, ["Open", "Élan"]);
    assert_eq!(seen(Some(ann)).await, ["Open"]);
    let secret = add(&bed, &new(shut.id, "/secret", "secret")).await;
    let filter = DocumentFilter { visible_to: Some(ann), ..DocumentFilter::default() };
    assert!(store.documents(TENANT, &filter).await.unwrap().items.is_empty());
    let grant = ResourceGrant {
        grantee: Grantee::User(ann),
        level: AccessLevel::Use,
        given_by: "zoe@x".to_owned(),
        given_at: NOW,
    };
    store.give_grant(TENANT, group, &grant).await.unwrap();
    assert_eq!(seen(Some(ann)).await, ["Open", "Élan"]);
    assert_eq!(store.documents(TENANT, &filter).await.unwrap().items, std::slice::from_ref(&secret));

    let change = CollectionChange { name: Some("Closed".to_owned()), ..CollectionChange::default() };
    assert_eq!(store.change_collection(TENANT, shut.id, &change).await.unwrap().documents, 1);
    assert_eq!(store.collection_by_name(TENANT, "CLOSED").await.unwrap().map(|one| one.id), Some(shut.id));
    assert_eq!(store.collection(OTHER, shut.id).await.unwrap(), None);
    assert_eq!(store.fix_embedding_model(TENANT, shut.id, "a").await.unwrap(), "a");
    assert_eq!(store.fix_embedding_model(TENANT, shut.id, "b").await.unwrap(), "a");

    let full = store.remove_collection(TENANT, shut.id).await;
    assert!(matches!(full, Err(StoreError::Conflict(_))), "{full:?}");
    assert_eq!(store.remove_document(TENANT, secret.id, NOW).await.unwrap(), Some(secret.sha256));
    store.remove_collection(TENANT, shut.id).await.unwrap();
    assert_eq!(seen(None).await, ["Open"]);
    let gone = store.remove_collection(TENANT, shut.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
}

pub async fn the_same_content_is_one_document(bed: Bed) {
    let store = bed.store();
    let (one, two) = (collection("One"), collection("Two"));
    store.create_collection(TENANT, &one).await.unwrap();
    store.create_collection(TENANT, &two).await.unwrap();
    let first = new(one.id, "/a", "text");
    let added = store.add_document(TENANT, &first).await.unwrap();
    assert!(matches!(added, Added::New(_)), "{added:?}");
    let again = store.add_document(TENANT, &NewDocument { id: DocumentId(id()), ..first.clone() }).await.unwrap();
    assert_eq!(again, Added::Unchanged(added.document().clone()));
    let copy = new(one.id, "/b", "text");
    let found = store.add_document(TENANT, &copy).await.unwrap();
    assert_eq!(found, Added::Duplicate(added.document().clone()));
    assert_eq!(store.document(TENANT, copy.id).await.unwrap().unwrap().status, DocumentStatus::Duplicate);
    let elsewhere = store.add_document(TENANT, &new(two.id, "/a", "text")).await.unwrap();
    assert!(matches!(elsewhere, Added::New(_)), "{elsewhere:?}");

    // The copy takes the place of the one that goes; its content is not gone.
    ingest(&bed, &["text"]).await;
    assert_eq!(store.remove_document(TENANT, first.id, NOW).await.unwrap(), None);
    let copy = store.document(TENANT, copy.id).await.unwrap().unwrap();
    assert_eq!((copy.status, copy.chunks), (DocumentStatus::Waiting, 0));

    // Other content of the same source: its chunks stay until it was read.
    store.remove_document(TENANT, elsewhere.document().id, NOW).await.unwrap();
    let ready = ingest(&bed, &["text"]).await;
    let changed = store.add_document(TENANT, &new(one.id, "/b", "other")).await.unwrap();
    assert!(matches!(&changed, Added::Changed(document) if document.id == ready.id && document.chunks == 1));
    assert_eq!(changed.document().status, DocumentStatus::Waiting);
    assert_eq!(store.document(TENANT, ready.id).await.unwrap().unwrap().status, DocumentStatus::Waiting);
}

pub async fn a_claim_that_was_taken_over_writes_nothing(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    for source in ["/a", "/b"] {
        add(&bed, &new(one.id, source, source)).await;
    }
    let (a, b) = (claimed(&bed, NOW).await.unwrap(), claimed(&bed, NOW).await.unwrap());
    assert_eq!((a.document.name.as_str(), b.document.name.as_str()), ("/a", "/b"));
    assert_eq!(claimed(&bed, NOW).await, None);
    let late = NOW.plus(Duration::from_secs(61));
    let over = claimed(&bed, late).await.unwrap();
    assert_eq!((over.document.id, over.document.attempts), (a.document.id, 2));
    for refused in [
        store.save_chunks(TENANT, &a, &read(&["x"]), late).await,
        store.save_vectors(TENANT, &a, MODEL, &[]).await,
        store.end_claim(TENANT, &a, &ClaimEnd::Ready, late).await,
        store.extend_claim(TENANT, &a, late).await,
    ] {
        assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    }
    assert_eq!(store.last_document_change(TENANT).await.unwrap(), 2, "only the two numbers were given");

    let again = ClaimEnd::Again { problem: problem(), at: late.plus(Duration::from_secs(5)) };
    store.end_claim(TENANT, &over, &again, late).await.unwrap();
    store.end_claim(TENANT, &b, &ClaimEnd::Failed(problem()), late).await.unwrap();
    assert_eq!(claimed(&bed, late).await, None);
    let waits = store.document(TENANT, a.document.id).await.unwrap().unwrap();
    assert_eq!((waits.status, waits.problem), (DocumentStatus::Waiting, Some(problem())));
    let third = claimed(&bed, late.plus(Duration::from_secs(6))).await.unwrap();
    assert_eq!((third.document.id, third.document.attempts), (a.document.id, 3));
    let failed = store.requeue_document(TENANT, b.document.id, late).await.unwrap();
    assert_eq!((failed.status, failed.attempts, failed.problem), (DocumentStatus::Waiting, 0, None));
}

pub async fn what_a_clock_ahead_has_put_off_is_read(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    let (a, b) = (add(&bed, &new(one.id, "/a", "a")).await, add(&bed, &new(one.id, "/b", "b")).await);
    let ahead = NOW.plus(Duration::from_hours(4000 * 24));
    assert_eq!(claimed(&bed, ahead).await.unwrap().document.id, a.id);
    store.requeue_document(TENANT, b.id, ahead).await.unwrap();
    for expected in [a.id, b.id] {
        assert_eq!(claimed(&bed, NOW).await.unwrap().document.id, expected);
    }
    assert_eq!(claimed(&bed, NOW).await, None);
}

pub async fn what_somebody_waits_for_is_read_first(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    for origin in [DocumentOrigin::Workspace, DocumentOrigin::Path, DocumentOrigin::Upload] {
        add(&bed, &NewDocument { origin, ..new(one.id, origin.as_str(), origin.as_str()) }).await;
    }
    for expected in ["upload", "path", "workspace"] {
        assert_eq!(claimed(&bed, NOW).await.unwrap().document.name, expected);
    }
}

pub async fn pages_that_are_pictures_wait_apart(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    let document = add(&bed, &new(one.id, "/scan", "picture")).await;
    assert_eq!(claimed_for(&bed, IngestWork::Ocr, NOW).await, None);
    let claim = claimed(&bed, NOW).await.unwrap();
    let facts = |done| {
        let read =
            (1..=done).map(|page| OcrPage { page, engine: Some(OcrEngine::Tesseract), confidence: 91 }).collect();
        let ocr = OcrFacts { pages: 2, done, confidence: (done > 0).then_some(91), read };
        ReadingFacts { doc_type: "png".to_owned(), ocr: Some(ocr), ..ReadingFacts::default() }
    };
    store.end_claim(TENANT, &claim, &ClaimEnd::Ocr(facts(0)), LATER).await.unwrap();
    let saved = async || store.document(TENANT, document.id).await.unwrap().unwrap();
    let waiting = saved().await;
    assert_eq!((waiting.status, waiting.attempts, waiting.facts), (DocumentStatus::Waiting, 0, facts(0)));
    assert_eq!(claimed(&bed, LATER).await, None);

    let claim = claimed_for(&bed, IngestWork::Ocr, LATER).await.unwrap();
    store.save_facts(TENANT, &claim, &facts(1)).await.unwrap();
    assert_eq!(saved().await.facts, facts(1));
    let stale = ClaimedDocument { claim: id(), ..claim.clone() };
    let refused = store.save_facts(TENANT, &stale, &facts(2)).await;
    assert!(matches!(refused, Err(StoreError::NotFound(_))), "{refused:?}");
    store.end_claim(TENANT, &claim, &ClaimEnd::Ready, LATER).await.unwrap();

    // To be read again, it begins with its text.
    store.requeue_document(TENANT, document.id, LATER).await.unwrap();
    assert_eq!(claimed_for(&bed, IngestWork::Ocr, LATER).await, None);
    assert_eq!(claimed(&bed, LATER).await.map(|claim| claim.document.id), Some(document.id));
}

pub async fn changes_tell_what_can_be_found(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    let agent = AgentId(id());
    let document = add(&bed, &new(one.id, "/a", "a")).await;
    assert!(store.document_changes(TENANT, 0, 100).await.unwrap().is_empty(), "nothing can be found yet");
    let ready = ingest(&bed, &["first", "second"]).await;
    assert_eq!((ready.status, ready.chunks, ready.embedded), (DocumentStatus::Ready, 2, 2));
    let changes = store.document_changes(TENANT, 0, 100).await.unwrap();
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    let facts = change.facts.clone().unwrap();
    assert_eq!((change.document, change.content, facts.chunks), (document.number, change.seq, 2));
    assert_eq!((facts.id, facts.doc_type.as_str(), facts.collection), (document.id, "text", one.id));

    store.link_document(TENANT, document.id, agent, true).await.unwrap();
    store.link_document(TENANT, document.id, agent, true).await.unwrap();
    let linked = store.document_changes(TENANT, change.seq, 100).await.unwrap();
    assert_eq!(linked.len(), 1);
    assert_eq!(linked[0].facts.clone().unwrap().agents.to_vec(), [agent]);
    assert_eq!(linked[0].content, change.content, "a link is no other content");
    assert_eq!(store.agents_of_document(TENANT, document.id).await.unwrap(), [agent]);
    let filter = DocumentFilter { agent: Some(agent), text: Some("ÜBER".to_owned()), ..DocumentFilter::default() };
    assert_eq!(store.documents(TENANT, &filter).await.unwrap().items.len(), 1);

    let keys = [1, 0, 7].map(|chunk| ChunkKey { document: document.number, chunk });
    let chunks = store.chunks(TENANT, &keys).await.unwrap();
    let texts: Vec<&str> = chunks.iter().map(|(_, row)| row.text.as_str()).collect();
    assert_eq!(texts, ["second", "first"]);
    assert_eq!(chunks[0].1.headings, ["Top"]);
    let vectors = store.document_vectors(TENANT, document.number, MODEL).await.unwrap();
    assert!((vectors[1].vector[1] + 0.8).abs() < 1e-4, "{vectors:?}");
    assert!(store.document_vectors(TENANT, document.number, "other").await.unwrap().is_empty());
    assert!(store.document_chunks(OTHER, document.number).await.unwrap().is_empty());

    store.remove_document(TENANT, document.id, LATER).await.unwrap();
    let last = store.last_document_change(TENANT).await.unwrap();
    let changes = store.document_changes(TENANT, 0, 100).await.unwrap();
    assert_eq!(changes.len(), 1, "of each document the last");
    assert_eq!((changes[0].seq, changes[0].facts.clone(), changes[0].content), (last, None, last));
    assert!(store.chunks(TENANT, &keys).await.unwrap().is_empty());
    assert!(store.agents_of_document(TENANT, document.id).await.unwrap().is_empty());
}

pub async fn jobs_say_how_far_their_documents_are(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    let job = IngestJob {
        id: IngestJobId(id()),
        collection: one.id,
        label: "/srv/files".to_owned(),
        state: JobState::Scanning,
        created_by: None,
        created_at: NOW,
        progress: JobProgress::default(),
    };
    store.create_job(TENANT, &job).await.unwrap();
    for source in ["/a", "/b", "/c", "/d"] {
        let content = if source == "/d" { "/c" } else { source };
        add(&bed, &NewDocument { job: Some(job.id), ..new(one.id, source, content) }).await;
    }
    store.set_job_state(TENANT, job.id, JobState::Paused).await.unwrap();
    assert_eq!(claimed(&bed, NOW).await, None);
    store.set_job_state(TENANT, job.id, JobState::Running).await.unwrap();
    ingest(&bed, &["a"]).await;
    let bad = claimed(&bed, NOW).await.unwrap();
    store.end_claim(TENANT, &bad, &ClaimEnd::Failed(problem()), NOW).await.unwrap();
    let progress = store.job(TENANT, job.id).await.unwrap().unwrap().progress;
    assert_eq!(progress, JobProgress { waiting: 1, embedding: 0, ready: 1, failed: 1, duplicate: 1 });
    assert_eq!(store.retry_job(TENANT, job.id, NOW).await.unwrap(), 1);
    let page = store.jobs(TENANT, &JobFilter::default()).await.unwrap();
    assert_eq!((page.items.len(), page.items[0].progress.waiting), (1, 2));
    let of_job = DocumentFilter { job: Some(job.id), limit: 3, ..DocumentFilter::default() };
    let page = store.documents(TENANT, &of_job).await.unwrap();
    let names: Vec<&str> = page.items.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names.as_slice(), page.more), (["/d", "/c", "/b"].as_slice(), true));
    let rest = DocumentFilter { after: Some(page.items[2].id), ..of_job };
    assert_eq!(store.documents(TENANT, &rest).await.unwrap().items.len(), 1);

    let mut path = WatchedPath {
        id: WatchedPathId(id()),
        collection: one.id,
        path: "/srv".to_owned(),
        scanned_at: None,
        problem: None,
    };
    store.save_watched_path(TENANT, &path).await.unwrap();
    (path.scanned_at, path.problem) = (Some(NOW), Some(problem()));
    store.save_watched_path(TENANT, &path).await.unwrap();
    assert_eq!(store.watched_paths(TENANT).await.unwrap(), [path.clone()]);
    assert!(store.watched_paths(OTHER).await.unwrap().is_empty());
    store.remove_watched_path(TENANT, path.id).await.unwrap();
    assert!(matches!(store.remove_watched_path(TENANT, path.id).await, Err(StoreError::NotFound(_))));
}

pub async fn a_collection_comes_to_another_model(bed: Bed) {
    let store = bed.store();
    let one = collection("One");
    store.create_collection(TENANT, &one).await.unwrap();
    assert_eq!(store.fix_embedding_model(TENANT, one.id, MODEL).await.unwrap(), MODEL);
    assert_eq!(store.fix_dimension(TENANT, one.id, MODEL, 2).await.unwrap(), 2);
    assert_eq!(store.fix_dimension(TENANT, one.id, MODEL, 3).await.unwrap(), 2, "the first one counts");
    let other = store.fix_dimension(TENANT, one.id, "next", 3).await;
    assert!(matches!(other, Err(StoreError::NotFound(_))), "{other:?}");
    for source in ["/a", "/b"] {
        add(&bed, &new(one.id, source, source)).await;
        ingest(&bed, &["first", "second"]).await;
    }
    store.change_embedding_model(TENANT, one.id, "next", LATER).await.unwrap();
    assert_eq!(store.fix_embedding_model(TENANT, one.id, MODEL).await.unwrap(), "next");
    assert_eq!(store.fix_dimension(TENANT, one.id, "next", 3).await.unwrap(), 3);
    let seen = store.collection(TENANT, one.id).await.unwrap().unwrap();
    assert_eq!((seen.embedding_model.as_deref(), seen.embedding_dimension), (Some(MODEL), Some(2)));
    let way = seen.re_embedding.unwrap();
    assert_eq!((way.model.as_str(), way.done, way.documents), ("next", 0, 2));
    let vectors = |chunks: &[u32]| -> Vec<ChunkVector> {
        chunks.iter().map(|chunk| ChunkVector { chunk: *chunk, vector: vec![1.0, 0.0, 0.0] }).collect()
    };
    let (a, b) = (claimed(&bed, LATER).await.unwrap(), claimed(&bed, LATER).await.unwrap());
    assert_eq!((a.document.status, a.document.attempts), (DocumentStatus::Ready, 1));
    store.save_vectors(TENANT, &a, "next", &vectors(&[0, 1])).await.unwrap();
    store.end_claim(TENANT, &a, &ClaimEnd::Ready, LATER).await.unwrap();
    // One that fails stays as it is, and holds the change up.
    store.end_claim(TENANT, &b, &ClaimEnd::Failed(problem()), LATER).await.unwrap();
    let failed = store.document(TENANT, b.document.id).await.unwrap().unwrap();
    assert_eq!((failed.status, failed.embedded, failed.problem), (DocumentStatus::Ready, 2, Some(problem())));
    assert_eq!(store.document_vectors(TENANT, a.document.number, MODEL).await.unwrap().len(), 2);
    assert_eq!(store.retry_embedding(TENANT, one.id, LATER).await.unwrap(), 1);
    assert_eq!(store.retry_embedding(TENANT, one.id, LATER).await.unwrap(), 0, "it is on its way");
    let b = claimed(&bed, LATER).await.unwrap();
    store.save_vectors(TENANT, &b, "next", &vectors(&[0])).await.unwrap();
    let before = store.last_document_change(TENANT).await.unwrap();
    assert_eq!(store.collection_vectors(TENANT).await.unwrap()[0].next_dimension, Some(3));
    store.save_vectors(TENANT, &b, "next", &vectors(&[1])).await.unwrap();
    store.end_claim(TENANT, &b, &ClaimEnd::Ready, LATER).await.unwrap();

    let seen = store.collection(TENANT, one.id).await.unwrap().unwrap();
    assert_eq!((seen.embedding_model.as_deref(), seen.embedding_dimension), (Some("next"), Some(3)));
    assert_eq!(seen.re_embedding, None);
    for number in [a.document.number, b.document.number] {
        assert!(store.document_vectors(TENANT, number, MODEL).await.unwrap().is_empty());
        assert_eq!(store.document_vectors(TENANT, number, "next").await.unwrap().len(), 2);
    }
    let changes = store.document_changes(TENANT, before, 100).await.unwrap();
    let seen: Vec<u32> = changes.iter().map(|change| change.document).collect();
    assert_eq!(seen, [a.document.number, b.document.number], "indexes look at all of it again");
    assert!(changes.iter().all(|change| change.content == change.seq));
    assert_eq!(store.last_document_change(TENANT).await.unwrap(), changes[1].seq);

    // The one whose vectors were made already is put back at once, and what was made for the other goes.
    store.change_embedding_model(TENANT, one.id, "third", LATER).await.unwrap();
    let a = claimed(&bed, LATER).await.unwrap();
    store.save_vectors(TENANT, &a, "third", &vectors(&[0, 1])).await.unwrap();
    store.change_embedding_model(TENANT, one.id, "next", LATER).await.unwrap();
    let lost = store.end_claim(TENANT, &a, &ClaimEnd::Ready, LATER).await;
    assert!(matches!(lost, Err(StoreError::NotFound(_))), "{lost:?}");
    assert!(store.document_vectors(TENANT, a.document.number, "third").await.unwrap().is_empty());
    assert_eq!(claimed(&bed, LATER).await, None);
    // The last one that lacked vectors is removed.
    store.change_embedding_model(TENANT, one.id, "third", LATER).await.unwrap();
    let a = claimed(&bed, LATER).await.unwrap();
    store.save_vectors(TENANT, &a, "third", &vectors(&[0, 1])).await.unwrap();
    store.end_claim(TENANT, &a, &ClaimEnd::Ready, LATER).await.unwrap();
    store.remove_document(TENANT, b.document.id, LATER).await.unwrap();
    let seen = store.collection(TENANT, one.id).await.unwrap().unwrap();
    assert_eq!((seen.embedding_model.as_deref(), seen.re_embedding), (Some("third"), None));
}

pub async fn a_document_is_not_noted_without_its_file(bed: Bed) {
    let store = bed.store();
    let home = collection("Home");
    store.create_collection(TENANT, &home).await.unwrap();
    let sent =
        |source: &str, content: &str| NewDocument { origin: DocumentOrigin::Upload, ..new(home.id, source, content) };
    let first = sent("one", "text");
    let gone = store.add_kept_document(TENANT, &first, FileStep::new(|| false)).await.unwrap();
    assert_eq!(gone, None);
    assert_eq!(store.document(TENANT, first.id).await.unwrap(), None);
    let kept = store.add_kept_document(TENANT, &first, FileStep::new(|| true)).await.unwrap().unwrap();
    assert!(matches!(kept.added, Added::New(_)) && kept.unused.is_none());

    // Whoever takes a file away looks once more.
    let take = |done: bool| FileStep::new(move || if done { Ok(()) } else { Err("it was taken") });
    assert_eq!(store.take_unused_original(TENANT, &first.sha256, take(false)).await.unwrap(), Ok(false));
    assert_eq!(store.take_unused_original(OTHER, &first.sha256, take(true)).await.unwrap(), Ok(true));
    let changed = sent("one", "other text");
    let kept = store.add_kept_document(TENANT, &changed, FileStep::new(|| true)).await.unwrap().unwrap();
    assert_eq!(kept.unused, Some(first.sha256.clone()), "nothing has the text that it had");
    assert_eq!(store.take_unused_original(TENANT, &first.sha256, take(true)).await.unwrap(), Ok(true));
    assert_eq!(store.take_unused_original(TENANT, &first.sha256, take(false)).await.unwrap(), Err("it was taken"));

    // One whose file is missing says so, until it is there again.
    add(&bed, &new(home.id, "elsewhere", "stays where it is")).await;
    let originals = store.originals(TENANT, 0, 10).await.unwrap();
    assert_eq!(originals.iter().map(|one| (one.document, one.lost)).collect::<Vec<_>>(), [(first.id, false)]);
    store.mark_lost(TENANT, first.id, Some(&problem()), LATER).await.unwrap();
    assert_eq!(store.lost_documents(TENANT).await.unwrap(), 1);
    assert!(store.originals(TENANT, 0, 10).await.unwrap()[0].lost);
    assert_eq!(store.document(TENANT, first.id).await.unwrap().unwrap().problem, Some(problem()));
    store.mark_lost(TENANT, first.id, None, LATER).await.unwrap();
    assert_eq!(store.document(TENANT, first.id).await.unwrap().unwrap().problem, None);
    assert_eq!(store.lost_documents(TENANT).await.unwrap(), 0);
}
