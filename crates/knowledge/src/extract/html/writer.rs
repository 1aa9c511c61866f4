use super::super::list_number::written;
use super::super::table::{add_to_cell, markdown};
use super::super::text::is_one_of;
use steward_core::extracted::{Block, BlockKind};

const BLOCKS: &str = "address article aside blockquote body center details div dl fieldset figcaption figure form \
    header hr main p section summary caption legend";
/// Most cells of a row, most rows of a table.
const CELLS: usize = 200;
const ROWS: usize = 100_000;
/// Most lists within each other.
const LISTS: usize = 100;

/// Turns tags and text into blocks.
#[derive(Default)]
pub(super) struct Writer {
    /// Whether what comes is of the page's main part.
    pub in_main: bool,
    blocks: Vec<Block>,
    is_main: Vec<bool>,
    kind: Option<BlockKind>,
    text: String,
    space: bool,
    pre: usize,
    tables: usize,
    rows: Vec<Vec<String>>,
    /// How the items of the lists that are open are numbered, and the number of the next one; `None`: by bullets.
    lists: Vec<Option<(&'static str, u32)>>,
    /// Of the item that begins.
    number: String,
    /// Of a list of definitions, until what it means comes.
    term: String,
}

impl Writer {
    pub fn text(&mut self, text: &str) {
        if self.pre > 0 {
            self.text.push_str(text);
            return;
        }
        for letter in text.chars() {
            if letter.is_whitespace() {
                self.space = true;
                continue;
            }
            if self.space && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.space = false;
            self.text.push(letter);
        }
    }

    /// Begins a list whose items are numbered from `start` on in one of the ways of HTML, or not at all.
    pub fn open_list(&mut self, numbered: Option<(&str, u32)>) {
        if self.tables > 0 {
            self.space = true;
            return;
        }
        self.flush();
        let way = |kind| match kind {
            "a" => "lowerLetter",
            "A" => "upperLetter",
            "i" => "lowerRoman",
            "I" => "upperRoman",
            _ => "decimal",
        };
        if self.lists.len() < LISTS {
            self.lists.push(numbered.map(|(kind, start)| (way(kind), start)));
        }
    }

    /// Begins an item, which may have a number of its own.
    pub fn open_item(&mut self, number: Option<u32>) {
        self.open("li");
        if self.tables > 0 {
            return;
        }
        self.number.clear();
        if let Some(Some((way, next))) = self.lists.last_mut() {
            let number = number.unwrap_or(*next);
            *next = number.saturating_add(1);
            self.number = format!("{}. ", written(number, way));
        }
    }

    pub fn open(&mut self, name: &str) {
        if self.tables > 0 {
            self.open_in_table(name);
            return;
        }
        match name {
            "table" => {
                self.flush();
                (self.tables, self.rows) = (1, Vec::new());
            }
            "pre" | "xmp" | "listing" => {
                self.begin(BlockKind::Code);
                self.pre = 1;
            }
            "li" | "dt" => self.begin(BlockKind::ListItem),
            "dd" => self.end_term(),
            "br" => self.text.push('\n'),
            "p" if self.text.is_empty() && self.kind == Some(BlockKind::ListItem) => {}
            name => match heading(name) {
                Some(level) => self.begin(BlockKind::Heading { level }),
                None if is_one_of(name, BLOCKS) && self.pre == 0 => self.end_of_part(),
                None => {}
            },
        }
    }

    pub fn close(&mut self, name: &str) {
        if self.tables > 0 {
            self.close_in_table(name);
            return;
        }
        match name {
            "pre" | "xmp" | "listing" => {
                self.flush();
                self.pre = 0;
            }
            "dt" => self.end_term(),
            "ol" | "ul" => {
                self.flush();
                self.lists.pop();
            }
            "li" | "dd" => self.flush(),
            name if heading(name).is_some() => self.flush(),
            name if is_one_of(name, BLOCKS) && self.pre == 0 => self.end_of_part(),
            _ => {}
        }
    }

