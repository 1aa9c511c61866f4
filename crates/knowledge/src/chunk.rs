//! Cuts a document into chunks: at headings, paragraphs and ends of sentences.
//!
//! The same document and settings give the same bytes, however the document came in.

pub(crate) mod units;

use crate::{Area, Extracted};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use units::{Unit, UnitKind};

/// Part of the room of a chunk that its headings may take, when it is embedded.
const HEADINGS_PART: usize = 4;
/// Between headings.
const BETWEEN: &str = " › ";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChunkSettings {
    /// Characters.
    pub max_chars: usize,
    /// Characters of the chunk before that a chunk repeats at most, in whole sentences. Nothing is repeated across a
    /// heading, of code, and of tables but the names of columns.
    pub overlap: usize,
    /// What the embedding model reads of a text, headings included.
    pub max_tokens: usize,
    /// Characters of pieces of a text that has no sentences, lines or rows.
    pub fixed_chars: usize,
}

impl Default for ChunkSettings {
    fn default() -> Self {
        Self { max_chars: 1500, overlap: 300, max_tokens: 254, fixed_chars: 4000 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkMethod {
    /// At headings, paragraphs, sentences, rows and lines.
    Semantic,
    /// By length alone, at least in part.
    Fixed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// From 0.
    pub index: u32,
    pub text: String,
    /// What it stands under, from the document's title down; as many of the last ones as the embedding model has room for.
    pub headings: Vec<String>,
    pub first_page: u32,
    pub last_page: u32,
    /// Pages and the areas on them that its blocks take, where the format says.
    pub areas: Vec<(u32, Area)>,
    pub method: ChunkMethod,
}

impl Chunk {
    pub fn embedding_text(&self) -> String {
        embedding_text(&self.headings, &self.text)
    }

    pub fn heading(&self) -> String {
        self.headings.join(BETWEEN)
    }
}

/// What is embedded of a chunk: the headings that its text does not show itself, and its text.
pub fn embedding_text(headings: &[String], text: &str) -> String {
    let shown = headings.last().is_some_and(|last| text.starts_with(last.as_str()));
    let above = &headings[..headings.len() - usize::from(shown)];
    if above.is_empty() { text.to_owned() } else { format!("{}\n{text}", above.join(BETWEEN)) }
}

/// `tokens` counts what the embedding model makes of a text, as `max_tokens` does.
pub fn chunk(document: &Extracted, settings: &ChunkSettings, tokens: &dyn Fn(&str) -> usize) -> Vec<Chunk> {
    let mut builder = Builder::new(settings, tokens);
    let mut places = Places::new(document, settings, tokens);
    let mut showed_name = true;
    for page in &document.pages {
        places.start_page(page.name.as_deref());
        let shows_name = shows_its_name(page);
        if !shows_name || !showed_name {
            builder.end_page();
        }
        showed_name = shows_name;
        for block in &page.blocks {
            let (units, header) = units::units(block);
            let starts_section = places.section(block);
            let path = places.path();
            let area = block.area.map(|area| (page.number, area));
            let place = Rc::new(Place { page: page.number, area, path, section: places.section, header });
            if starts_section {
                builder.end_section();
            }
            for (at, unit) in units.iter().enumerate() {
                builder.add(unit, &place, at == 0);
            }
        }
    }
    builder.finish()
}

/// Whether a page begins with its name, as slides and chapters do, or has none. Sheets and attached files say nowhere what
/// they are called, so their text never stands in one chunk with that of others.
fn shows_its_name(page: &crate::Page) -> bool {
    let name = page.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    name.is_none_or(|name| page.blocks.is_empty() || page.blocks.iter().any(|block| block.text.trim() == name))
}

/// Where the units of a block stand.
struct Place<'a> {
    page: u32,
    area: Option<(u32, Area)>,
    path: Vec<String>,
    section: u32,
    /// Of a table, which repeats it.
    header: Option<&'a str>,
}

/// Headings above the block at hand.
struct Places<'a> {
    title: Option<&'a str>,
    name: Option<&'a str>,
    headings: Vec<(u8, &'a str)>,
    section: u32,
    settings: ChunkSettings,
    tokens: &'a dyn Fn(&str) -> usize,
}

impl<'a> Places<'a> {
    fn new(document: &'a Extracted, settings: &ChunkSettings, tokens: &'a dyn Fn(&str) -> usize) -> Self {
        let title = document.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        Self { title, name: None, headings: Vec::new(), section: 0, settings: *settings, tokens }
    }

    fn start_page(&mut self, name: Option<&'a str>) {
        if name.is_some() {
            self.name = name.map(str::trim).filter(|name| !name.is_empty());
            self.headings.clear();
            self.section += 1;
        }
    }

    /// Whether a heading begins with it.
    fn section(&mut self, block: &'a crate::Block) -> bool {
        let crate::BlockKind::Heading { level } = block.kind else { return false };
        while self.headings.last().is_some_and(|(above, _)| *above >= level) {
            self.headings.pop();
        }
        self.headings.push((level, block.text.trim()));
        self.section += 1;
        true
    }

    /// From the title down, without what comes twice, and the last ones only if there is no room for all.
    fn path(&self) -> Vec<String> {
        let headings = self.headings.iter().map(|(_, heading)| *heading);
        let mut path: Vec<String> = Vec::new();
        for heading in self.title.into_iter().chain(self.name).chain(headings) {
            if !heading.is_empty() && path.last().is_none_or(|last| last != heading) {
                path.push(heading.to_owned());
            }
        }
        let fits = |path: &[String]| {
            let joined = path.join(BETWEEN);
            joined.chars().count() * HEADINGS_PART <= self.settings.max_chars
                && (self.tokens)(&joined) * HEADINGS_PART <= self.settings.max_tokens
        };
        while !path.is_empty() && !fits(&path) {
            path.remove(0);
        }
        path
    }
}

struct Piece<'a> {
    unit: Unit<'a>,
    place: Rc<Place<'a>>,
    starts_block: bool,
    chars: usize,
    tokens: usize,
}

struct Builder<'a> {
    settings: ChunkSettings,
    tokens: &'a dyn Fn(&str) -> usize,
    /// Of the chunk at work; the first `repeated` were in the one before.
    pieces: Vec<Piece<'a>>,
    repeated: usize,
    chunks: Vec<Chunk>,
}

