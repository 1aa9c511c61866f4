//! Documents are searched before a plan is made, with strings of the planner's or of the request's.

use crate::engine::bed::{asked, connection, finished, request, service_with, untrusted};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use steward_core::DocumentId;
use steward_core::document::DocumentOrigin;
use steward_core::event::{Event, EventBody, Mode, PlanSearch};
use steward_core::model::Capabilities;
use steward_core::ports::{ChunkRow, DocumentPassage, FoundPassages, Knowledge, KnowledgeError, PassageQuery};
use steward_engine::RunService;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

/// Has one passage, near to texts that name it.
struct Shelf {
    documents: u64,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Knowledge for Shelf {
    async fn passages(&self, query: PassageQuery<'_>) -> Result<FoundPassages, KnowledgeError> {
        self.asked.lock().unwrap().push(query.text.to_owned());
        let near = if query.text.contains("heron") { 1.3 } else { 0.1 };
        let passage = DocumentPassage {
            document: DocumentId(Uuid::from_u128(1)),
            name: "birds.pdf".to_owned(),
            origin: DocumentOrigin::Upload,
            source: "birds.pdf".to_owned(),
            classification: None,
            collection: "Birds".to_owned(),
            index: 2,
            chunk: ChunkRow { text: "Herons are counted in April.".to_owned(), ..ChunkRow::default() },
            quote: String::new(),
            nearest: near,
            cosine: Some(0.5),
        };
        Ok(FoundPassages { passages: vec![passage], documents: self.documents, problem: None })
    }
}

struct House {
    dir: tempfile::TempDir,
    _data: tempfile::TempDir,
    model: ScriptedModelServer,
    service: RunService,
    shelf: Arc<Shelf>,
}

async fn house(replies: Vec<Behaviour>, documents: u64, capabilities: Capabilities) -> House {
    let (dir, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let model = ScriptedModelServer::start(Script::of(replies)).await.unwrap();
    let (service, _) = service_with(data.path(), vec![connection(&model, capabilities)]).await;
    let shelf = Arc::new(Shelf { documents, asked: Mutex::default() });
    assert!(service.deps().knowledge.set(Arc::clone(&shelf) as Arc<dyn Knowledge>).is_ok());
    House { dir, _data: data, model, service, shelf }
}

fn plan() -> Behaviour {
    let steps: Value = json!([
        {"thought": "keep", "tool": "write", "args": {"path": "n.txt", "content": "April"}},
        {"thought": "", "tool": "final_answer", "args": {"text": ""}}
    ]);
    Behaviour::text(steps.to_string())
}

fn searched(events: &[Event]) -> Option<PlanSearch> {
    events.iter().find_map(|event| match &event.body {
        EventBody::PlanSearched(found) => Some((**found).clone()),
        _ => None,
    })
}

const REQUEST: &str = "Find out when the grey birds are counted. Then write the month to n.txt.";

#[tokio::test(flavor = "multi_thread")]
async fn what_the_planners_search_strings_find_stands_in_its_prompt() {
    let strings = Behaviour::text(json!({"queries": ["heron census", "bird count month"]}).to_string());
    let house = house(vec![strings, plan()], 4, untrusted()).await;
    let run = house.service.start(request(REQUEST, Mode::Plan, house.dir.path())).await.unwrap();
    let id = asked(&house.service, run).await;
    let question = house.service.deps().store.approval(house.service.deps().tenant, id).await.unwrap();
    assert_eq!(question.about.entered.iter().map(|one| one.origin.as_str()).collect::<Vec<_>>(), ["birds.pdf"]);
    let chats = house.model.chats();
    assert_eq!(chats.len(), 2, "one short call more");
    let (asked_for, planned) = (chats[0].body.to_string(), chats[1].body["messages"].to_string());
    assert!(asked_for.contains("search strings") && asked_for.contains("queries"), "{asked_for}");
    assert!(chats[0].body["max_tokens"].as_u64().unwrap() <= 300, "{asked_for}");
    assert!(planned.contains("Herons are counted in April.") && planned.contains("[1] birds.pdf"), "{planned}");
    assert_eq!(house.shelf.asked.lock().unwrap()[1..], ["heron census", "bird count month"]);
    house.service.stop(run, "me").await.unwrap();
    let events = finished(&house.service, run).await;
    let found = searched(&events).unwrap();
    assert_eq!((found.by.as_str(), found.references.len(), found.references[0].number), ("model", 1, 1));
    assert_eq!(found.taint[0].origin, "birds.pdf");
    let state = house.service.state(run).await.unwrap();
    assert_eq!(state.references().len(), 1, "an answer can cite it");
    house.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_strings_of_a_model_the_requests_sentences_are_searched_with() {
    for reply in [Behaviour::text("I would look for birds."), Behaviour::server_error(503)] {
        let house = house(vec![reply, plan()], 4, untrusted()).await;
        let input = "When are herons counted? Then write the month to n.txt.";
        let run = house.service.start(request(input, Mode::PlanOnly, house.dir.path())).await.unwrap();
        let events = finished(&house.service, run).await;
        let found = searched(&events).unwrap();
        assert_eq!(found.queries, ["When are herons counted?", "Then write the month to n.txt."]);
        assert_eq!(found.by, "request");
        assert!(found.references.is_empty(), "the run began with it already");
        assert!(house.model.chats().len() == 2, "it is not asked twice");
        house.service.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_searched_where_there_is_nothing_or_no_plan() {
    let small = Capabilities { plans: false, summarises: false, ..untrusted() };
    for (documents, mode, capabilities) in
        [(0, Mode::PlanOnly, untrusted()), (4, Mode::Loop, untrusted()), (4, Mode::PlanOnly, small)]
    {
        let reply = if mode == Mode::Loop { Behaviour::text("Fine.") } else { plan() };
        let house = house(vec![reply], documents, capabilities).await;
        let run = house.service.start(request(REQUEST, mode, house.dir.path())).await.unwrap();
        let events = finished(&house.service, run).await;
        assert!(searched(&events).is_none(), "{mode:?}");
        assert!(mode == Mode::Loop || house.model.chats().len() <= 1, "{mode:?}");
        house.service.shutdown().await;
    }
}
