use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clip::clip;
use crate::error::HookError;
use crate::headers::HeaderName;

/// Characters of a pointer.
pub const MAX_POINTER: usize = 500;

/// A JSON pointer (RFC 6901) into the payload; the empty one means all of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer(String);

impl Pointer {
    pub fn parse(text: &str) -> Result<Self, HookError> {
        let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        let problem = if !text.is_empty() && !text.starts_with('/') {
            "doesn't begin with `/`"
        } else if !escapes {
            "has a `~` that isn't `~0` or `~1`"
        } else if text.chars().count() > MAX_POINTER {
            "is too long"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(HookError::new(
            format!("The pointer `{}` {problem}.", clip(text, 40)),
            format!(
                "Write the keys with a `/` before each, such as `/issue/labels/0/name`; in a key `~1` means `/`, `~0` means \
                 `~`. At most {MAX_POINTER} characters."
            ),
        ))
    }

    /// The pointer to what is below these keys.
    pub(crate) fn from_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> Result<Self, HookError> {
        let escaped = keys.into_iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1")));
        Self::parse(&escaped.collect::<String>())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn find<'v>(&self, payload: &'v Value) -> Option<&'v Value> {
        payload.pointer(&self.0)
    }
}

impl TryFrom<String> for Pointer {
    type Error = HookError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.0
    }
}

/// A value of a request: `{"header": "x-github-event"}` or `{"pointer": "/issue/id"}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "PlaceFields", into = "PlaceFields")]
pub enum Place {
    /// Never a header that is known to hold a credential.
    Header(HeaderName),
    Pointer(Pointer),
}

impl Place {
    /// Takes exactly one of both.
    pub(crate) fn choose(header: Option<HeaderName>, pointer: Option<Pointer>) -> Result<Self, HookError> {
        match (header, pointer) {
            (Some(name), None) if name.is_credential() => Err(HookError::new(
                format!("The header `{name}` holds a credential, so nothing else may read it."),
                "Choose another header, or a place in the payload.",
            )),
            (Some(name), None) => Ok(Self::Header(name)),
            (None, Some(pointer)) => Ok(Self::Pointer(pointer)),
            (found, _) => Err(HookError::new(
                if found.is_some() {
                    "There are both a `header` and a `pointer`."
                } else {
                    "There is neither a `header` nor a `pointer`."
                },
                "Give one of them: {\"header\": \"x-github-event\"} or {\"pointer\": \"/action\"}.",
            )),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "the header `{name}`"),
            Self::Pointer(pointer) if pointer.as_str().is_empty() => f.write_str("the payload"),
            Self::Pointer(pointer) => write!(f, "`{}` of the payload", pointer.as_str()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<HeaderName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pointer: Option<Pointer>,
}

impl TryFrom<PlaceFields> for Place {
    type Error = HookError;

    fn try_from(fields: PlaceFields) -> Result<Self, Self::Error> {
        Self::choose(fields.header, fields.pointer)
    }
}

impl From<Place> for PlaceFields {
    fn from(place: Place) -> Self {
        match place {
            Place::Header(name) => Self { header: Some(name), pointer: None },
            Place::Pointer(pointer) => Self { header: None, pointer: Some(pointer) },
        }
    }
}
