// Rows that define one term differently. Two documents with the same definition, such as
// two editions of a handbook, agree: there is nothing to choose between.

const plain = (text) => (text || "").toLowerCase().replace(/[\s\p{P}]+/gu, " ").trim();

// Sets `twins` of each row: the row and one row for each other definition, or null.
export function findTwins(rows) {
  const labels = new Map();
  for (const row of rows) {
    const key = row.label.toLowerCase();
    if (!labels.has(key)) labels.set(key, new Map());
    const texts = labels.get(key);
    const text = plain(row.fields.definition);
    if (!texts.has(text)) texts.set(text, []);
    texts.get(text).push(row);
  }
  for (const texts of labels.values()) {
    for (const same of texts.values()) {
      const others = [...texts.values()].filter((one) => one !== same).map(([first]) => first);
      for (const row of same) row.twins = others.length ? [row, ...others] : null;
    }
  }
}
