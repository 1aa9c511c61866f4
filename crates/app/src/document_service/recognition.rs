//! Pages that are pictures: engines are asked in turn until one is sure, and the best reading is kept.

use super::problems::{Failure, failure, problem};
use super::{Content, DocumentService};
use std::path::Path;
use std::time::Duration;
use steward_core::UserId;
use steward_core::document::{DocumentProblem, OcrFacts, OcrPage, ReadingFacts};
use steward_core::extracted::{Block, ExtractFailure, ExtractFailureKind, Extracted, OcrEngine, Page, PageOcr};
use steward_core::governance::Classification;
use steward_core::ports::{ClaimedDocument, StoreResult};
use steward_knowledge::ocr::{Cascade, page_of_text};

/// Pages of a document that are read so; more would keep others waiting for hours.
const MOST_PAGES: usize = 1_000;
/// How often it is written down how far it is.
const NOTE_EVERY: Duration = Duration::from_secs(3);

/// Whether pages that are pictures wait to be read.
pub(super) fn wants_ocr(facts: &ReadingFacts) -> bool {
    facts.ocr.as_ref().is_some_and(|ocr| ocr.done < ocr.pages)
}

/// What is known of the pages that are pictures, of which `to_come` more are looked at; `None`: there are none.
pub(super) fn ocr_facts(extracted: &Extracted, to_come: u32) -> Option<OcrFacts> {
    let of =
        |page: &Page| page.ocr.map(|PageOcr { engine, confidence }| OcrPage { page: page.number, engine, confidence });
    let read: Vec<OcrPage> = extracted.pages.iter().filter_map(of).collect();
    let done = u32::try_from(read.len()).unwrap_or(u32::MAX);
    let pages = done.saturating_add(to_come);
    (pages > 0).then(|| OcrFacts { pages, done, confidence: mean(&read), read })
}

fn mean(read: &[OcrPage]) -> Option<u8> {
    let with_text: Vec<usize> =
        read.iter().filter(|page| page.engine.is_some()).map(|page| page.confidence.into()).collect();
    let sum: usize = with_text.iter().sum();
    sum.checked_div(with_text.len()).and_then(|mean| u8::try_from(mean).ok())
}

pub(super) fn no_engine() -> DocumentProblem {
    problem(
        "its pages are pictures, and nothing is installed here that reads them",
        "Install tesseract-ocr, or run `make setup` for the models that read characters, and process it again.",
    )
}

impl DocumentService {
    async fn can_recognise(&self) -> bool {
        !self.pages.engines().is_empty() || self.picture_model.is_there().await
    }

    /// How many pages of a document, whose text was read, are to be recognised; a warning says why others are not.
    pub(super) async fn pictures_to_read(&self, extracted: &mut Extracted) -> u32 {
        let scans = extracted.pages.iter().filter(|page| page.is_scan).count();
        if scans == 0 {
            return 0;
        }
        if !self.can_recognise().await {
            let DocumentProblem { hint, .. } = no_engine();
            extracted.warnings.push(format!("Pages that are pictures ({scans}) were not read. {hint}"));
            return 0;
        }
        u32::try_from(scans.min(MOST_PAGES)).unwrap_or(0)
    }

    /// Recognises the characters on pages that are pictures. What can't be read is a warning, unless nothing can.
    pub(super) async fn read_pictures(
        &self,
        claimed: &ClaimedDocument,
        content: &Content,
        extracted: &mut Extracted,
    ) -> Result<(), Failure> {
        let document = &claimed.document;
        let collection = self.store.collection(self.tenant, document.collection).await?;
        let classification = document.classification.max(collection.and_then(|one| one.classification));
        let scans: Vec<usize> = (0..extracted.pages.len()).filter(|index| extracted.pages[*index].is_scan).collect();
        let (mut noted, mut first_problem) = (self.clock.now(), None);
        for (done, index) in scans.iter().copied().enumerate() {
            if done == MOST_PAGES {
                let what = format!(
                    "Only the first {MOST_PAGES} pages that are pictures were read; split the file to have all read."
                );
                extracted.warnings.push(what);
                break;
            }
            let number = extracted.pages[index].number;
            match self.read_picture(content.path(), number, (classification, document.added_by)).await {
                Ok((blocks, ocr)) => {
                    let page = &mut extracted.pages[index];
                    page.ocr = Some(ocr);
                    if ocr.engine.is_some() {
                        // Values of form fields and remarks are no part of the picture.
                        let beside = std::mem::replace(&mut page.blocks, blocks);
                        let read: String = page.blocks.iter().map(|block| block.text.as_str()).collect();
                        page.blocks.extend(beside.into_iter().filter(|block| !read.contains(&block.text)));
                    }
                }
                Err(error) => {
                    extracted.warnings.push(format!("Page {number} was not read: {error}."));
                    first_problem = first_problem.or(Some(error));
                }
            }
            if self.clock.now().since(noted) >= NOTE_EVERY {
                noted = self.clock.now();
                self.note_progress(claimed, extracted, scans.len() - done - 1).await?;
            }
        }
        match first_problem {
            Some(error) if extracted.pages.iter().all(|page| page.ocr.is_none()) => Err(failure(&error)),
            _ => Ok(()),
        }
    }

    async fn note_progress(&self, claimed: &ClaimedDocument, extracted: &Extracted, to_come: usize) -> StoreResult<()> {
        let mut facts = claimed.document.facts.clone();
        facts.ocr = ocr_facts(extracted, u32::try_from(to_come).unwrap_or(u32::MAX));
        self.store.save_facts(self.tenant, claimed, &facts).await
    }

    /// Fails only if no engine could look at the page.
    async fn read_picture(
        &self,
        file: &Path,
        page: u32,
        of: (Option<Classification>, Option<UserId>),
    ) -> Result<(Vec<Block>, PageOcr), ExtractFailure> {
        let (mut cascade, mut looked, mut problem) = (Cascade::default(), false, None);
        for engine in self.pages.engines() {
            match self.pages.read(engine, file, page).await {
                Ok(reading) => {
                    looked = true;
                    cascade.add(engine, reading);
                }
                Err(error) => problem = problem.or(Some(error)),
            }
            if !cascade.wants_more() {
                break;
            }
        }
        if cascade.wants_more() && self.picture_model.is_there().await {
            match self.shown(file, page, of).await {
                Ok(None) => {}
                Ok(Some(text)) => {
                    looked = true;
                    cascade.add(OcrEngine::Vision, page_of_text(&text, 1.0));
                }
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        match (cascade.best(), problem) {
            (Some((engine, reading)), _) => {
                let ocr = PageOcr { engine: Some(engine), confidence: percent(reading.confidence) };
                Ok((reading.blocks.clone(), ocr))
            }
            (None, problem) if !looked => Err(problem.unwrap_or_else(nobody_may)),
            (None, _) => Ok((Vec::new(), PageOcr { engine: None, confidence: 0 })),
        }
    }

    async fn shown(
        &self,
        file: &Path,
        page: u32,
        (classification, user): (Option<Classification>, Option<UserId>),
    ) -> Result<Option<String>, ExtractFailure> {
        let png = self.pages.show(file, page).await?;
        self.picture_model.read(&png, classification, user).await
    }
}

fn nobody_may() -> ExtractFailure {
    ExtractFailure {
        kind: ExtractFailureKind::UnknownFormat,
        message: "it is a picture, and nothing that may look at it is here to read it".to_owned(),
        hint: no_engine().hint,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
fn percent(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u8
}