impl<'a> Builder<'a> {
    fn new(settings: &ChunkSettings, tokens: &'a dyn Fn(&str) -> usize) -> Self {
        Self { settings: *settings, tokens, pieces: Vec::new(), repeated: 0, chunks: Vec::new() }
    }

    fn add(&mut self, unit: &Unit<'a>, place: &Rc<Place<'a>>, starts_block: bool) {
        let fits = |text: &str| (self.tokens)(&embedding_text(&place.path, text)) <= self.settings.max_tokens;
        let is_long = unit.text.chars().count() > self.settings.max_chars || !fits(unit.text);
        let texts = if is_long { units::cut(unit.text, self.settings.fixed_chars, &fits) } else { vec![unit.text] };
        for (at, text) in texts.into_iter().enumerate() {
            let gap = if at == 0 { unit.gap } else { " " };
            let unit = Unit { text, gap, is_fixed: is_long, kind: unit.kind };
            let (chars, tokens) = (text.chars().count(), (self.tokens)(text));
            self.push(Piece { unit, place: Rc::clone(place), starts_block: starts_block && at == 0, chars, tokens });
        }
    }

    fn push(&mut self, piece: Piece<'a>) {
        while !self.pieces.is_empty() && !self.has_room_for(&piece) {
            if self.repeated == self.pieces.len() {
                self.pieces.remove(0);
                self.repeated -= 1;
            } else {
                self.cut();
            }
        }
        self.pieces.push(piece);
    }

    fn has_room_for(&self, piece: &Piece<'_>) -> bool {
        let Some(first) = self.pieces.first() else { return true };
        let chars = self.chars() + piece.unit.gap.len() + piece.chars;
        // What it begins with repeats the names of columns, and shows its headings.
        let begins = Self::begin(first);
        let head = (self.tokens)(&embedding_text(&first.place.path, begins));
        let tokens: usize = self.pieces.iter().map(|piece| piece.tokens).sum::<usize>() + piece.tokens + head;
        chars + begins.chars().count() <= self.settings.max_chars
            && (tokens <= self.settings.max_tokens || self.fits_exactly(piece))
    }

    /// The sum of the parts' tokens may be more than the whole has.
    fn fits_exactly(&self, piece: &Piece<'_>) -> bool {
        let mut text = self.text(self.pieces.len());
        text.push_str(piece.unit.gap);
        text.push_str(piece.unit.text);
        (self.tokens)(&embedding_text(&self.pieces[0].place.path, &text)) <= self.settings.max_tokens
    }

