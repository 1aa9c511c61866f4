//! Collections whose vectors are of models elsewhere: what fails is tried again or told, and nothing is ever mixed.

mod servers;

use super::no_models::NoModels;
use super::rag::Words;
use super::{Answer, Bed, bed, gateway, with_parts};
use crate::router::router;
use serde_json::{Value, json};
use servers::{Next, Servers, failure};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use steward_access::governance::SharedDetector;
use steward_app::{
    CrossEncoder, DocumentParts, DocumentService, EmbeddingModels, EmbeddingStatus, EndpointParts, UsageWriter,
};
use steward_core::document::DocumentOrigin;
use steward_core::model::{ModelError, ModelErrorClass};
use steward_core::ports::NewDocument;
use steward_core::{DocumentId, TenantId, Timestamp};
use steward_testkit::SeqIds;
use uuid::Uuid;

const ROOT: &str = "authorization: Bearer sk-steward-root-key";
const PUMP: &str = "The pump is serviced by whom? Every year in March.";
const HILL: &str = "Wild flowers of the green hill.";

struct House {
    bed: Bed,
    servers: Arc<Servers>,
    documents: Arc<DocumentService>,
    till: Arc<gateway::Fake>,
}

impl House {
    async fn new() -> Self {
        Self::with(None).await
    }

    async fn with(cross_encoder: Option<CrossEncoder>) -> Self {
        let first = bed().await;
        let (servers, till) = (Arc::new(Servers::default()), Arc::new(gateway::Fake::default()));
        let endpoints = EndpointParts {
            tenant: TenantId::DEFAULT,
            connections: servers.clone(),
            models: servers.clone(),
            gateway: servers.clone(),
            usage: Arc::new(UsageWriter::new(till.clone(), Arc::default())),
            store: first.store.clone(),
            personal_data: Arc::new(SharedDetector),
            ids: Arc::new(SeqIds::new(0x8888_0000)),
        };
        let embedding = EmbeddingModels::new(Arc::new(Words), first.clock.clone())
            .with_endpoints(endpoints, Arc::new(EmbeddingStatus::default()));
        let documents = Arc::new(DocumentService::new(DocumentParts {
            tenant: TenantId::DEFAULT,
            store: first.store.clone(),
            extractor: Arc::new(Words),
            pages: Arc::new(NoModels),
            picture_model: Arc::new(NoModels),
            embedding,
            cross_encoder: cross_encoder.into(),
            clock: first.clock.clone(),
            ids: Arc::new(SeqIds::new(0x7777_0000)),
            data_dir: first.dir.path().to_owned(),
            workspace: first.dir.path().join("work").display().to_string().into(),
            places: super::places(first.dir.path()),
            disk: super::disk_with(Vec::new()),
            serving: false,
        }));
        let given = Arc::clone(&documents);
        let state = with_parts(&first, |app| app.documents = given);
        let bed = Bed { router: router(state.clone()), state, ..first };
        super::rag::person(&bed, "root").await;
        Self { bed, servers, documents, till }
    }

    async fn root(&self, line: &str, body: &Value) -> Answer {
        self.bed.json(line, &[ROOT], body).await
    }

    async fn collection(&self, name: &str, model: &str) -> Value {
        let made = self.root("POST /api/collections", &json!({"name": name, "embedding_model": model})).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json()
    }

    async fn now(&self, collection: &Value) -> Value {
        self.bed.send(&format!("GET /api/collections/{}", id(collection)), &[ROOT], "").await.json()
    }

    async fn change(&self, collection: &Value, body: Value, status: u16) -> Value {
        let line = format!("PATCH /api/collections/{}", id(collection));
        let answer = self.root(&line, &body).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        answer.json()
    }

    async fn add(&self, collection: &str, name: &str, text: &str) -> Value {
        let line = format!("POST /api/documents/upload?collection={collection}&name={name}");
        let added = self.bed.send(&line, &[ROOT, "content-type: application/octet-stream"], text).await;
        assert_eq!(added.status, 201, "{}", added.text);
        self.document(&added.json()["document"]).await
    }

