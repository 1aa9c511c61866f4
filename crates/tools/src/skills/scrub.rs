//! Everything that leaves an executor, without its secrets (SKILL-4).

use steward_core::tool::{ToolError, ToolOutput, Undo};

pub(super) use stub::Scrubber;

/// Takes the secrets out of a result.
pub(super) fn output(scrubber: &Scrubber, output: &mut ToolOutput) {
    output.content = scrubber.scrub(&output.content);
    if let Some(data) = &mut output.data {
        scrubber.scrub_json(data);
    }
    if let Some(receipt) = &mut output.receipt {
        receipt.action = scrubber.scrub(&receipt.action);
        receipt.object = scrubber.scrub(&receipt.object);
        receipt.evidence = receipt.evidence.as_deref().map(|text| scrubber.scrub(text));
    }
    match &mut output.undo {
        Some(Undo::Snapshot { snapshot, .. }) => scrubber.scrub_json(snapshot),
        Some(Undo::Impossible { reason }) => *reason = scrubber.scrub(reason),
        None => {}
    }
    output.origin = output.origin.as_deref().map(|text| scrubber.scrub(text));
}

/// Takes the secrets out of an error.
pub(super) fn error(scrubber: &Scrubber, error: ToolError) -> ToolError {
    match error {
        ToolError::RespondToModel(text) => ToolError::RespondToModel(scrubber.scrub(&text)),
        ToolError::Fatal(text) => ToolError::Fatal(scrubber.scrub(&text)),
    }
}

/// Stands in for `steward_core::scrub` until that is there: same shape, fewer encodings.
mod stub {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use secrecy::{ExposeSecret as _, SecretString};
    use serde_json::Value;

    pub(in crate::skills) struct Scrubber {
        secrets: Vec<(String, String)>,
    }

    impl Scrubber {
        pub(in crate::skills) fn new(
            secrets: impl IntoIterator<Item = (String, SecretString)>,
        ) -> Self {
            let mut all = Vec::new();
            for (name, secret) in secrets {
                let plain = secret.expose_secret().to_owned();
                if plain.len() < 4 {
                    continue;
                }
                let json = Value::String(plain.clone()).to_string();
                all.push((name.clone(), STANDARD.encode(&plain)));
                all.push((name.clone(), super::super::template::encode(&plain)));
                all.push((name.clone(), json[1..json.len() - 1].to_owned()));
                all.push((name, plain));
            }
            all.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
            Self { secrets: all }
        }

        pub(in crate::skills) fn scrub(&self, text: &str) -> String {
            self.secrets
                .iter()
                .fold(text.to_owned(), |text, (name, secret)| {
                    text.replace(secret.as_str(), &format!("[{name}]"))
                })
        }

        pub(in crate::skills) fn scrub_json(&self, value: &mut Value) {
            match value {
                Value::String(text) => *text = self.scrub(text),
                Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_json(item)),
                Value::Object(fields) => fields.values_mut().for_each(|item| self.scrub_json(item)),
                _ => {}
            }
        }
    }
}
