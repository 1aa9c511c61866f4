use std::fmt::Write;

use serde_json::Value;
use steward_core::text::nearest_name;

use crate::clip::{Clipped, clip};
use crate::error::HookError;
use crate::headers::{HeaderName, Headers};
use crate::place::Pointer;

/// Characters of a template.
pub const MAX_TEMPLATE: usize = 50_000;

/// Fields of a template.
pub const MAX_FIELDS: usize = 100;

/// Characters of what a template becomes.
pub const MAX_FILLED: usize = 200_000;

/// Characters of the longest note that a value was clipped.
const MAX_NOTE: usize = 40;

/// What fields begin with.
const NAMES: &[&str] = &["payload", "header", "event", "hook", "received"];

const EXAMPLES: &str = "`{{payload}}`, `{{payload.issue.title}}`, `{{payload:/a key/0}}`, `{{header.x-github-event}}`, \
                        `{{event}}`, `{{hook}}` or `{{received}}`";

/// What fields are filled with.
#[derive(Debug, Clone, Copy)]
pub struct Values<'v> {
    pub payload: &'v Value,
    /// Without credentials ([`Signing::remove_credentials`](crate::Signing::remove_credentials)).
    pub headers: &'v Headers,
    /// What happened, by its name or its id.
    pub event: &'v str,
    /// The hook's name.
    pub hook: &'v str,
    /// When the request came, as people read it.
    pub received: &'v str,
}

/// A piece of a template.
enum Piece<'t> {
    Text(&'t str),
    /// What stands between the braces of a field, and all of it.
    Field(&'t str, &'t str),
    /// A field that isn't closed before the next one, or at all.
    Unclosed(&'t str),
}

/// What a field stands for.
enum Field {
    Payload(Pointer),
    Header(HeaderName),
    Event,
    Hook,
    Received,
}

/// Says whether all fields of a template are known ones, and are closed.
pub fn check_template(text: &str) -> Result<(), HookError> {
    let length = text.chars().count();
    if length > MAX_TEMPLATE {
        return Err(HookError::new(
            format!("The template has {length} characters."),
            format!("Use at most {MAX_TEMPLATE}."),
        ));
    }
    let mut fields = 0;
    for piece in split(text) {
        match piece {
            Piece::Text(_) => {}
            Piece::Field(name, _) => {
                read_field(name)?;
                fields += 1;
            }
            Piece::Unclosed(rest) => {
                let word = rest.trim_start_matches(['{', ' ']).split(|c: char| c.is_whitespace() || c == '}').next();
                let word = word.filter(|word| read_field(word).is_ok());
                return Err(HookError::new(
                    format!("The field `{}` isn't closed with `}}}}`.", clip(rest, 40)),
                    word.map_or_else(|| format!("Write {EXAMPLES}."), |word| format!("Write `{{{{{word}}}}}`.")),
                ));
            }
        }
    }
    if fields > MAX_FIELDS {
        return Err(HookError::new(
            format!("The template has {fields} fields."),
            format!("Use at most {MAX_FIELDS}; `{{{{payload}}}}` is all of the payload."),
        ));
    }
    Ok(())
}

/// Fills a template. What isn't there becomes nothing; texts are put in as they are, all else as JSON, and none of it is read
/// as a template again.
///
/// At most [`MAX_FILLED`] characters: values that find no room say how much is left out, in the order of their fields, and the
/// template's own text stays. What [`check_template`] refuses stays as it is written.
pub fn fill_template(text: &str, values: &Values<'_>) -> String {
    let mut fields = 0;
    let pieces = split(text).map(|piece| match piece {
        Piece::Field(name, written) if fields < MAX_FIELDS => {
            fields += 1;
            read_field(name).map_err(|_| written)
        }
        Piece::Field(_, written) | Piece::Text(written) | Piece::Unclosed(written) => Err(written),
    });
    let pieces: Vec<Result<Field, &str>> = pieces.collect();
    let own = pieces.iter().map(|piece| piece.as_ref().map_or_else(|text| text.chars().count(), |_| MAX_NOTE));
    let mut room = MAX_FILLED.saturating_sub(own.sum());
    let mut filled = Clipped::new(MAX_FILLED);
    for piece in pieces {
        let written = match piece {
            Err(text) => filled.write_str(text),
            Ok(field) => {
                let value = read_value(&field, values, room);
                room = room.saturating_sub(value.text.chars().count());
                let more = value.more;
                let note = if more > 0 { format!("[… {more} more characters]") } else { String::new() };
                write!(filled, "{}{note}", value.text)
            }
        };
        debug_assert!(written.is_ok(), "a text takes everything");
    }
    filled.text
}

fn read_value(field: &Field, values: &Values<'_>, room: usize) -> Clipped {
    let text = |text: &str| Clipped::read(room, text);
    match field {
        Field::Event => text(values.event),
        Field::Hook => text(values.hook),
        Field::Received => text(values.received),
        Field::Header(name) => text(values.headers.get(name.as_str()).unwrap_or_default()),
        Field::Payload(pointer) => match pointer.find(values.payload) {
            None => Clipped::new(0),
            Some(Value::String(found)) => text(found),
            Some(found) if pointer.as_str().is_empty() => Clipped::read(room, format_args!("{found:#}")),
            Some(found) => Clipped::read(room, found),
        },
    }
}

fn split(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, length) = match rest.find("{{") {
            None => (Piece::Text(rest), rest.len()),
            Some(0) => {
                let inside = &rest[2..];
                let (end, next) = (inside.find("}}"), inside.find("{{"));
                match (end, next) {
                    (Some(end), next) if next.is_none_or(|next| next > end) => {
                        let length = end + 4;
                        (Piece::Field(inside[..end].trim(), &rest[..length]), length)
                    }
                    (_, next) => {
                        let length = next.map_or(rest.len(), |next| next + 2);
                        (Piece::Unclosed(&rest[..length]), length)
                    }
                }
            }
            Some(at) => (Piece::Text(&rest[..at]), at),
        };
        rest = &rest[length..];
        Some(piece)
    })
}

