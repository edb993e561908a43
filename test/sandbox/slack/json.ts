/** JSON as Slack sends and accepts it. Each reader decides what must be in it. */
export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function objectsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function textOf(value: unknown): string {
  return stringOf(objectOf(value).text)
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function copyOf<T>(value: T): T {
  return structuredClone(value)
}

/** Form values are strings and JSON values are not: `true`, `"true"` and `"1"` all mean yes to Slack. */
export function isYes(value: unknown): boolean {
  return value === true || value === 'true' || value === '1' || value === 1
}