    fn chars(&self) -> usize {
        self.pieces
            .iter()
            .enumerate()
            .map(|(at, piece)| piece.chars + if at > 0 { piece.unit.gap.len() } else { 0 })
            .sum()
    }

    /// The names of columns, if a chunk begins with a later row of their table.
    fn begin(first: &Piece<'a>) -> &'a str {
        match first.place.header {
            Some(header) if first.unit.text != header && first.unit.kind == UnitKind::Row && !first.unit.is_fixed => {
                header
            }
            _ => "",
        }
    }

    fn text(&self, end: usize) -> String {
        let mut text = String::new();
        for (at, piece) in self.pieces[..end].iter().enumerate() {
            if at > 0 {
                text.push_str(piece.unit.gap);
            } else {
                let header = Self::begin(piece);
                let room = header.chars().count() + 1 + piece.chars <= self.settings.max_chars;
                if !header.is_empty() && room && self.has_tokens_for(header, piece) {
                    text.push_str(header);
                    text.push('\n');
                }
            }
            text.push_str(piece.unit.text);
        }
        text
    }

    fn has_tokens_for(&self, header: &str, first: &Piece<'_>) -> bool {
        let both = format!("{header}\n{}", first.unit.text);
        (self.tokens)(&embedding_text(&first.place.path, &both)) <= self.settings.max_tokens
    }

    /// Before a heading: what was gathered is a chunk, unless it is so small that it goes along with what comes.
    fn end_section(&mut self) {
        let only_headings = self.pieces.iter().all(|piece| piece.unit.kind == UnitKind::Heading);
        if !only_headings && self.pieces.len() > self.repeated && self.chars() * 3 >= self.settings.max_chars {
            self.emit(self.pieces.len());
            self.pieces.clear();
            self.repeated = 0;
        }
    }

    /// What was gathered is a chunk, however small.
    fn end_page(&mut self) {
        if self.pieces.len() > self.repeated {
            self.emit(self.pieces.len());
        }
        self.pieces.clear();
        self.repeated = 0;
    }

    /// Makes a chunk of most of what was gathered, and keeps what the next one repeats.
    fn cut(&mut self) {
        let least = self.repeated + 1;
        let mut end = self.pieces.len();
        // Rather at a paragraph, if that leaves more than half.
        let half = self.chars() / 2;
        let mut before = self.chars();
        for at in (least..self.pieces.len()).rev() {
            before -= self.pieces[at].chars;
            if before < half {
                break;
            }
            if self.pieces[at].starts_block && self.pieces[at].unit.kind != UnitKind::Row {
                end = at;
                break;
            }
        }
        while end > least && self.pieces[end - 1].unit.kind == UnitKind::Heading {
            end -= 1;
        }
        self.emit(end);
        let overlap = self.overlap(end);
        self.pieces.drain(..end - overlap);
        self.repeated = overlap;
    }

    /// How many of the last pieces before `end` are repeated.
    fn overlap(&self, end: usize) -> usize {
        let next = self.pieces.get(end).map(|piece| piece.place.section);
        let mut chars = 0;
        let same = |piece: &&Piece<'_>| {
            piece.unit.kind == UnitKind::Prose && next.is_none_or(|section| section == piece.place.section)
        };
        let repeated = self.pieces[..end].iter().skip(1).rev().take_while(same).take_while(|piece| {
            chars += piece.chars + 1;
            chars <= self.settings.overlap
        });
        repeated.count()
    }

    fn emit(&mut self, end: usize) {
        let pieces = &self.pieces[..end];
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return };
        let mut headings = first.place.path.clone();
        for piece in pieces {
            let same = headings.iter().zip(&piece.place.path).take_while(|(a, b)| a == b).count();
            headings.truncate(same);
        }
        let mut areas: Vec<(u32, Area)> = Vec::new();
        for area in pieces.iter().filter_map(|piece| piece.place.area) {
            if areas.last() != Some(&area) {
                areas.push(area);
            }
        }
        let is_fixed = pieces.iter().any(|piece| piece.unit.is_fixed);
        self.chunks.push(Chunk {
            index: u32::try_from(self.chunks.len()).unwrap_or(u32::MAX),
            text: self.text(end),
            headings,
            first_page: first.place.page,
            last_page: last.place.page,
            areas,
            method: if is_fixed { ChunkMethod::Fixed } else { ChunkMethod::Semantic },
        });
    }

    fn finish(mut self) -> Vec<Chunk> {
        if self.pieces.len() > self.repeated {
            self.emit(self.pieces.len());
        }
        self.chunks
    }
}
