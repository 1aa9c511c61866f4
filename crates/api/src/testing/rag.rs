//! Nobody is told of what they may not see: not by a search, by an answer that is kept, by debug or by figures.

use super::no_models::NoModels;
use super::{Answer, Bed, bed, places, with_parts};
use crate::router::router;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use steward_app::{DocumentParts, DocumentService, EmbeddingModels};
use steward_core::extracted::{Block, BlockKind, ExtractFailure, ExtractFailureKind, Extracted, Page};
use steward_core::hash::sha256;
use steward_core::permission::{AccessLevel, Grantee, ResourceGrant};
use steward_core::ports::{EmbedError, Embedder, Extractor, Role, User, Users as _};
use steward_core::{CollectionId, TenantId, Timestamp, UserId};
use steward_testkit::SeqIds;
use uuid::Uuid;

const NUMBERS: usize = 64;
const PEOPLE: [&str; 4] = ["ann", "bob", "cyd", "dee"];
const ROOT: &str = "authorization: Bearer sk-steward-root-key";
const QUESTIONS: [&str; 6] = [
    "When is the pump serviced?",
    "when is a pump serviced",
    "Please tell me when the pump is serviced.",
    "When is the valve serviced?",
    "Who services pump 2?",
    "Who services pump 3?",
];

/// Reads texts, and takes words for what they mean.
pub(super) struct Words;

#[async_trait]
impl Embedder for Words {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
    fn model(&self) -> &'static str {
        "words"
    }
    fn dimension(&self) -> usize {
        NUMBERS
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; NUMBERS];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 4) {
        let place = word.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        vector[place % NUMBERS] += 1.0;
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.iter().map(|number| number / length).collect()
}

#[async_trait]
impl Extractor for Words {
    async fn extract(&self, file: &Path, _: &str) -> Result<Extracted, ExtractFailure> {
        let text = std::fs::read_to_string(file).map_err(|error| ExtractFailure {
            kind: ExtractFailureKind::Unreadable,
            message: error.to_string(),
            hint: "look".to_owned(),
        })?;
        let blocks = vec![Block { kind: BlockKind::Paragraph, text, area: None }];
        let page = Page { number: 1, blocks, ..Page::default() };
        Ok(Extracted { doc_type: "text".to_owned(), pages: vec![page], ..Extracted::default() })
    }
}

async fn create(bed: &Bed, id: UserId, name: &str, role: Role) {
    let user = User {
        api_key_hash: Some(sha256(format!("sk-steward-{name}-key").as_bytes())),
        ..User::new(id, format!("{name}@example.org"), name, role, Timestamp(0))
    };
    bed.store.create_user(TenantId::DEFAULT, &user).await.unwrap();
}

/// An administrator of this name, with the key `sk-steward-NAME-key`.
pub(super) async fn person(bed: &Bed, name: &str) {
    create(bed, UserId(Uuid::from_u128(400)), name, Role::Admin).await;
}

struct House {
    bed: Bed,
    people: Vec<(UserId, String)>,
    collections: Vec<CollectionId>,
    /// Documents by their collection's place.
    documents: Vec<BTreeSet<String>>,
    /// Whether a person has a grant for the collection at this place.
    granted: BTreeMap<(usize, usize), bool>,
    made: usize,
}

impl House {
    async fn new() -> Self {
        let first = bed().await;
        let documents = DocumentService::new(DocumentParts {
            tenant: TenantId::DEFAULT,
            store: first.store.clone(),
            extractor: Arc::new(Words),
            pages: Arc::new(NoModels),
            picture_model: Arc::new(NoModels),
            embedding: EmbeddingModels::new(Arc::new(Words), first.clock.clone()),
            cross_encoder: None.into(),
            clock: first.clock.clone(),
            ids: Arc::new(SeqIds::new(0x7777_0000)),
            data_dir: first.dir.path().to_owned(),
            workspace: "/nowhere".to_owned().into(),
            places: places(first.dir.path()),
            // Whoever hands a document in waits until it is found.
            disk: super::disk_with(Vec::new()),
            serving: false,
        });
        let state = with_parts(&first, |app| app.documents = Arc::new(documents));
        let mut house = Self {
            bed: Bed { router: router(state.clone()), state, ..first },
            people: Vec::new(),
            collections: Vec::new(),
            documents: Vec::new(),
            granted: BTreeMap::new(),
            made: 0,
        };
        house.person(UserId(Uuid::from_u128(400)), "root", Role::Admin).await;
        for (at, name) in PEOPLE.iter().enumerate() {
            let id = UserId(Uuid::from_u128(500 + at as u128));
            house.person(id, name, Role::Developer).await;
            house.people.push((id, format!("authorization: Bearer sk-steward-{name}-key")));
        }
        let agent = json!({"name": "helper", "instructions": "Help.", "tools": [], "connection": null});
        let agent = house.root("POST /api/agents", &agent).await;
        assert_eq!(agent.status, 201, "{}", agent.text);
        for at in 0..3 {
            let made = house.root("POST /api/collections", &json!({"name": format!("Set {at}")})).await.json();
            house.collections.push(made["id"].as_str().unwrap().parse().unwrap());
            house.documents.push(BTreeSet::new());
            house.add(at).await;
            house.add(at).await;
        }
        house
    }

    async fn person(&self, id: UserId, name: &str, role: Role) {
        create(&self.bed, id, name, role).await;
    }

