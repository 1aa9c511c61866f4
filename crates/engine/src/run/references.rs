//! What a run is given of documents: the passages that are near to its request, and what having seen them means.

use crate::deps::Deps;
use crate::prompting::search_strings::question;
use steward_core::agent::Agent;
use steward_core::approval::Taint;
use steward_core::document::DocumentOrigin;
use steward_core::governance::{Classified, DataAction, DataRules, Seen, higher};
use steward_core::message::Message;
use steward_core::model::Connection;
use steward_core::ports::{DocumentPassage, FoundPassages, Knowledge, KnowledgeError, PassageQuery, StoreResult};
use steward_core::provenance::Provenance;
use steward_core::reference::{GivenDocument, LookedThrough, Reference};
use steward_core::run::provenance_of_files;
use steward_core::tool::ToolSpec;
use steward_core::{DocumentId, UserId};

/// Most passages that a run is given.
const MOST: usize = 6;
/// Passages of given documents that a run is given however far they are.
const OF_GIVEN: usize = 3;
/// Passages that these are chosen from.
const LOOKED_AT: usize = 12;
/// Tools with which an agent reads any file of its workspace.
const READS_FILES: [&str; 2] = ["read", "grep"];
/// A passage is near whose best part is: its cosine to the request and its share of the request's words, added.
const NEAR: f32 = 0.8;
/// What results of documents are called where a tool is named.
const TOOL: &str = "documents";

pub(crate) struct Wanted<'a> {
    pub agent: &'a Agent,
    pub input: &'a str,
    pub history: &'a [Message],
    /// Given with the request, or with one before it.
    pub documents: &'a [GivenDocument],
    pub user: Option<UserId>,
    pub workspace: &'a str,
    pub tools: &'a [ToolSpec],
    /// Those that are asked first, one or the planner's as well: what one of them may not see, neither is shown.
    pub connections: &'a [Connection],
    pub rules: &'a DataRules,
}

#[derive(Default)]
pub(crate) struct Gathered {
    pub references: Vec<Reference>,
    pub looked_through: LookedThrough,
    /// What of outside a model sees in them.
    pub taint: Vec<Taint>,
    pub classified: Option<Classified>,
}

/// A run goes on without them if documents can't be asked; its setup says why.
pub(crate) async fn gather(deps: &Deps, wanted: &Wanted<'_>) -> StoreResult<Gathered> {
    let Some(knowledge) = deps.knowledge.get() else {
        return Ok(Gathered::default());
    };
    if wanted.input.trim().is_empty() {
        return Ok(Gathered::default());
    }
    let question = question(wanted.input, wanted.history);
    // A model that calls tools well searches by itself where it needs to; what it is given unasked stays narrow.
    let plans = wanted.connections.iter().any(|one| one.capabilities.plans);
    let query = PassageQuery { everything: !plans, closely: !plans, ..query(wanted, &question) };
    let found = match near(knowledge.as_ref(), query, wanted.documents, plans).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "a run goes on without documents");
            let looked_through = LookedThrough { problem: error.to_string(), ..LookedThrough::default() };
            return Ok(Gathered { looked_through, ..Gathered::default() });
        }
    };
    let mut gathered = Gathered {
        looked_through: LookedThrough {
            documents: found.documents,
            problem: found.problem.unwrap_or_default(),
            ..LookedThrough::default()
        },
        ..Gathered::default()
    };
    admit(deps, wanted, found.passages, (1, plans), &mut gathered).await?;
    Ok(gathered)
}

/// The passages near to any of `queries` that the run does not have yet, numbered on from those that it has.
pub(crate) async fn find_more(
    deps: &Deps,
    wanted: &Wanted<'_>,
    queries: &[String],
    has: &[Reference],
) -> StoreResult<Gathered> {
    let mut gathered = Gathered::default();
    let Some(knowledge) = deps.knowledge.get() else {
        return Ok(gathered);
    };
    let mut passages: Vec<DocumentPassage> = Vec::new();
    for text in queries {
        let found = match near(knowledge.as_ref(), query(wanted, text), wanted.documents, false).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "a plan is made without a search of documents");
                gathered.looked_through.problem = error.to_string();
                break;
            }
        };
        gathered.looked_through.documents = gathered.looked_through.documents.max(found.documents);
        gathered.looked_through.problem = found.problem.unwrap_or(gathered.looked_through.problem);
        for passage in found.passages {
            let has_it = has.iter().any(|one| (one.document, one.chunk) == (passage.document, passage.index));
            if !has_it && !passages.iter().any(|one| (one.document, one.index) == (passage.document, passage.index)) {
                passages.push(passage);
            }
        }
    }
    passages.sort_by(|a, b| b.nearest.total_cmp(&a.nearest));
    admit(deps, wanted, passages, (next_number(has), true), &mut gathered).await?;
    Ok(gathered)
}

fn query<'a>(wanted: &Wanted<'a>, text: &'a str) -> PassageQuery<'a> {
    let reads_files = wanted.tools.iter().any(|spec| READS_FILES.contains(&spec.name.as_str()));
    PassageQuery {
        text,
        agent: wanted.agent.id,
        user: wanted.user,
        workspace: Some(wanted.workspace).filter(|_| reads_files),
        documents: &[],
        everything: false,
        closely: false,
        limit: LOOKED_AT,
    }
}

