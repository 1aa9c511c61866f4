use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Something that a rule, label or key is about. It is the id that counts, whatever the name is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NamedRef {
    /// Its id.
    pub id: Uuid,
    /// What it is called now; null: it was deleted, and nothing made later takes its place.
    #[schema(required)]
    pub name: Option<String>,
}
