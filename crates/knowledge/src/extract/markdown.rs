use super::draft::Draft;
use super::error::Result;
use steward_core::extracted::BlockKind;

/// Reads Markdown by its lines. Marks within a line stay as they are.
pub(super) fn read(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    draft.page(None)?;
    let mut reader = Reader { draft, open: None, lines: Vec::new() };
    let mut rest = front_matter(text, &mut reader).lines();
    while let Some(line) = rest.next() {
        if let Some(fence) = fence(line) {
            reader.flush()?;
            let end =
                |line: &str| line.trim_start().starts_with(fence) && line.trim().chars().all(|c| fence.starts_with(c));
            let code: Vec<&str> = rest.by_ref().take_while(|line| !end(line)).collect();
            reader.draft.block(BlockKind::Code, &code.join("\n"))?;
        } else {
            reader.line(line)?;
        }
    }
    reader.flush()
}

struct Reader<'r, 'a> {
    draft: &'r mut Draft<'a>,
    open: Option<BlockKind>,
    lines: Vec<String>,
}

impl Reader<'_, '_> {
    fn flush(&mut self) -> Result<()> {
        let text = std::mem::take(&mut self.lines).join("\n");
        match self.open.take() {
            Some(kind) => self.draft.block(kind, &text),
            None => Ok(()),
        }
    }

    fn begin(&mut self, kind: BlockKind, line: &str) -> Result<()> {
        self.flush()?;
        self.open = Some(kind);
        self.lines.push(line.to_owned());
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let plain = line.trim();
        if plain.is_empty() {
            // A list's item may have further paragraphs; code that is indented goes on after empty lines.
            if self.open == Some(BlockKind::Code) {
                self.lines.push(String::new());
                return Ok(());
            }
            return self.flush();
        }
        let indented = line.starts_with("    ") || line.starts_with('\t');
        if indented && matches!(self.open, None | Some(BlockKind::Code)) {
            let code = line.strip_prefix('\t').unwrap_or_else(|| line.get(4..).unwrap_or(plain));
            if self.open.is_none() {
                return self.begin(BlockKind::Code, code);
            }
            self.lines.push(code.to_owned());
            return Ok(());
        }
        if let Some((level, heading)) = heading(plain) {
            self.flush()?;
            return self.draft.heading(level, heading);
        }
        if let Some(level) = setext(plain).filter(|_| self.open == Some(BlockKind::Paragraph)) {
            let heading = std::mem::take(&mut self.lines).join(" ");
            self.open = None;
            return self.draft.heading(level, &heading);
        }
        if is_rule(plain) {
            return self.flush();
        }
        if let Some(item) = item(plain) {
            return self.begin(BlockKind::ListItem, item);
        }
        if plain.starts_with('|') && plain.len() > 1 {
            if self.open != Some(BlockKind::Table) {
                return self.begin(BlockKind::Table, plain);
            }
            self.lines.push(plain.to_owned());
            return Ok(());
        }
        let quoted = plain.trim_start_matches('>').trim_start();
        match self.open {
            Some(BlockKind::Paragraph | BlockKind::ListItem) => self.lines.push(quoted.to_owned()),
            _ => return self.begin(BlockKind::Paragraph, quoted),
        }
        Ok(())
    }
}

/// Leaves out data at the top of the file, but for its title.
fn front_matter<'t>(text: &'t str, reader: &mut Reader<'_, '_>) -> &'t str {
    let Some((head, body)) = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) else {
        return text;
    };
    let title = head.lines().find_map(|line| line.strip_prefix("title:"));
    reader.draft.title = title.map(|title| title.trim().trim_matches(['"', '\'']).to_owned());
    body
}

fn fence(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with([' ', '\t']))
        .then(|| (level, text.trim().trim_end_matches('#').trim_end()))
}

fn setext(line: &str) -> Option<usize> {
    let all = |mark: char| line.len() >= 2 && line.chars().all(|letter| letter == mark);
    if all('=') {
        Some(1)
    } else if all('-') {
        Some(2)
    } else {
        None
    }
}

fn is_rule(line: &str) -> bool {
    let marks = line.chars().filter(|letter| !letter.is_whitespace());
    let mut marks = marks.peekable();
    let first = marks.peek().copied().filter(|mark| "-*_".contains(*mark));
    first.is_some_and(|first| line.len() >= 3 && marks.all(|mark| mark == first))
}

/// The text of a list's item.
fn item(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &line[digits..];
        ((1..=9).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "))).then_some(line)
    };
    let item = bullet.or_else(numbered)?;
    let done = ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|mark| item.strip_prefix(mark));
    Some(done.unwrap_or(item).trim_start())
}
