//! What policies over data say of requests that are passed on to a connection without an agent.

use crate::app::{App, AppError, Caller};
use crate::heavy_work::work_apart;
use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::sync::Arc;
use steward_core::audit::AuditResult;
use steward_core::governance::{Classified, DataAction, DataPolicy};
use steward_core::model::{Connection, ModelError, ModelErrorClass};
use steward_core::ports::StoreError;

/// Why a request is not passed on.
#[derive(Debug)]
pub enum NotPassed {
    Policy(ModelError),
    Store(StoreError),
    /// It could not be looked through.
    Busy(AppError),
}

impl App {
    /// Leaves only connections that may see what the request `body`, JSON, has in it. An error if none is left.
    pub async fn keep_data_in_house(
        &self,
        caller: &Caller,
        body: &Bytes,
        targets: &mut Vec<Connection>,
    ) -> Result<(), NotPassed> {
        let rules = self.data_rules_cache.over_texts(&self.store, self.tenant(), self.now()).await;
        let Some(rules) = rules.map_err(NotPassed::Store)? else {
            return Ok(());
        };
        let (bytes, body, detector) = (body.len(), body.clone(), Arc::clone(&self.deps().personal_data));
        let looked_through = {
            let rules = Arc::clone(&rules);
            move || {
                let text = texts_of(&body);
                let personal = if rules.looks_for_personal_data() { detector.kinds_in(&text) } else { Vec::new() };
                rules.classify_text(&text, &personal)
            }
        };
        let seen = work_apart((self.tenant(), caller.user()), bytes, looked_through).await;
        let Some(seen) = seen.map_err(|error| NotPassed::Busy(error.into()))? else {
            return Ok(());
        };
        let asked = targets.first().map_or_else(String::new, |first| first.name.clone());
        let block = rules.demanding(DataAction::Block, seen.classification);
        let policy = block.or_else(|| {
            let first = targets.first()?;
            rules.keeps_whole_from(first.is_in_house(), seen.classification)
        });
        if block.is_some() {
            targets.clear();
        } else {
            targets.retain(|one| rules.keeps_whole_from(one.is_in_house(), seen.classification).is_none());
        }
        let Some(policy) = policy else {
            return Ok(());
        };
        let (action, result) =
            if targets.is_empty() { ("data.blocked", AuditResult::Refused) } else { ("data.routed", AuditResult::Ok) };
        let entry = self
            .audit_entry_of(caller, action)
            .on(asked)
            .ended(result)
            .with("policy", policy.name.as_str())
            .with("classification", seen.classification.as_str())
            .with("label", seen.label.as_str())
            .with("source", seen.source.as_str())
            .with("connection", targets.first().map(|one| one.name.clone()));
        self.store.record_audit(self.tenant(), &entry).await.map_err(NotPassed::Store)?;
        if targets.is_empty() { Err(NotPassed::Policy(refused(policy, &seen))) } else { Ok(()) }
    }
}

fn refused(policy: &DataPolicy, seen: &Classified) -> ModelError {
    let what = format!("{} data ({}, by the label “{}”)", seen.classification, seen.source, seen.label);
    let hint = match policy.action {
        DataAction::Block => "leave that out, or ask an administrator, who can change the policy under Governance",
        _ => "name a connection in the house, as the model or in `x-steward-fallback`",
    };
    let message = format!("the policy “{}” keeps {what} from this connection", policy.name);
    ModelError::new(ModelErrorClass::BlockedByPolicy, message, hint)
}

/// All texts of a JSON document, one a line. Of a field that stands there twice, both: who reads which is not known.
fn texts_of(body: &[u8]) -> String {
    let mut texts = String::new();
    let mut reader = serde_json::Deserializer::from_slice(body);
    if Texts(&mut texts).deserialize(&mut reader).is_err() {
        // Nobody could read it, so nothing is kept back by it but all of it.
        texts.push_str(&String::from_utf8_lossy(body));
    }
    texts
}

struct Texts<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        self.0.push('\n');
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Texts(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key_seed(Texts(&mut *self.0))?.is_some() {
            fields.next_value_seed(Texts(&mut *self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::texts_of;

    #[test]
    fn all_texts_of_a_request_are_looked_at() {
        let body = br#"{"messages":[{"content":"a\nSECRET"}],"messages":[],"n":4111,"x":{"key":[null,true,"b"]}}"#;
        let texts: Vec<String> = texts_of(body).lines().map(str::to_owned).collect();
        assert_eq!(texts, ["messages", "content", "a", "SECRET", "messages", "n", "4111", "x", "key", "b"]);
        assert_eq!(texts_of(b"not JSON"), "not JSON");
    }
}
