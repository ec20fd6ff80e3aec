"""Tables of a PDF page, found by ruling lines first and then by word positions.

In the order in which they run:

- `drawn_lines`: the lines that a page draws; `grid`: the cells that they enclose.
- `lattice`: a table from a grid and its words; `lattice_completion`: adds missing edges
  of a grid, and the cost by which alternative tables are compared.
- `aligned`: pieces of lines, and runs of lines with aligned numbers; `number_tables`: a
  table from such a run, with its header.
- `stream`: tables of text without lines, from `column_gutters` (strips without words)
  and `row_breaks` (the lines that begin a row).
- `layout_table`: the table that LiteParse saw, if no other was found.
- `side_by_side`: separates two adjacent tables; `merge`: joins parts of a table on
  several pages, and finds titles and headers.
"""
