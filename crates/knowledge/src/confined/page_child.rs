use super::process::{in_child, not_by_hand, read_input};
use crate::extract::{ExtractError, ExtractLimits};
use crate::ocr::{Models, PicturePage, Place, Steps, page_picture, png_of_model, prepare};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind, PageReading};

pub(super) const COMMAND: &str = "ocr-child";

/// What becomes of the picture of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is written out as PGM.
    Tesseract,
    /// It is read here.
    Models,
    /// It is written out as PNG, for a model that sees.
    Model,
}

impl Purpose {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tesseract => "tesseract",
            Self::Models => "models",
            Self::Model => "model",
        }
    }
}

/// The first line of what the process writes; after it comes the picture, if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    Picture(Place),
    Reading(PageReading),
    NeedsDrawing,
    Failed(ExtractFailure),
}

/// `ocr-child`.
#[derive(Debug, Clone, clap::Args)]
pub struct OcrChild {
    /// From 1.
    #[arg(long)]
    page: u32,
    /// As JSON.
    #[arg(long)]
    limits: String,
    /// As JSON.
    #[arg(long)]
    steps: String,
    #[arg(long)]
    purpose: String,
    /// Folder of the models. Text, like each path of these commands.
    #[arg(long)]
    models: Option<String>,
}

impl OcrChild {
    /// What the process does: reads a file from standard input and writes what its page shows.
    pub fn run(self) -> ExitCode {
        let mut purposes = [Purpose::Tesseract, Purpose::Models, Purpose::Model].into_iter();
        let purpose = purposes.find(|purpose| purpose.as_str() == self.purpose);
        let read = (purpose, serde_json::from_str(&self.limits), serde_json::from_str(&self.steps));
        let (Some(purpose), Ok(limits), Ok(steps)) = read else {
            return not_by_hand();
        };
        in_child(move || {
            let (answer, picture) = self.answer(purpose, &limits, steps)?;
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            serde_json::to_writer(&mut out, &answer)?;
            out.write_all(b"\n")?;
            out.write_all(&picture)?;
            out.flush()
        })
    }

    fn answer(&self, purpose: Purpose, limits: &ExtractLimits, steps: Steps) -> std::io::Result<(Answer, Vec<u8>)> {
        let bytes = read_input(limits)?;
        let picture = match page_picture(&bytes, self.page, limits) {
            Ok(PicturePage::Picture(picture)) => picture,
            Ok(PicturePage::NeedsDrawing) => return Ok((Answer::NeedsDrawing, Vec::new())),
            Err(error) => return Ok((Answer::Failed(error.into()), Vec::new())),
        };
        drop(bytes);
        let prepared = match purpose {
            // What is taken away for the others may be what a model sees by.
            Purpose::Model => prepare(picture, &Steps { rotation: steps.rotation, ..Steps::none() }, true),
            Purpose::Models => prepare(picture, &steps, true),
            Purpose::Tesseract => prepare(picture, &steps, false),
        };
        Ok(match purpose {
            Purpose::Tesseract => {
                let (width, height) = prepared.picture.dimensions();
                let mut pgm = format!("P5\n{width} {height}\n255\n").into_bytes();
                pgm.extend(prepared.picture.into_raw());
                (prepared.place.into(), pgm)
            }
            Purpose::Model => match png_of_model(&prepared.picture) {
                Ok(png) => (prepared.place.into(), png),
                Err(error) => (Answer::Failed(ExtractError::into(error)), Vec::new()),
            },
            Purpose::Models => {
                let folder = PathBuf::from(self.models.as_deref().unwrap_or_default());
                match Models::load(&folder).and_then(|models| models.read(&prepared)) {
                    Ok(reading) => (Answer::Reading(reading), Vec::new()),
                    Err(error) => (Answer::Failed(no_models(&error.to_string())), Vec::new()),
                }
            }
        })
    }
}

fn no_models(error: &str) -> ExtractFailure {
    ExtractFailure {
        kind: ExtractFailureKind::Unavailable,
        message: error.to_owned(),
        hint: "Run `make setup`, and process the document again.".to_owned(),
    }
}

/// What the process wrote: its answer, and the picture after it. `None` if it is none.
pub(super) fn parted(mut output: Vec<u8>) -> Option<Result<(Answer, Vec<u8>), ExtractFailure>> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let answer = serde_json::from_slice(&output[..end]).ok()?;
    output.drain(..=end);
    Some(match answer {
        Answer::Failed(failure) => Err(failure),
        answer => Ok((answer, output)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, parted};
    use crate::ocr::Place;

    #[test]
    fn an_answer_and_its_picture_are_told_apart() {
        let place = serde_json::to_string(&Answer::Picture(Place::new(3, 4))).unwrap();
        let output = format!("{place}\nP5\n1 1\n255\nx").into_bytes();
        let (answer, picture) = parted(output).unwrap().unwrap();
        assert_eq!((answer, picture.as_slice()), (Answer::Picture(Place::new(3, 4)), b"P5\n1 1\n255\nx".as_slice()));
        for broken in ["", "\n", "{}\n", "{\"picture\":1}\nP5"] {
            assert!(parted(broken.as_bytes().to_vec()).is_none(), "{broken}");
        }
        let failed = r#"{"failed":{"kind":"broken","message":"it is cut off","hint":"Copy it again."}}"#;
        assert_eq!(parted(format!("{failed}\n").into_bytes()).unwrap().unwrap_err().message, "it is cut off");
    }
}
