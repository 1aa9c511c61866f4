//! `/api/domains`: described tables, their views, their texts, and what models are told about them.

use crate::dto::domains::{
    Choice, DomainAnswer, DomainInfo, DomainQuery, FoundDomain, InstructionInput, SavedDomainText, SchemaSearch,
    TextCompletion, TextHover, TextInput, TextPlace, TextReport, VerifiedInput, ViewInfo, WrittenText,
};
use crate::routes::prelude::*;
use steward_core::datasource::{DomainText, DomainTextKind, StandingInstruction, VerifiedQuestion};

/// What stands in the place of a domain's name in other addresses. A domain may be called so, too: these only take other
/// methods.
const OTHER_ADDRESSES: [&str; 7] = ["query", "search", "check", "complete", "hover", "rename", "format"];

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    let named = |router: OpenApiRouter<ApiState>, name: &'static str| {
        let get = move |call: Call| async move { get(call, PathName(name.to_owned())).await };
        router.route(&format!("/api/domains/{name}"), axum::routing::get(get))
    };
    let router = OpenApiRouter::default()
        .routes(routes!(list))
        .routes(routes!(query))
        .routes(routes!(search))
        .routes(routes!(texts, save))
        .routes(routes!(text, remove))
        .routes(routes!(versions))
        .routes(routes!(check))
        .routes(routes!(complete))
        .routes(routes!(hover))
        .routes(routes!(rename))
        .routes(routes!(format))
        .routes(routes!(get))
        .routes(routes!(choices))
        .routes(routes!(views))
        .routes(routes!(view))
        .routes(routes!(instructions))
        .routes(routes!(save_instruction, remove_instruction))
        .routes(routes!(verified, verify))
        .routes(routes!(unverify));
    OTHER_ADDRESSES.into_iter().fold(router, named)
}

/// The domains that one may read, by name.
#[utoipa::path(get, path = "/api/domains", tag = "domains", operation_id = "listDomains",
    responses((status = 200, description = "By name", body = Page<DomainInfo>)))]
async fn list(Call(state, caller): Call) -> Listed<DomainInfo> {
    Ok(Page::whole(state.domains(&caller).await?))
}

/// Asks a domain for rows, counts or groups. It only reads.
#[utoipa::path(post, path = "/api/domains/query", tag = "domains", operation_id = "queryDomain",
    request_body = DomainQuery, responses(
        (status = 200, description = "The rows", body = DomainAnswer),
        (status = 422, description = "Something in the query is wrong; the message says what, and how it is written"),
        (status = 503, description = "The database can't be asked")))]
async fn query(Call(state, caller): Call, Body(wanted): Body<DomainQuery>) -> Answer<DomainAnswer> {
    Ok(Json(state.query_domain(&caller, &wanted).await?))
}

/// What a model is shown for these words.
#[utoipa::path(post, path = "/api/domains/search", tag = "domains", operation_id = "searchDomains",
    request_body = SchemaSearch, responses((status = 200, description = "The best first", body = Page<FoundDomain>)))]
async fn search(Call(state, caller): Call, Body(wanted): Body<SchemaSearch>) -> Listed<FoundDomain> {
    Ok(Page::whole(state.search_domains(&caller, &wanted).await?))
}

/// The texts of all domains and views.
#[utoipa::path(get, path = "/api/domains/texts", tag = "domains", operation_id = "listDomainTexts",
    responses((status = 200, description = "By kind and name", body = Page<DomainText>)))]
async fn texts(Call(state, caller): Call) -> Listed<DomainText> {
    Ok(Page::whole(state.domain_texts(&caller).await?))
}

/// Checks and saves every domain and view of a text, all or none. They act on the next message.
#[utoipa::path(put, path = "/api/domains/texts", tag = "domains", operation_id = "saveDomainTexts",
    request_body = TextInput, responses(
        (status = 200, description = "What was saved, with what changed", body = Vec<SavedDomainText>),
        (status = 409, description = "It was changed meanwhile"),
        (status = 422, description = "Something is wrong with the text; the message names the lines")))]
async fn save(Call(state, caller): Call, Body(input): Body<TextInput>) -> Answer<Vec<SavedDomainText>> {
    Ok(Json(state.save_domain_texts(&caller, input).await?))
}

