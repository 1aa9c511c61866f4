//! Collections of documents: who makes, changes and removes them.

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::document_service::EmbeddingProblem;
use crate::dto::documents::{CollectionInput, CollectionPatch};
use crate::inputs::{checked_name, given};
use steward_core::CollectionId;
use steward_core::document::{Chunking, Collection, SearchWeights};
use steward_core::governance::Classification;
use steward_core::ports::{CollectionChange, DocumentFilter};

/// Where files go that nobody named a collection for.
const FIRST: &str = "Documents";

impl App {
    /// Those that the caller may see, by name.
    pub async fn collections(&self, caller: &Caller) -> AppResult<Vec<Collection>> {
        authorize(caller, Action::Read, Resource::Collections)?;
        Ok(self.store.collections(self.tenant(), visible_to(caller)).await?)
    }

    pub async fn collection(&self, caller: &Caller, id: CollectionId) -> AppResult<Collection> {
        self.collection_for(caller, Action::Read, id).await
    }

    pub async fn create_collection(&self, caller: &Caller, input: CollectionInput) -> AppResult<Collection> {
        authorize(caller, Action::Write, Resource::Collections)?;
        check(input.chunking, input.weights)?;
        let wanted = input.embedding_model.as_deref();
        let model = self.embedding_model_for(caller, wanted, input.classification).await?;
        let collection = Collection {
            chunking: input.chunking,
            weights: input.weights,
            rerank: input.rerank,
            classification: input.classification,
            created_by: Some(caller.user()),
            ..self.documents.new_collection(checked_name(&input.name)?, input.description.trim().to_owned())
        };
        // Before it can be found: nobody sees it open who may not.
        self.prepare_new_resource(caller, collection.id.into()).await?;
        if !input.open {
            self.store.set_restricted(self.tenant(), collection.id.into(), true).await?;
        }
        self.store.create_collection(self.tenant(), &collection).await?;
        if let Some(model) = model {
            self.store.fix_embedding_model(self.tenant(), collection.id, &model).await?;
            return Ok(Collection { embedding_model: Some(model), ..collection });
        }
        Ok(collection)
    }

    pub async fn change_collection(
        &self,
        caller: &Caller,
        id: CollectionId,
        patch: CollectionPatch,
    ) -> AppResult<Collection> {
        let known = self.collection_for(caller, Action::Write, id).await?;
        check(patch.chunking.unwrap_or(known.chunking), patch.weights.unwrap_or(known.weights))?;
        if let Some(classification) = patch.classification
            && known.classification.is_some_and(|known| classification < known)
        {
            authorize(caller, Action::Administer, Resource::Policies)?;
        }
        let change = CollectionChange {
            name: patch.name.as_deref().map(checked_name).transpose()?,
            description: patch.description,
            chunking: patch.chunking,
            weights: patch.weights,
            classification: patch.classification.map(Some),
            rerank: patch.rerank,
        };
        let classification = patch.classification.or(known.classification);
        let model = self.embedding_model_for(caller, patch.embedding_model.as_deref(), classification).await?;
        let changed = self.store.change_collection(self.tenant(), id, &change).await?;
        let Some(model) = model else {
            return Ok(changed);
        };
        self.store.change_embedding_model(self.tenant(), id, &model, self.now()).await?;
        self.documents.work().await?;
        let gone = || AppError::not_found(format!("collection {id}"));
        self.store.collection(self.tenant(), id).await?.ok_or_else(gone)
    }

    /// The full name of the wanted embedding model, which such a collection may have.
    async fn embedding_model_for(
        &self,
        caller: &Caller,
        wanted: Option<&str>,
        classification: Option<Classification>,
    ) -> AppResult<Option<String>> {
        let Some(name) = wanted else { return Ok(None) };
        let wrong = |problem: EmbeddingProblem| AppError::invalid("embedding_model", problem.message, problem.hint);
        let embedding = &self.documents.embedding;
        let model = embedding.resolve(name).await.map_err(wrong)?;
        if let Some(connection) = embedding.connection_of(&model).await.map_err(wrong)? {
            self.may_ask_connection(caller, connection.id).await?;
        }
        embedding.may_have(&model, classification).await.map_err(wrong)?;
        Ok(Some(model))
    }

    /// For good, with all its documents.
    pub async fn remove_collection(&self, caller: &Caller, id: CollectionId) -> AppResult<()> {
        self.collection_for(caller, Action::Share, id).await?;
        self.documents.remove_all(DocumentFilter { collection: Some(id), ..DocumentFilter::default() }).await?;
        Ok(self.store.remove_collection(self.tenant(), id).await?)
    }

