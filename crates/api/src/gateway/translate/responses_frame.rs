//! An answer as a `response`, or as the stream of its events. Pure.

use super::collected::{Collected, Piece};
use super::tools::ToolNames;
use super::{ReplyFormat, Sent};
use crate::dialect::{responses_usage, text_part};
use crate::openai::OpenAiError;
use serde_json::{Map, Value, json};
use steward_core::model::ModelChunk;

#[derive(Debug)]
pub(super) struct ResponsesReply {
    /// Of the response, without `resp_`.
    id: String,
    /// Seconds since 1970 UTC.
    created: i64,
    model: String,
    /// What the answer repeats of its request.
    echo: Map<String, Value>,
    collected: Collected,
    items: Vec<Item>,
    sequence: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reasoning,
    Message,
    /// By its number in the answer.
    Call(usize),
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    /// Of texts, as far as it has come.
    text: String,
    open: bool,
}

impl ResponsesReply {
    pub fn new(id: String, created: i64, model: String, echo: Map<String, Value>, calls: (bool, ToolNames)) -> Self {
        let collected = Collected::new(id.clone(), calls.0, calls.1);
        Self { id, created, model, echo, collected, items: Vec::new(), sequence: 0 }
    }

    fn event(&mut self, kind: &'static str, mut data: Value) -> Sent {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        Sent { event: Some(kind), data }
    }

    fn item_id(&self, at: usize) -> String {
        let prefix = match self.items[at].kind {
            Kind::Reasoning => "rs",
            Kind::Message => "msg",
            Kind::Call(_) => "fc",
        };
        format!("{prefix}_{}_{at}", self.id)
    }

