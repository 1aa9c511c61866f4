//! Collections that the program makes for itself. They are known by their ids, since anybody may give a collection any name.

use super::DocumentService;
use steward_core::CollectionId;
use steward_core::hash::sha256;
use steward_core::ports::{StoreError, StoreResult};
use uuid::Uuid;

/// Names that are tried where somebody's own collection has the first.
const NAMES: usize = 20;

/// The same in each organisation.
pub(crate) fn reserved_id(key: &str) -> CollectionId {
    let hash = sha256(format!("reserved collection {key}").as_bytes());
    CollectionId(hash.get(..32).and_then(|digits| Uuid::parse_str(digits).ok()).unwrap_or_default())
}

/// That of the workspace's files.
pub(super) fn workspace_id() -> CollectionId {
    reserved_id("workspace")
}

impl DocumentService {
    /// Makes the collection of this id unless it is there. `false`: others have all names that it could have.
    pub(crate) async fn make_reserved(&self, id: CollectionId, name: &str, description: &str) -> StoreResult<bool> {
        for number in 1..=NAMES {
            if self.store.collection(self.tenant, id).await?.is_some() {
                return Ok(true);
            }
            let name = if number == 1 { name.to_owned() } else { format!("{name} ({number})") };
            let mut collection = self.new_collection(name, description.to_owned());
            collection.id = id;
            match self.store.create_collection(self.tenant, &collection).await {
                Ok(()) => return Ok(true),
                // Its name is somebody's, or another node was first.
                Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.store.collection(self.tenant, id).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::reserved_id;
    use std::collections::BTreeSet;

    #[test]
    fn each_key_has_an_id_of_its_own() {
        let ids: BTreeSet<_> = ["workspace", "package a", "package b"].map(reserved_id).into();
        assert_eq!(ids.len(), 3);
        // The studio knows it (`web/src/pages/documents/parts/target.ts`).
        assert_eq!(reserved_id("workspace").to_string(), "e4f20cf0-146c-0e49-0b26-7f066a48acd6");
    }
}
