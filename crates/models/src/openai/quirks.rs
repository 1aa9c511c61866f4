use std::borrow::Cow;

use steward_core::model::{Connection, ModelRequest};

use super::constrain::{self, Lessons};

/// What one endpoint does not take. Learned from its refusals, once.
#[expect(clippy::struct_excessive_bools, reason = "four fields of a request, each taken or not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Quirks {
    /// It refuses `stream_options`.
    pub no_stream_options: bool,
    /// It takes the other of `max_tokens` and `max_completion_tokens`.
    pub other_max_tokens: bool,
    /// It takes no temperature but its own.
    pub no_temperature: bool,
    /// It refuses `seed`.
    pub no_seed: bool,
    /// Schemas that it refuses.
    pub constraints: Lessons,
}

impl Quirks {
    /// What a refusal teaches; `None` if nothing, and then it is a real error.
    pub fn learn(self, status: u16, body: &str, sent: &serde_json::Value) -> Option<Self> {
        if !matches!(status, 400 | 422) {
            // Some servers fail inside where they can't turn a schema into a grammar.
            let constraints = self.constraints.refused(status, body, sent)?;
            let next = Self { constraints, ..self };
            return (next != self).then_some(next);
        }
        let refused = |field: &str| sent.get(field).is_some() && body.contains(field);
        let mut next = self;
        if refused("stream_options") || (sent.get("stream_options").is_some() && body.contains("include_usage")) {
            next.no_stream_options = true;
        } else if (sent.get("max_tokens").is_some() && body.contains("max_completion_tokens"))
            || (refused("max_completion_tokens") && unsupported(body))
        {
            // Never back again, or a server that refuses both would be asked for ever.
            next.other_max_tokens = true;
        } else if refused("temperature") && unsupported(body) {
            next.no_temperature = true;
        } else if refused("seed") && unsupported(body) {
            next.no_seed = true;
        } else if let Some(learned) = self.constraints.refused(status, body, sent) {
            next.constraints = learned;
        }
        (next != self).then_some(next)
    }

    /// The request as the provider's own interface is known to take it.
    pub fn fitted<'a>(&self, connection: &Connection, request: &'a ModelRequest) -> Cow<'a, ModelRequest> {
        constrain::fitted(connection, request, &self.constraints)
    }

    /// What an accepted request teaches; `None`: nothing new. Without this word, tools whose schemas
    /// were held back after a refusal that named none of them stay unconstrained.
    pub fn accepted(self, sent: &serde_json::Value) -> Option<Self> {
        let constraints = self.constraints.accepted(sent)?;
        Some(Self { constraints, ..self })
    }
}

pub(super) fn unsupported(body: &str) -> bool {
    let body = body.to_lowercase();
    ["unsupported", "not support", "unrecognized", "unknown", "extra", "not permitted"]
        .iter()
        .any(|word| body.contains(word))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Quirks;
    use serde_json::json;

    #[test]
    fn only_what_was_sent_is_learned() {
        let sent = json!({"stream_options": {}, "max_tokens": 1, "temperature": 0.2});
        let none = Quirks::default();
        let learn = |body: &str| none.learn(400, body, &sent);
        assert!(learn("Unrecognized request argument: stream_options").unwrap().no_stream_options);
        assert!(learn("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.").unwrap().other_max_tokens);
        assert!(learn("Unsupported value: 'temperature' does not support 0.2").unwrap().no_temperature);
        assert_eq!(learn("seed is not supported"), None);
        assert_eq!(learn("messages is wrong"), None);
        assert_eq!(none.learn(500, "stream_options", &sent), None);
        let known = learn("stream_options").unwrap();
        assert_eq!(known.learn(400, "stream_options", &sent), None, "never the same twice");
        let other = learn("Use 'max_completion_tokens'").unwrap();
        let sent = json!({"max_completion_tokens": 1});
        assert_eq!(
            other.learn(400, "max_completion_tokens is not supported", &sent),
            None,
            "a server that refuses both gets its error told"
        );
    }
}
