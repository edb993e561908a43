/** Writes JSON with the names of objects in order, so that the same content is the same text. Leaves out what JSON leaves out. */
export function canonicalJson(value: unknown): string {
  return inOrder(JSON.parse(JSON.stringify(value)))
}

function inOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${inOrder(item)}`).join(',')}}`
}
