//! All domains and views of a tenant, read anew as soon as one of them changes.

use super::DomainService;
use super::groups::{bind_groups, saved_groups};
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::DatasourceId;
use steward_core::datasource::{Datasource, DomainText, DomainTextKind};
use steward_core::locks::lock;
use steward_core::ports::StoreResult;
use steward_core::provenance::Provenance;
use steward_core::tables::Schema;
use steward_domains::Catalog;
use steward_domains::chunks::{Chunk, of_domain, of_view};
use steward_domains::draft::{Named, names};
use steward_domains::lower::lower;
use steward_domains::model::{Domain, View};
use steward_domains::parser::parse;
use steward_domains::registry::{Domains, Facts};
use steward_domains::search::Search;

/// How long a database's tables are taken to be as they were.
const SCHEMA_FOR: Duration = Duration::from_mins(5);
/// How long one that can't be reached is left alone.
const UNREACHED_FOR: Duration = Duration::from_secs(20);

/// Names of domains and fields that are compared by meaning.
const MOST_NAMES: usize = 5_000;

/// How long a question waits for names and texts to be embedded; until that is done, words alone must do.
const EMBEDDED_IN: Duration = Duration::from_secs(15);

/// What is known at a moment.
pub(crate) struct Known {
    pub datasources: Vec<Datasource>,
    pub texts: Vec<DomainText>,
    pub domains: Domains,
    pub views: Vec<View>,
    /// By the name of the datasource, where it could be asked.
    pub schemas: BTreeMap<String, Arc<Schema>>,
    /// Why the others could not be asked.
    pub unreached: BTreeMap<String, String>,
    pub chunks: Vec<Chunk>,
    pub search: Search,
}

impl Known {
    pub fn datasource(&self, name: &str) -> Option<&Datasource> {
        self.datasources.iter().find(|one| one.name == name)
    }

    /// Of the text of a domain or view; of one that isn't there: nothing.
    pub fn provenance_of(&self, kind: DomainTextKind, name: &str) -> Provenance {
        let text = self.texts.iter().find(|text| text.kind == kind && text.name == name);
        text.map(|text| text.provenance.clone()).unwrap_or_default()
    }

    pub fn view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|view| view.name == name)
    }

    /// What texts are checked against.
    pub fn catalog(&self, groups: Vec<String>) -> Catalog {
        Catalog {
            schemas: self.schemas.iter().map(|(name, schema)| (name.clone(), (**schema).clone())).collect(),
            domains: self.domains.iter().cloned().collect(),
            views: self.views.clone(),
            groups,
        }
    }
}

#[derive(Default)]
pub(super) struct KnownCache {
    last: Mutex<Option<Last>>,
    schemas: Mutex<BTreeMap<DatasourceId, KnownSchema>>,
    chunks: Mutex<Option<Embedding<()>>>,
    names: Mutex<Option<Embedding<Named>>>,
}

pub(super) type Vectors = Arc<Vec<Vec<f32>>>;

/// The vectors of texts of what is known, made beside the questions that ask for them.
struct Embedding<T> {
    of: Arc<Known>,
    /// What the texts stand for.
    about: Arc<Vec<T>>,
    begun: Instant,
    /// `None`: it failed.
    vectors: Shared<BoxFuture<'static, Option<Vectors>>>,
}

impl<T> Clone for Embedding<T> {
    fn clone(&self) -> Self {
        let (of, about) = (Arc::clone(&self.of), Arc::clone(&self.about));
        Self { of, about, begun: self.begun, vectors: self.vectors.clone() }
    }
}

struct Last {
    stamp: String,
    at: Instant,
    known: Arc<Known>,
}

#[derive(Clone)]
struct KnownSchema {
    version: u64,
    at: Instant,
    schema: Result<Arc<Schema>, String>,
}

impl DomainService {
    /// All of it as it is now; databases are asked for their tables every few minutes.
    pub(crate) async fn known(&self) -> StoreResult<Arc<Known>> {
        let stamp = self.parts.store.domains_stamp(self.parts.tenant).await?;
        if let Some(last) = &*lock(&self.known.last)
            && last.stamp == stamp
            && last.at.elapsed() < if last.known.unreached.is_empty() { SCHEMA_FOR } else { UNREACHED_FOR }
        {
            return Ok(Arc::clone(&last.known));
        }
        let known = Arc::new(self.read_known().await?);
        *lock(&self.known.last) = Some(Last { stamp, at: Instant::now(), known: Arc::clone(&known) });
        Ok(known)
    }

    /// Has the tables of a datasource read again at the next use.
    pub(crate) fn forget_schema(&self, id: DatasourceId) {
        lock(&self.known.schemas).remove(&id);
        lock(&self.opened).retain(|(known, _), _| *known != id);
        *lock(&self.known.last) = None;
        self.databases.forget(id);
    }

