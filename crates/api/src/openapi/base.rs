//! What the document says before any operation is in it.

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Tag};

const ABOUT: &str = "Everything that the studio does is an operation here.\n\n\
    Times are milliseconds since 1970 UTC, ids are UUIDs. Errors are `application/problem+json` with a `hint`. \
    Lists come in pages: pass `next_cursor` of one page as `cursor` of the next. \
    A write with the header `Idempotency-Key` happens once, however often it is sent within 24 hours.";

const TAGS: [(&str, &str); 18] = [
    ("auth", "Logging in, and what a login may do."),
    ("agents", "Instructions, tools and policy under a name."),
    ("chat", "A message to an agent begins a run."),
    ("conversations", "Messages with an agent, in order."),
    ("runs", "What agents did: watch, stop, steer, fork, replay, undo."),
    ("kept", "Runs kept as regression tests."),
    ("approvals", "Decisions that wait for a person."),
    ("grants", "Permissions that outlive their run."),
    ("reminders", "What agents were asked to remind of."),
    ("connections", "Model endpoints."),
    ("usage", "What calls of models took."),
    ("budgets", "Hard limits of what may be spent."),
    ("keys", "Virtual keys: they let a program use /v1, within limits."),
    ("skills", "Configured units that give agents tools or prompt context."),
    ("credentials", "The vault: secrets go in and are used by skills, but never come back."),
    ("mcp", "MCP servers whose tools agents may use, pinned by what a person accepted."),
    ("files", "Files in the workspace."),
    ("about", "This installation."),
];

/// Title, tags and how to prove who one is.
pub(crate) fn base() -> OpenApi {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An access token of POST /api/auth/login, or an API key that begins with sk-steward-."))
        .build();
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Steward")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(ABOUT))
                .license(Some(LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build()))
                .build(),
        )
        .tags(Some(TAGS.map(tag)))
        .components(Some(ComponentsBuilder::new().security_scheme("bearer", SecurityScheme::Http(bearer)).build()))
        .security(Some([SecurityRequirement::new("bearer", Vec::<String>::new())]))
        .build()
}

fn tag((name, description): (&str, &str)) -> Tag {
    TagBuilder::new().name(name).description(Some(description)).build()
}