/// The text of a domain or view.
#[utoipa::path(get, path = "/api/domains/texts/{kind}/{name}", tag = "domains", operation_id = "getDomainText",
    params(("kind" = DomainTextKind, Path), ("name" = String, Path)),
    responses((status = 200, description = "Found", body = DomainText)))]
async fn text(Call(state, caller): Call, PathIds(kind, name): PathIds<DomainTextKind, String>) -> Answer<DomainText> {
    Ok(Json(state.domain_text(&caller, kind, &name).await?))
}

/// Takes a domain or view away. Its versions stay.
#[utoipa::path(delete, path = "/api/domains/texts/{kind}/{name}", tag = "domains", operation_id = "removeDomainText",
    params(("kind" = DomainTextKind, Path), ("name" = String, Path)),
    responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathIds(kind, name): PathIds<DomainTextKind, String>) -> Done {
    done(state.remove_domain_text(&caller, kind, &name).await)
}

/// All versions of a text, the newest first, also of one that was removed.
#[utoipa::path(get, path = "/api/domains/texts/{kind}/{name}/versions", tag = "domains",
    operation_id = "listDomainTextVersions", params(("kind" = DomainTextKind, Path), ("name" = String, Path)),
    responses((status = 200, description = "The newest first", body = Page<DomainText>)))]
async fn versions(
    Call(state, caller): Call,
    PathIds(kind, name): PathIds<DomainTextKind, String>,
) -> Listed<DomainText> {
    Ok(Page::whole(state.domain_text_versions(&caller, kind, &name).await?))
}

/// What is wrong with a text, against the databases as they are.
#[utoipa::path(post, path = "/api/domains/check", tag = "domains", operation_id = "checkDomainText",
    request_body = TextPlace, responses((status = 200, description = "In the order of the text", body = TextReport)))]
async fn check(Call(state, caller): Call, Body(place): Body<TextPlace>) -> Answer<TextReport> {
    Ok(Json(state.check_domain_text(&caller, &place).await?))
}

/// What can be written at a place of a text.
#[utoipa::path(post, path = "/api/domains/complete", tag = "domains", operation_id = "completeDomainText",
    request_body = TextPlace,
    responses((status = 200, description = "The likeliest first", body = Vec<TextCompletion>)))]
async fn complete(Call(state, caller): Call, Body(place): Body<TextPlace>) -> Answer<Vec<TextCompletion>> {
    Ok(Json(state.complete_domain_text(&caller, &place).await?))
}

/// What stands at a place of a text.
#[utoipa::path(post, path = "/api/domains/hover", tag = "domains", operation_id = "hoverDomainText",
    request_body = TextPlace, responses((status = 200, description = "An explanation", body = TextHover)))]
async fn hover(Call(state, caller): Call, Body(place): Body<TextPlace>) -> Answer<TextHover> {
    Ok(Json(state.hover_domain_text(&caller, &place).await?))
}

/// The text with another name for what stands at a place.
#[utoipa::path(post, path = "/api/domains/rename", tag = "domains", operation_id = "renameInDomainText",
    request_body = TextPlace, responses((status = 200, description = "The whole text", body = WrittenText)))]
async fn rename(Call(state, caller): Call, Body(place): Body<TextPlace>) -> Answer<WrittenText> {
    Ok(Json(state.rename_in_domain_text(&caller, &place).await?))
}

/// The text in its usual layout; comments stay.
#[utoipa::path(post, path = "/api/domains/format", tag = "domains", operation_id = "formatDomainText",
    request_body = TextPlace, responses((status = 200, description = "The whole text", body = WrittenText)))]
async fn format(Call(state, caller): Call, Body(place): Body<TextPlace>) -> Answer<WrittenText> {
    Ok(Json(state.format_domain_text(&caller, &place).await?))
}

/// One domain.
#[utoipa::path(get, path = "/api/domains/{name}", tag = "domains", operation_id = "getDomain",
    params(("name" = String, Path)), responses((status = 200, description = "Found", body = DomainInfo)))]
async fn get(Call(state, caller): Call, PathName(name): PathName) -> Answer<DomainInfo> {
    Ok(Json(state.domain(&caller, &name).await?))
}

