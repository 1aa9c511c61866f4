use serde::{Deserialize, Serialize};

/// What is done to a picture before it is read; each can be left out, to measure what it is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is on or off")]
pub struct Steps {
    /// Spreads its shades from black to white, and makes the writing the darker part.
    pub contrast: bool,
    /// Takes single specks and grain away, where there are any.
    pub denoise: bool,
    /// Takes dark edges of the scanner's glass away.
    pub border: bool,
    /// Makes the paper evenly white: what is writing is told by what is around it.
    pub threshold: bool,
    /// Turns it upright, by quarters.
    pub rotation: bool,
    /// Makes its lines level.
    pub deskew: bool,
    /// Makes its letters as high as engines like them.
    pub scaling: bool,
    /// Leaves only black and white.
    pub binarise: bool,
}

/// Their names.
pub const STEPS: [&str; 8] =
    ["contrast", "denoise", "border", "threshold", "rotation", "deskew", "scaling", "binarise"];

impl Default for Steps {
    fn default() -> Self {
        Self {
            contrast: true,
            denoise: true,
            border: true,
            rotation: true,
            deskew: true,
            scaling: true,
            threshold: true,
            binarise: true,
        }
    }
}

impl Steps {
    pub fn none() -> Self {
        STEPS.iter().fold(Self::default(), |steps, name| steps.without(name))
    }

    /// Without one of [`STEPS`]; of another name, as it is.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        match name {
            "contrast" => self.contrast = false,
            "denoise" => self.denoise = false,
            "border" => self.border = false,
            "rotation" => self.rotation = false,
            "deskew" => self.deskew = false,
            "scaling" => self.scaling = false,
            "threshold" => self.threshold = false,
            "binarise" => self.binarise = false,
            _ => {}
        }
        self
    }
}
