//! What the model of a run is told about data, and databases as runs use them.

use super::queries::RowsFor;
use super::{DataResult, DomainService, Known, TextWish};
use crate::document_service::dot;
use async_trait::async_trait;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::datasource::{DomainText, DomainTextKind, RecordChange};
use steward_core::ports::{
    DataAccess, DataAnswer, DataBriefing, DataCaller, DataDraft, DataError, Role, SavedText, SchemaPassage,
};
use steward_core::provenance::Provenance;
use steward_domains::chunks::{hint, index_line};
use steward_domains::model::{Domain, Grantee, View};
use steward_tools::is_sentence;

/// Lines of the index of domains.
const MOST_LINES: usize = 120;
/// Least similarity of a request to a view for which its fields take the place of searching.
const CLEARLY: f32 = 1.05;
/// How much nearer the view must be than the next one of another domain.
const AHEAD: f32 = 0.25;

#[async_trait]
impl DataAccess for DomainService {
    /// Of a domain whose text is from outside only the name, and no hint: a run would be from outside as it begins, whatever
    /// it is about.
    async fn briefing(&self, caller: DataCaller, request: &str) -> DataResult<DataBriefing> {
        let known = self.known().await?;
        let roles = self.roles(caller).await?;
        let visible = known.domains.seen_by(&roles);
        let domains: Vec<&Domain> = visible.iter().map(|known| known.domain).collect();
        let (mut text, mut provenance) = (String::new(), Provenance::default());
        for instruction in
            self.parts.store.standing_instructions(self.parts.tenant).await?.iter().filter(|one| one.enabled)
        {
            let _ = write!(text, "### {}\n{}\n\n", instruction.name, instruction.text.trim());
        }
        if domains.is_empty() {
            return Ok(DataBriefing { text, provenance });
        }
        text.push_str("### Domains\n");
        let mut more = domains.len().saturating_sub(MOST_LINES);
        for domain in domains.iter().take(MOST_LINES) {
            let origin = known.provenance_of(DomainTextKind::Domain, &domain.name);
            match (origin.is_from_outside(), is_sentence(&domain.name)) {
                (false, _) => {
                    provenance.join(&origin);
                    let _ = writeln!(text, "- {}", index_line(domain));
                }
                (true, false) => {
                    let _ = writeln!(text, "- {}", domain.name);
                }
                (true, true) => more += 1,
            }
        }
        if more > 0 {
            let _ = writeln!(text, "- and {more} more, which oos_schema_search finds");
        }
        text.push('\n');
        text.push_str(&self.verified_examples(&known, &roles, request).await?);
        let hinted = self.hinted(&known, &roles, request).await.map(|(view, domain)| {
            let mut origin = known.provenance_of(DomainTextKind::View, &view.name);
            origin.join(&known.provenance_of(DomainTextKind::Domain, &domain.name));
            (view, domain, origin)
        });
        match hinted.filter(|(.., origin)| !origin.is_from_outside()) {
            Some((view, domain, origin)) => {
                provenance.join(&origin);
                text.push_str(&hint(&view, &domain, |name| visible.domain(name).is_some()));
            }
            None => text.push_str(EXAMPLES),
        }
        Ok(DataBriefing { text, provenance })
    }

    async fn search_schema(&self, caller: DataCaller, request: &str, limit: usize) -> DataResult<Vec<SchemaPassage>> {
        let known = self.known().await?;
        let roles = self.roles(caller).await?;
        self.search(&known, &roles, request, limit).await
    }

    async fn query(&self, caller: DataCaller, query: &Value) -> DataResult<DataAnswer> {
        match query {
            Value::String(text) => self.ask_by_text(caller, text).await,
            query => self.ask(caller, query, RowsFor::Model).await,
        }
    }

    async fn draft(&self, caller: DataCaller, request: &str, today: &str) -> DataResult<Option<DataDraft>> {
        self.drafted(caller, request, today).await
    }

    async fn domain_texts(&self, caller: DataCaller) -> DataResult<Vec<DomainText>> {
        self.may_author(caller).await?;
        Ok(self.known().await?.texts.clone())
    }

    async fn domain_source(&self, caller: DataCaller, kind: DomainTextKind, name: &str) -> DataResult<DomainText> {
        self.may_author(caller).await?;
        let found = self.parts.store.domain_text(self.parts.tenant, kind, name).await?;
        found.ok_or_else(|| DataError::Refused(format!("there is no {kind} `{name}`; domain_list has them all")))
    }

