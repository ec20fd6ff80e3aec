"""The tables of the truth file, as the present schema has them."""

TITLE = "title:"  # begins the key in `meta` of what people call a collection
META = "create table meta(key text primary key, value text not null) without rowid"
CHANGE = """
create table change(
  collection text not null references collection(name) on delete cascade,
  seq integer not null, stamp blob not null,
  primary key(collection, seq)) without rowid
"""
QUARANTINE = """
create table quarantine(
  node_id text primary key references node(node_id) on delete cascade,
  collection text not null references collection(name) on delete cascade,
  document_id text not null references document(document_id) on delete cascade,
  reason text not null);
create index quarantine_collection on quarantine(collection);
create index quarantine_document on quarantine(document_id)
"""
REMOVED = """
create table removed(
  collection text not null references collection(name) on delete cascade,
  seq integer not null, node_id text not null,
  primary key(collection, seq, node_id)) without rowid
"""
VECTOR = """
create table vector(
  num integer primary key, key blob not null unique, data blob not null,
  data_sum integer not null)
"""
DOCUMENT_SHA256 = "create index document_sha256 on document(sha256)"

TABLES = f"""
{META};
create table counter(name text primary key, value integer not null);
insert into counter values('seq', 0);
create table collection(
  name text primary key, embedder text not null, embedder_digest text not null,
  dimension integer not null, distance text not null, chunker text not null,
  epoch integer not null, seq integer not null);
{CHANGE};
create table original(sha256 text primary key, content blob not null);
create table document(
  document_id text primary key,
  collection text not null references collection(name) on delete cascade,
  uri text not null, part text not null, name text not null, title text not null,
  sha256 text not null, mime text not null, parser text not null,
  config_key text not null, page_count integer not null, warnings text not null,
  text blob not null, blocks blob not null, unique(collection, uri, part));
{DOCUMENT_SHA256};
create table page(
  document_id text not null references document(document_id) on delete cascade,
  number integer not null, width real not null, height real not null,
  label text not null, words blob not null, primary key(document_id, number));
create table sidecar(
  document_id text not null references document(document_id) on delete cascade,
  kind text not null, name text not null, content blob not null,
  primary key(document_id, kind, name));
create table node(
  num integer primary key, node_id text not null unique,
  collection text not null references collection(name) on delete cascade,
  document_id text not null references document(document_id) on delete cascade,
  ordinal integer not null, kind text not null, section text not null,
  page integer, end_page integer, text text not null, index_text text not null,
  metadata text not null, vector blob not null, seq integer not null,
  place_sum integer not null default 0, index_sum integer not null default 0);
create index node_document on node(document_id, ordinal);
create index node_seq on node(collection, seq);
{QUARANTINE};
{REMOVED};
create virtual table words using fts5(
  index_text, content='node', content_rowid='num', tokenize='porter unicode61');
{VECTOR};
create table batch_item(
  key text primary key, run text not null, ordinal integer not null,
  item text not null, state text not null check(state in ('done', 'failed')),
  result text not null);
create index batch_run on batch_item(run, ordinal)
"""


def statements(script: str) -> list[str]:
    """The statements of a script, one by one, so that they fit one transaction."""
    return [part.strip() for part in script.split(";\n") if part.strip()]