    /// Cells are one line each, and tables in cells a part of the cell.
    fn open_in_table(&mut self, name: &str) {
        match name {
            "table" => self.tables += 1,
            "tr" if self.tables == 1 => {
                self.end_cell();
                if self.rows.len() < ROWS {
                    self.rows.push(Vec::new());
                }
            }
            "td" | "th" if self.tables == 1 => {
                self.end_cell();
                if self.rows.is_empty() {
                    self.rows.push(Vec::new());
                }
                if let Some(row) = self.rows.last_mut().filter(|row| row.len() < CELLS) {
                    row.push(String::new());
                }
            }
            _ => self.space = true,
        }
    }

    fn close_in_table(&mut self, name: &str) {
        match name {
            "table" => {
                self.tables -= 1;
                if self.tables == 0 {
                    self.end_table();
                }
            }
            "td" | "th" | "tr" if self.tables == 1 => self.end_cell(),
            "caption" if self.tables == 1 => {
                let caption = std::mem::take(&mut self.text);
                self.push(BlockKind::Paragraph, &caption);
            }
            _ => self.space = true,
        }
    }

    fn end_cell(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.space = false;
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            add_to_cell(cell, &text);
        } else if !text.trim().is_empty() {
            self.push(BlockKind::Paragraph, &text);
        }
    }

    /// Tables of one column only lay a page out.
    fn end_table(&mut self) {
        self.end_cell();
        let rows = std::mem::take(&mut self.rows);
        let filled = |row: &Vec<String>| row.iter().filter(|cell| !cell.is_empty()).count();
        if rows.iter().any(|row| filled(row) > 1) {
            self.push(BlockKind::Table, &markdown(&rows));
        } else {
            for cell in rows.iter().flatten() {
                self.push(BlockKind::Paragraph, cell);
            }
        }
    }

    fn begin(&mut self, kind: BlockKind) {
        self.flush();
        self.kind = Some(kind);
    }

    /// An item of a list goes on in its next part, as long as it has only a few words.
    fn end_of_part(&mut self) {
        if self.kind == Some(BlockKind::ListItem) && self.text.is_empty() {
            return;
        }
        self.flush();
    }

    fn end_term(&mut self) {
        if self.kind != Some(BlockKind::ListItem) {
            self.flush();
            return;
        }
        let term = std::mem::take(&mut self.text);
        if !term.trim().is_empty() {
            if !self.term.is_empty() {
                self.term.push_str(", ");
            }
            self.term.push_str(term.trim());
        }
        self.space = false;
    }

    pub fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let kind = self.kind.take();
        self.space = false;
        if text.trim().is_empty() {
            self.kind = kind.filter(|kind| *kind == BlockKind::ListItem && !self.term.is_empty());
            return;
        }
        let kind = if self.pre > 0 { BlockKind::Code } else { kind.unwrap_or(BlockKind::Paragraph) };
        let mut text = text;
        if kind == BlockKind::ListItem {
            text.insert_str(0, &std::mem::take(&mut self.number));
        }
        let term = std::mem::take(&mut self.term);
        match kind {
            _ if term.is_empty() => self.push(kind, &text),
            BlockKind::Paragraph | BlockKind::ListItem => self.push(BlockKind::ListItem, &format!("{term}: {text}")),
            _ => {
                self.push(BlockKind::ListItem, &term);
                self.push(kind, &text);
            }
        }
    }

    fn push(&mut self, kind: BlockKind, text: &str) {
        let text = if kind == BlockKind::Code { text.trim_matches('\n').trim_end() } else { text.trim() };
        if !text.is_empty() {
            self.blocks.push(Block { kind, text: text.to_owned(), area: None });
            self.is_main.push(self.in_main);
        }
    }

    /// The blocks, and which of them are of the main part.
    pub fn finish(&mut self) -> (Vec<Block>, Vec<bool>) {
        if self.tables > 0 {
            self.end_table();
        }
        self.flush();
        let term = std::mem::take(&mut self.term);
        self.push(BlockKind::ListItem, &term);
        (std::mem::take(&mut self.blocks), std::mem::take(&mut self.is_main))
    }
}

fn heading(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?;
    level.parse().ok().filter(|level| (1..=6).contains(level) && name.len() == 2)
}
