//! Questions with the queries that answer them, as people found: examples for models, and answers to the same question.

use super::{DataResult, DomainService, Known};
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::datasource::VerifiedQuestion;
use steward_core::ports::DataCaller;
use steward_domains::model::Grantee;
use steward_domains::query::{Query, validate};

use super::queries::refused;
use crate::document_service::dot;

/// Examples that a model is given.
const MOST: usize = 3;
/// Of how many the nearest are looked for: the newest.
const LOOKED_AT: usize = 500;
/// Least similarity of an example.
const NEAR: f32 = 0.4;

impl DomainService {
    /// The query, if it is one that the caller may ask.
    pub(crate) async fn checked_query(&self, caller: DataCaller, query: &Value) -> DataResult<Query> {
        let query = Query::parse(query).map_err(|errors| refused(&errors))?;
        let known = self.known().await?;
        let roles = self.roles(caller).await?;
        validate(&query, &known.domains, &roles).map_err(|errors| refused(&errors))?;
        Ok(query)
    }

    /// The query of the same question, if the caller may ask it.
    pub(crate) async fn verified(
        &self,
        known: &Arc<Known>,
        roles: &[Grantee],
        request: &str,
    ) -> DataResult<Option<Query>> {
        let id = VerifiedQuestion::id_of(request);
        let all = self.parts.store.verified_questions(self.parts.tenant).await?;
        let found = all.into_iter().find(|one| one.id == id);
        let query = found.and_then(|one| Query::parse(&one.query).ok());
        Ok(query.filter(|query| validate(query, &known.domains, roles).is_ok()))
    }

    /// The nearest verified questions as examples; empty: there are none.
    pub(crate) async fn verified_examples(
        &self,
        known: &Arc<Known>,
        roles: &[Grantee],
        request: &str,
    ) -> DataResult<String> {
        let mut all = self.parts.store.verified_questions(self.parts.tenant).await?;
        all.truncate(LOOKED_AT);
        all.retain(|one| Query::parse(&one.query).is_ok_and(|query| validate(&query, &known.domains, roles).is_ok()));
        if all.is_empty() {
            return Ok(String::new());
        }
        let texts: Vec<String> = all.iter().map(|one| one.text.clone()).collect();
        let (Ok(wanted), Ok(vectors)) =
            (self.parts.embedder.embed(&[request.to_owned()]).await, self.parts.embedder.embed_lasting(&texts).await)
        else {
            return Ok(String::new());
        };
        let Some(wanted) = wanted.first() else { return Ok(String::new()) };
        let similarities = vectors.iter().map(|vector| dot(vector, wanted));
        let mut near: Vec<(f32, &VerifiedQuestion)> = similarities.zip(&all).collect();
        near.retain(|(similarity, _)| *similarity >= NEAR);
        near.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut text = String::new();
        for (_, one) in near.into_iter().take(MOST) {
            if text.is_empty() {
                text.push_str("### Questions that were answered right\n");
            }
            let _ = writeln!(
                text,
                "- {}\n  oos_query {}",
                one.text.replace('\n', " "),
                serde_json::json!({"query": one.query})
            );
        }
        if !text.is_empty() {
            text.push('\n');
        }
        Ok(text)
    }
}