fn next_number(has: &[Reference]) -> u32 {
    has.iter().map(|one| one.number).max().unwrap_or(0) + 1
}

/// Takes up to [`MOST`] passages in that may be shown, numbered from `first`; `shown`: a model sees them.
async fn admit(
    deps: &Deps,
    wanted: &Wanted<'_>,
    passages: Vec<DocumentPassage>,
    (first, shown): (u32, bool),
    gathered: &mut Gathered,
) -> StoreResult<()> {
    if passages.is_empty() {
        return Ok(());
    }
    let known = deps.store.file_provenance(deps.tenant, wanted.workspace).await?;
    for passage in passages {
        let path = serde_json::json!({ "path": passage.source });
        let text = passage.chunk.text.as_str();
        let from = match passage.origin {
            DocumentOrigin::Workspace => {
                provenance_of_files(std::slice::from_ref(&passage.source), wanted.workspace, &known)
            }
            DocumentOrigin::Upload | DocumentOrigin::Path | DocumentOrigin::Package => {
                Provenance::from_outside(&passage.name)
            }
        };
        let personal = deps.personal_data_in(wanted.rules, text).await;
        let seen = Seen {
            agent: Some((wanted.agent.id, &wanted.agent.name)),
            tool: if passage.origin == DocumentOrigin::Workspace { READS_FILES[0] } else { TOOL },
            arguments: Some(&path),
            text,
            workspace: wanted.workspace,
            personal: &personal,
            ..Seen::default()
        };
        let said = passage.classification.map(|classification| Classified {
            classification,
            label: passage.collection.clone(),
            source: passage.name.clone(),
        });
        let classified = higher(higher(said, wanted.rules.classify(&seen)), from.level.clone());
        if let Some(policy) = kept_back(wanted, classified.as_ref()) {
            gathered.looked_through.kept_back += 1;
            gathered.looked_through.policy = policy;
            continue;
        }
        let number = first + u32::try_from(gathered.references.len()).unwrap_or(0);
        gathered.references.push(reference(number, passage, from.is_from_outside(), classified.clone()));
        if shown {
            gathered.classified = higher(gathered.classified.take(), classified);
            gathered.taint.extend(from.origins.into_iter().map(|origin| taint(number, origin)));
        }
        if gathered.references.len() == MOST {
            break;
        }
    }
    Ok(())
}

/// The passages that are near, those of the documents that the user gave before all others. A model that sums up is given
/// the best of these in any case: who gives a document asks about it.
async fn near(
    knowledge: &dyn Knowledge,
    query: PassageQuery<'_>,
    documents: &[GivenDocument],
    plans: bool,
) -> Result<FoundPassages, KnowledgeError> {
    let ids: Vec<DocumentId> = documents.iter().map(|one| one.id).collect();
    let mut found = FoundPassages::default();
    if !ids.is_empty() {
        found = knowledge.passages(PassageQuery { documents: &ids, ..query }).await?;
        let mut place = 0;
        found.passages.retain(|passage| {
            place += 1;
            is_near(passage) || (plans && place <= OF_GIVEN)
        });
    }
    let others = knowledge.passages(query).await?;
    let is_other = |passage: &DocumentPassage| is_near(passage) && !ids.contains(&passage.document);
    found.passages.extend(others.passages.into_iter().filter(is_other));
    found.documents = found.documents.max(others.documents);
    found.problem = found.problem.or(others.problem);
    Ok(found)
}

/// What the passages that an answer cites bring into its conversation.
pub(crate) fn taint_of(reference: &Reference) -> Option<Taint> {
    reference.outside.then(|| taint(reference.number, reference.name.clone()))
}

fn taint(number: u32, origin: String) -> Taint {
    Taint { call_id: format!("reference-{number}"), tool: TOOL.to_owned(), origin }
}

fn reference(number: u32, passage: DocumentPassage, outside: bool, classified: Option<Classified>) -> Reference {
    let DocumentPassage { document, name, source, index, chunk, quote, cosine, nearest, .. } = passage;
    Reference {
        number,
        document,
        chunk: index,
        name,
        source,
        headings: chunk.headings,
        first_page: chunk.first_page,
        last_page: chunk.last_page,
        text: chunk.text,
        quote,
        cosine,
        nearest,
        outside,
        classified,
    }
}

/// Name of the policy that keeps a passage from a model: what a request does not need does not decide where it goes.
fn kept_back(wanted: &Wanted<'_>, classified: Option<&Classified>) -> Option<String> {
    let level = classified?.classification;
    let in_house = wanted.connections.iter().all(Connection::is_in_house);
    let keeps = wanted.rules.keeps_from(in_house, level);
    let policy = keeps.or_else(|| wanted.rules.demanding(DataAction::Block, level))?;
    Some(policy.name.clone())
}

/// By meaning and by its words: either alone says too little.
fn is_near(passage: &DocumentPassage) -> bool {
    passage.nearest >= NEAR
}
