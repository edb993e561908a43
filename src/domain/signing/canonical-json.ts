/** Writes plain data as JSON with the names of objects in order, so that the same content is the same text. Leaves out what JSON leaves out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text && ','}${canonicalJson(item ?? null)}`
    return `[${text}]`
  }
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members).sort())
    if (members[name] !== undefined) text += `${text && ','}${JSON.stringify(name)}:${canonicalJson(members[name])}`
  return `{${text}}`
}
