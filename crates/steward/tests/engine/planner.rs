//! Plans by one model, all else by another; several plans to choose from; steps that can't run.

use crate::engine::bed::{OTHER, asked, connection, finished, request, service_set, service_with, untrusted};
use crate::engine::outcome;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::ConnectionId;
use steward_core::approval::Answer;
use steward_core::event::{Event, EventBody, Mode, Outcome, Setup};
use steward_core::model::{Capabilities, Connection, Purpose};
use steward_core::routing::Task;
use steward_engine::{RunService, StartRun};
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

const FIRST: ConnectionId = ConnectionId(Uuid::from_u128(5));

fn plan(steps: &[(&str, Value)]) -> Behaviour {
    let mut all: Vec<Value> =
        steps.iter().map(|(tool, args)| json!({"thought": "so", "tool": tool, "args": args})).collect();
    all.push(json!({"thought": "", "tool": "final_answer", "args": {"text": ""}}));
    Behaviour::text(Value::Array(all).to_string())
}

/// Reads a file and keeps its word in another one, which the model fills in.
fn reading_and_writing() -> Behaviour {
    plan(&[("read", json!({"path": "a.txt"})), ("write", json!({"path": "b.txt", "content": ""}))])
}

fn filled() -> Behaviour {
    Behaviour::text(json!({"path": "b.txt", "content": "heron"}).to_string())
}

async fn model(replies: impl IntoIterator<Item = Behaviour>) -> ScriptedModelServer {
    ScriptedModelServer::start(Script::of(replies)).await.unwrap()
}

fn second(model: &ScriptedModelServer, capabilities: Capabilities) -> Connection {
    Connection { id: OTHER, name: "second".into(), model: "second".into(), ..connection(model, capabilities) }
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "heron").unwrap();
    dir
}

fn setup(events: &[Event]) -> Arc<Setup> {
    match &events[0].body {
        EventBody::RunStarted { setup, .. } => Arc::clone(setup),
        other => panic!("{other:?}"),
    }
}

/// Which connection answered which kind of call.
fn answered(events: &[Event]) -> Vec<(Purpose, String)> {
    events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelResponded { purpose, answered: Some(by), .. } => Some((*purpose, by.name.clone())),
            _ => None,
        })
        .collect()
}

