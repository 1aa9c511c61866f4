//! Schemas that an endpoint has refused without a word about them: the same request was taken without its schema.

use serde_json::Value;
use std::collections::BTreeSet;
use steward_core::hash::of_json;

/// After so many, none taken, no schema is sent to the endpoint any more.
const ENOUGH: usize = 3;
/// Most that are remembered. Beyond that all are forgotten and learned again.
const SCHEMAS: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UnexplainedRefusals {
    schemas: BTreeSet<String>,
    /// It has taken another schema since.
    takes_some: bool,
}

impl UnexplainedRefusals {
    pub fn is_empty(&self) -> bool {
        self.schemas.is_empty()
    }

    pub fn refuses(&self, schema: &Value) -> bool {
        !self.is_empty()
            && ((!self.takes_some && self.schemas.len() >= ENOUGH) || self.schemas.contains(&of_json(schema)))
    }

    #[must_use]
    pub fn refused(mut self, schema: &Value) -> Self {
        if self.schemas.len() >= SCHEMAS {
            self.schemas.clear();
        }
        self.schemas.insert(of_json(schema));
        self
    }

    /// A request with a schema was taken; `None`: nothing new.
    pub fn taken(&self) -> Option<Self> {
        (!self.is_empty() && !self.takes_some).then(|| Self { takes_some: true, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH, SCHEMAS, UnexplainedRefusals};
    use serde_json::json;

    #[test]
    fn one_schema_is_no_reason_to_send_none() {
        let schema = |n: usize| json!({"title": n});
        let mut known = UnexplainedRefusals::default();
        assert!(!known.refuses(&schema(0)) && known.taken().is_none());
        for n in 0..ENOUGH {
            assert!(!known.refuses(&schema(n)));
            known = known.refused(&schema(n));
        }
        assert!(known.refuses(&schema(ENOUGH)), "it takes none");
        let known = known.taken().unwrap_or_default();
        assert!(known.refuses(&schema(0)) && !known.refuses(&schema(ENOUGH)) && known.taken().is_none());
        let many = (0..=SCHEMAS).fold(known, |known, n| known.refused(&schema(n)));
        assert!(many.refuses(&schema(SCHEMAS)) && !many.refuses(&schema(0)));
    }
}
