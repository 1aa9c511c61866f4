//! What a connection outside the house is sent where a policy masks personal data, and its reply with the data back.

use crate::prompting::raw_reply::ReceivedReply;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use steward_core::ConnectionId;
use steward_core::event::EventBody;
use steward_core::governance::{FoundData, MaskMap, MaskedKind, PiiKind, each_text};
use steward_core::locks::lock;
use steward_core::model::{Connection, ModelRequest, Purpose};
use steward_core::ports::PersonalData;
use steward_core::run::RunState;
use steward_parse::Parsed;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Masks the requests of one model call, each connection's own; remembers what stands for what until its reply is there.
pub(crate) struct Masking<'a> {
    /// Name of the policy that asks for it, and what it masks; `None`: nothing is masked.
    asked: Option<(String, Vec<PiiKind>)>,
    detector: &'a dyn PersonalData,
    sent: Mutex<HashMap<ConnectionId, Sent>>,
}

struct Sent {
    name: String,
    policy: String,
    map: Arc<MaskMap>,
}

impl<'a> Masking<'a> {
    pub fn new(state: &RunState, detector: &'a dyn PersonalData) -> Self {
        let asked = state.masks().map(|(policy, kinds)| (policy.to_owned(), kinds));
        Self { asked, detector, sent: Mutex::default() }
    }

    /// The request as this connection may see it.
    pub fn masked(&self, connection: &Connection, request: ModelRequest) -> ModelRequest {
        let Some((policy, kinds)) = self.asked.as_ref().filter(|_| !connection.is_in_house()) else {
            return request;
        };
        let (request, map) = run_beside_others(|| masked(request, kinds, self.detector));
        let sent = Sent { name: connection.name.clone(), policy: policy.clone(), map: Arc::new(map) };
        lock(&self.sent).insert(connection.id, sent);
        request
    }

    /// What stands for what in the reply of a connection; `None`: it was sent all as it is.
    pub fn map_of(&self, connection: ConnectionId) -> Option<Arc<MaskMap>> {
        let sent = lock(&self.sent);
        sent.get(&connection).map(|sent| Arc::clone(&sent.map)).filter(|map| !map.is_empty())
    }

    /// That data was masked, for whom, and how much of it.
    pub fn events(self, step: u32) -> Vec<EventBody> {
        let sent = self.sent.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut events: Vec<EventBody> = sent
            .into_values()
            .map(|sent| EventBody::DataMasked {
                step,
                connection: sent.name,
                policy: sent.policy,
                masked: sent.map.counts().map(|(kind, count)| MaskedKind { kind, count }).collect(),
            })
            .collect();
        events.sort_by_key(|event| match event {
            EventBody::DataMasked { connection, .. } => connection.clone(),
            _ => String::new(),
        });
        events
    }
}

/// Whole requests are searched: a thread of the runtime hands the other work that it has over before.
fn run_beside_others<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

fn masked(mut request: ModelRequest, kinds: &[PiiKind], detector: &dyn PersonalData) -> (ModelRequest, MaskMap) {
    let (mut map, mut found): (MaskMap, Vec<Vec<FoundData>>) = (MaskMap::default(), Vec::new());
    texts_of(&mut request, &mut |text| {
        let mut here = detector.find(text);
        here.retain(|one| kinds.contains(&one.kind));
        map.learn(text, &here);
        found.push(here);
    });
    map.finish();
    let mut found = found.into_iter();
    texts_of(&mut request, &mut |text| *text = map.mask(text, &found.next().unwrap_or_default()));
    (request, map)
}

/// Calls `change` with all that a model can read, always in the same order. Names of tools and of their arguments stay.
fn texts_of(request: &mut ModelRequest, change: &mut dyn FnMut(&mut String)) {
    for message in &mut request.messages {
        change(&mut message.text);
        for call in &mut message.tool_calls {
            each_text(&mut call.arguments, true, change);
        }
    }
    for tool in &mut request.tools {
        change(&mut tool.description);
        each_text(Arc::make_mut(&mut tool.parameters), false, change);
    }
    if let Some(schema) = &mut request.schema {
        each_text(schema, false, change);
    }
}

