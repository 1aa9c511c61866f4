use super::error::Result;
use super::limits::Budget;
use steward_core::extracted::{Area, Block, BlockKind, Extracted, Page};

const WARNINGS: usize = 20;

/// What is read so far.
pub(super) struct Draft<'a> {
    pub budget: &'a Budget<'a>,
    pub title: Option<String>,
    pages: Vec<Page>,
    warnings: Vec<String>,
    /// Pictures within pages of text.
    pictures: usize,
}

impl<'a> Draft<'a> {
    pub fn new(budget: &'a Budget<'a>) -> Self {
        Self { budget, title: None, pages: Vec::new(), warnings: Vec::new(), pictures: 0 }
    }

    /// Begins a page, sheet, slide or chapter.
    pub fn page(&mut self, name: Option<String>) -> Result<&mut Page> {
        self.budget.page()?;
        let page = self.counted_page();
        page.name = name.map(|name| one_line(&name)).filter(|name| !name.is_empty());
        Ok(page)
    }

    /// Begins a page that the budget knows already.
    pub fn counted_page(&mut self) -> &mut Page {
        let number = u32::try_from(self.pages.len() + 1).unwrap_or(u32::MAX);
        self.pages.push(Page { number, ..Page::default() });
        let last = self.pages.len() - 1;
        &mut self.pages[last]
    }

    /// Adds to the last page; a text that is empty is left out.
    pub fn block(&mut self, kind: BlockKind, text: &str) -> Result<()> {
        self.block_at(kind, text, None)
    }

    pub fn block_at(&mut self, kind: BlockKind, text: &str, area: Option<Area>) -> Result<()> {
        let text = match kind {
            BlockKind::Code => text.trim_end().trim_start_matches(['\n', '\r']),
            _ => text.trim(),
        };
        if text.is_empty() {
            return Ok(());
        }
        self.budget.text(text)?;
        if self.pages.is_empty() {
            self.page(None)?;
        }
        if let Some(page) = self.pages.last_mut() {
            page.blocks.push(Block { kind, text: text.to_owned(), area });
        }
        Ok(())
    }

    pub fn paragraph(&mut self, text: &str) -> Result<()> {
        self.block(BlockKind::Paragraph, text)
    }

    pub fn heading(&mut self, level: usize, text: &str) -> Result<()> {
        let level = u8::try_from(level.clamp(1, 6)).unwrap_or(6);
        self.block(BlockKind::Heading { level }, &one_line(text))
    }

    pub fn warn(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.warnings.len() < WARNINGS && !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// Counts a picture that nobody reads.
    pub fn count_picture(&mut self) {
        self.pictures += 1;
    }

    /// How many pages there are, and how many blocks the last one has.
    pub fn position(&self) -> (usize, usize) {
        (self.pages.len(), self.pages.last().map_or(0, |page| page.blocks.len()))
    }

    /// Takes the document's title from the block `at` of the last page, if it is a heading and there is no other title.
    pub fn take_title(&mut self, at: usize) {
        let block = self.pages.last().and_then(|page| page.blocks.get(at));
        let heading =
            block.filter(|block| matches!(block.kind, BlockKind::Heading { .. })).map(|block| block.text.clone());
        if self.title.as_ref().is_none_or(|title| title.trim().is_empty()) {
            self.title = heading.or(self.title.take());
        }
    }

    /// Takes out what was added to the last page from the block `at` on.
    pub fn take_blocks(&mut self, at: usize) -> Vec<Block> {
        self.pages.last_mut().map(|page| page.blocks.split_off(at.min(page.blocks.len()))).unwrap_or_default()
    }

    /// Adds what was taken out.
    pub fn put_blocks(&mut self, blocks: impl IntoIterator<Item = Block>) {
        if let Some(page) = self.pages.last_mut() {
            page.blocks.extend(blocks);
        }
    }

    /// Makes the pages from `first` on, from 0, a part of the one before.
    pub fn join_pages(&mut self, first: usize) {
        let joined = self.pages.split_off(first.min(self.pages.len()));
        self.put_blocks(joined.into_iter().flat_map(|page| page.blocks));
    }

    pub fn last_page(&mut self) -> Option<&mut Page> {
        self.pages.last_mut()
    }

    /// Adds the pages of a file within this one.
    pub fn append(&mut self, name: &str, inner: Extracted) -> Result<()> {
        let pages = inner.pages.len();
        for page in inner.pages {
            let own = page.name.map(|own| format!(", {own}")).unwrap_or_default();
            let number = if pages > 1 { format!(", page {}", page.number) } else { String::new() };
            if page.is_scan {
                self.warn(format!(
                    "`{name}` has pictures of text, which are not read within another file; add it by itself"
                ));
            }
            // Its text was counted when it was read.
            self.page(Some(format!("{name}{number}{own}")))?.blocks = page.blocks;
        }
        for warning in inner.warnings {
            self.warn(format!("{name}: {warning}"));
        }
        Ok(())
    }

    pub fn finish(mut self, doc_type: &str) -> Result<Extracted> {
        if self.pages.is_empty() {
            self.page(None)?;
        }
        if self.pictures > 0 {
            let pictures = self.pictures;
            self.warn(format!(
                "Pictures in it are not read ({pictures}), only descriptions that they have. If one shows text that \
                 matters, add it as a file of its own."
            ));
        }
        let first_heading = self.pages.first().and_then(|page| {
            page.blocks
                .first()
                .filter(|block| matches!(block.kind, BlockKind::Heading { .. }))
                .map(|block| block.text.clone())
        });
        let title = self.title.map(|title| one_line(&title)).filter(|title| !title.is_empty()).or(first_heading);
        Ok(Extracted { doc_type: doc_type.to_owned(), title, pages: self.pages, warnings: self.warnings })
    }
}

/// White space of any kind becomes one space.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
