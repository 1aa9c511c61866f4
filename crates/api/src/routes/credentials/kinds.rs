//! `GET /api/credentials/kinds`.

use crate::auth::Person;
use crate::dto::credential::CredentialKindInfo;
use crate::extract::{Page, Paging, PagingQuery};
use crate::problem::Problem;
use steward_core::credential::CredentialKind;

/// Kinds of credentials and their fields.
#[utoipa::path(get, path = "/api/credentials/kinds", tag = "credentials",
    operation_id = "listCredentialKinds", params(PagingQuery),
    responses((status = 200, description = "All", body = Page<CredentialKindInfo>)))]
pub(crate) async fn kinds(_: Person, paging: Paging) -> Result<Page<CredentialKindInfo>, Problem> {
    let all = CredentialKind::ALL.into_iter().map(|kind| CredentialKindInfo { kind, fields: kind.fields() });
    Page::cut(all.collect(), &paging)
}