    async fn document(&self, one: &Value) -> Value {
        self.bed.send(&format!("GET /api/documents/{}", id(one)), &[ROOT], "").await.json()
    }

    async fn search(&self, body: Value) -> Value {
        let found = self.root("POST /api/documents/search", &body).await;
        assert_eq!(found.status, 200, "{}", found.text);
        found.json()
    }

    async fn stats(&self) -> Value {
        self.bed.send("GET /api/documents/vector-store/stats", &[ROOT], "").await.json()
    }

    /// What is due is worked on.
    async fn after(&self, wait: Duration) {
        self.bed.clock.advance(wait);
        self.documents.work().await.unwrap();
    }

    /// Whether each call failed that was settled, once all are.
    async fn settled(&self) -> Vec<bool> {
        let calls = self.servers.tries.load(Ordering::Relaxed);
        loop {
            let settled: Vec<bool> = self.till.settled.lock().unwrap().iter().map(|one| one.failed).collect();
            if settled.len() >= calls {
                return settled;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn will(&self, next: &[Next]) {
        self.servers.next.lock().unwrap().extend(next.iter().cloned());
    }

    fn asked(&self) -> Vec<(String, usize)> {
        std::mem::take(&mut self.servers.asked.lock().unwrap())
    }
}

fn id(one: &Value) -> &str {
    one["id"].as_str().unwrap()
}

fn names(found: &Value) -> Vec<&str> {
    found["found"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

fn by_meaning(query: &str) -> Value {
    json!({"query": query, "mode": "vectors", "fresh": true})
}

#[tokio::test]
async fn what_fails_in_passing_is_tried_again_after_longer_and_longer_pauses() {
    let house = House::new().await;
    house.collection("Docs", "m@near").await;
    let busy = ModelError { retry_after_ms: Some(6000), ..failure(ModelErrorClass::RateLimit, "quota") };
    let classes = [ModelErrorClass::Timeout, ModelErrorClass::Connect, ModelErrorClass::Server];
    let mut next: Vec<Next> = classes.iter().map(|class| Next::Fail(failure(*class, "words"))).collect();
    next.insert(1, Next::Fail(busy));
    house.will(&next);
    let pump = house.add("Docs", "pump.txt", PUMP).await;
    assert_eq!((&pump["status"], &pump["embedded"]), (&json!("embedding"), &json!(0)), "{pump}");
    let said = pump["problem"]["message"].as_str().unwrap();
    assert!(said.contains("it failed: words"), "{said}");
    // By words it is found all the time.
    let found = house.search(json!({"query": "pump"})).await;
    assert_eq!(names(&found), ["pump.txt"]);
    house.asked();
    // The second one asks for six seconds instead of four.
    for (pause, tries) in [(1999, 0), (1, 1), (5999, 0), (1, 1), (7999, 0), (1, 1), (14_999, 0), (1, 1)] {
        house.after(Duration::from_millis(pause)).await;
        assert_eq!(house.asked().len(), tries, "after {pause} ms");
    }
    let pump = house.document(&pump).await;
    assert_eq!((&pump["status"], pump.get("problem")), (&json!("ready"), None), "{pump}");
    assert_eq!(names(&house.search(by_meaning("which engine")).await), ["pump.txt"]);
    let calls = house.settled().await;
    assert_eq!(calls, [true, true, true, true, false, false], "each is on the account of its connection");
    let models = house.stats().await["models"].clone();
    assert_eq!(models, json!([{"model": "m@near", "dimension": 8, "collections": 1, "becoming": 0}]));
}

#[tokio::test]
async fn after_the_fifth_try_or_a_refusal_it_is_told_and_waits_for_somebody() {
    let house = House::new().await;
    house.collection("Docs", "m@near").await;
    house.will(&vec![Next::Fail(failure(ModelErrorClass::Server, "boom")); 5]);
    let pump = house.add("Docs", "pump.txt", PUMP).await;
    for seconds in [2, 4, 8, 15, 600] {
        house.after(Duration::from_secs(seconds)).await;
    }
    assert_eq!(house.asked().len(), 5);
    let pump = house.document(&pump).await;
    assert_eq!(pump["status"], "failed", "{pump}");
    let stats = house.stats().await;
    assert!(stats["models"][0]["problem"].as_str().unwrap().contains("boom"), "{stats}");
    // Nothing else takes its place: no vector is there.
    assert_eq!((&pump["embedded"], &stats["vectors"]), (&json!(0), &json!(0)));
    let again = house.root("POST /api/documents/embed-pending", &json!({})).await;
    assert_eq!(again.json()["documents"], 1, "{}", again.text);
    assert_eq!(house.document(&pump).await["status"], "ready");

    house.asked();
    house.will(&[Next::Fail(failure(ModelErrorClass::BadRequest, "no such model"))]);
    let hill = house.add("Docs", "hill.txt", HILL).await;
    assert_eq!((&hill["status"], house.asked().len()), (&json!("failed"), 1), "{hill}");
    assert!(hill["problem"]["message"].as_str().unwrap().contains("no such model"), "{hill}");
}

#[tokio::test]
async fn vectors_of_two_kinds_are_never_mixed() {
    let house = House::new().await;
    house.collection("Docs", "m@near").await;
    house.add("Docs", "pump.txt", PUMP).await;
    house.will(&[Next::Numbers(16)]);
    let hill = house.add("Docs", "hill.txt", HILL).await;
    let said = hill["problem"]["message"].as_str().unwrap();
    assert!(said.contains("16 numbers") && said.contains("have 8"), "{said}");
    assert_eq!((&hill["status"], &hill["embedded"]), (&json!("failed"), &json!(0)));
    // A question that comes back otherwise is answered by words.
    house.will(&[Next::Numbers(16)]);
    let found = house.search(json!({"query": "pump engine"})).await;
    assert_eq!(names(&found), ["pump.txt"]);
    assert!(found["notice"].as_str().unwrap().contains("16 numbers"), "{found}");
    house.will(&[Next::Fail(failure(ModelErrorClass::Timeout, "slow"))]);
    let found = house.search(json!({"query": "pump engines"})).await;
    assert!(found["notice"].as_str().unwrap().starts_with("only words were looked at: it failed"), "{found}");
    // It did not answer in time, so the next question does not wait for it.
    house.asked();
    let found = house.search(json!({"query": "pump and engine"})).await;
    assert!(found["notice"].is_string() && house.asked().is_empty(), "{found}");
    house.bed.clock.advance(Duration::from_secs(31));
    assert!(house.search(json!({"query": "pump and engine"})).await["notice"].is_null());
}

#[tokio::test]
async fn another_model_takes_over_once_all_its_vectors_are_made() {
    let house = House::new().await;
    let docs = house.collection("Docs", "old@near").await;
    let pump = house.add("Docs", "pump.txt", PUMP).await;
    house.add("Docs", "hill.txt", HILL).await;
    let question = || by_meaning("which engine");
    assert_eq!(names(&house.search(question()).await)[0], "pump.txt");
    house.change(&docs, json!({"embedding_model": "new@nowhere"}), 422).await;
    // One is done, the other fails.
    house.will(&[Next::Numbers(12), Next::Fail(failure(ModelErrorClass::Server, "boom"))]);
    let changed = house.change(&docs, json!({"embedding_model": "new@near"}), 200).await;
    assert_eq!(changed["embedding_model"], "old@near", "{changed}");
    assert_eq!(changed["re_embedding"], json!({"model": "new@near", "done": 1, "documents": 2}), "{changed}");
    house.asked();
    let found = house.search(question()).await;
    assert_eq!((names(&found)[0], &found["notice"]), ("pump.txt", &Value::Null), "{found}");
    assert_eq!(house.asked(), [("old@near".to_owned(), 1)]);
    for one in house.bed.send("GET /api/documents", &[ROOT], "").await.json()["items"].as_array().unwrap() {
        assert_eq!((&one["status"], &one["embedded"]), (&json!("ready"), &one["chunks"]), "{one}");
    }
    // What comes meanwhile has vectors of the next model, and is found by words until then.
    house.will(&[Next::Numbers(12)]);
    house.add("Docs", "engine.txt", "An engine is oiled.").await;
    assert!(names(&house.search(json!({"query": "oiled engine"})).await).contains(&"engine.txt"));

    house.will(&[Next::Numbers(12)]);
    house.after(Duration::from_secs(2)).await;
    let now = house.now(&docs).await;
    assert_eq!((&now["embedding_model"], &now["embedding_dimension"]), (&json!("new@near"), &json!(12)), "{now}");
    assert!(now.get("re_embedding").is_none());
    house.will(&[Next::Numbers(12)]);
    house.asked();
    let found = house.search(question()).await;
    assert_eq!(names(&found).len(), 3, "{found}");
    assert_eq!(house.asked(), [("new@near".to_owned(), 1)]);
    let pump = house.document(&pump).await;
    assert_eq!(pump["embedded"], pump["chunks"]);
    // Back in this process.
    house.change(&docs, json!({"embedding_model": "words"}), 200).await;
    let now = house.now(&docs).await;
    assert_eq!(now["embedding_model"], "words", "the built-in one is at once done: {now}");
    assert_eq!(names(&house.search(by_meaning("pump serviced")).await)[0], "pump.txt");
}

#[tokio::test]
async fn a_change_that_fails_can_be_retried_and_taken_back() {
    let house = House::new().await;
    let docs = house.collection("Docs", "old@near").await;
    house.add("Docs", "pump.txt", PUMP).await;
    house.will(&[Next::Fail(failure(ModelErrorClass::BadRequest, "no such model"))]);
    let changed = house.change(&docs, json!({"embedding_model": "new@near"}), 200).await;
    assert_eq!(changed["re_embedding"]["done"], 0, "{changed}");
    let found = house.search(by_meaning("which engine")).await;
    assert_eq!(names(&found), ["pump.txt"]);
    let document = house.bed.send("GET /api/documents", &[ROOT], "").await.json()["items"][0].clone();
    assert_eq!(document["status"], "ready");
    assert!(document["problem"]["message"].as_str().unwrap().contains("no such model"), "{document}");
    house.change(&docs, json!({"embedding_model": "old@near"}), 200).await;
    let now = house.now(&docs).await;
    assert_eq!((&now["embedding_model"], now.get("re_embedding")), (&json!("old@near"), None), "{now}");
    assert!(house.document(&document).await.get("problem").is_none());

    house.will(&[Next::Fail(failure(ModelErrorClass::BadRequest, "not yet"))]);
    house.change(&docs, json!({"embedding_model": "new@near"}), 200).await;
    let again = house.root("POST /api/documents/embed-pending", &json!({})).await;
    assert_eq!(again.json()["documents"], 1, "{}", again.text);
    assert_eq!(house.now(&docs).await["embedding_model"], "new@near");
}

#[tokio::test]
async fn collections_of_several_models_are_searched_together() {
    let house = House::new().await;
    house.collection("A", "a@near").await;
    house.collection("B", "b@far").await;
    house.add("A", "pump.txt", PUMP).await;
    house.add("B", "pump-too.txt", "Another engine is a pump.").await;
    house.add("B", "hill.txt", HILL).await;
    house.asked();
    let found = house.search(by_meaning("which engine")).await;
    assert_eq!(names(&found)[..2].iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
    assert!(!names(&found)[..2].contains(&"hill.txt"), "{found}");
    let ranks: Vec<_> = found["found"].as_array().unwrap().iter().map(|one| one["vector_rank"].clone()).collect();
    assert_eq!(ranks, [1, 1, 2], "each model ranks its own");
    let mut asked = house.asked();
    asked.sort();
    assert_eq!(asked, [("a@near".to_owned(), 1), ("b@far".to_owned(), 1)]);
    // Where one model fails, the other still says what is meant.
    house.will(&[Next::Fail(failure(ModelErrorClass::Server, "boom"))]);
    let found = house.search(by_meaning("which engines")).await;
    assert!(names(&found).contains(&"pump.txt") != names(&found).contains(&"pump-too.txt"), "{found}");
    assert!(found["notice"].as_str().unwrap().contains("in some collections"), "{found}");
    let only = house.search(json!({"query": "which engine", "mode": "vectors", "collections": ["A"]})).await;
    assert_eq!(names(&only), ["pump.txt"]);
}

#[tokio::test]
async fn what_is_confidential_goes_to_no_endpoint_outside() {
    let house = House::new().await;
    let body = json!({"name": "Pay", "classification": "confidential", "embedding_model": "m@far"});
    let refused = house.root("POST /api/collections", &body).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(refused.text.contains("confidential"), "{}", refused.text);
    let docs = house.collection("Docs", "m@far").await;
    house.add("Docs", "hill.txt", HILL).await;
    house.asked();
    house.change(&docs, json!({"classification": "confidential"}), 200).await;
    let pump = house.add("Docs", "pump.txt", PUMP).await;
    assert_eq!((&pump["status"], house.asked().len()), (&json!("failed"), 0), "{pump}");
    let said = pump["problem"]["message"].as_str().unwrap();
    assert!(said.contains("confidential") && said.contains("`far`"), "{said}");
    // In the house it may.
    let changed = house.change(&docs, json!({"embedding_model": "m@near"}), 200).await;
    assert_eq!(changed["embedding_model"], "m@near", "{changed}");
    assert_eq!(house.document(&pump).await["status"], "ready");
    assert!(house.asked().iter().all(|(model, _)| model == "m@near"));
}

#[tokio::test]
async fn what_a_label_says_of_a_file_holds_for_endpoints_outside() {
    let house = House::new().await;
    let work = house.bed.dir.path().join("work");
    for (path, text) in [("hr/pump.txt", PUMP), ("hill.txt", HILL)] {
        let file = work.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let rules = json!({"version": 0,
        "labels": [{"name": "Personnel files", "classification": "confidential", "paths": ["hr/**"]}],
        "policies": [{"name": "Stays in the house", "from": "confidential", "action": "local_only"}]});
    let saved = house.root("PUT /api/data-governance/policies", &rules).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    let docs = house.collection("Docs", "m@far").await;
    let mut added = Vec::new();
    for (number, path) in [(1, "hr/pump.txt"), (2, "hill.txt")] {
        let new = NewDocument {
            id: DocumentId(Uuid::from_u128(number)),
            collection: id(&docs).parse().unwrap(),
            name: path.to_owned(),
            origin: DocumentOrigin::Workspace,
            source: path.to_owned(),
            bytes: 1,
            sha256: format!("{number:064}"),
            classification: None,
            job: None,
            added_by: None,
            at: Timestamp(0),
        };
        house.bed.store.add_document(TenantId::DEFAULT, &new).await.unwrap();
        added.push(json!({"id": new.id}));
    }
    house.documents.work().await.unwrap();
    let (pay, hill) = (house.document(&added[0]).await, house.document(&added[1]).await);
    assert_eq!((&hill["status"], house.asked().len()), (&json!("ready"), 1), "{hill}");
    let said = pay["problem"]["message"].as_str().unwrap();
    assert!(said.contains("Stays in the house") && said.contains("`far`"), "{said}");
    // A re-ranker outside is not sent it either.
    house.servers.trusted.store(true, Ordering::Relaxed);
    house.servers.outside.store(true, Ordering::Relaxed);
    let found = house.search(json!({"query": "pump hill", "mode": "text", "rerank": "auto"})).await;
    assert_eq!(names(&found).len(), 2, "{found}");
    assert!(found["notice"].as_str().unwrap().contains("Stays in the house"), "{found}");
    assert!(house.servers.read.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_cross_encoder_puts_the_best_into_a_better_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/data/cross-encoder");
    let house = House::with(CrossEncoder::find(&folder)).await;
    assert_eq!(house.stats().await["cross_encoder"], true);
    let docs = house.collection("Docs", "words").await;
    house.add("Docs", "oil.txt", "The pump and the oil filter of the pump, pump, pump.").await;
    house.add("Docs", "pump.txt", PUMP).await;
    let ask = |rerank: Value| {
        let mut body = json!({"query": "is the pump serviced every year"});
        if !rerank.is_null() {
            body["rerank"] = rerank;
        }
        house.search(body)
    };
    let found = ask(Value::Null).await;
    assert_eq!((&found["reranker"], names(&found)[0]), (&json!("cross-encoder"), "pump.txt"), "{found}");
    let said: Vec<_> = found["found"].as_array().unwrap().iter().map(|one| one["rerank_score"].as_f64()).collect();
    assert_eq!(said, [Some(6.0), Some(2.0)]);
    assert_eq!(ask(Value::Null).await["cached"], true);
    let off = ask(json!("off")).await;
    assert_eq!((off.get("reranker"), &off["cached"]), (None, &json!(false)), "another order is another answer: {off}");
    house.change(&docs, json!({"rerank": "off"}), 200).await;
    assert!(ask(Value::Null).await.get("reranker").is_none());
    let refused = house.root("POST /api/documents/search", &json!({"query": "x", "rerank": "best"})).await;
    assert!([400, 422].contains(&refused.status), "{}", refused.text);
}

#[tokio::test]
async fn a_capable_model_re_ranks_where_it_is_wanted() {
    let house = House::new().await;
    let docs = house.collection("Docs", "words").await;
    house.add("Docs", "oil.txt", "The pump and the oil filter of the pump.").await;
    house.add("Docs", "pump.txt", PUMP).await;
    let says = |text: &str| house.servers.says.lock().unwrap().push_back(text.to_owned());
    let ask = |rerank: &str| house.search(json!({"query": "when is the pump oiled", "rerank": rerank, "fresh": true}));
    let usual = ask("local").await;
    assert!(usual.get("reranker").is_none(), "no cross-encoder is there: {usual}");
    assert!(ask("auto").await.get("reranker").is_none(), "no small model is asked");
    house.servers.trusted.store(true, Ordering::Relaxed);
    for (scores, best) in [("[0, 10]", 1), ("[10, 0]", 0)] {
        says(&format!("{{\"scores\": {scores}}}"));
        let found = ask("auto").await;
        assert_eq!(found["reranker"], "chat@near", "{found}");
        let rerank: Vec<_> = found["found"].as_array().unwrap().iter().map(|one| one["rerank_score"].clone()).collect();
        assert_eq!(rerank, [10.0, 0.0]);
        assert_eq!(names(&found)[0], names(&usual)[best]);
    }
    let request = house.servers.read.lock().unwrap().pop().unwrap();
    assert_eq!(request.schema.unwrap()["properties"]["scores"]["minItems"], 2);
    // What is no answer changes nothing but the notice.
    says("I like the second one.");
    let found = ask("auto").await;
    assert_eq!((names(&found), found.get("reranker")), (names(&usual), None));
    assert!(found["notice"].as_str().unwrap().contains("not re-ranked: `near` did not give"), "{found}");
    // What is confidential is not sent outside.
    house.change(&docs, json!({"classification": "restricted"}), 200).await;
    house.servers.outside.store(true, Ordering::Relaxed);
    let before = house.servers.read.lock().unwrap().len();
    let found = ask("auto").await;
    assert!(found["notice"].as_str().unwrap().contains("restricted"), "{found}");
    assert_eq!(house.servers.read.lock().unwrap().len(), before);
}
