"""PDF: LiteParse finds words and blocks; the modules here make a document of them.

Every text is written from word boxes, so a span always has its place on the page. In
the order in which they run:

- `document`: reads a file, the steps below over all its pages; `pages`: the steps of
  one batch of pages, which a `page_draft` carries from step to step.
- `liteparse`: opens the file, unlocks it, and lays out batches of pages; `pdfium`:
  opens the same pages in PDFium, for what LiteParse does not say.
- `words`: the words of a page and its lines. They are corrected by `lost_words` (what
  PDFium reads and LiteParse does not), `formulas`, `raised_marks` (note marks, powers),
  `undecoded_text` and `hidden_text` (what nobody sees is left out).
- `page_furniture`: marks running heads, page numbers and turned text.
- `reading_order`: the regions of a page in the order of reading, by `zones` (columns)
  of the runs in the file's `content_stream`; `regions`: gives each word to a block or
  to a table from `tables`. `geometry` holds what they share: boxes, regions, numbers.
- `blocks`: the regions as paragraphs, list items and captions; `figures`: pictures;
  `headings`: levels; `boilerplate`: contents lists and what pages repeat.
- `writer`: writes text, spans and table cells of the document.
"""
