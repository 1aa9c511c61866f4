//! The port over connections, and the local model as one of them.

use crate::support;
use async_trait::async_trait;
use futures::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::ConnectionId;
use steward_core::message::Message;
use steward_core::model::{Auth, Capabilities, Connection, ModelErrorClass, Provider};
use steward_core::ports::{Clock, Models};
use steward_models::local::{Endpoint, LocalModelError};
use steward_models::openai::{Client, LocalModels, Timeouts};
use steward_models::router::Router;
use steward_testkit::FakeClock;
use steward_testkit::model_server::{Behaviour, Script, ScriptedModelServer};
use support::{client, connection, request, uuid};

fn clock() -> Arc<dyn Clock> {
    Arc::new(FakeClock::default())
}

struct Child(PathBuf);

#[async_trait]
impl LocalModels for Child {
    async fn endpoint(&self, path: &str) -> Result<Endpoint, LocalModelError> {
        if path != "/models/tiny.gguf" {
            return Err(LocalModelError::FileMissing { path: path.into() });
        }
        Ok(Endpoint { socket_path: self.0.clone(), token: "t0ken-of-the-child".into() })
    }
}

fn local() -> Connection {
    Connection {
        id: ConnectionId(uuid(9)),
        name: "local".to_owned(),
        provider: Provider::Local,
        base_url: String::new(),
        model: "/models/tiny.gguf".to_owned(),
        auth: Auth::None,
        capabilities: Capabilities::tiny(2048),
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
        wire: None,
    }
}

fn over_socket(script: Script) -> (tempfile::TempDir, ScriptedModelServer, Client) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.sock");
    let server = ScriptedModelServer::start_unix(script, &path).unwrap();
    let client = Client::new(support::secrets(), Some(Arc::new(Child(path))), Timeouts::default());
    (dir, server, client)
}

#[tokio::test]
async fn the_local_model_is_a_connection_over_a_socket() {
    let script = Script {
        api_key: Some("t0ken-of-the-child".to_owned()),
        scores: [("read".to_owned(), -1.5)].into(),
        ..Script::always(Behaviour::text("hello"))
    };
    let (_dir, server, client) = over_socket(script);
    let router = Router::new(client, clock(), vec![local()], None);
    let chosen = router.select(None).await.unwrap();
    let mut asked = request("hi");
    asked.schema = Some(serde_json::json!({"type": "object"}));
    asked.messages.push(Message::assistant("{\"tool\":"));
    let chunks: Vec<_> = router.stream(chosen.id, asked.clone()).await.unwrap().collect().await;
    assert_eq!(chunks.len(), 2, "{chunks:?}");
    let body = &server.chats()[0].body;
    assert!(body.get("model").is_none(), "a path is no name on the wire");
    assert_eq!(body["assistant_prefix"], "{\"tool\":");
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert_eq!(body["json_schema"]["type"], "object");

    let scored = router.score(chosen.id, asked, &["read".into(), "ls".into()]).await.unwrap();
    assert_eq!(scored[0].candidate, "read");
    assert!((scored[0].logprob + 1.5).abs() < 1e-6 && scored[1].tokens == 1);
    server.assert_clean();
}

#[tokio::test]
async fn the_child_s_token_is_secret_and_its_errors_are_told() {
    let script = Script { api_key: Some("another".to_owned()), ..Script::default() };
    let (_dir, _server, client) = over_socket(script);
    let error = client.stream(&local(), &request("hi")).await.err().unwrap();
    assert_eq!(error.class, ModelErrorClass::Auth);
    assert!(!format!("{error:?}").contains("t0ken"), "{error:?}");
    let mut missing = local();
    missing.model = "/models/none.gguf".to_owned();
    let error = client.stream(&missing, &request("hi")).await.err().unwrap();
    assert_eq!(error.class, ModelErrorClass::Connect);
    assert!(error.message.contains("/models/none.gguf does not exist"), "{error:?}");
}

#[tokio::test]
async fn a_socket_without_a_server_is_no_connection() {
    let child = Child(PathBuf::from("/nonexistent/m.sock"));
    let client = Client::new(support::secrets(), Some(Arc::new(child)), Timeouts::default());
    let error = client.stream(&local(), &request("hi")).await.err().unwrap();
    assert_eq!(error.class, ModelErrorClass::Connect, "{error:?}");
}

#[tokio::test]
async fn connections_are_chosen_and_replaced_live() {
    let server = ScriptedModelServer::start(Script::always(Behaviour::text("hi"))).await.unwrap();
    let first = connection(&server.base_url());
    let second = Connection { id: ConnectionId(uuid(8)), name: "second".to_owned(), ..first.clone() };
    let router = Router::new(client(), clock(), vec![first.clone(), second.clone()], Some(second.id));
    assert_eq!(router.select(None).await.unwrap(), second);
    assert_eq!(router.select(Some(first.id)).await.unwrap(), first);
    let stream = router.stream(first.id, request("hi")).await.unwrap();
    router.replace_connections(vec![second.clone()], None);
    assert_eq!(stream.collect::<Vec<_>>().await.len(), 2, "a running call goes on");
    assert_eq!(router.select(None).await.unwrap(), second);

    let error = router.select(Some(first.id)).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::UnknownModel);
    assert!(error.hint.contains("choose one of: second"), "{error:?}");
    let error = router.stream(first.id, request("hi")).await.err().unwrap();
    assert!(error.message.contains("no connection"), "{error:?}");

    router.replace_connections(vec![], None);
    let error = router.select(None).await.unwrap_err();
    assert!(error.hint.contains("OPENAI_API_KEY"), "{error:?}");
}

#[tokio::test]
async fn likelihoods_are_asked_only_where_they_are_given() {
    let server = ScriptedModelServer::start(Script::default()).await.unwrap();
    let plain = connection(&server.base_url());
    let router = Router::new(client(), clock(), vec![plain.clone()], None);
    let error = router.score(plain.id, request("hi"), &["a".into()]).await.unwrap_err();
    assert_eq!(error.class, ModelErrorClass::BadRequest);
    assert!(server.requests().is_empty());
}
