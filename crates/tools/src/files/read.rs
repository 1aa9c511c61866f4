use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Cursor, Read as _};
use steward_core::tool::ToolOutput;
use steward_sandbox::files::Workspace;
use steward_sandbox::text::{BROKEN_UTF_8, decode};

const MAX_LINES: usize = 2000;
const MAX_BYTES: usize = 256 << 10;
const STOP_CHECK_LINES: usize = 4096;

pub struct Read;

#[derive(Debug, Deserialize)]
pub struct ReadArgs {
    path: String,
    start: Option<usize>,
    lines: Option<usize>,
}

impl ToolHandler for Read {
    type Args = ReadArgs;
    const NAME: &'static str = "read";

    async fn run(&self, args: ReadArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let context = context.clone();
        files::blocking(move || read_lines(&args, &context)).await
    }
}

fn read_lines(args: &ReadArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
    let workspace = files::open_workspace(&context.scope)?;
    let (mut reader, encoding) = open_text(&workspace, &args.path, context)?;
    let io = |error: std::io::Error| refused!("{}: {error}", args.path);
    let start = args.start.unwrap_or(1);
    let wanted = args.lines.unwrap_or(MAX_LINES).min(MAX_LINES);
    let (mut total, mut shown, mut body, mut cut) = (0, 0, Vec::new(), false);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A file without line breaks must not be read into memory whole.
        let part = reader.by_ref().take(MAX_BYTES as u64).read_until(b'\n', &mut line);
        if part.map_err(io)? == 0 {
            break;
        }
        let long = !line.ends_with(b"\n") && line.len() == MAX_BYTES;
        if long {
            reader.skip_until(b'\n').map_err(io)?;
        }
        total += 1;
        if total >= start && shown < wanted && !cut {
            if long || body.len() + line.len() > MAX_BYTES {
                line.truncate(MAX_BYTES - body.len());
                cut = true;
            }
            shown += 1;
            body.extend_from_slice(&line);
        }
        if total.is_multiple_of(STOP_CHECK_LINES) {
            context.check()?;
        }
    }
    let path = &args.path;
    if total == 0 {
        return Ok(ToolOutput::text(format!("{path} is empty")));
    }
    if shown == 0 {
        return Err(refused!("{path} has only {total} lines; use a `start` of at most {total}"));
    }
    let last = start + shown - 1;
    let written = encoding.map(|name| format!(", written in {name}")).unwrap_or_default();
    let mut text = format!("{path}, lines {start}-{last} of {total}{written}\n");
    text.push_str(&String::from_utf8_lossy(&body));
    if cut {
        text.push_str("\n[cut here: at most 256 kB at a time; use `start` and `lines`]");
    }
    Ok(ToolOutput {
        data: Some(json!({"path": path, "first": start, "last": last, "total": total})),
        reads: vec![path.clone()],
        ..ToolOutput::text(text)
    })
}

/// The lines of a text in UTF-8, and its encoding if that is another one. A file too large to look at whole is taken for UTF-8.
fn open_text(
    workspace: &Workspace,
    path: &str,
    context: &Context,
) -> Result<(Box<dyn BufRead>, Option<&'static str>), ToolsError> {
    let io = |error: std::io::Error| refused!("{path}: {error}");
    let file = workspace.open_read(path)?;
    context.scope.consulted.file(path);
    let size = file.metadata().map_err(io)?.len();
    let mut reader = BufReader::with_capacity(files::EXAMINED_BYTES, file);
    let head = reader.fill_buf().map_err(io)?;
    let is_small = size <= files::MAX_FILE_BYTES;
    let is_wide = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    if let Some((what, hint)) = files::binary_kind(head).filter(|_| !(is_wide && is_small)) {
        return Err(refused!("{path} is {what}; {hint}"));
    }
    if !is_small {
        return Ok((Box::new(reader), None));
    }
    let mut bytes = Vec::new();
    reader.take(files::MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(io)?;
    let found = decode(bytes.clone()).filter(|found| !["UTF-8", BROKEN_UTF_8].contains(&found.encoding));
    match found {
        Some(found) => Ok((Box::new(Cursor::new(found.text)), Some(found.encoding))),
        None if is_wide => Err(refused!("{path} begins like text in UTF-16 and is none; it can't be read as text")),
        None => Ok((Box::new(Cursor::new(bytes)), None)),
    }
}
