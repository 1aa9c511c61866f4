use super::client::Client;
use super::dto::Session;
use super::{Call, with_cookie};
use crate::ApiState;
use crate::extract::Body;
use crate::guard::AuditNote;
use crate::operations::routes;
use crate::problem::{Answer, Done, Problem, done};
use crate::tenant_app::TenantApp;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use steward_app::{Enrolment, SecondStep, claimed_tenant};
use steward_core::ports::LoginError;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(super) fn second_factor_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(second_step))
        .routes(routes!(enrol_at_login))
        .routes(routes!(state_of, begin, end))
        .routes(routes!(confirm))
        .routes(routes!(renew_codes))
}

/// The second step of a login.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SecondStepInput {
    /// Of the first step.
    #[schema(max_length = 2000)]
    pub challenge: String,
    /// Six digits of the app, or a recovery code.
    #[schema(max_length = 100)]
    pub code: String,
}

/// A login that is done, and recovery codes if the app was just set up.
#[derive(Serialize, ToSchema)]
struct FinishedLogin {
    /// The login.
    #[serde(flatten)]
    pub session: Session,
    /// Each logs in once in place of a code. Shown this once; empty if there are no new ones.
    pub recovery_codes: Vec<String>,
}

/// Show a code
///
/// The second step of a login, after `POST /api/auth/login` has answered 202. Wrong codes count like wrong passwords.
#[utoipa::path(
    post, path = "/api/auth/second-factor", tag = "auth", operation_id = "secondStep", security(()),
    request_body = SecondStepInput,
    responses((status = 200, description = "Logged in", body = FinishedLogin),
              (status = 401, description = "The code is wrong or used, or the first step is too long ago"),
              (status = 429, description = "Too many attempts"))
)]
async fn second_step(
    State(state): State<ApiState>,
    client: Client,
    Body(body): Body<SecondStepInput>,
) -> Result<Response, Problem> {
    let step =
        SecondStep { challenge: &body.challenge, code: &body.code, client: client.address, label: &client.label };
    let app = challenged(&state, &body.challenge)?;
    let (open, recovery_codes) = app.access.second_step(step).await?;
    let note = AuditNote::login(&open.user);
    let answer = with_cookie(open, &client, |session| FinishedLogin { session, recovery_codes });
    Ok((Extension(note), answer).into_response())
}

/// The first step of a login, for who must set a second factor up before they are in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ChallengeInput {
    /// Of the first step.
    #[schema(max_length = 2000)]
    pub challenge: String,
}

/// What an app needs to show codes. Shown this once.
#[derive(Serialize, ToSchema)]
struct NewSecondFactor {
    /// To type in, base32.
    pub secret: String,
    /// To scan as a QR code.
    pub uri: String,
}

impl From<Enrolment> for NewSecondFactor {
    fn from(made: Enrolment) -> Self {
        Self { secret: made.secret, uri: made.uri }
    }
}

/// Set a second factor up while logging in
///
/// For who needs one by their role and has none. The first code of it goes to `POST /api/auth/second-factor`.
#[utoipa::path(
    post, path = "/api/auth/second-factor/enrol", tag = "auth", operation_id = "enrolAtLogin", security(()),
    request_body = ChallengeInput,
    responses((status = 200, description = "For the app", body = NewSecondFactor),
              (status = 401, description = "The first step is too long ago"))
)]
async fn enrol_at_login(State(state): State<ApiState>, Body(body): Body<ChallengeInput>) -> Answer<NewSecondFactor> {
    let app = challenged(&state, &body.challenge)?;
    Ok(Json(app.access.begin_second_factor_at_login(&body.challenge).await?.into()))
}

/// The application of the tenant whose password was shown.
fn challenged(state: &ApiState, challenge: &str) -> Result<TenantApp, LoginError> {
    claimed_tenant(challenge).and_then(|tenant| state.app_of_tenant(tenant)).ok_or(LoginError::Token)
}

/// The caller's second factor.
#[derive(Serialize, ToSchema)]
struct SecondFactorView {
    /// Whether codes are asked for.
    pub enabled: bool,
    /// Whether the caller's role needs them.
    pub required: bool,
    /// How many recovery codes are left.
    pub recovery_codes_left: u64,
}

/// My second factor
#[utoipa::path(
    get, path = "/api/auth/totp", tag = "auth", operation_id = "mySecondFactor",
    responses((status = 200, description = "Whether there is one", body = SecondFactorView))
)]
async fn state_of(Call(state, caller): Call) -> Answer<SecondFactorView> {
    let found = state.access.second_factor_state(caller.user()).await?;
    Ok(Json(SecondFactorView {
        enabled: found.enabled,
        required: found.required,
        recovery_codes_left: found.recovery_codes_left,
    }))
}

/// Set my second factor up
///
/// Nothing is asked for until a code of it was shown to `POST /api/auth/totp/confirm`.
#[utoipa::path(
    post, path = "/api/auth/totp", tag = "auth", operation_id = "beginSecondFactor",
    responses((status = 200, description = "For the app", body = NewSecondFactor),
              (status = 409, description = "There is one already"))
)]
async fn begin(Call(state, caller): Call) -> Answer<NewSecondFactor> {
    Ok(Json(state.access.begin_second_factor(caller.user()).await?.into()))
}

/// A code of the second factor.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CodeInput {
    /// Six digits of the app, or a recovery code.
    #[schema(max_length = 100)]
    pub code: String,
}

/// Recovery codes, shown this once.
#[derive(Serialize, ToSchema)]
struct RecoveryCodes {
    /// Each logs in once in place of a code.
    pub recovery_codes: Vec<String>,
}

/// Show the first code of my second factor
///
/// From then on codes are asked for at each login with a password.
#[utoipa::path(
    post, path = "/api/auth/totp/confirm", tag = "auth", operation_id = "confirmSecondFactor",
    request_body = CodeInput,
    responses((status = 200, description = "The recovery codes", body = RecoveryCodes),
              (status = 401, description = "The code is wrong"),
              (status = 409, description = "There is nothing to confirm"),
              (status = 429, description = "Too many attempts"))
)]
async fn confirm(Call(state, caller): Call, Body(body): Body<CodeInput>) -> Answer<RecoveryCodes> {
    Ok(Json(RecoveryCodes { recovery_codes: state.access.confirm_second_factor(caller.user(), &body.code).await? }))
}

/// Make new recovery codes
///
/// Those before open nothing any more.
#[utoipa::path(
    post, path = "/api/auth/totp/recovery-codes", tag = "auth", operation_id = "newRecoveryCodes",
    request_body = CodeInput,
    responses((status = 200, description = "The recovery codes", body = RecoveryCodes),
              (status = 401, description = "The code is wrong"),
              (status = 409, description = "There is no second factor"),
              (status = 429, description = "Too many attempts"))
)]
async fn renew_codes(Call(state, caller): Call, Body(body): Body<CodeInput>) -> Answer<RecoveryCodes> {
    Ok(Json(RecoveryCodes { recovery_codes: state.access.new_recovery_codes(caller.user(), &body.code).await? }))
}

/// End my second factor
#[utoipa::path(
    delete, path = "/api/auth/totp", tag = "auth", operation_id = "endSecondFactor",
    request_body = CodeInput,
    responses((status = 204, description = "Ended"),
              (status = 401, description = "The code is wrong"),
              (status = 409, description = "There is none"),
              (status = 429, description = "Too many attempts"))
)]
async fn end(Call(state, caller): Call, Body(body): Body<CodeInput>) -> Done {
    done(state.access.end_second_factor(caller.user(), &body.code).await)
}
