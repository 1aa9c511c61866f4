//! An answer as `chat.completion`, or as a stream of its chunks. Pure.

use super::collected::{Collected, Piece};
use super::{ReplyFormat, Sent};
use crate::openai::{ChatFrame, OpenAiError, usage};
use serde_json::{Map, Value, json};
use steward_core::model::ModelChunk;

#[derive(Debug)]
pub(super) struct ChatReply {
    pub chat: ChatFrame,
    pub collected: Collected,
    pub include_usage: bool,
}

impl ChatReply {
    fn delta(&self, piece: Piece) -> Value {
        match piece {
            Piece::Text(text) => json!({"content": text}),
            Piece::Reasoning(text) => json!({"reasoning_content": text}),
            Piece::Call { index, begins, arguments } => {
                let mut delta = json!({"index": index, "function": {"arguments": arguments}});
                if let Some(call) = self.collected.calls.get(index).filter(|_| begins) {
                    delta["id"] = json!(call.id);
                    delta["type"] = json!("function");
                    delta["function"]["name"] = json!(call.name);
                }
                json!({"tool_calls": [delta]})
            }
        }
    }
}

impl ReplyFormat for ChatReply {
    fn collected(&self) -> &Collected {
        &self.collected
    }

    fn begin(&mut self) -> Vec<Sent> {
        vec![Sent::plain(self.chat.delta(&json!({"role": "assistant", "content": ""}), None))]
    }

    fn take(&mut self, chunk: ModelChunk) -> Vec<Sent> {
        let pieces = self.collected.take(chunk);
        pieces.into_iter().map(|piece| Sent::plain(self.chat.delta(&self.delta(piece), None))).collect()
    }

    fn end(&mut self) -> Vec<Sent> {
        let mut last = vec![Sent::plain(self.chat.delta(&json!({}), Some(&self.collected.finish)))];
        last.extend(self.include_usage.then(|| Sent::plain(self.chat.usage(&self.collected.usage))));
        last.push(Sent::done());
        last
    }

    fn fail(&mut self, error: &OpenAiError) -> Vec<Sent> {
        vec![Sent::plain(error.body())]
    }

    fn whole(&self) -> Value {
        let collected = &self.collected;
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        let content = (!collected.text.is_empty() || collected.calls.is_empty()).then_some(&collected.text);
        message.insert("content".to_owned(), json!(content));
        if !collected.reasoning.is_empty() {
            message.insert("reasoning_content".to_owned(), json!(collected.reasoning));
        }
        if !collected.calls.is_empty() {
            let calls = collected.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            });
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        self.chat.whole(&Value::Object(message), &collected.finish, &usage(&collected.usage))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::collected::Collected;
    use super::super::tools::ToolNames;
    use super::super::{ReplyFormat, Sent};
    use super::ChatReply;
    use crate::openai::ChatFrame;
    use serde_json::{Value, json};
    use steward_core::model::{ModelChunk, Usage};

    fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> ModelChunk {
        ModelChunk::ToolCall {
            index,
            id: id.map(str::to_owned),
            name: name.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    fn reply(single_call: bool) -> ChatReply {
        let chat = ChatFrame { id: "x".to_owned(), created: 7, model: "connection/c".to_owned() };
        ChatReply {
            chat,
            collected: Collected::new("x".to_owned(), single_call, ToolNames::default()),
            include_usage: true,
        }
    }

    fn deltas(sent: Vec<Sent>) -> Vec<Value> {
        sent.into_iter().map(|one| one.data["choices"][0]["delta"].clone()).collect()
    }

    fn calls() -> [ModelChunk; 5] {
        let usage = Usage { prompt_tokens: 3, completion_tokens: 4, ..Usage::default() };
        [
            ModelChunk::Text("Look: ".to_owned()),
            call(0, Some("a"), Some("f"), "{\"p\""),
            call(1, None, Some("g"), ""),
            call(0, None, None, ":1}"),
            ModelChunk::End { finish: "stop".to_owned(), usage, model: "m".to_owned() },
        ]
    }

    #[test]
    fn calls_are_put_together() {
        let mut reply = reply(false);
        let sent: Vec<Value> = calls().into_iter().flat_map(|one| deltas(reply.take(one))).collect();
        assert_eq!(sent.len(), 5);
        assert_eq!(
            sent[4],
            json!({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]}),
            "the end completes it"
        );
        assert_eq!(sent[1]["tool_calls"][0]["function"]["name"], "f");
        assert_eq!(sent[2]["tool_calls"][0]["id"], "call_x_1");
        assert_eq!(sent[3], json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}));
        let whole = reply.whole();
        let choice = &whole["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls");
        assert_eq!(choice["message"]["content"], "Look: ");
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], "{\"p\":1}");
        assert_eq!(whole["usage"]["total_tokens"], 7);
        let last = reply.end();
        assert_eq!((last.len(), &last[1].data["choices"]), (3, &json!([])));
    }

    #[test]
    fn a_call_that_the_limit_cut_is_no_call_to_carry_out() {
        for finish in ["length", "content_filter"] {
            let mut reply = reply(false);
            let end = ModelChunk::End { finish: finish.to_owned(), usage: Usage::default(), model: "m".to_owned() };
            for chunk in [call(0, None, Some("f"), ""), call(1, None, Some("g"), "{\"p\":"), end] {
                reply.take(chunk);
            }
            let choice = reply.whole()["choices"][0].clone();
            assert_eq!(choice["finish_reason"], finish);
            assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], "{}");
            assert_eq!(choice["message"]["tool_calls"][1]["function"]["arguments"], "{\"p\":");
            assert_eq!(reply.end()[0].data["choices"][0]["finish_reason"], finish);
        }
    }

    #[test]
    fn a_program_that_wants_one_call_gets_one() {
        let mut reply = reply(true);
        for chunk in calls() {
            reply.take(chunk);
        }
        let made = reply.whole()["choices"][0]["message"]["tool_calls"].clone();
        assert_eq!((made.as_array().unwrap().len(), &made[0]["function"]["name"]), (1, &json!("f")));
    }
}
