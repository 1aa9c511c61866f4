//! Marks tools that can't be used in what a server answers, whether that is a line of a program, a JSON document or an event of a
//! stream: those that run as a task only (`execution.taskSupport: required`), of which the library keeps nothing, and those whose
//! definition it can't read, for which it would refuse the whole list.

use super::connection::{ONLY_AS_TASK, UNUSABLE};
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage, Tool};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::{Value, json};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// Longest message of a server.
pub(super) const MESSAGE: usize = 4 << 20;
const SESSION: &str = "mcp-session-id";

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type HttpError = StreamableHttpError<reqwest::Error>;

/// Passes on what a program writes, with such tools marked.
pub(super) fn mark_output(output: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    const BUFFER_BYTES: usize = 64 << 10;
    let (mut to, from) = tokio::io::duplex(BUFFER_BYTES);
    tokio::spawn(async move {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A longer line is passed on in pieces, which the library refuses.
            match (&mut output).take(MESSAGE as u64).read_until(b'\n', &mut line).await {
                Ok(1..) => {}
                _ => return,
            }
            let marked = mark_tools(&line).map(|mut marked| {
                marked.push(b'\n');
                marked
            });
            if to.write_all(marked.as_deref().unwrap_or(&line)).await.is_err() {
                return;
            }
        }
    });
    from
}

/// `None`: there is nothing to mark.
fn mark_tools(message: &[u8]) -> Option<Vec<u8>> {
    const LIST: &[u8] = b"tools";
    message.windows(LIST.len()).find(|part| *part == LIST)?;
    let mut message: Value = serde_json::from_slice(message).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let tools = result.get_mut("tools")?.as_array_mut()?;
    let before = tools.len();
    tools.retain(|tool| tool["name"].is_string());
    let mut found = tools.len() < before;
    if found {
        tracing::warn!(left_out = before - tools.len(), "tools of an MCP server that have no name are left out");
    }
    for tool in tools {
        if let Some((broken, why)) = unreadable(tool) {
            *tool = broken;
            mark(tool, why);
            found = true;
        } else if tool["execution"]["taskSupport"] == "required" {
            mark(tool, ONLY_AS_TASK.to_owned());
            found = true;
        }
    }
    if result.get("nextCursor").is_some_and(|cursor| !cursor.is_string() && !cursor.is_null()) {
        tracing::warn!(
            "an MCP server names the next page of its tools by something else than text: those listed so far count"
        );
        result.remove("nextCursor");
        found = true;
    }
    found.then(|| serde_json::to_vec(&message).ok()).flatten()
}

fn mark(tool: &mut Value, why: String) {
    if !tool["_meta"].is_object() {
        tool["_meta"] = json!({});
    }
    tool["_meta"][UNUSABLE] = why.into();
}

/// What stands in for a tool whose definition can't be read, and why it can't.
fn unreadable(tool: &Value) -> Option<(Value, String)> {
    let error = serde_json::from_value::<Tool>(tool.clone()).err()?;
    let why = match tool.get("inputSchema") {
        None => "it has no `inputSchema`, which must be an object".to_owned(),
        Some(Value::Object(_)) => format!("its definition is not that of a tool: {error}"),
        Some(other) => {
            let shown: String = other.to_string().chars().take(60).collect();
            format!("its `inputSchema` is {shown}, and must be an object")
        }
    };
    let description = tool["description"].as_str().unwrap_or_default();
    Some((json!({"name": tool["name"], "description": description, "inputSchema": {"type": "object"}}), why))
}

fn mark_events(events: Events) -> Events {
    let mark = |mut event: Sse| {
        let marked = event.data.as_deref().and_then(|data| mark_tools(data.as_bytes()));
        if let Some(marked) = marked.and_then(|marked| String::from_utf8(marked).ok()) {
            event.data = Some(marked);
        }
        event
    };
    events.map_ok(mark).boxed()
}

/// The library's client, except that lists of tools are read here.
#[derive(Clone)]
pub(super) struct TaskMarkingClient(pub reqwest::Client);

