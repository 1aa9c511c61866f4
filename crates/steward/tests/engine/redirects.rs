//! Requests that go elsewhere because of what they are about.

use crate::engine::bed::{connection, finished, request, service_with, untrusted};
use std::sync::Arc;
use steward_core::agent::Agent;
use steward_core::event::{EventBody, Mode, Setup};
use steward_core::routing::{Hint, Redirect};
use steward_core::{AgentId, TenantId, UserId};
use steward_engine::{RunService, StartRun};
use steward_store::Store;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use uuid::Uuid;

const FIGURES: AgentId = AgentId(Uuid::from_u128(60));

struct House {
    dir: tempfile::TempDir,
    _data: tempfile::TempDir,
    _model: ScriptedModelServer,
    service: RunService,
    store: Arc<Store>,
}

async fn house() -> House {
    let (dir, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let model = ScriptedModelServer::start(Script::always(Behaviour::text("Fine."))).await.unwrap();
    let (service, store) = service_with(data.path(), vec![connection(&model, untrusted())]).await;
    let figures = Agent {
        id: FIGURES,
        name: "figures".to_owned(),
        tools: vec!["sql".to_owned()],
        ..request("", Mode::Loop, dir.path()).agent
    };
    store.save_agent(TenantId::DEFAULT, &figures).await.unwrap();
    House { dir, _data: data, _model: model, service, store }
}

impl House {
    fn ask(&self, input: &str, redirects: &[(Hint, Redirect)]) -> StartRun {
        let mut start = request(input, Mode::Loop, self.dir.path());
        start.agent.routing.redirects = redirects.iter().copied().collect();
        start
    }

    async fn setup(&self, start: StartRun) -> Arc<Setup> {
        let run = self.service.start(start).await.unwrap();
        match &finished(&self.service, run).await[0].body {
            EventBody::RunStarted { setup, .. } => Arc::clone(setup),
            other => panic!("{other:?}"),
        }
    }
}

fn names(setup: &Setup) -> Vec<&str> {
    setup.tools.iter().map(|spec| spec.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_goes_to_the_agent_that_the_hint_names() {
    let house = house().await;
    let to_figures = [(Hint::Analytics, Redirect::Agent(FIGURES))];
    let setup = house.setup(house.ask("Draw a chart of the visits", &to_figures)).await;
    assert_eq!((setup.agent.id, setup.agent.name.as_str()), (FIGURES, "figures"));
    assert!(names(&setup).contains(&"sql") && !names(&setup).contains(&"write"), "{:?}", names(&setup));
    let to = setup.redirected.as_ref().unwrap();
    assert_eq!(
        (to.hint, to.from.as_deref(), to.words.as_slice()),
        (Hint::Analytics, Some("a"), &["chart".to_owned()][..])
    );
    assert!(to.reason.contains("analytics") && to.reason.contains("`figures`"), "{}", to.reason);
    // What is about something else stays, and so does everything where nothing is said.
    for start in [house.ask("Write a poem", &to_figures), house.ask("Draw a chart of the visits", &[])] {
        let setup = house.setup(start).await;
        assert!(setup.agent.name == "a" && setup.redirected.is_none());
    }
    let rest = [(Hint::General, Redirect::Agent(FIGURES))];
    assert_eq!(house.setup(house.ask("Write a poem", &rest)).await.agent.id, FIGURES);
    house.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_keeps_only_the_tools_that_the_hint_names() {
    let house = house().await;
    let tools = [(Hint::Analytics, Redirect::Tools), (Hint::Documents, Redirect::Tools)];
    let setup = house.setup(house.ask("Draw a chart of the visits", &tools)).await;
    assert_eq!(setup.agent.name, "a");
    assert!(names(&setup).contains(&"sql") && !names(&setup).contains(&"write"), "{:?}", names(&setup));
    assert!(setup.redirected.as_ref().unwrap().reason.contains("sql"));
    let setup = house.setup(house.ask("Search the contract", &tools)).await;
    assert!(names(&setup).contains(&"grep") && !names(&setup).contains(&"sql"), "{:?}", names(&setup));
    let mut start = house.ask("Draw a chart of the visits", &tools);
    start.agent.tools = vec!["write".to_owned()];
    let setup = house.setup(start).await;
    assert!(names(&setup).contains(&"write"), "there is no tool for it, so all stay: {:?}", names(&setup));
    assert!(setup.redirected.as_ref().unwrap().reason.contains("no tool"));
    house.service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_stays_where_the_other_agent_can_t_be_used() {
    let house = house().await;
    let to_figures = [(Hint::Analytics, Redirect::Agent(FIGURES))];
    let nobody = StartRun { user: Some(UserId(Uuid::from_u128(1))), ..house.ask("Draw a chart", &to_figures) };
    let run = house.service.start(nobody).await.unwrap();
    let setup = house.service.state(run).await.unwrap().setup.unwrap();
    assert_eq!(setup.agent.name, "a");
    let to = setup.redirected.as_ref().unwrap();
    assert!(to.from.is_none() && to.reason.contains("may not use") && !to.reason.contains("figures"), "{}", to.reason);

    house.store.delete_agent(TenantId::DEFAULT, FIGURES, house.service.deps().clock.now()).await.unwrap();
    let setup = house.setup(house.ask("Draw a chart", &to_figures)).await;
    assert_eq!(setup.agent.name, "a");
    assert!(setup.redirected.as_ref().unwrap().reason.contains("isn't there any more"));
    house.service.shutdown().await;
}