fn read_field(name: &str) -> Result<Field, HookError> {
    find_field(name).unwrap_or_else(|| Err(describe_unknown(name)))
}

/// `None`: fields don't begin so.
fn find_field(name: &str) -> Option<Result<Field, HookError>> {
    match name {
        "payload" => return Some(Pointer::parse("").map(Field::Payload)),
        "event" => return Some(Ok(Field::Event)),
        "hook" => return Some(Ok(Field::Hook)),
        "received" => return Some(Ok(Field::Received)),
        _ => {}
    }
    if let Some(pointer) = name.strip_prefix("payload:") {
        return Some(Pointer::parse(pointer).map(Field::Payload));
    }
    if let Some(path) = name.strip_prefix("payload.") {
        return Some(read_path(path));
    }
    name.strip_prefix("header.").map(read_header)
}

fn read_header(name: &str) -> Result<Field, HookError> {
    let header = HeaderName::parse(name)?;
    if header.is_credential() {
        return Err(HookError::new(
            format!("The header `{header}` holds a credential, so it can't be filled in."),
            "Take another header, or leave it out.",
        ));
    }
    Ok(Field::Header(header))
}

/// Keys and the numbers of members with full stops between.
fn read_path(path: &str) -> Result<Field, HookError> {
    if let Some(pointer) = read_keys(path) {
        return Ok(Field::Payload(pointer));
    }
    let dotted = write_dotted(path);
    let hint = if read_keys(&dotted).is_some() {
        format!("Write `{{{{payload.{}}}}}`.", clip(dotted, 80))
    } else {
        let keys = path.split('.').filter(|key| !key.is_empty());
        let pointer = Pointer::from_keys(keys).map(String::from).unwrap_or_default();
        format!("Write a key with other characters as a JSON pointer, such as `{{{{payload:{}}}}}`.", clip(pointer, 80))
    };
    Err(HookError::new(format!("`{{{{payload.{}}}}}` isn't a place in the payload.", clip(path, 60)), hint))
}

fn read_keys(path: &str) -> Option<Pointer> {
    let is_plain = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-$@".contains(c));
    path.split('.').all(is_plain).then(|| Pointer::from_keys(path.split('.')).ok())?
}

/// `items[0].id` as `items.0.id`.
fn write_dotted(path: &str) -> String {
    path.replace('[', ".").replace([']', '"', '\''], "")
}

fn describe_unknown(name: &str) -> HookError {
    let (head, tail) = name.split_at(name.find(['.', ':', '/', '[']).unwrap_or(name.len()));
    let near = nearest_name(head.trim(), NAMES.iter().copied());
    let near_ones = near.into_iter().flat_map(|near| {
        let dotted = format!("{near}{}", write_dotted(tail).replacen(':', ".", 1));
        let example = if near == "header" { "header.x-github-event" } else { near };
        [format!("{near}{tail}"), dotted, format!("{near}:{tail}"), example.to_owned()]
    });
    let mut guesses = near_ones.chain([format!("payload.{name}"), format!("payload.{}", write_dotted(name))]);
    let guess = guesses.find(|guess| find_field(guess).is_some_and(|field| field.is_ok()));
    HookError::new(
        format!("`{{{{{}}}}}` is unknown.", clip(name, 60)),
        guess.map_or_else(
            || format!("Write {EXAMPLES}."),
            |guess| format!("Did you mean `{{{{{}}}}}`?", clip(guess, 80)),
        ),
    )
}
