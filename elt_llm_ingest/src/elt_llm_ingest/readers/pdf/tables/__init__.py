"""Tables of a PDF page, found by drawn lines first and by the words' places then.

In the order in which they run:

- `drawn_lines`: the lines that a page draws; `grid`: the cells that they enclose.
- `lattice`: a table of a grid and its words; `lattice_completion`: adds the edges of a
  grid that are not drawn, and the cost by which rival tables are compared.
- `aligned`: pieces of lines, and runs of lines whose numbers stand below each other;
  `number_tables`: a table of such a run, with its header.
- `stream`: tables of text without lines, from `column_gutters` (strips that no word
  enters) and `row_breaks` (which line begins a row).
- `layout_table`: the table that LiteParse saw, where no other was found.
- `side_by_side`: two tables that look like one set apart; `merge`: parts of a table on
  several pages joined, titles and headers named.
"""
