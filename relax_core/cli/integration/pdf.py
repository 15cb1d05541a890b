"""Pictures as PDF for papers: SVG on a page of its size, texts as texts in embedded fonts.

The package typst does it, and brings fonts that a machine may lack.
"""

from typing import Final

# Inputs of a document are texts. A page of PDF has at most 14,400 points, so that a longer picture is made smaller.
_PAGE: Final = b"""#set document(title: sys.inputs.title, date: none)
#set page(width: auto, height: auto, margin: 0pt)
#let picture = image(bytes(sys.inputs.picture), format: "svg", alt: sys.inputs.title)
#context {
  let size = measure(picture)
  scale(calc.min(1, 14400pt / calc.max(size.width, size.height)) * 100%, reflow: true, picture)
}
"""


def pdf_of(svg: str, title: str) -> bytes:
    """Return a picture as a PDF file of one page.

    Raises:
        ImportError: the package typst is missing.
    """
    import typst

    return typst.compile(_PAGE, format="pdf", sys_inputs={"picture": svg, "title": title})
