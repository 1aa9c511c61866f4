//! What is taken away while a run waits stops it when it would go on.

use crate::engine::bed::{asked, connection, finished, request, service_with, untrusted};
use crate::engine::outcome;
use serde_json::json;
use steward_core::approval::Answer;
use steward_core::event::{Mode, Outcome};
use steward_core::ports::{Role, User, Users as _};
use steward_core::{ConnectionId, TenantId, Timestamp, UserId};
use steward_engine::{RunService, StartRun};
use steward_store::Store;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use tempfile::TempDir;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;
const ANN: UserId = UserId(Uuid::from_u128(1));
const CONNECTION: ConnectionId = ConnectionId(Uuid::from_u128(5));

struct House {
    dir: TempDir,
    _data: TempDir,
    _model: ScriptedModelServer,
    service: RunService,
    store: std::sync::Arc<Store>,
}

async fn house() -> House {
    let write = Behaviour::calls([("write", json!({"path": "n.txt", "content": "x"}))]);
    let model = ScriptedModelServer::start(Script::of([write, Behaviour::text("Written.")])).await.unwrap();
    let (dir, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (service, store) = service_with(data.path(), vec![connection(&model, untrusted())]).await;
    let user = User::new(ANN, "ann@example.org", "Ann", Role::Developer, Timestamp(0));
    store.create_user(TENANT, &user).await.unwrap();
    House { dir, _data: data, _model: model, service, store }
}

impl House {
    fn request(&self) -> StartRun {
        StartRun { user: Some(ANN), ..request("Write it", Mode::Loop, self.dir.path()) }
    }

    /// How a run ends that is approved after `meanwhile`, and whether it wrote.
    async fn approved_after(&self, start: StartRun, meanwhile: impl AsyncFnOnce()) -> (Outcome, bool) {
        let run = self.service.start(start).await.unwrap();
        let question = asked(&self.service, run).await;
        meanwhile().await;
        self.service.decide(question, Answer::Approve { grant: None, until: None }, "me").await.unwrap();
        let (outcome, _) = outcome(&finished(&self.service, run).await);
        self.service.shutdown().await;
        (outcome, self.dir.path().join("n.txt").exists())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_agent_does_nothing_more() {
    for user in [None, Some(ANN)] {
        let house = house().await;
        let start = StartRun { user, ..house.request() };
        house.store.save_agent(TENANT, &start.agent).await.unwrap();
        let (id, known) = (start.agent.id, house.store.identities());
        let delete = async || house.store.delete_agent(TENANT, id, Timestamp(1)).await.unwrap();
        let (outcome, wrote) = house.approved_after(start, delete).await;
        assert_eq!(outcome, Outcome::Stopped { by: "steward: the agent was deleted".into() });
        assert!(!wrote);
        assert_ne!(house.store.identities(), known, "a run at work looks again, too");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_named_needs_a_right_as_long_as_the_run_lasts() {
    for named in [false, true] {
        let house = house().await;
        let mut start = StartRun { connection: named.then_some(CONNECTION), ..house.request() };
        start.agent.connection = Some(CONNECTION);
        let restrict = async || house.store.set_restricted(TENANT, CONNECTION.into(), true).await.unwrap();
        let (outcome, wrote) = house.approved_after(start, restrict).await;
        let lost = Outcome::Stopped { by: "steward: the user may not use this connection any more".into() };
        assert_eq!(outcome, if named { lost } else { Outcome::Completed }, "an agent brings its own along");
        assert_eq!(wrote, !named);
    }
}