/// The values that a field can take.
#[utoipa::path(get, path = "/api/domains/{name}/choices/{field}", tag = "domains", operation_id = "listChoices",
    params(("name" = String, Path), ("field" = String, Path)),
    responses((status = 200, description = "In their order", body = Page<Choice>)))]
async fn choices(Call(state, caller): Call, PathIds(name, field): PathIds<String, String>) -> Listed<Choice> {
    Ok(Page::whole(state.domain_choices(&caller, &name, &field).await?))
}

/// The views of domains that one may read, by name.
#[utoipa::path(get, path = "/api/views", tag = "domains", operation_id = "listViews",
    responses((status = 200, description = "By name", body = Page<ViewInfo>)))]
async fn views(Call(state, caller): Call) -> Listed<ViewInfo> {
    Ok(Page::whole(state.views(&caller).await?))
}

/// One view.
#[utoipa::path(get, path = "/api/views/{name}", tag = "domains", operation_id = "getView",
    params(("name" = String, Path)), responses((status = 200, description = "Found", body = ViewInfo)))]
async fn view(Call(state, caller): Call, PathName(name): PathName) -> Answer<ViewInfo> {
    Ok(Json(state.view(&caller, &name).await?))
}

/// What models are told before each question about data, in order.
#[utoipa::path(get, path = "/api/standing-instructions", tag = "domains", operation_id = "listStandingInstructions",
    responses((status = 200, description = "In the order in which they are told", body = Page<StandingInstruction>)))]
async fn instructions(Call(state, caller): Call) -> Listed<StandingInstruction> {
    Ok(Page::whole(state.standing_instructions(&caller).await?))
}

/// Adds or changes a standing instruction. It acts on the next message.
#[utoipa::path(put, path = "/api/standing-instructions/{name}", tag = "domains",
    operation_id = "saveStandingInstruction", params(("name" = String, Path)), request_body = InstructionInput,
    responses(
        (status = 200, description = "Saved", body = StandingInstruction),
        (status = 409, description = "It was changed meanwhile")))]
async fn save_instruction(
    Call(state, caller): Call,
    PathName(name): PathName,
    Body(input): Body<InstructionInput>,
) -> Answer<StandingInstruction> {
    Ok(Json(state.save_standing_instruction(&caller, &name, input).await?))
}

/// Removes a standing instruction.
#[utoipa::path(delete, path = "/api/standing-instructions/{name}", tag = "domains",
    operation_id = "removeStandingInstruction", params(("name" = String, Path)),
    responses((status = 204, description = "Removed")))]
async fn remove_instruction(Call(state, caller): Call, PathName(name): PathName) -> Done {
    done(state.remove_standing_instruction(&caller, &name).await)
}

/// Questions with the queries that answer them, as people found; models are given those that are near as examples.
#[utoipa::path(get, path = "/api/verified-questions", tag = "domains", operation_id = "listVerifiedQuestions",
    responses((status = 200, description = "The newest first", body = Page<VerifiedQuestion>)))]
async fn verified(Call(state, caller): Call) -> Listed<VerifiedQuestion> {
    Ok(Page::whole(state.verified_questions(&caller).await?))
}

/// Keeps a question with its query; the same question takes its place. It acts on the next message.
#[utoipa::path(post, path = "/api/verified-questions", tag = "domains", operation_id = "verifyQuestion",
    request_body = VerifiedInput, responses(
        (status = 201, description = "Kept", body = VerifiedQuestion),
        (status = 422, description = "Something in the query is wrong; the message says what")))]
async fn verify(Call(state, caller): Call, Body(input): Body<VerifiedInput>) -> Created<VerifiedQuestion> {
    created(state.verify_question(&caller, input).await?)
}

/// Removes a verified question.
#[utoipa::path(delete, path = "/api/verified-questions/{id}", tag = "domains",
    operation_id = "removeVerifiedQuestion", params(("id" = String, Path)),
    responses((status = 204, description = "Removed")))]
async fn unverify(Call(state, caller): Call, PathName(id): PathName) -> Done {
    done(state.remove_verified_question(&caller, &id).await)
}
