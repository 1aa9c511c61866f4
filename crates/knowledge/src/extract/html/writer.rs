use super::super::list_number::written;
use super::super::rich_text::{RichText, Script, TextStyle};
use super::super::table::{Grid, add_to_cell, markdown};
use super::super::text::is_one_of;
use steward_core::extracted::{Block, BlockKind};

const BLOCKS: &str = "address article aside blockquote body center details div dl fieldset figcaption figure form \
    header hr main p section summary caption legend";
/// Most rows of a table.
const ROWS: usize = 100_000;
/// Most lists within each other.
const LISTS: usize = 100;

/// How characters are spoken, beside them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Ruby {
    #[default]
    Outside,
    Spoken,
    /// Brackets for programs that know no better.
    Brackets,
}

/// Turns tags and text into blocks.
#[derive(Default)]
pub(super) struct Writer {
    /// Whether what comes is of the page's main part.
    pub in_main: bool,
    blocks: Vec<Block>,
    is_main: Vec<bool>,
    kind: Option<BlockKind>,
    text: RichText,
    style: TextStyle,
    /// Elements that are open whose text is struck out.
    struck: usize,
    ruby: Ruby,
    space: bool,
    pre: usize,
    tables: usize,
    rows: usize,
    grid: Grid,
    /// How the items of the lists that are open are numbered, the number of the next one, and whether they count down;
    /// `None`: by bullets.
    lists: Vec<Option<(&'static str, u32, bool)>>,
    /// Of the item that begins.
    number: String,
    /// Of a list of definitions, until what it means comes.
    term: String,
}

impl Writer {
    pub fn text(&mut self, text: &str) {
        if self.ruby == Ruby::Brackets {
            return;
        }
        if self.pre > 0 {
            self.text.add(text, self.style);
            return;
        }
        for word in text.split_inclusive(char::is_whitespace) {
            let letters = word.trim_end();
            if !letters.is_empty() {
                if self.space && !self.text.is_empty() && !self.text.ends_with('\n') {
                    self.text.add(" ", self.style);
                }
                self.space = false;
                self.text.add(letters, self.style);
            }
            self.space |= letters.len() < word.len();
        }
    }

    /// Whether the text that comes is raised.
    pub fn raise(&mut self, is_raised: bool) {
        self.style.script = if is_raised { Script::Raised } else { Script::Normal };
    }

    /// Begins or ends an element whose text is struck out.
    pub fn strike(&mut self, begins: bool) {
        self.set_style("s", begins);
    }

    /// Takes what a tag says about the look of text. Whether it says no more.
    fn set_style(&mut self, name: &str, opens: bool) -> bool {
        match name {
            "sup" => self.style.script = if opens { Script::Raised } else { Script::Normal },
            "sub" => self.style.script = if opens { Script::Lowered } else { Script::Normal },
            "del" | "s" | "strike" => {
                self.struck = if opens { self.struck + 1 } else { self.struck.saturating_sub(1) };
                self.style.is_struck = self.struck > 0;
            }
            "rt" | "rp" | "ruby" => {
                if self.ruby == Ruby::Spoken {
                    self.text.add(")", self.style);
                }
                self.ruby = match name {
                    "rt" if opens => Ruby::Spoken,
                    "rp" if opens => Ruby::Brackets,
                    _ => Ruby::Outside,
                };
                if self.ruby == Ruby::Spoken {
                    self.text.add("(", self.style);
                }
            }
            _ => return false,
        }
        true
    }

    /// Begins a list whose items are numbered from a number on, up or down, in one of the ways of HTML, or not at all.
    pub fn open_list(&mut self, numbered: Option<(&str, u32, bool)>) {
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
            self.lists.push(numbered.map(|(kind, start, is_reversed)| (way(kind), start, is_reversed)));
        }
    }

    /// Begins an item, which may have a number of its own.
    pub fn open_item(&mut self, number: Option<u32>) {
        self.open("li");
        if self.tables > 0 {
            return;
        }
        self.number.clear();
        if let Some(Some((way, next, is_reversed))) = self.lists.last_mut() {
            let number = number.unwrap_or(*next);
            *next = if *is_reversed { number.saturating_sub(1) } else { number.saturating_add(1) };
            self.number = format!("{}. ", written(number, way));
        }
    }

    pub fn open(&mut self, name: &str) {
        if self.set_style(name, true) {
            return;
        }
        if self.tables > 0 {
            self.open_in_table(name);
            return;
        }
        match name {
            "table" => {
                self.flush();
                (self.tables, self.rows, self.grid) = (1, 0, Grid::default());
            }
            "pre" | "xmp" | "listing" => {
                self.begin(BlockKind::Code);
                self.pre = 1;
            }
            "li" | "dt" => self.begin(BlockKind::ListItem),
            "dd" => self.end_term(),
            "br" => self.text.add("\n", self.style),
            "p" if self.text.is_empty() && self.kind == Some(BlockKind::ListItem) => {}
            name => match heading(name) {
                Some(level) => self.begin(BlockKind::Heading { level }),
                None if is_one_of(name, BLOCKS) && self.pre == 0 => self.end_of_part(),
                None => {}
            },
        }
    }

    /// Begins a cell that covers so many columns and rows.
    pub fn open_cell(&mut self, name: &str, columns: usize, rows: usize) {
        if self.tables != 1 {
            self.open(name);
            return;
        }
        self.end_cell();
        if self.grid.is_empty() {
            self.grid.start_row();
        }
        self.grid.start_cell(columns, rows);
    }

    pub fn close(&mut self, name: &str) {
        if self.set_style(name, false) {
            return;
        }
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
                if self.rows < ROWS {
                    self.rows += 1;
                    self.grid.start_row();
                }
            }
            "thead" | "tbody" | "tfoot" if self.tables == 1 => {
                self.end_cell();
                self.grid.end_rows_covered();
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
                let caption = self.take_text();
                self.push(BlockKind::Paragraph, &caption);
            }
            _ => self.space = true,
        }
    }

    fn end_cell(&mut self) {
        let text = self.take_text();
        self.space = false;
        if let Some(cell) = self.grid.cell() {
            add_to_cell(cell, &text);
        } else if !text.trim().is_empty() {
            self.push(BlockKind::Paragraph, &text);
        }
    }

    /// Tables of one column only lay a page out.
    fn end_table(&mut self) {
        self.end_cell();
        let rows = self.grid.take();
        let filled = |row: &Vec<String>| row.iter().filter(|cell| !cell.is_empty()).count();
        if rows.iter().any(|row| filled(row) > 1) {
            self.push(BlockKind::Table, &markdown(&rows));
        } else {
            for cell in rows.iter().flatten() {
                self.push(BlockKind::Paragraph, cell);
            }
        }
    }

    /// Raised and lowered text ends with its block, also where it has no end.
    fn take_text(&mut self) -> String {
        self.style.script = Script::Normal;
        self.text.take()
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
        let term = self.take_text();
        if !term.trim().is_empty() {
            if !self.term.is_empty() {
                self.term.push_str(", ");
            }
            self.term.push_str(term.trim());
        }
        self.space = false;
    }

    pub fn flush(&mut self) {
        let text = self.take_text();
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