    async fn root(&self, line: &str, body: &Value) -> Answer {
        self.bed.json(line, &[ROOT], body).await
    }

    async fn add(&mut self, at: usize) {
        self.made += 1;
        let made = self.made;
        let query = format!("collection={}&name=name-{at}-{made}.txt&agent_id=helper", self.collections[at]);
        let body = format!("The pump {made} is serviced in May by mark-{at}-{made}, the valve in June.");
        let line = format!("POST /api/documents/upload?{query}");
        let added = self.bed.send(&line, &[ROOT, "content-type: application/octet-stream"], &body).await;
        assert_eq!(added.status, 201, "{}", added.text);
        self.documents[at].insert(added.json()["document"]["id"].as_str().unwrap().to_owned());
    }

    async fn remove(&mut self, at: usize) {
        if let Some(id) = self.documents[at].pop_first() {
            let gone = self.bed.send(&format!("DELETE /api/documents/{id}"), &[ROOT], "").await;
            assert_eq!(gone.status, 204, "{}", gone.text);
        }
    }

    async fn toggle(&mut self, person: usize, at: usize) {
        let (user, resource) = (self.people[person].0, self.collections[at].into());
        let granted = self.granted.entry((person, at)).or_default();
        *granted = !*granted;
        let store = &self.bed.store;
        if *granted {
            let grant = ResourceGrant {
                grantee: Grantee::User(user),
                level: AccessLevel::Use,
                given_by: String::new(),
                given_at: Timestamp(0),
            };
            store.give_grant(TenantId::DEFAULT, resource, &grant).await.unwrap();
        } else {
            store.take_grant(TenantId::DEFAULT, resource, user.0).await.unwrap();
        }
    }

    fn may_see(&self, person: usize, at: usize) -> bool {
        self.granted.get(&(person, at)).copied().unwrap_or_default()
    }

    fn documents_for(&self, person: usize) -> usize {
        (0..self.collections.len()).filter(|at| self.may_see(person, *at)).map(|at| self.documents[at].len()).sum()
    }

    /// What somebody was answered has nothing of what they may not see.
    fn check(&self, person: usize, answer: &Answer) -> Value {
        assert_eq!(answer.status, 200, "{}", answer.text);
        for at in (0..self.collections.len()).filter(|at| !self.may_see(person, *at)) {
            for trace in [format!("mark-{at}-"), format!("name-{at}-"), format!("Set {at}")] {
                assert!(!answer.text.contains(&trace), "{} sees {trace}: {}", PEOPLE[person], answer.text);
            }
            assert!(!answer.text.contains(&self.collections[at].to_string()), "{}", answer.text);
        }
        answer.json()
    }

    /// Debug and figures.
    async fn look(&self, person: usize, question: &str) {
        let key = self.people[person].1.as_str();
        let query = question.replace(' ', "+").replace('?', "%3F");
        let debug = self.bed.send(&format!("GET /api/rag/debug/helper?query={query}"), &[key], "").await;
        let debug = self.check(person, &debug);
        assert_eq!(debug["documents"], json!(self.documents_for(person)), "{debug}");
        assert_eq!(debug["behind"], 0);
        let stats = self.check(person, &self.bed.send("GET /api/rag/cache/stats", &[key], "").await);
        let figures = ["entries", "bytes", "hits", "misses", "saved_ms"];
        assert!(person != 3 || figures.iter().all(|figure| stats[*figure] == 0), "{stats}");
    }

    /// Whether the answer was known.
    async fn search(&self, person: usize, question: &str, of_agent: bool) -> bool {
        let key = self.people[person].1.as_str();
        let mut body = json!({"query": question});
        if of_agent {
            body["agent_id"] = json!("helper");
        }
        let found = self.check(person, &self.bed.json("POST /api/documents/search", &[key], &body).await);
        assert_eq!(found["documents"], json!(self.documents_for(person)), "{found}");
        body["fresh"] = json!(true);
        let fresh = self.check(person, &self.bed.json("POST /api/documents/search", &[key], &body).await);
        let documents = |one: &Value| -> BTreeSet<String> {
            let found = one["found"].as_array().unwrap().iter();
            found.map(|one| one["document"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(documents(&found), documents(&fresh), "what is kept is what would be found");
        found["cached"] == true
    }
}

/// Numbers that look like chance, the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_told_of_what_they_may_not_see() {
    let mut cached = 0;
    for seed in 0..3 {
        let (mut house, mut chance) = (House::new().await, Chance(seed));
        for _ in 0..150 {
            // The last person is never given anything.
            let (person, at) = (chance.below(PEOPLE.len()), chance.below(house.collections.len()));
            let question = QUESTIONS[chance.below(QUESTIONS.len())];
            match chance.below(12) {
                0 if person < 3 => house.toggle(person, at).await,
                1 if chance.below(4) == 0 => house.add(at).await,
                2 if chance.below(4) == 0 => house.remove(at).await,
                3 | 4 => house.look(person, question).await,
                5 => {
                    let line = "DELETE /api/rag/cache?agent_id=helper";
                    let cleared = house.bed.send(line, &[&house.people[person].1], "").await;
                    let cleared = house.check(person, &cleared);
                    assert!(person != 3 || cleared["removed"] == 0, "{cleared}");
                }
                kind => cached += usize::from(house.search(person, question, kind % 2 == 0).await),
            }
        }
    }
    assert!(cached > 30, "only {cached} answers were known");
}