    async fn save_domain_source(
        &self,
        caller: DataCaller,
        kind: DomainTextKind,
        text: &str,
        provenance: &Provenance,
    ) -> DataResult<SavedText> {
        self.may_author(caller).await?;
        let provenance = Some(provenance.clone());
        let wish = TextWish { text: text.to_owned(), only: Some(kind), provenance, ..TextWish::default() };
        let mut saved = self.save_texts(caller, &wish).await?;
        saved.pop().ok_or_else(|| DataError::Refused(format!("there is no {kind} in the text")))
    }

    async fn propose_change(&self, caller: DataCaller, change: &Value) -> DataResult<RecordChange> {
        Ok(self.propose(caller, change).await?.change)
    }
}

impl DomainService {
    /// Found by words and, where the model for that is there, by meaning.
    pub(crate) async fn search(
        &self,
        known: &Arc<Known>,
        roles: &[Grantee],
        request: &str,
        limit: usize,
    ) -> DataResult<Vec<SchemaPassage>> {
        let similarities = self.similarities(known, request).await;
        let visible = known.domains.seen_by(roles);
        let hits = known.search.find(request, similarities.as_deref(), known.chunks.len());
        let seen = hits.into_iter().filter(|hit| visible.domain(&hit.domain).is_some());
        Ok(seen
            .take(limit)
            .map(|hit| SchemaPassage {
                text: whole_text(known, &hit.domain, hit.chunk, |name| visible.domain(name).is_some()),
                provenance: chunk_provenance(known, &hit.domain, hit.chunk),
                domain: hit.domain,
                score: hit.score,
            })
            .collect())
    }

    /// Of each chunk to a request; `None`: the model can't be asked, and words alone must do.
    async fn similarities(&self, known: &Arc<Known>, request: &str) -> Option<Vec<f32>> {
        let wanted = self.parts.embedder.embed(&[request.to_owned()]).await.ok()?;
        let vectors = self.chunk_vectors(known).await?;
        let wanted = wanted.first()?;
        Some(vectors.iter().map(|vector| dot(vector, wanted)).collect())
    }

    /// The view that a request clearly means.
    async fn hinted(&self, known: &Arc<Known>, roles: &[Grantee], request: &str) -> Option<(View, Domain)> {
        let found = self.search(known, roles, request, 2).await.ok()?;
        let best = found.first().filter(|best| best.score >= CLEARLY)?;
        if found.get(1).is_some_and(|next| best.score - next.score < AHEAD) {
            return None;
        }
        let view = known.views.iter().find(|view| view.domain == best.domain && !view.tables.is_empty())?;
        Some((view.clone(), known.domains.get(&best.domain)?.clone()))
    }

    /// Texts of domains say what everybody may see: who writes them must be an operator.
    async fn may_author(&self, caller: DataCaller) -> DataResult<()> {
        let roles = self.roles(caller).await?;
        if [Role::Admin, Role::Operator].into_iter().any(|role| roles.contains(&Grantee::Role(role))) {
            return Ok(());
        }
        Err(DataError::Refused("domains are written by operators; ask one".to_owned()))
    }
}

/// The chunk that was found, after the first one of its domain, which says what the domain is.
fn whole_text(known: &Known, domain: &str, chunk: usize, may_read: impl Fn(&str) -> bool) -> String {
    let Some(found) = known.chunks.get(chunk) else { return String::new() };
    let first = known.chunks.iter().find(|chunk| chunk.domain == domain && chunk.view.is_none() && chunk.part == 0);
    match first.filter(|first| first.hash != found.hash) {
        Some(first) => format!("{}\n\n{}", first.text_for(&may_read), found.text_for(&may_read)),
        None => found.text_for(may_read),
    }
}

/// Of the domain, and of the view where the chunk is from one.
fn chunk_provenance(known: &Known, domain: &str, chunk: usize) -> Provenance {
    let mut provenance = known.provenance_of(DomainTextKind::Domain, domain);
    if let Some(view) = known.chunks.get(chunk).and_then(|chunk| chunk.view.as_ref()) {
        provenance.join(&known.provenance_of(DomainTextKind::View, view));
    }
    provenance
}

/// The pattern of calls, for a model that has to find the domain first.
const EXAMPLES: &str = include_str!("../../prompts/domain-examples.md");
