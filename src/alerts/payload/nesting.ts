/** Whether the objects and arrays of a JSON text are nested deeper than this. It reads the text once, and builds nothing. */
export function nestedDeeper(json: string, deepest: number): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]
    if (isText && character === '\\') at += 1
    else if (character === '"') isText = !isText
    else if (!isText && (character === '{' || character === '[')) depth += 1
    else if (!isText && (character === '}' || character === ']')) depth -= 1
    if (depth > deepest) return true
  }
  return false
}
