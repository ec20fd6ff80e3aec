// Verdicts in words, each with a sign of its own: never a percentage, never colour alone.

const QUOTED = { icon: "●", word: "Quoted", tone: "good", why: "Its words stand in the document." };
const UNPROVEN = { icon: "○", word: "Not proven", tone: "bad", why: "No passage that was looked at says it." };

const VERDICTS = {
  verified: QUOTED,
  normalised: { ...QUOTED, why: "Its words stand in the document but for spaces, hyphens or case." },
  fuzzy: { ...QUOTED, why: "Its words stand in the document but for articles, endings or misread letters." },
  supported: { icon: "◐", word: "Supported", tone: "good", why: "The document says it in other words; all facts agree." },
  table: { icon: "▦", word: "From a table", tone: "good", why: "A table of the document says it." },
  generated: { icon: "✎", word: "Written by a model about a picture", tone: "near", why: "A model's description of a picture says it." },
  contradicted: { icon: "✕", word: "Contradicted", tone: "bad", why: "A passage says it with another number, name or “not”." },
  misattributed: { ...UNPROVEN, why: "Another source than the one it names says it." },
  unsupported: UNPROVEN,
  fabricated: { ...UNPROVEN, why: "No source contains this quotation." },
  uncited: { ...UNPROVEN, why: "It names no source, and none says it." },
  notice: { icon: "i", word: "Note", tone: "", why: "A sentence of this program; it claims nothing of the documents." },
};

// A passage below a refusal: its words stand in the document, but it answers nothing.
export const NEAREST = { icon: "≈", word: "Nearest passage", tone: "", why: "No answer: it is only near the question." };
export const asNearest = (citations) => citations.map((one) => ({ ...one, nearest: true }));

export const isTable = ({ kind }) => kind === "table" || kind === "table_row";

export const verdict = (support, isTable = false) =>
  (isTable && VERDICTS[support]?.tone === "good" && VERDICTS.table) || VERDICTS[support] || { icon: "?", word: support || "Not checked", tone: "" };

export const STATUSES = {
  proposed: { icon: "○", word: "Open", tone: "" },
  reopened: { icon: "↻", word: "Evidence changed", tone: "near" },
  needs_work: { icon: "…", word: "Needs work", tone: "near" },
  approved: { icon: "✔", word: "Approved", tone: "good" },
  rejected: { icon: "✕", word: "Rejected", tone: "bad" },
};

export const COVERAGE = {
  STRONG: { icon: "●", word: "Strong", tone: "good" },
  MODERATE: { icon: "◐", word: "Moderate", tone: "near" },
  THIN: { icon: "◔", word: "Thin", tone: "near" },
  ABSENT: { icon: "○", word: "Absent", tone: "bad" },
};

// Names of fields and of choices, as people call them.
const WORDS = {
  formal_definition: "Definition", domain_context: "Context", governance_rules: "Governance", business_rules: "Rules",
  lifecycle_states: "Life cycle", data_classification: "Classification", regulatory_context: "Regulation",
  associated_agreements: "Agreements", mapped_entity: "Entity of the model", definition_source: "Kind",
  found_by: "Found by", entity_domain: "Domain", mapping_confidence: "Certainty of the entity", quote_support: "Proof",
  inference_tier: "Placed by", source: "Found in", BOTH: "Model and documents", LEANIX_ONLY: "Model only",
  MODEL_ONLY: "Model only", HANDBOOK_ONLY: "Documents only", HANDBOOK: "Documents only",
};

export const word = (name) => {
  if (WORDS[name]) return WORDS[name];
  const plain = String(name).replaceAll("_", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
};
