"""The visible text of a document, as the questions' quotes are compared with it."""

import html.parser
import pathlib
import re

BLOCKS = set(
    "address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6"
    " head header hr html legend li main nav ol option p pre section select summary table tbody td tfoot th thead title tr ul".split()
)
HIDDEN = {"script", "style", "template"}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in HIDDEN
        if tag in BLOCKS:
            self.parts.append(" ")

    def handle_endtag(self, tag):
        if tag in HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        if tag in BLOCKS:
            self.parts.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def visible(path: pathlib.Path) -> str:
    """Entities resolved, tags and scripts dropped, every run of white space one space."""
    text = path.read_bytes().decode("utf-8", "replace")
    if path.suffix in (".html", ".htm"):
        reader = Reader()
        reader.feed(text)
        reader.close()
        text = "".join(reader.parts)
    return re.sub(r"\s+", " ", text).strip()


def folded(text: str) -> str:
    """Letters and digits alone: what stays the same whatever marks an extractor leaves in."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