    fn item(&self, at: usize) -> Value {
        let Item { kind, text, open } = &self.items[at];
        let cut = at + 1 == self.items.len() && self.collected.is_cut();
        let status = if *open {
            "in_progress"
        } else if cut {
            "incomplete"
        } else {
            "completed"
        };
        let id = self.item_id(at);
        match *kind {
            Kind::Reasoning => {
                let summary: Vec<Value> =
                    (!text.is_empty()).then(|| json!({"type": "summary_text", "text": text})).into_iter().collect();
                json!({"id": id, "type": "reasoning", "summary": summary})
            }
            Kind::Message => {
                let content: Vec<Value> = (!*open || !text.is_empty()).then(|| text_part(text)).into_iter().collect();
                json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content})
            }
            Kind::Call(index) => {
                let call = &self.collected.calls[index];
                json!({
                    "id": id, "type": "function_call", "status": status, "call_id": call.id, "name": call.name,
                    "arguments": call.arguments,
                })
            }
        }
    }

    fn response(&self, status: &str, error: &Value) -> Value {
        let reason = match self.collected.finish.as_str() {
            "length" => "max_output_tokens",
            other => other,
        };
        let output: Vec<Value> = (0..self.items.len()).map(|at| self.item(at)).collect();
        let mut response = json!({
            "id": format!("resp_{}", self.id),
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": false,
            "error": error,
            "incomplete_details": (status == "incomplete").then(|| json!({"reason": reason})),
            "instructions": null,
            "max_output_tokens": null,
            "metadata": {},
            "model": self.model,
            "output": output,
            "parallel_tool_calls": true,
            "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null},
            "store": false,
            "temperature": null,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": null,
            "truncation": "disabled",
            "usage": (status != "in_progress" && error.is_null()).then(|| responses_usage(&self.collected.usage)),
            "user": null,
        });
        for (field, value) in self.echo.iter().filter(|(_, value)| !value.is_null()) {
            response[field] = value.clone();
        }
        response
    }

    fn status(&self) -> &'static str {
        match self.collected.finish.as_str() {
            "length" | "content_filter" => "incomplete",
            _ => "completed",
        }
    }

    /// The item that takes a piece; a new one closes the text before it.
    fn item_for(&mut self, kind: Kind, sent: &mut Vec<Sent>) -> usize {
        if let Some(at) = self.items.iter().rposition(|item| item.kind == kind && item.open) {
            return at;
        }
        let text = self.items.iter().rposition(|item| item.open && !matches!(item.kind, Kind::Call(_)));
        if let Some(at) = text {
            self.close(at, sent);
        }
        let at = self.items.len();
        self.items.push(Item { kind, text: String::new(), open: true });
        let item = self.item(at);
        sent.push(self.event("response.output_item.added", json!({"output_index": at, "item": item})));
        let id = self.item_id(at);
        match kind {
            Kind::Message => {
                let data = json!({"item_id": id, "output_index": at, "content_index": 0, "part": text_part("")});
                sent.push(self.event("response.content_part.added", data));
            }
            Kind::Reasoning => {
                let part = json!({"type": "summary_text", "text": ""});
                let data = json!({"item_id": id, "output_index": at, "summary_index": 0, "part": part});
                sent.push(self.event("response.reasoning_summary_part.added", data));
            }
            Kind::Call(_) => {}
        }
        at
    }

    fn close(&mut self, at: usize, sent: &mut Vec<Sent>) {
        self.items[at].open = false;
        let (id, text) = (self.item_id(at), self.items[at].text.clone());
        match self.items[at].kind {
            Kind::Message => {
                let place = json!({"item_id": id, "output_index": at, "content_index": 0});
                let with = |name: &str, value: Value| {
                    let mut data = place.clone();
                    data[name] = value;
                    data
                };
                let mut done = with("text", json!(text));
                done["logprobs"] = json!([]);
                sent.push(self.event("response.output_text.done", done));
                sent.push(self.event("response.content_part.done", with("part", text_part(&text))));
            }
            Kind::Reasoning => {
                let place = json!({"item_id": id, "output_index": at, "summary_index": 0});
                let (mut done, mut part) = (place.clone(), place);
                done["text"] = json!(text);
                part["part"] = json!({"type": "summary_text", "text": text});
                sent.push(self.event("response.reasoning_summary_text.done", done));
                sent.push(self.event("response.reasoning_summary_part.done", part));
            }
            Kind::Call(index) => {
                let call = &self.collected.calls[index];
                let data = json!({"item_id": id, "output_index": at, "name": call.name, "arguments": call.arguments});
                sent.push(self.event("response.function_call_arguments.done", data));
            }
        }
        let item = self.item(at);
        sent.push(self.event("response.output_item.done", json!({"output_index": at, "item": item})));
    }

    fn add(&mut self, piece: Piece, sent: &mut Vec<Sent>) {
        let (kind, delta) = match piece {
            // A text begins with what can be seen.
            Piece::Text(text) if text.trim().is_empty() && !self.is_open(Kind::Message) => return,
            Piece::Reasoning(text) if text.trim().is_empty() && !self.is_open(Kind::Reasoning) => return,
            Piece::Text(text) => (Kind::Message, text),
            Piece::Reasoning(text) => (Kind::Reasoning, text),
            Piece::Call { index, arguments, .. } => (Kind::Call(index), arguments),
        };
        let at = self.item_for(kind, sent);
        let mut data = json!({"item_id": self.item_id(at), "output_index": at, "delta": delta});
        let name = match kind {
            Kind::Message => {
                data["content_index"] = json!(0);
                data["logprobs"] = json!([]);
                "response.output_text.delta"
            }
            Kind::Reasoning => {
                data["summary_index"] = json!(0);
                "response.reasoning_summary_text.delta"
            }
            Kind::Call(_) if delta.is_empty() => return,
            Kind::Call(_) => "response.function_call_arguments.delta",
        };
        if !matches!(kind, Kind::Call(_)) {
            self.items[at].text.push_str(&delta);
        }
        sent.push(self.event(name, data));
    }

    fn is_open(&self, kind: Kind) -> bool {
        self.items.iter().any(|item| item.kind == kind && item.open)
    }

    fn close_all(&mut self, sent: &mut Vec<Sent>) {
        for at in 0..self.items.len() {
            if self.items[at].open {
                self.close(at, sent);
            }
        }
    }
}

impl ReplyFormat for ResponsesReply {
    fn collected(&self) -> &Collected {
        &self.collected
    }

    fn begin(&mut self) -> Vec<Sent> {
        let response = self.response("in_progress", &Value::Null);
        ["response.created", "response.in_progress"]
            .map(|kind| self.event(kind, json!({"response": response.clone()})))
            .into()
    }

    fn take(&mut self, chunk: ModelChunk) -> Vec<Sent> {
        let mut sent = Vec::new();
        for piece in self.collected.take(chunk) {
            self.add(piece, &mut sent);
        }
        sent
    }

    fn end(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        self.close_all(&mut sent);
        let status = self.status();
        let kind = if status == "incomplete" { "response.incomplete" } else { "response.completed" };
        let response = self.response(status, &Value::Null);
        sent.push(self.event(kind, json!({"response": response})));
        sent
    }

