"""PDF: LiteParse finds words and blocks; the modules here build a document from them.

Every text is written from word boxes, so that a span always has its place on the page.
In the order in which they run:

- `document`: reads a file, the steps below over all its pages; `pages`: the steps of
  one batch of pages, which a `page_draft` carries from step to step.
- `liteparse`: opens the file, unlocks it, and lays out batches of pages; `pdfium`:
  opens the same pages in PDFium, for information that LiteParse lacks.
- `words`: the words of a page and its lines. They are corrected by `lost_words` (words
  that PDFium reads and LiteParse does not), `formulas`, `raised_marks` (note marks,
  powers), `undecoded_text` and `hidden_text` (invisible words are left out).
- `page_furniture`: marks running heads, page numbers and rotated text.
- `reading_order`: the regions of a page in reading order, by `zones` (columns) of the
  runs in the file's `content_stream`; `regions`: assigns each word to a block or to a
  table from `tables`. `geometry` has common code: boxes, regions, numbers.
- `blocks`: the regions as paragraphs, list items and captions; `figures`: pictures;
  `headings`: levels; `boilerplate`: contents lists and text that pages repeat.
- `writer`: writes text, spans and table cells of the document.
"""
