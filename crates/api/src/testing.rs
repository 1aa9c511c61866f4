//! For the tests of this room: a state over users in memory, without runs. Tests of whole flows, on the real
//! store, are those of the binary.

mod auth;
mod gateway;
mod guards;
mod mcp;
mod nothing;
mod nothing_skills;
mod nothing_spent;
mod pages;
mod routing;

use crate::router::{guarded, router};
use crate::state::{ApiState, Hosts};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, header};
use nothing::Nothing;
use secrecy::SecretBox;
use serde_json::Value;
use std::sync::Arc;
use steward_access::AccessDeps;
use steward_app::{AboutFacts, Access, App, AppParts, Health, LogIn, OpenSession, UsageWriter};
use steward_core::TenantId;
use steward_core::ports::Clock;
use steward_engine::{Deps, EngineConfig, RunService};
use steward_testkit::{FakeClock, Memory, SeqIds};
use steward_tools::mcp::{Helper, McpConfig, McpHub, McpPorts};
use steward_tools::package::Packages;
use steward_tools::skills::FileHostKeys;
use tower::ServiceExt;

pub(crate) const EMAIL: &str = "ada@example.org";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A server without a socket.
pub(crate) struct Bed {
    pub router: Router,
    pub state: ApiState,
    pub clock: Arc<FakeClock>,
    pub memory: Arc<Memory>,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: axum::http::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// `token` of `steward_refresh=token; …`.
    pub fn cookie(&self) -> Option<&str> {
        let (_, rest) = self.header("set-cookie").split_once("steward_refresh=")?;
        rest.split(';').next()
    }
}

fn state(clock: &Arc<FakeClock>, memory: &Arc<Memory>) -> ApiState {
    let nothing = Arc::new(Nothing);
    let access = Access::new(AccessDeps {
        tenant: TenantId::DEFAULT,
        users: memory.clone(),
        sessions: memory.clone(),
        settings: memory.clone(),
        keys: memory.clone(),
        clock: clock.clone(),
        ids: Arc::new(SeqIds::default()),
        signing_key: SecretBox::new(Box::new(vec![7; 32])),
    });
    let app = App::new(AppParts {
        runs: RunService::new(Deps {
            limiter: Arc::default(),
            tenant: TenantId::DEFAULT,
            store: nothing.clone(),
            models: nothing.clone(),
            tools: nothing.clone(),
            embedder: nothing.clone(),
            intent: nothing.clone(),
            price: Arc::new(|_| None),
            bus: nothing.clone(),
            clock: clock.clone(),
            ids: Arc::new(SeqIds::new(1)),
            config: EngineConfig::default(),
        }),
        access: Arc::new(access),
        health: Arc::new(Health::default()),
        workspace: "/nowhere".to_owned(),
        grants: Vec::new(),
        intent_filter: true,
        idempotency: memory.clone(),
        connections: nothing.clone(),
        examiner: nothing.clone(),
        skills: nothing.clone(),
        vault: nothing.clone(),
        packages: Arc::new(Packages::new(
            nothing.clone(),
            nothing.clone(),
            nothing.clone(),
            clock.clone(),
            Arc::new(SeqIds::new(2)),
        )),
        mcp: Arc::new(McpHub::new(
            McpPorts {
                servers: nothing.clone(),
                skills: nothing.clone(),
                vault: nothing,
                clock: clock.clone(),
                ids: Arc::new(SeqIds::new(3)),
            },
            McpConfig::new(Helper { program: "/nowhere".into(), prefix: Vec::new() }, "/nowhere"),
        )),
        host_keys: Arc::new(FileHostKeys::new("/nowhere/hosts.json")),
        gateway: Arc::new(gateway::Fake::default()),
        usage: Arc::new(UsageWriter::new(Arc::new(gateway::Fake::default()), Arc::default())),
        about: Arc::new(AboutFacts {
            version: "9.9.9".to_owned(),
            commit: None,
            database: "sqlite".to_owned(),
            database_version: "3".to_owned(),
            schema_version: None,
            data_dir: "/nowhere".to_owned(),
            started_at: clock.now(),
        }),
    });
    ApiState { app, hosts: Arc::new(Hosts { loopback: true, ..Hosts::default() }) }
}

/// The same application with other parts.
pub(crate) fn with_parts(state: &ApiState, change: impl FnOnce(&mut AppParts)) -> ApiState {
    let mut parts = AppParts::clone(&state.app);
    change(&mut parts);
    ApiState { app: App::new(parts), hosts: state.hosts.clone() }
}

/// The whole API.
pub(crate) fn bed() -> Bed {
    let (clock, memory) = (Arc::default(), Arc::default());
    let state = state(&clock, &memory);
    Bed { router: router(state.clone()), state, clock, memory }
}

/// The guards around other routes.
pub(crate) fn bed_around(routes: Router<ApiState>) -> Bed {
    let bed = bed();
    Bed { router: guarded(routes, bed.state.clone()), ..bed }
}

impl Bed {
    /// Makes the administrator and logs them in.
    pub async fn admin(&self) -> OpenSession {
        let made = self.state.access.first_start(Some((EMAIL, PASSWORD))).await;
        made.unwrap();
        let login = LogIn { email: EMAIL, password: PASSWORD, client: None, label: "a program" };
        self.state.access.log_in(login).await.unwrap()
    }

    /// Sends a request as a program on this machine would; `headers` as `name: value`.
    pub async fn send(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let (method, path) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|one| one.starts_with("host:")) {
            request = request.header(header::HOST, "localhost:8800");
        }
        for one in headers {
            let (name, value) = one.split_once(": ").unwrap_or((one, ""));
            request = request.header(name.trim_end_matches(':'), value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        read(response).await
    }

    /// The same with a JSON body.
    pub async fn json(&self, line: &str, headers: &[&str], body: &Value) -> Answer {
        let mut all = vec!["content-type: application/json"];
        all.extend(headers);
        self.send(line, &all, &body.to_string()).await
    }
}

async fn read(response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, 10_000_000).await.unwrap();
    Answer { status: parts.status.as_u16(), headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

/// `Authorization` of a session.
pub(crate) fn bearer(open: &OpenSession) -> String {
    format!("authorization: Bearer {}", open.access_token)
}