    /// A collection for this action; not found, if the caller may not see it.
    pub(crate) async fn collection_for(
        &self,
        caller: &Caller,
        action: Action,
        id: CollectionId,
    ) -> AppResult<Collection> {
        let unknown = || AppError::not_found(format!("collection {id}"));
        let collection = self.store.collection(self.tenant(), id).await?.ok_or_else(unknown)?;
        let resource = Resource::Collection { id, name: &collection.name };
        if authorize(caller, Action::Read, resource).is_err() {
            return Err(unknown());
        }
        authorize(caller, action, resource)?;
        Ok(collection)
    }

    /// The collection that is named; without a name the caller's `Documents`, which is made where there is none.
    pub(crate) async fn collection_to_fill(&self, caller: &Caller, named: Option<&str>) -> AppResult<Collection> {
        if let Some(named) = given(named) {
            return self.named_collection(caller, Action::Write, named).await;
        }
        let person = caller.email.split('@').next().unwrap_or_default();
        // The first may be somebody else's.
        for name in [FIRST.to_owned(), format!("{FIRST} ({person})")] {
            if let Some(known) = self.store.collection_by_name(self.tenant(), &name).await? {
                match self.collection_for(caller, Action::Write, known.id).await {
                    Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Forbidden) => continue,
                    found => return found,
                }
            }
            let input = CollectionInput { name: name.clone(), ..CollectionInput::default() };
            return match self.create_collection(caller, input).await {
                // Somebody was quicker.
                Err(error) if error.kind == ErrorKind::Conflict => {
                    self.named_collection(caller, Action::Write, &name).await
                }
                made => made,
            };
        }
        Err(AppError::invalid("collection", "you have no collection of your own yet", "name the one that it goes to"))
    }

    /// A collection by its id or name.
    pub(crate) async fn named_collection(&self, caller: &Caller, action: Action, name: &str) -> AppResult<Collection> {
        let id = match name.trim().parse::<CollectionId>() {
            Ok(id) => Some(id),
            Err(_) => self.store.collection_by_name(self.tenant(), name.trim()).await?.map(|one| one.id),
        };
        let unknown =
            || AppError::invalid("collection", format!("there is no collection `{name}`"), "see GET /api/collections");
        match self.collection_for(caller, action, id.ok_or_else(unknown)?).await {
            Err(error) if error.kind == ErrorKind::NotFound => Err(unknown()),
            other => other,
        }
    }
}

/// Whose grants a list is filtered by; `None`: the caller may see all.
pub(crate) fn visible_to(caller: &Caller) -> Option<steward_core::UserId> {
    let above = authorize(caller, Action::Write, Resource::Connections).is_ok();
    (!above).then(|| caller.user())
}

fn check(chunking: Chunking, weights: SearchWeights) -> AppResult<()> {
    if !(200..=4000).contains(&chunking.max_chars) {
        return Err(AppError::invalid("chunking", "a chunk has 200 to 4000 characters", "1500 suits most texts"));
    }
    if chunking.overlap > chunking.max_chars / 2 {
        return Err(AppError::invalid(
            "chunking",
            "chunks share at most half of their characters",
            "make `overlap` smaller, such as 300",
        ));
    }
    check_weights(weights)
}

pub(crate) fn check_weights(weights: SearchWeights) -> AppResult<()> {
    let weight = |value: f32| (0.0..=1.0).contains(&value);
    if !weight(weights.text) || !weight(weights.vectors) || weights.text + weights.vectors <= 0.0 {
        return Err(AppError::invalid(
            "weights",
            "weights are from 0 to 1, and one of them is above 0",
            "0.3 and 0.7 suit most texts",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;
    use steward_core::document::{Chunking, SearchWeights};

    #[test]
    fn what_can_not_be_meant_is_refused() {
        for (max_chars, overlap, text, vectors, expect) in [
            (1500, 300, 0.3, 0.7, None),
            (1500, 300, 0.0, 1.0, None),
            (199, 0, 0.3, 0.7, Some("chunking")),
            (4001, 0, 0.3, 0.7, Some("chunking")),
            (1000, 501, 0.3, 0.7, Some("chunking")),
            (1000, 500, 0.0, 0.0, Some("weights")),
            (1000, 500, -0.1, 1.0, Some("weights")),
            (1000, 500, f32::NAN, 1.0, Some("weights")),
        ] {
            let wrong =
                check(Chunking { max_chars, overlap }, SearchWeights { text, vectors, ..SearchWeights::default() });
            assert_eq!(wrong.err().and_then(|error| error.detail.field).as_deref(), expect);
        }
    }
}
