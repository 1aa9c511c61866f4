//! Templates of skills: `{{name}}` stands for an argument, and never changes the form of what holds
//! it. In JSON it is a value, in a URL it is percent-encoded, in an argv it stays within its element,
//! on a remote shell it is quoted. Further forms:
//! - `{{name|default:text}}`: where the argument is absent;
//! - `{{name|option}}`: in an argv, where the value may begin with `-`;
//! - `{{a.b}}`: a field of an object;
//! - `{{credential.field}}`: in headers, bodies, variables of the environment and standard input only;
//! - `\{{`: two braces as they are.

mod error;
mod json;
mod parse;
mod shell;
mod sql;
mod url;
mod values;

pub use parse::check_text;
pub use url::encode;
pub use values::{check_texts, text};

pub use error::TemplateError;
pub use json::{check_json, json};
pub use parse::{Place, Slot, Template};
pub use shell::{argv, check_argv, quote, remote};
pub use sql::{Mark, sql};
pub use url::{check_url, url};
pub use values::{Secrets, Values};
