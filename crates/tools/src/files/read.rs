use crate::error::{ToolsError, refused};
use crate::files;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _};
use steward_core::tool::ToolOutput;

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
    let file = workspace.open_read(&args.path)?;
    context.scope.consulted.file(&args.path);
    let mut reader = BufReader::with_capacity(files::EXAMINED_BYTES, file);
    let io = |error: std::io::Error| refused!("{}: {error}", args.path);
    let head = reader.fill_buf().map_err(io)?;
    if let Some((what, hint)) = files::binary_kind(head) {
        return Err(refused!("{} is {what}; {hint}", args.path));
    }
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
    let mut text = format!("{path}, lines {start}-{last} of {total}\n");
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
