//! `documents_search`: passages of all documents that the user may read.

use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;
use steward_core::document::DocumentOrigin;
use steward_core::governance::{Classified, higher};
use steward_core::ports::{DocumentPassage, KnowledgeSlot, PassageQuery, ToolScope};
use steward_core::provenance::Provenance;
use steward_core::reference::{REFERENCES, Reference};
use steward_core::tool::{Preview, ToolOutput};

const PASSAGES: usize = 5;
const MOST_PASSAGES: usize = 20;

pub struct DocumentsSearch(pub KnowledgeSlot);

#[derive(Debug, Deserialize)]
pub struct Args {
    query: String,
    limit: Option<usize>,
}

impl ToolHandler for DocumentsSearch {
    type Args = Args;
    const NAME: &'static str = "documents_search";

    async fn preview(&self, args: Args, _: &ToolScope) -> Result<Preview, ToolsError> {
        Ok(Preview::undoable(format!("searches the documents for “{}”", args.query), None))
    }

    async fn run(&self, args: Args, context: &Context) -> Result<ToolOutput, ToolsError> {
        let scope = &context.scope;
        let Some(knowledge) = self.0.get() else {
            return Err(refused!("there are no documents here; use `grep` and `read` for files"));
        };
        let workspace = scope.workspace.to_string_lossy();
        let query = PassageQuery {
            text: args.query.trim(),
            agent: scope.agent,
            user: scope.user,
            workspace: Some(&workspace),
            documents: &[],
            everything: true,
            closely: false,
            limit: args.limit.unwrap_or(PASSAGES).clamp(1, MOST_PASSAGES),
        };
        let most = query.limit;
        let found = knowledge.passages(query).await.map_err(|error| refused!("the search failed: {error}"))?;
        let mut passages = found.passages;
        passages.truncate(most);
        let from = passages.iter().filter(|one| is_outside(one)).map(|one| &one.name);
        let level = passages.iter().fold(None, |seen, one| higher(seen, classified(one)));
        let provenance = Provenance { level, ..from.collect() };
        let mut answer = match passages.len() {
            0 => format!("Nothing near to this stands in the {} documents that may be searched.", found.documents),
            _ => "Cite a passage by its number in brackets where the answer stands on it.\n".to_owned(),
        };
        if let Some(problem) = &found.problem {
            let _ = writeln!(answer, "({problem})");
        }
        let reads = passages.iter().filter(|one| !is_outside(one)).map(|one| one.source.clone()).collect();
        let mut references = Vec::with_capacity(passages.len());
        for (number, passage) in (scope.references + 1..).zip(passages) {
            let reference = reference(number, passage);
            let _ = write!(answer, "\n[{number}] {}:\n{}\n", reference.place(), reference.text.trim());
            references.push(reference);
        }
        Ok(ToolOutput { data: Some(json!({ REFERENCES: references })), provenance, reads, ..ToolOutput::text(answer) })
    }
}

/// Files of the workspace are told apart by the engine, which knows what was written from outside.
fn is_outside(passage: &DocumentPassage) -> bool {
    passage.origin != DocumentOrigin::Workspace
}

fn classified(passage: &DocumentPassage) -> Option<Classified> {
    passage.classification.map(|classification| Classified {
        classification,
        label: passage.collection.clone(),
        source: passage.name.clone(),
    })
}

fn reference(number: u32, passage: DocumentPassage) -> Reference {
    Reference {
        number,
        outside: is_outside(&passage),
        classified: classified(&passage),
        document: passage.document,
        chunk: passage.index,
        name: passage.name,
        source: passage.source,
        headings: passage.chunk.headings,
        first_page: passage.chunk.first_page,
        last_page: passage.chunk.last_page,
        text: passage.chunk.text,
        quote: passage.quote,
        cosine: passage.cosine,
        nearest: passage.nearest,
    }
}