/// Says yes to whatever is asked, until the run ends.
async fn approved(service: &RunService, start: StartRun) -> Vec<Event> {
    let run = service.start(start).await.unwrap();
    loop {
        let state = service.state(run).await.unwrap();
        if state.is_finished() {
            return finished(service, run).await;
        }
        if let Some(steward_core::run::Waiting::Approval { id, .. }) = state.waiting {
            let _ = service.decide(id, Answer::Approve { grant: None, until: None }, "me").await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn split() -> Vec<(Purpose, String)> {
    vec![
        (Purpose::Plan, "second".to_owned()),
        (Purpose::Fill, "scripted".to_owned()),
        (Purpose::Answer, "scripted".to_owned()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn one_model_plans_and_another_carries_out() {
    let dir = folder();
    let (executor, planner) = (model([]).await, model([]).await);
    let data = tempfile::tempdir().unwrap();
    let (service, _) =
        service_with(data.path(), vec![connection(&executor, untrusted()), second(&planner, untrusted())]).await;
    let wanted = |edit: fn(&mut StartRun)| {
        let mut start = request("Keep the word", Mode::Plan, dir.path());
        edit(&mut start);
        start
    };
    // As the agent says, as the request says, and with the executor alone named: the agent's own connection plans.
    let ways: [fn(&mut StartRun); 4] = [
        |start| start.agent.routing.planner = Some(OTHER),
        |start| {
            start.agent.connection = Some(OTHER);
            start.agent.routing.executor = Some(FIRST);
        },
        |start| start.planner = Some(OTHER),
        |start| (start.connection, start.executor) = (Some(OTHER), Some(FIRST)),
    ];
    for (at, way) in ways.into_iter().enumerate() {
        executor.replace(Script::of([filled(), Behaviour::text("Kept.")]));
        planner.replace(Script::of([reading_and_writing()]));
        let events = approved(&service, wanted(way)).await;
        assert_eq!(outcome(&events), (Outcome::Completed, "Kept.".into()), "{at}");
        assert_eq!(answered(&events), split(), "{at}");
        let setup = setup(&events);
        let of_plans = setup.planner.as_ref().unwrap();
        assert_eq!((setup.model.as_str(), of_plans.model.as_str()), ("scripted", "second"));
        assert_eq!((of_plans.route.task, of_plans.route.targets[0]), (Task::Planning, OTHER));
        assert_eq!((of_plans.named, setup.names_connection), (at >= 2, at == 3));
        let asked: Vec<&str> = events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::ModelRequested { model, .. } => Some(model.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(asked, ["second", "scripted", "scripted"], "{at}");
        std::fs::remove_file(dir.path().join("b.txt")).unwrap();
    }
    // Nobody says anything: one model does all of it.
    executor.replace(Script::of([reading_and_writing(), filled(), Behaviour::text("Kept.")]));
    let events = approved(&service, wanted(|_| {})).await;
    assert!(setup(&events).planner.is_none());
    assert!(answered(&events).iter().all(|(_, name)| name == "scripted"));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_plan_is_the_planners_too_and_its_fallback_is_the_usual_one() {
    let dir = folder();
    let executor = model([reading_and_writing(), Behaviour::text("Read.")]).await;
    let planner = model([Behaviour::unauthorised(), plan(&[("read", json!({"path": "a.txt"}))])]).await;
    let data = tempfile::tempdir().unwrap();
    let (service, _) =
        service_with(data.path(), vec![connection(&executor, untrusted()), second(&planner, untrusted())]).await;
    let mut start = request("Keep the word", Mode::Plan, dir.path());
    start.agent.routing.planner = Some(OTHER);
    let run = service.start(start.clone()).await.unwrap();
    asked(&service, run).await;
    let state = service.state(run).await.unwrap();
    let route = state.setup.as_ref().unwrap().planner.as_ref().unwrap().route.clone();
    assert_eq!(route.targets, [OTHER, FIRST], "{}", route.reason);
    assert!(route.reason.contains("`second` (planner), then `scripted`"), "{}", route.reason);
    assert_eq!(executor.chats().len(), 1, "the planner did not answer, so the usual connection planned");
    service.stop(run, "me").await.unwrap();
    service.shutdown().await;

    let planner = model([reading_and_writing(), plan(&[("read", json!({"path": "a.txt"}))])]).await;
    let executor = model([Behaviour::text("Read.")]).await;
    let data = tempfile::tempdir().unwrap();
    let (service, _) =
        service_with(data.path(), vec![connection(&executor, untrusted()), second(&planner, untrusted())]).await;
    let run = service.start(start).await.unwrap();
    let id = asked(&service, run).await;
    service.decide(id, Answer::Feedback { text: "only read it".into() }, "me").await.unwrap();
    let again = crate::engine::bed::until(
        &service,
        run,
        |body| matches!(body, EventBody::ApprovalRequested { approval_id, .. } if *approval_id != id),
    )
    .await;
    if let EventBody::ApprovalRequested { approval_id, .. } = &again.last().unwrap().body {
        service.decide(*approval_id, Answer::Approve { grant: None, until: None }, "me").await.unwrap();
    }
    let events = finished(&service, run).await;
    assert_eq!((planner.chats().len(), executor.chats().len()), (2, 1));
    assert_eq!(outcome(&events).1, "Read.");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_installation_names_both_by_name() {
    let dir = folder();
    let executor = model([filled(), Behaviour::text("Kept.")]).await;
    let planner = model([reading_and_writing()]).await;
    let data = tempfile::tempdir().unwrap();
    let connections = vec![second(&planner, untrusted()), connection(&executor, untrusted())];
    let (service, _) = service_set(data.path(), connections, |config| {
        config.planner = Some("second".to_owned());
        config.executor = Some("scripted".to_owned());
    })
    .await;
    let events = approved(&service, request("Keep the word", Mode::Plan, dir.path())).await;
    assert_eq!(answered(&events), split());
    // Who names one connection for the whole run means its plans too.
    let whole = StartRun { connection: Some(FIRST), ..request("Keep the word", Mode::Plan, dir.path()) };
    executor.replace(Script::of([plan(&[("read", json!({"path": "a.txt"}))]), Behaviour::text("Read.")]));
    assert!(setup(&approved(&service, whole).await).planner.is_none());
    service.shutdown().await;

    let data = tempfile::tempdir().unwrap();
    let only = vec![connection(&executor, untrusted())];
    let (service, _) = service_set(data.path(), only, |config| config.planner = Some("nowhere".to_owned())).await;
    let error = service.start(request("Keep the word", Mode::Plan, dir.path())).await.unwrap_err().to_string();
    assert!(error.contains("PLANNER_MODEL_SPEC") && error.contains("`nowhere`"), "{error}");
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_plans_lends_its_plan_to_one_that_can_t() {
    let dir = folder();
    let small = Capabilities { plans: false, summarises: false, ..untrusted() };
    let (executor, planner) = (model([]).await, model([plan(&[("read", json!({"path": "a.txt"}))])]).await);
    let data = tempfile::tempdir().unwrap();
    let (service, _) =
        service_with(data.path(), vec![connection(&executor, small), second(&planner, untrusted())]).await;
    let mut start = request("Which word is in the file?", Mode::Loop, dir.path());
    start.agent.routing.planner = Some(OTHER);
    let run = service.start(start).await.unwrap();
    let events = finished(&service, run).await;
    assert!(outcome(&events).1.contains("heron"), "{:?}", outcome(&events));
    assert_eq!((planner.chats().len(), executor.chats().len()), (1, 0));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deep_plan_is_the_planners() {
    let dir = folder();
    let steps = json!({"steps": [
        {"goal": "read it", "tool": "read", "depends_on": [], "risk": "", "expect": "a word"},
        {"goal": "say it", "tool": "", "depends_on": [1], "risk": "", "expect": ""},
    ]});
    let planner = model([Behaviour::text(steps.to_string())]).await;
    let executor =
        model([Behaviour::calls([("read", json!({"path": "a.txt"}))]), Behaviour::text("The word is heron.")]).await;
    let data = tempfile::tempdir().unwrap();
    let (service, _) =
        service_with(data.path(), vec![connection(&executor, untrusted()), second(&planner, untrusted())]).await;
    let input = "Read a.txt, then count its letters, and then write the number to n.txt.";
    let mut start = request(input, Mode::Loop, dir.path());
    start.agent.routing.planner = Some(OTHER);
    start.agent.deep.enabled = Some(true);
    let run = service.start(start).await.unwrap();
    let events = finished(&service, run).await;
    let by: Vec<(Purpose, String)> = answered(&events).into_iter().take(2).collect();
    assert_eq!(by, [(Purpose::Deep, "second".to_owned()), (Purpose::Reply, "scripted".to_owned())]);
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_better_of_two_plans_is_proposed() {
    let dir = folder();
    let bad = plan(&[("teleport", json!({"path": "a.txt"})), ("read", json!({"path": "TODO"}))]);
    let good = plan(&[("read", json!({"path": "a.txt"}))]);
    for first_is_good in [true, false] {
        let replies = if first_is_good { [good.clone(), bad.clone()] } else { [bad.clone(), good.clone()] };
        let model = model(replies).await;
        let data = tempfile::tempdir().unwrap();
        let only = vec![connection(&model, untrusted())];
        let (service, _) = service_set(data.path(), only, |config| config.plan_candidates = 2).await;
        let start = request("Which word is in a.txt?", Mode::PlanOnly, dir.path());
        let run = service.start(start).await.unwrap();
        let events = finished(&service, run).await;
        let candidates = events
            .iter()
            .find_map(|event| match &event.body {
                EventBody::PlanProposed { candidates, .. } => Some(candidates.clone()),
                _ => None,
            })
            .unwrap();
        let [best, other] = &candidates[..] else { panic!("{candidates:?}") };
        assert_eq!(best.plan.steps[0].args, json!({"path": "a.txt"}));
        assert!((best.score.known_tools - 1.0).abs() < 1e-6 && (best.score.valid_arguments - 1.0).abs() < 1e-6);
        assert!(other.score.valid_arguments < 0.1, "an unknown tool and a placeholder: {:?}", other.score);
        assert!(best.score.total > other.score.total + 0.2, "{:?} {:?}", best.score, other.score);
        assert!(outcome(&events).1.contains("a.txt"), "{:?}", outcome(&events));
        service.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_arguments_nobody_fills_is_refused_and_the_others_run() {
    let dir = folder();
    std::fs::write(dir.path().join("c.txt"), "bittern").unwrap();
    let steps = plan(&[("write", json!({"path": "b.txt", "content": ""})), ("read", json!({"path": "c.txt"}))]);
    let model = model([steps, Behaviour::unauthorised(), Behaviour::text("The word is bittern.")]).await;
    let data = tempfile::tempdir().unwrap();
    let (service, _) = service_with(data.path(), vec![connection(&model, untrusted())]).await;
    let events = approved(&service, request("Keep the word", Mode::Plan, dir.path())).await;
    let refused = events.iter().any(
        |event| matches!(&event.body, EventBody::ToolRejected { tool, message, .. } if tool == "write" && message.contains("no model answered")),
    );
    let read = events.iter().any(|event| matches!(&event.body, EventBody::ToolResult { tool, .. } if tool == "read"));
    assert!(refused && read && !dir.path().join("b.txt").exists(), "{events:#?}");
    // The planner was told what each tool does beyond looking.
    let prompt = model.chats()[0].body.to_string();
    assert!(prompt.contains("- write (writes): ") && prompt.contains("- read: "), "{prompt}");
    service.shutdown().await;
}