    async fn read_known(&self) -> StoreResult<Known> {
        let datasources = self.parts.store.datasources(self.parts.tenant).await?;
        let texts = self.parts.store.domain_texts(self.parts.tenant).await?;
        let groups = saved_groups(self.parts.store.domain_groups(self.parts.tenant).await?);
        let (mut domains, mut views): (Vec<Domain>, Vec<View>) = (Vec::new(), Vec::new());
        for text in &texts {
            // It was checked when it was saved.
            let lowered = lower(&parse(&text.text));
            domains.extend(lowered.domains.into_iter().map(|mut source| {
                bind_groups(&mut source.domain, &groups);
                source.domain
            }));
            views.extend(lowered.views.into_iter().map(|source| source.view));
        }
        let (mut schemas, mut unreached) = (BTreeMap::new(), BTreeMap::new());
        for datasource in &datasources {
            match self.schema_of(datasource).await {
                Ok(schema) => {
                    schemas.insert(datasource.name.clone(), schema);
                }
                Err(why) => {
                    unreached.insert(datasource.name.clone(), why);
                }
            }
        }
        let chunks: Vec<Chunk> = domains.iter().flat_map(of_domain).chain(views.iter().flat_map(of_view)).collect();
        let facts: Vec<(String, Facts)> = domains
            .iter()
            .filter_map(|domain| {
                let schema = schemas.get(&domain.datasource)?;
                let table = schema.tables.iter().find(|table| table.name == domain.table)?;
                Some((domain.name.clone(), Facts::of(domain, table)))
            })
            .collect();
        let set = facts.into_iter().fold(Domains::new(domains), |set, (name, facts)| set.with_facts(&name, facts));
        let search = Search::new(&chunks);
        Ok(Known { datasources, texts, domains: set, views, schemas, unreached, chunks, search })
    }

    /// The tables of a datasource, or why it can't be asked.
    pub(crate) async fn schema_of(&self, datasource: &Datasource) -> Result<Arc<Schema>, String> {
        let known = lock(&self.known.schemas).get(&datasource.id).cloned();
        if let Some(known) = known
            && known.version == datasource.version
            && known.at.elapsed() < if known.schema.is_ok() { SCHEMA_FOR } else { UNREACHED_FOR }
        {
            return known.schema;
        }
        let schema = match self.access(datasource).await {
            Ok(access) => self.databases.schema(&access).await.map(Arc::new).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let known = KnownSchema { version: datasource.version, at: Instant::now(), schema: schema.clone() };
        lock(&self.known.schemas).insert(datasource.id, known);
        schema
    }

    /// The vectors of all chunks; only texts that are new are embedded. `None`: they are not there yet, or can't be made.
    pub(super) async fn chunk_vectors(&self, known: &Arc<Known>) -> Option<Vectors> {
        let texts = || Some((Vec::new(), known.chunks.iter().map(|chunk| chunk.text.clone()).collect()));
        Some(self.embedded(&self.known.chunks, known, texts).await?.1)
    }

    /// The names of domains and fields with their vectors; `None` also where there are too many of them.
    pub(super) async fn name_vectors(&self, known: &Arc<Known>) -> Option<(Arc<Vec<Named>>, Vectors)> {
        let texts = || {
            let all = names(known.domains.iter());
            let texts = all.iter().map(|one| one.text.clone()).collect();
            (all.len() <= MOST_NAMES).then_some((all, texts))
        };
        self.embedded(&self.known.names, known, texts).await
    }

    async fn embedded<T: Send + Sync>(
        &self,
        slot: &Mutex<Option<Embedding<T>>>,
        known: &Arc<Known>,
        texts: impl FnOnce() -> Option<(Vec<T>, Vec<String>)>,
    ) -> Option<(Arc<Vec<T>>, Vectors)> {
        let begun = {
            let mut slot = lock(slot);
            match slot.clone().filter(|embedding| Arc::ptr_eq(&embedding.of, known)) {
                Some(embedding) => embedding,
                None => slot.insert(self.embed_beside(known, texts()?)).clone(),
            }
        };
        let left = EMBEDDED_IN.saturating_sub(begun.begun.elapsed());
        match tokio::time::timeout(left, begun.vectors).await {
            Ok(Some(vectors)) => Some((begun.about, vectors)),
            Ok(None) => {
                // The next question tries it anew.
                lock(slot).take_if(|embedding| embedding.begun == begun.begun);
                None
            }
            Err(_) => None,
        }
    }

    fn embed_beside<T>(&self, known: &Arc<Known>, (about, texts): (Vec<T>, Vec<String>)) -> Embedding<T> {
        let embedder = Arc::clone(&self.parts.embedder);
        let work = tokio::spawn(async move { embedder.embed_lasting(&texts).await });
        let vectors = async move {
            match work.await {
                Ok(Ok(vectors)) => Some(Arc::new(vectors)),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "domains are found by words alone");
                    None
                }
                Err(error) => {
                    tracing::warn!(%error, "domains are found by words alone");
                    None
                }
            }
        };
        let (of, about, begun) = (Arc::clone(known), Arc::new(about), Instant::now());
        Embedding { of, about, begun, vectors: vectors.boxed().shared() }
    }
}
