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

/**
 * Thrown for everything that the bot sends and the stand-in does not describe. Slack may accept it. Describe it here with its limits before
 * the bot sends it, so that the tests check it.
 */
export class NotDescribed extends Error {
  override name = 'NotDescribed'

  constructor(what: string) {
    super(`The stand-in Slack does not describe ${what}. If Slack takes it, add it to test/sandbox/slack.`)
  }
}

export function refuseOthers(given: object, described: readonly string[], where: string): void {
  const other = Object.keys(given).find((name) => !described.includes(name))
  if (other !== undefined) throw new NotDescribed(`"${other}" ${where}`)
}
