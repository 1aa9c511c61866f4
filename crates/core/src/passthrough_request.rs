//! What must be known of a passed-on request of the OpenAI dialect, read without taking the body apart.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassthroughRequest {
    pub model: String,
    /// Where its value stands in the body, quotes included.
    place: Range<usize>,
    pub stream: bool,
    pub include_usage: bool,
    /// Longest answer, tokens, where the request has a limit; that of all its choices.
    pub max_tokens: Option<u64>,
    /// Whether the answer is made without its client (`background`).
    pub background: bool,
    /// The answers that it goes on from (`previous_response_id`): every one that stands there, whichever counts.
    pub previous_responses: Vec<String>,
    /// Headers that go on with it, names in lower case. Not of the body: whoever takes the request fills them in.
    pub headers: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PassthroughError {
    #[error("the body is not a JSON object: {0}")]
    NotAnObject(String),
    /// There is no `model`, or it is no text.
    #[error("the body has no field `model` with a text in it")]
    NoModel,
    /// Which one counts would be for each reader to decide.
    #[error("the field `model` stands in the body more than once; send it once")]
    TwoModels,
}

impl PassthroughRequest {
    /// Reads the top level of `body`; what else stands there is skipped.
    pub fn of(body: &[u8]) -> Result<Self, PassthroughError> {
        let top: Top =
            serde_json::from_slice(body).map_err(|error| PassthroughError::NotAnObject(error.to_string()))?;
        let raw = match top.models[..] {
            [raw] => raw.get(),
            [] => return Err(PassthroughError::NoModel),
            _ => return Err(PassthroughError::TwoModels),
        };
        let model = serde_json::from_str(raw).map_err(|_| PassthroughError::NoModel)?;
        let begin = (raw.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
        let one = top.max_tokens.and_then(|raw| raw.get().parse::<u64>().ok());
        let choices = top.choices.and_then(|raw| raw.get().parse::<u64>().ok());
        let options: Options =
            top.stream_options.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        Ok(Self {
            model,
            place: begin..begin + raw.len(),
            stream: top.stream.is_some_and(|raw| raw.get() == "true"),
            include_usage: options.include_usage,
            max_tokens: one.map(|one| one.saturating_mul(choices.unwrap_or(1).max(1))),
            background: top.background.is_some_and(|raw| raw.get() == "true"),
            previous_responses: top.previous.iter().filter_map(|raw| serde_json::from_str(raw.get()).ok()).collect(),
            headers: Vec::new(),
        })
    }

    /// `body`, which this was read from, with `model` in the place of its own.
    pub fn with_model(&self, body: &[u8], model: &str) -> Vec<u8> {
        let name = serde_json::Value::from(model).to_string();
        let (before, after) = (body.get(..self.place.start), body.get(self.place.end..));
        [before.unwrap_or_default(), name.as_bytes(), after.unwrap_or_default()].concat()
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Options {
    include_usage: bool,
}

/// The values that count, unread.
#[derive(Default)]
struct Top<'a> {
    models: Vec<&'a RawValue>,
    stream: Option<&'a RawValue>,
    stream_options: Option<&'a RawValue>,
    max_tokens: Option<&'a RawValue>,
    choices: Option<&'a RawValue>,
    background: Option<&'a RawValue>,
    previous: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Field {
    Model,
    Stream,
    StreamOptions,
    #[serde(alias = "max_completion_tokens", alias = "max_output_tokens")]
    MaxTokens,
    #[serde(alias = "best_of")]
    N,
    Background,
    PreviousResponseId,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Top<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<'de>, A::Error> {
                let mut top = Top::default();
                while let Some(field) = map.next_key()? {
                    match field {
                        Field::Model => top.models.push(map.next_value()?),
                        Field::Stream => top.stream = Some(map.next_value()?),
                        Field::StreamOptions => top.stream_options = Some(map.next_value()?),
                        Field::MaxTokens => top.max_tokens = Some(map.next_value()?),
                        Field::N => top.choices = Some(map.next_value()?),
                        Field::Background => top.background = Some(map.next_value()?),
                        Field::PreviousResponseId => top.previous.push(map.next_value()?),
                        Field::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(top)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::{PassthroughError, PassthroughRequest};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn only_the_model_is_changed() {
        let text = r#" { "x" : {"model":"inner", "y": [1, 2.50, -0e1]},
            "mod\u0065l" : "connection\/a \"b\"" ,"é":"\ud83d\ude00", "stream":true,
            "stream_options": {"include_usage": true, "other": 1}, "max_completion_tokens": 7, "n": 3 } "#;
        let body = text.as_bytes();
        let asked = PassthroughRequest::of(body).unwrap();
        assert_eq!(asked.model, r#"connection/a "b""#);
        assert!(asked.stream && asked.include_usage);
        assert_eq!(asked.max_tokens, Some(21));
        let spliced = String::from_utf8(asked.with_model(body, "new \"name\"")).unwrap();
        assert_eq!(spliced, text.replace(r#""connection\/a \"b\"""#, r#""new \"name\"""#));
    }

    #[test]
    fn every_answer_that_is_gone_on_from_is_seen() {
        let text = r#"{"model":"m","previous_response_id":null,"previous_response\u005fid":"resp_1","background":true,
            "previous_response_id":"resp_2","input":{"previous_response_id":"inner"}}"#;
        let asked = PassthroughRequest::of(text.as_bytes()).unwrap();
        assert_eq!(asked.previous_responses, ["resp_1", "resp_2"]);
        assert!(asked.background);
    }

    #[test]
    fn what_is_not_asked_for_is_not_there() {
        let asked = PassthroughRequest::of(br#"{"model":"m","stream":"yes","max_tokens":"many"}"#).unwrap();
        assert!(!asked.stream && !asked.include_usage);
        assert_eq!(asked.max_tokens, None);
    }

    #[test]
    fn bad_bodies_are_refused() {
        let two = br#"{"model":"a","messages":[],"mod\u0065l":"b"}"#;
        assert_eq!(PassthroughRequest::of(two), Err(PassthroughError::TwoModels));
        for body in [r"{}", r#"{"model":7}"#, r#"{"model":null}"#, r#"{"a":{"model":"x"}}"#] {
            assert_eq!(PassthroughRequest::of(body.as_bytes()), Err(PassthroughError::NoModel), "{body}");
        }
        let broken: [&[u8]; 8] = [
            b"",
            b"[]",
            b"\"model\"",
            b"{\"model\":\"m\"",
            b"{\"model\":\"m\"} x",
            b"{\"model\":\"m\",}",
            b"{\"model\":\"\xff\"}",
            b"model=m",
        ];
        for body in broken {
            let error = PassthroughRequest::of(body).unwrap_err();
            assert!(matches!(error, PassthroughError::NotAnObject(_)), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn any_object_keeps_its_other_fields(name in ".{0,12}", new in ".{0,12}", rest in ".{0,30}", number in any::<f64>()) {
            let body = json!({"a": rest, "model": name, "z": [number, {"model": rest}]});
            let bytes = body.to_string().into_bytes();
            let asked = PassthroughRequest::of(&bytes).unwrap();
            prop_assert_eq!(&asked.model, &name);
            let spliced: Value = serde_json::from_slice(&asked.with_model(&bytes, &new)).unwrap();
            let mut expected: Value = serde_json::from_slice(&bytes).unwrap();
            expected["model"] = json!(new);
            prop_assert_eq!(spliced, expected);
        }

        #[test]
        fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _any = PassthroughRequest::of(&bytes);
        }
    }
}
