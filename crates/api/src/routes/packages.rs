use crate::dto::packages::{AcceptPackage, ImportedSkillPack, PackageDiff, SkillPackage};
use crate::extract::{broken, form_of, holds_file, is_form, limited, next_field, no_file, sent_file, whole};
use crate::guard::{MAX_FORM, MAX_UPLOAD};
use crate::response::saved_file;
use crate::routes::prelude::*;
use axum::extract::multipart::Field;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::HeaderValue;
use axum::response::Response;
use futures::{StreamExt, TryStreamExt};
use steward_app::{DocumentUpload, DocumentWish, PackageSource};
use steward_core::AgentId;

/// Files of one form.
const MAX_FILES: usize = 50;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(import))
        .routes(routes!(import_for_agent))
        // Each file of a form is measured by itself, below.
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .routes(routes!(list))
        .routes(routes!(ready))
        .routes(routes!(get, remove))
        .routes(routes!(accept))
        .routes(routes!(export))
        .routes(routes!(diff))
}

/// How to import.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Import {
    /// Put it to use at once if the scan finds nothing dangerous.
    #[serde(default)]
    activate: bool,
    /// Name of a package that comes with Steward, instead of a file.
    ready: Option<String>,
}

/// The archive, for the document.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema counts")]
struct ArchiveBody(Vec<u8>);

/// Takes a skill package in: a `.skill` archive as the form's field `file` or as the body. It is in quarantine
/// until somebody accepts it, unless `activate` is given and the scan finds nothing dangerous.
#[utoipa::path(post, path = "/api/skills/import-package", tag = "skills", operation_id = "importPackage",
    params(Import), request_body(content = inline(ArchiveBody), content_type = "application/octet-stream"),
    responses((status = 201, description = "Taken in", body = SkillPackage)))]
async fn import(Call(state, caller): Call, Params(how): Params<Import>, request: Request) -> Created<SkillPackage> {
    state.may_import_package(&caller)?;
    let source = match how.ready {
        Some(name) => PackageSource::Bundled(name),
        None => PackageSource::Archive(sent_file(request, MAX_UPLOAD).await?),
    };
    created(state.import_package(&caller, source, how.activate).await?.into())
}

/// How to import for an agent.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ImportForAgent {
    /// Name of a package that comes with Steward, instead of files.
    ready: Option<String>,
    /// The collection that files go to which are no packages, by id or name; `Documents` if left out.
    #[param(nullable = false, max_length = 200)]
    collection: Option<String>,
}

/// Takes skill packages in, puts them to use and gives their skills to the agent; other files become documents that are
/// linked to it. One package as the body, or any number of both as fields `file` of a form. A package with dangerous
/// findings stays in quarantine.
#[utoipa::path(post, path = "/api/universal-agents/{id}/import-skill-pack", tag = "agents",
    operation_id = "importSkillPack", params(("id" = Uuid, Path), ImportForAgent),
    request_body(content = inline(ArchiveBody), content_type = "application/octet-stream"),
    responses((status = 201, description = "Taken in", body = ImportedSkillPack)))]
async fn import_for_agent(
    Call(state, caller): Call,
    PathId(agent): PathId<AgentId>,
    Params(how): Params<ImportForAgent>,
    request: Request,
) -> Created<ImportedSkillPack> {
    state.may_import_package_for(&caller, agent).await?;
    let mut taken = ImportedSkillPack { packages: Vec::new(), documents: Vec::new() };
    let source = match how.ready {
        Some(name) => PackageSource::Bundled(name),
        None if is_form(&request) => {
            let mut form = form_of(request).await?;
            while let Some(field) = next_field(&mut form).await? {
                if taken.packages.len() + taken.documents.len() >= MAX_FILES {
                    return Err(too_many());
                }
                let name = field.file_name().unwrap_or_default().to_owned();
                if !holds_file(&field) {
                    continue;
                }
                if name.is_empty() || is_package(&name) {
                    let source = PackageSource::Archive(whole(limited(field.map_err(broken), MAX_UPLOAD)).await?);
                    taken.packages.push(state.import_package_for(&caller, agent, source).await?.into());
                } else {
                    let wish = DocumentWish {
                        name: Some(name),
                        collection: how.collection.clone(),
                        agent: Some(agent.to_string()),
                    };
                    let upload = state.begin_document(&caller, &wish, None).await?;
                    let upload = sent(field, upload).await?;
                    taken.documents.push(upload.finish(&caller, &wish).await?);
                }
            }
            if taken.packages.is_empty() && taken.documents.is_empty() {
                return Err(no_file());
            }
            return created(taken);
        }
        None => PackageSource::Archive(sent_file(request, MAX_UPLOAD).await?),
    };
    taken.packages.push(state.import_package_for(&caller, agent, source).await?.into());
    created(taken)
}

