//! Queries that requests ask for, for models that can't write one: what the words of a request name is looked up in the
//! domains, in the database and by meaning.

use super::queries::RowsFor;
use super::{DataResult, DomainService, Known, Reader};
use futures::StreamExt as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use steward_core::ports::{DataCaller, DataDraft};
use steward_domains::draft::{
    Alike, Found, Lookup, Request, draft, first_places, in_words, lookups, lookups_of_parts, similar, with_ties,
};
use steward_domains::model::Grantee;
use steward_domains::query::Query;
use steward_domains::registry::{Known as KnownDomain, Visible};

/// Domains that are looked at, where there are more.
const MOST_SUBJECTS: usize = 24;
/// Of these, those that a search finds; the others are what they refer to.
const FOUND: usize = 8;
/// Fields in which values are looked for.
const MOST_LOOKUPS: usize = 120;
const AT_A_TIME: usize = 4;
/// How long values are looked for, each time.
const LONGEST: Duration = Duration::from_secs(3);

fn told(query: &Query, unread: Vec<String>, sure: bool) -> DataDraft {
    DataDraft {
        said: in_words(query),
        query: serde_json::to_value(query).unwrap_or_default(),
        number: query.group.is_empty() && !query.aggregate.is_empty(),
        unread,
        sure,
    }
}

impl DomainService {
    /// The query that a request asks for, as far as it can be read from its words; `None`: nothing that it says is known.
    pub(crate) async fn drafted(
        &self,
        caller: DataCaller,
        request: &str,
        today: &str,
    ) -> DataResult<Option<DataDraft>> {
        let known = self.known().await?;
        let reader = self.reader(caller).await?;
        let roles = &reader.roles;
        if let Some(query) = self.verified(&known, roles, request).await? {
            return Ok(Some(told(&query, Vec::new(), true)));
        }
        let visible = known.domains.seen_by(roles);
        let subjects = self.subjects(&known, visible, roles, request).await?;
        let read = Request::read(request, today);
        let mut found = self.look_up(&known, &reader, lookups(&read, &subjects)).await;
        found.extend(self.look_up(&known, &reader, lookups_of_parts(&read, &subjects, &found)).await);
        let alike = self.alike(&known, &read).await.unwrap_or_default();
        match draft(&read, visible, &subjects, &known.views, &found, &alike) {
            Some(made) => {
                let query = if made.sure { self.with_ties(&known, &reader, made.query).await } else { made.query };
                Ok(Some(told(&query, made.unread, made.sure)))
            }
            None => Ok(Some(told(&Query::default(), read.naming(), false)).filter(|draft| !draft.unread.is_empty())),
        }
    }

    /// The query for all rows that share the first place, where it asks for the first one.
    async fn with_ties(&self, known: &Arc<Known>, reader: &Reader, query: Query) -> Query {
        let Some(places) = first_places(&query) else { return query };
        let asked = self.ask_with(known, reader, &places, RowsFor::Person);
        match tokio::time::timeout(LONGEST, asked).await {
            Ok(Ok(answer)) => with_ties(query, &answer.rows),
            _ => query,
        }
    }

    /// The domains that a request may mean, with those that they refer to.
    async fn subjects<'d>(
        &self,
        known: &Arc<Known>,
        visible: Visible<'d>,
        roles: &[Grantee],
        request: &str,
    ) -> DataResult<Vec<KnownDomain<'d>>> {
        let all: Vec<KnownDomain<'d>> = visible.iter().take(MOST_SUBJECTS + 1).collect();
        if all.len() <= MOST_SUBJECTS {
            return Ok(all);
        }
        let hits = self.search(known, roles, request, FOUND).await?;
        let mut names = BTreeSet::new();
        let mut subjects: Vec<KnownDomain<'d>> = Vec::new();
        let best = hits.iter().filter_map(|hit| visible.domain(&hit.domain));
        let best: Vec<KnownDomain<'d>> = best.collect();
        let next = best.iter().flat_map(|known| visible.relations(*known).map(|(_, to)| to));
        for one in best.iter().copied().chain(next) {
            if subjects.len() < MOST_SUBJECTS && names.insert(one.domain.name.clone()) {
                subjects.push(one);
            }
        }
        Ok(subjects)
    }

    /// What could be looked at in time; a database that does not answer says nothing.
    async fn look_up(&self, known: &Arc<Known>, reader: &Reader, mut all: Vec<Lookup>) -> Vec<Found> {
        all.truncate(MOST_LOOKUPS);
        let mut found = Vec::new();
        let mut answers = futures::stream::iter(all)
            .map(|lookup| async move {
                let answer = self.ask_with(known, reader, &lookup.query, RowsFor::Person).await;
                let rows = answer.map(|answer| answer.rows).unwrap_or_default();
                let values: Vec<Value> = rows.into_iter().filter_map(|row| row.into_iter().next()).collect();
                lookup.found(&values)
            })
            .buffered(AT_A_TIME);
        let work = async {
            while let Some(some) = answers.next().await {
                found.extend(some);
            }
        };
        if tokio::time::timeout(LONGEST, work).await.is_err() {
            tracing::warn!("not all fields were looked through for the values of a request: it took too long");
        }
        found
    }

    /// Names that words mean; `None` without the model for that.
    async fn alike(&self, known: &Arc<Known>, request: &Request) -> Option<Vec<Alike>> {
        let words = request.content();
        if words.is_empty() {
            return Some(Vec::new());
        }
        let (names, of_names) = self.name_vectors(known).await?;
        let of_words = self.parts.embedder.embed(&words).await.ok()?;
        Some(similar(&words, &of_words, &names, &of_names))
    }
}
