use std::io;
use std::net::{Ipv4Addr, SocketAddr};
#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::actions::Action;
use super::http::{gone, read_request};
use super::script::{Behaviour, Script};
use super::state::{Recorded, State};

/// A model server that answers by script. Ends when dropped.
#[derive(Debug)]
pub struct ScriptedModelServer {
    state: Arc<State>,
    address: Option<SocketAddr>,
    task: JoinHandle<()>,
}

impl ScriptedModelServer {
    pub async fn start(script: Script) -> io::Result<Self> {
        Self::start_at(script, 0).await
    }

    /// Starts on `port` of loopback; 0 means a free one.
    pub async fn start_at(script: Script, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(script));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                // Otherwise streams stall for 40 ms between small pieces.
                if stream.set_nodelay(true).is_ok() {
                    connections.spawn(converse(stream, Arc::clone(&shared)));
                }
            }
        });
        Ok(Self { state, address: Some(address), task })
    }

    #[cfg(unix)]
    pub fn start_unix(script: Script, path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        let state = Arc::new(State::new(script));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(converse(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { state, address: None, task })
    }

    /// `http://127.0.0.1:PORT/v1`; on a Unix socket `http://localhost/v1`.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.root_url())
    }

    /// Like [`Self::base_url`], without `/v1`.
    pub fn root_url(&self) -> String {
        match self.address {
            Some(address) => format!("http://{address}"),
            None => "http://localhost".to_owned(),
        }
    }

    /// 0 on a Unix socket.
    pub fn port(&self) -> u16 {
        self.address.map_or(0, |address| address.port())
    }

    pub fn requests(&self) -> Vec<Recorded> {
        self.state.recorded()
    }

    pub fn chats(&self) -> Vec<Recorded> {
        let mut list = self.requests();
        list.retain(|request| request.path == "/v1/chat/completions");
        list
    }

    /// Requests that no correct client makes. A test ends by asserting that there are none.
    pub fn violations(&self) -> Vec<String> {
        self.state.violations()
    }

    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "violations: {violations:#?}");
    }

    pub fn replace(&self, script: Script) {
        self.state.replace(script);
    }

    pub fn push(&self, behaviour: Behaviour) {
        self.state.push(behaviour);
    }

    /// Clients that left before their answer was complete.
    pub fn disconnects(&self) -> u64 {
        *self.state.disconnects.borrow()
    }

    /// Returns whether so many clients left within `limit`.
    pub async fn wait_disconnects(&self, count: u64, limit: Duration) -> bool {
        State::wait(&self.state.disconnects, count, limit).await
    }

    /// Returns whether so many requests came within `limit`.
    pub async fn wait_requests(&self, count: u64, limit: Duration) -> bool {
        State::wait(&self.state.requests, count, limit).await
    }
}

impl Drop for ScriptedModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Makes the next close a reset.
    fn reset(&self);
}

impl Connection for TcpStream {
    fn reset(&self) {
        // If the system refuses, the client sees an ordinary close, which its test will tell.
        let _refused = self.set_zero_linger();
    }
}

#[cfg(unix)]
impl Connection for UnixStream {
    fn reset(&self) {}
}

async fn converse<C: Connection>(mut connection: C, state: Arc<State>) {
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = read_request(&mut connection, &mut buffer).await {
        let actions = state.handle(&request);
        match perform(&mut connection, &mut buffer, actions).await {
            After::Next if request.headers.get("connection").is_none_or(|v| v != "close") => {}
            After::Gone => {
                state.disconnects.send_modify(|n| *n += 1);
                return;
            }
            After::Next | After::Closed => {
                let _gone_already = connection.shutdown().await;
                return;
            }
            After::Reset => {
                connection.reset();
                return;
            }
        }
    }
}

enum After {
    Next,
    /// Closed by us.
    Closed,
    /// To be closed by a reset.
    Reset,
    /// Closed by the client before the answer was complete.
    Gone,
}

async fn perform<C: Connection>(connection: &mut C, buffer: &mut Vec<u8>, actions: Vec<Action>) -> After {
    for action in actions {
        match action {
            Action::Send(bytes) => {
                if connection.write_all(&bytes).await.is_err() {
                    return After::Gone;
                }
            }
            Action::Sleep(time) => {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = gone(connection, buffer) => return After::Gone,
                }
            }
            Action::Hang => {
                gone(connection, buffer).await;
                return After::Gone;
            }
            Action::Reset => return After::Reset,
            Action::Close => return After::Closed,
        }
    }
    After::Next
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::model_server::http::post_json;
    use serde_json::{Value, json};

    async fn chat(server: &ScriptedModelServer, messages: Value) -> (u16, String) {
        let body = json!({"model": "m", "messages": messages});
        let address = server.address.unwrap();
        post_json(address, "/v1/chat/completions", &body).await.unwrap()
    }

    #[tokio::test]
    async fn rules_then_replies_then_a_violation() {
        let script = Script::of([Behaviour::text("first"), Behaviour::server_error(503)])
            .when("weather", Behaviour::text("sunny"));
        let server = ScriptedModelServer::start(script).await.unwrap();
        let user = |text: &str| json!([{"role": "user", "content": text}]);
        assert!(chat(&server, user("hi")).await.1.contains("first"));
        assert!(chat(&server, user("the weather?")).await.1.contains("sunny"));
        assert_eq!(chat(&server, user("hi")).await.0, 503);
        server.assert_clean();
        assert_eq!(chat(&server, user("hi")).await.0, 422);
        assert_eq!(server.violations().len(), 1);
        assert_eq!(server.chats().len(), 4);
    }

    #[tokio::test]
    async fn a_call_without_a_result_fails_loudly() {
        let script = Script::always(Behaviour::text("ok"));
        let server = ScriptedModelServer::start(script).await.unwrap();
        let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let messages = json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "tool_calls": [call]},
        ]);
        let (status, text) = chat(&server, messages).await;
        assert_eq!(status, 422, "{text}");
        assert!(server.violations()[0].contains("call `a` has no result"));
    }
}