fn is_package(name: &str) -> bool {
    let ending = std::path::Path::new(name).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("skill") || ending.eq_ignore_ascii_case("zip"))
}

async fn sent(field: Field<'_>, mut upload: DocumentUpload) -> Result<DocumentUpload, Problem> {
    let mut pieces = limited(field.map_err(broken), MAX_UPLOAD);
    while let Some(piece) = pieces.next().await {
        upload.write(&piece?).await?;
    }
    Ok(upload)
}

fn too_many() -> Problem {
    Problem::invalid(
        "file",
        format!("a form has at most {MAX_FILES} files; those before were taken"),
        "send the rest in another request",
    )
}

/// Skill packages by name, the latest revision of each.
#[utoipa::path(get, path = "/api/skills/packages", tag = "skills", operation_id = "listPackages",
    params(Paging), responses((status = 200, description = "By name", body = Page<SkillPackage>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<SkillPackage> {
    let after = paging.after::<String>()?;
    let page = state.packages(&caller, after.as_deref(), paging.limit()).await?;
    let next = page.items.last().filter(|_| page.more).map(|one| one.name.clone());
    Ok(Page::new(page.items.into_iter().map(SkillPackage::from).collect(), next))
}

/// Names of the packages that come with Steward; import one with `?ready=NAME`.
#[utoipa::path(get, path = "/api/skills/ready-packages", tag = "skills", operation_id = "listReadyPackages",
    responses((status = 200, description = "Names", body = Vec<String>)))]
async fn ready(Call(state, caller): Call) -> Answer<Vec<String>> {
    Ok(Json(state.bundled_packages(&caller)?))
}

/// Which revisions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Between {
    /// The earlier; else the one in use.
    from: Option<u32>,
    /// The later; else the latest.
    to: Option<u32>,
}

/// Which revision.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Its number; else the one in use.
    revision: Option<u32>,
}

/// All revisions of a package, the latest first.
#[utoipa::path(get, path = "/api/skills/packages/{name}", tag = "skills", operation_id = "getPackage",
    params(("name" = String, Path), Paging),
    responses((status = 200, description = "Latest first", body = Page<SkillPackage>)))]
async fn get(Call(state, caller): Call, PathName(name): PathName, paging: Paging) -> Listed<SkillPackage> {
    let all = state.package_revisions(&caller, &name).await?;
    Page::cut(all.into_iter().map(SkillPackage::from).collect(), &paging)
}

/// Puts the revision with this hash to use. Also brings a removed one back, and goes back to an earlier one.
#[utoipa::path(post, path = "/api/skills/packages/{name}/accept", tag = "skills",
    operation_id = "acceptPackage", params(("name" = String, Path)), request_body = AcceptPackage,
    responses((status = 200, description = "In use", body = SkillPackage)))]
async fn accept(
    Call(state, caller): Call,
    PathName(name): PathName,
    Body(wanted): Body<AcceptPackage>,
) -> Answer<SkillPackage> {
    Ok(Json(state.accept_package(&caller, &name, &wanted).await?.into()))
}

/// Takes a package out of use: its skills are removed. Accepting it again brings them back.
#[utoipa::path(delete, path = "/api/skills/packages/{name}", tag = "skills", operation_id = "deletePackage",
    params(("name" = String, Path)), responses((status = 204, description = "Out of use")))]
async fn remove(Call(state, caller): Call, PathName(name): PathName) -> Done {
    done(state.remove_package(&caller, &name).await)
}

/// A revision as a `.skill` archive.
#[utoipa::path(get, path = "/api/skills/packages/{name}/export", tag = "skills",
    operation_id = "exportPackage", params(("name" = String, Path), Which),
    responses((status = 200, description = "The archive", content_type = "application/zip", body = Vec<u8>)))]
async fn export(
    Call(state, caller): Call,
    PathName(name): PathName,
    Params(which): Params<Which>,
) -> Result<Response, Problem> {
    let (file, bytes) = state.export_package(&caller, &name, which.revision).await?;
    let named = HeaderValue::try_from(format!("attachment; filename=\"{name}.skill\""));
    Ok(saved_file("application/zip", named.unwrap_or(HeaderValue::from_static("attachment")), file, bytes))
}

/// What differs between two revisions, file by file.
#[utoipa::path(get, path = "/api/skills/packages/{name}/diff", tag = "skills", operation_id = "diffPackage",
    params(("name" = String, Path), Between),
    responses((status = 200, description = "File by file", body = PackageDiff)))]
async fn diff(
    Call(state, caller): Call,
    PathName(name): PathName,
    Params(between): Params<Between>,
) -> Answer<PackageDiff> {
    Ok(Json(state.diff_package(&caller, &name, between.from, between.to).await?))
}
