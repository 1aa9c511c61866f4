use crate::error::{AppError, ErrorKind};
use serde_json::{Value, json};
use steward_access::AccessError;
use steward_core::ports::{LoginError, StoreError};

const SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:Error";

/// A refusal in the words of SCIM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScimError {
    /// The status of HTTP.
    pub status: u16,
    pub scim_type: Option<&'static str>,
    pub detail: String,
}

pub(super) type ScimResult<T> = Result<T, ScimError>;

impl ScimError {
    pub fn new(status: u16, detail: impl Into<String>) -> Self {
        Self { status, scim_type: None, detail: detail.into() }
    }

    pub fn bad(scim_type: &'static str, detail: impl Into<String>) -> Self {
        Self { status: 400, scim_type: Some(scim_type), detail: detail.into() }
    }

    pub(super) fn value(detail: impl Into<String>) -> Self {
        Self::bad("invalidValue", detail)
    }

    pub(super) fn path(detail: impl Into<String>) -> Self {
        Self::bad("invalidPath", detail)
    }

    pub(super) fn mutability(detail: impl Into<String>) -> Self {
        Self::bad("mutability", detail)
    }

    pub(super) fn not_found(id: &str) -> Self {
        let shown: String = id.chars().take(60).collect();
        Self::new(404, format!("there is nothing with the id {shown}"))
    }

    /// Its body.
    pub fn body(&self) -> Value {
        let mut body = json!({"schemas": [SCHEMA], "status": self.status.to_string(), "detail": self.detail});
        if let Some(scim_type) = self.scim_type {
            body["scimType"] = json!(scim_type);
        }
        body
    }
}

impl From<AccessError> for ScimError {
    fn from(error: AccessError) -> Self {
        let detail = error.to_string();
        match error {
            AccessError::EmailTaken(_) | AccessError::GroupTaken(_) => {
                Self { status: 409, scim_type: Some("uniqueness"), detail }
            }
            AccessError::Invalid { .. } => Self::value(detail),
            AccessError::LastAdministrator | AccessError::FixedEmail => Self::mutability(detail),
            AccessError::Store(StoreError::NotFound(_)) | AccessError::Unknown(_) => Self::new(404, detail),
            other => AppError::from(other).into(),
        }
    }
}

impl From<LoginError> for ScimError {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::Unavailable(_) => AppError::from(error).into(),
            _ => Self::new(401, "send a token for SCIM as `Authorization: Bearer sk-steward-scim-…`"),
        }
    }
}

impl From<AppError> for ScimError {
    fn from(error: AppError) -> Self {
        let status = match error.kind {
            ErrorKind::Unauthorized => 401,
            ErrorKind::Forbidden => 403,
            ErrorKind::NotFound => 404,
            ErrorKind::Conflict => 409,
            ErrorKind::Invalid => 400,
            ErrorKind::Exhausted => 429,
            ErrorKind::StorageFull => 507,
            ErrorKind::Unavailable => 503,
            ErrorKind::Internal => 500,
        };
        Self::new(status, format!("{}; {}", error.detail.title, error.detail.hint))
    }
}