/// Puts the data back into a reply that was parsed. JSON in a text stays JSON.
pub(crate) fn unmask_reply(map: &MaskMap, purpose: Purpose, parsed: &mut Parsed, received: &mut ReceivedReply) {
    let json = matches!(purpose, Purpose::Search | Purpose::Plan | Purpose::Deep | Purpose::Fill);
    parsed.text = map.unmask(&parsed.text, json);
    parsed.reasoning = map.unmask(&parsed.reasoning, false);
    for call in &mut parsed.calls {
        map.unmask_value(&mut call.arguments);
    }
    for call in &mut parsed.broken {
        call.raw = map.unmask(&call.raw, true);
    }
    for line in &mut parsed.diagnostics {
        *line = map.unmask(line, false);
    }
    let json = json || !parsed.calls.is_empty() || !parsed.broken.is_empty();
    received.change_texts(|text, arguments| *text = map.unmask(text, json || arguments));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{masked, unmask_reply};
    use crate::prompting::raw_reply::ReceivedReply;
    use serde_json::json;
    use steward_core::governance::{FoundData, PiiKind};
    use steward_core::message::Message;
    use steward_core::model::{ModelChunk, ModelRequest, Purpose, RequestOptions, Strategy};
    use steward_core::ports::PersonalData;
    use steward_core::tool::{CallSource, ToolCall};
    use steward_parse::{StreamParser, ToolIndex};

    /// Finds one address, where "mail" stands before it.
    struct Finder;

    impl PersonalData for Finder {
        fn kinds_in(&self, _: &str) -> Vec<PiiKind> {
            Vec::new()
        }
        fn find(&self, text: &str) -> Vec<FoundData> {
            let place = text.find("mail ann@example.org").map(|at| at + 5..at + 20);
            place.map(|range| FoundData { kind: PiiKind::Email, range }).into_iter().collect()
        }
    }

    #[test]
    fn all_that_is_sent_is_masked_and_calls_get_the_real_values() {
        let call = ToolCall::new("c1", "send", json!({"to": ["ann@example.org"]}), CallSource::Native);
        let request = ModelRequest {
            messages: vec![
                Message::system("Be brief."),
                Message::user("mail ann@example.org"),
                Message::assistant("").with_calls(vec![call]),
                Message::tool("c1", "sent to ann@example.org"),
            ],
            tools: Vec::new(),
            schema: None,
            temperature: Some(0.0),
            max_tokens: Some(10),
            stop: Vec::new(),
            seed: None,
            timeout_ms: 1000,
            options: RequestOptions::default(),
        };
        let (sent, map) = masked(request, &[PiiKind::Email], &Finder);
        let text = serde_json::to_string(&sent).unwrap();
        assert!(!text.contains("ann@") && text.matches("[email-1]").count() == 3, "{text}");

        let chunks = [
            ModelChunk::Text("To [email-1].".into()),
            ModelChunk::ToolCall {
                index: 0,
                id: Some("c2".into()),
                name: Some("send".into()),
                arguments: "{\"to\": [\"[email-1]\"]}".into(),
            },
        ];
        let mut parser = StreamParser::new(Strategy::Native, &ToolIndex::new(&[]), "s1-");
        let mut received = ReceivedReply::default();
        for chunk in &chunks {
            received.push(chunk);
            parser.push(chunk);
        }
        let mut parsed = parser.finish();
        unmask_reply(&map, Purpose::Reply, &mut parsed, &mut received);
        assert_eq!(parsed.text, "To ann@example.org.");
        assert_eq!(parsed.calls[0].arguments, json!({"to": ["ann@example.org"]}));
        let raw = received.raw(&parsed);
        assert!(raw.contains("ann@example.org") && !raw.contains("email-1"), "{raw}");
    }
}