impl TaskMarkingClient {
    /// `None`: it is no list; the library asks again and tells what kind of refusal it is.
    async fn list_tools(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        token: Option<&str>,
        headers: Headers,
    ) -> Result<Option<StreamableHttpPostResponse>, HttpError> {
        let mut request = self.0.post(uri).header(ACCEPT, "text/event-stream, application/json");
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request = request.headers(headers.into_iter().collect());
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let response = request.json(message).send().await?;
        if response.status() != StatusCode::OK {
            return Ok(None);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (kind, session) = (header(CONTENT_TYPE.as_str()).unwrap_or_default(), header(SESSION));
        if kind.starts_with("application/json") {
            let body = read_bounded(response).await?;
            let message: ServerJsonRpcMessage = serde_json::from_slice(&mark_tools(&body).unwrap_or(body))?;
            return Ok(Some(StreamableHttpPostResponse::Json(message, session)));
        }
        if kind.starts_with("text/event-stream") {
            let events = SseStream::from_bytes_stream(bounded(response)).boxed();
            return Ok(Some(StreamableHttpPostResponse::Sse(mark_events(events), session)));
        }
        Ok(None)
    }
}

/// Its pieces, of which no more than one message is taken.
fn bounded(response: Response) -> BoxStream<'static, io::Result<bytes::Bytes>> {
    let mut left = MESSAGE;
    let take = move |piece: reqwest::Result<bytes::Bytes>| {
        let piece = piece.map_err(io::Error::other)?;
        left = left
            .checked_sub(piece.len())
            .ok_or_else(|| io::Error::other(format!("its list of tools is longer than {} MiB", MESSAGE >> 20)))?;
        Ok(piece)
    };
    response.bytes_stream().map(take).boxed()
}

async fn read_bounded(response: Response) -> Result<Vec<u8>, HttpError> {
    let pieces: Vec<bytes::Bytes> = bounded(response).try_collect().await?;
    Ok(pieces.concat())
}

fn lists_tools(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(asked) if matches!(asked.request, ClientRequest::ListToolsRequest(_)))
}

impl StreamableHttpClient for TaskMarkingClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post_message_with_max_sse_event_size(uri, message, session_id, auth_header, custom_headers, MESSAGE).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        if lists_tools(&message) {
            let (session, token, headers) = (session_id.as_deref(), auth_header.as_deref(), custom_headers.clone());
            if let Some(listed) = self.list_tools(&uri, &message, session, token, headers).await? {
                return Ok(listed);
            }
        }
        self.0
            .post_message_with_max_sse_event_size(
                uri,
                message,
                session_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, HttpError> {
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, MESSAGE)
            .await
    }

    /// A list may come in here as well, once the stream that it began in has broken.
    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<Events, HttpError> {
        let events = self.0.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            max_sse_event_size,
        );
        events.await.map(mark_events)
    }
}

#[cfg(test)]
mod tests {
    use super::mark_tools;
    use serde_json::{Value, json};

    #[test]
    fn tools_that_run_as_a_task_only_are_marked() {
        let schema = json!({"type": "object"});
        let tool = |name: &str, support: &str| json!({"name": name, "inputSchema": schema, "execution": {"taskSupport": support}});
        let tools = [tool("a", "required"), tool("b", "optional"), json!({"name": "c", "inputSchema": schema})];
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).to_string();
        for message in [message.clone(), message.replace("taskSupport", "task\\u0053upport")] {
            let marked: Value = serde_json::from_slice(&mark_tools(message.as_bytes()).unwrap()).unwrap();
            let tools = &marked["result"]["tools"];
            assert!(tools[0]["_meta"]["steward/unusable"].as_str().unwrap().contains("runs as a task only"));
            assert!(tools[1].get("_meta").is_none() && tools[2].get("_meta").is_none(), "{tools}");
        }
        for other in ["{\"tools\"", "{\"params\":{\"tools\":[{\"taskSupport\":\"required\"}]}}", "{}"] {
            assert_eq!(mark_tools(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn one_tool_that_cant_be_read_leaves_the_others() {
        let good = json!({"name": "good", "inputSchema": {"type": "object"}});
        for (odd, why) in [
            (json!({"name": "n", "description": "x"}), "it has no `inputSchema`"),
            (json!({"name": "n", "inputSchema": null}), "its `inputSchema` is null, and must be an object"),
            (json!({"name": "n", "inputSchema": true}), "its `inputSchema` is true"),
            (json!({"name": "n", "inputSchema": {}, "description": 7}), "its definition is not that of a tool"),
            (
                json!({"name": "n", "inputSchema": {}, "annotations": 7, "_meta": 3}),
                "its definition is not that of a tool",
            ),
        ] {
            let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [good, odd]}}).to_string();
            let marked: Value = serde_json::from_slice(&mark_tools(message.as_bytes()).unwrap()).unwrap();
            let tools = &marked["result"]["tools"];
            assert_eq!(tools[0], good);
            assert!(tools[1]["_meta"]["steward/unusable"].as_str().unwrap().starts_with(why), "{tools}");
            assert_eq!(mark_tools(marked.to_string().as_bytes()), None, "it can be read now");
        }
        let nameless = json!({"result": {"tools": [good, {"inputSchema": {}}, 7], "nextCursor": 7}}).to_string();
        let marked: Value = serde_json::from_slice(&mark_tools(nameless.as_bytes()).unwrap()).unwrap();
        assert_eq!(marked["result"], json!({"tools": [good]}));
    }
}