    fn fail(&mut self, error: &OpenAiError) -> Vec<Sent> {
        let told = json!({"code": error.code, "message": error.message});
        let first =
            json!({"code": error.code, "message": error.message, "param": null, "error": error.body()["error"]});
        let first = self.event("error", first);
        let response = self.response("failed", &told);
        vec![first, self.event("response.failed", json!({"response": response}))]
    }

    fn whole(&self) -> Value {
        self.response(self.status(), &Value::Null)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::tools::ToolNames;
    use super::super::{ReplyFormat, Sent};
    use super::ResponsesReply;
    use crate::openai::OpenAiError;
    use serde_json::{Map, json};
    use steward_core::model::{ModelChunk, Usage};

    fn reply() -> ResponsesReply {
        let echo: Map<_, _> =
            [("instructions".to_owned(), json!("Be brief.")), ("user".to_owned(), json!(null))].into_iter().collect();
        ResponsesReply::new("x".to_owned(), 7, "connection/c".to_owned(), echo, (false, ToolNames::default()))
    }

    fn chunks(finish: &str) -> Vec<ModelChunk> {
        let call = |index, name: Option<&str>, arguments: &str| ModelChunk::ToolCall {
            index,
            id: name.map(|name| format!("call_{name}")),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        };
        let usage = Usage { prompt_tokens: 3, completion_tokens: 4, ..Usage::default() };
        vec![
            ModelChunk::Reasoning("Hm.".to_owned()),
            ModelChunk::Text("\n".to_owned()),
            ModelChunk::Text("I look".to_owned()),
            ModelChunk::Text(" now.".to_owned()),
            call(0, Some("f"), ""),
            call(0, None, "{\"a\":1}"),
            call(1, Some("g"), "{}"),
            ModelChunk::End { finish: finish.to_owned(), usage, model: "m".to_owned() },
        ]
    }

    #[test]
    fn items_begin_and_end_in_their_order() {
        let mut reply = reply();
        let mut sent: Vec<Sent> = reply.begin();
        sent.extend(chunks("stop").into_iter().flat_map(|one| reply.take(one)).collect::<Vec<_>>());
        sent.extend(reply.end());
        let kinds: Vec<&str> = sent.iter().map(|one| one.event.unwrap().trim_start_matches("response.")).collect();
        let expected = [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ];
        assert_eq!(kinds, expected);
        for (at, one) in sent.iter().enumerate() {
            assert_eq!((&one.data["sequence_number"], one.data["type"].as_str()), (&json!(at), one.event));
        }
        let last = &sent.last().unwrap().data["response"];
        assert_eq!(*last, reply.whole());
        assert_eq!(
            (&last["status"], &last["instructions"], &last["usage"]["total_tokens"]),
            (&json!("completed"), &json!("Be brief."), &json!(7))
        );
        let kinds: Vec<&str> =
            last["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["reasoning", "message", "function_call", "function_call"]);
        assert_eq!(last["output"][1]["content"][0]["text"], "I look now.");
        assert_eq!(
            (&last["output"][2]["call_id"], &last["output"][2]["arguments"]),
            (&json!("call_f"), &json!("{\"a\":1}"))
        );
    }

    #[test]
    fn a_call_that_the_limit_cut_is_incomplete() {
        let mut cut = reply();
        let mut given = chunks("length");
        if let ModelChunk::ToolCall { arguments, .. } = &mut given[6] {
            "{\"a".clone_into(arguments);
        }
        for chunk in given {
            cut.take(chunk);
        }
        let last = cut.end().pop().unwrap();
        assert_eq!(last.event, Some("response.incomplete"));
        let output = &last.data["response"]["output"];
        assert_eq!((&output[2]["status"], &output[3]["status"]), (&json!("completed"), &json!("incomplete")));
    }

    #[test]
    fn an_answer_that_is_cut_or_fails_says_so() {
        let mut cut = reply();
        let end = ModelChunk::End { finish: "length".to_owned(), usage: Usage::default(), model: "m".to_owned() };
        for chunk in [ModelChunk::Text("I lo".to_owned()), end] {
            cut.take(chunk);
        }
        let last = cut.end().pop().unwrap();
        assert_eq!(
            (last.event, &last.data["response"]["incomplete_details"]["reason"]),
            (Some("response.incomplete"), &json!("max_output_tokens"))
        );
        let failed = reply().fail(&OpenAiError::failed("it broke off"));
        let kinds: Vec<_> = failed.iter().map(|one| one.event.unwrap()).collect();
        assert_eq!(kinds, ["error", "response.failed"]);
        assert_eq!(failed[1].data["response"]["error"]["message"], "it broke off");
    }
}
