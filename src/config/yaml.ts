import { isNode, LineCounter, parseDocument } from 'yaml'
import { quote } from './notation.ts'

export interface Fault {
  line: number
  sentence: string
}

export interface Yaml {
  /** Undefined if the text could not be parsed. Then `faults` says why. */
  content: { value: unknown } | undefined
  faults: Fault[]
  /** Counted from 1. For a missing path, the line of its last existing part. */
  lineOf: (path: readonly PropertyKey[]) => number
}

const options = {
  stringKeys: true,
  // 'silent' would drop a second document without an error. 'error' prints nothing, either.
  logLevel: 'error',
  // Keeps a file from choosing YAML 1.1, in which `no` is false and 010 is 8, or types that no policy has, such as sets.
  version: '1.2',
  schema: 'core',
  resolveKnownTags: false,
} as const

/** Aliases of aliases multiply. */
const maxAliasCount = 100

/** Parses YAML 1.2. The faults are the parser's own. Never throws. */
export function readYaml(text: string): Yaml {
  const lines = new LineCounter()
  const unreadable = (faults: Fault[]): Yaml => ({ content: undefined, faults, lineOf: () => 1 })
  try {
    const document = parseDocument(text, { ...options, lineCounter: lines })
    const faults = [...document.errors, ...document.warnings].map(({ message, linePos }) => ({
      line: linePos?.[0].line ?? 1,
      sentence: sentenceOf(message),
    }))
    if (faults.length > 0) return unreadable(faults)
    const lineOf = (path: readonly PropertyKey[]): number => {
      // A single entry may stand without its list.
      const withoutList = path.filter((segment, index) => segment !== 0 || index < 2)
      const node = document.getIn(path, true) ?? document.getIn(withoutList, true)
      if (isNode(node) && node.range) return Math.max(1, lines.linePos(node.range[0]).line)
      return path.length > 0 ? lineOf(path.slice(0, -1)) : 1
    }
    return { content: { value: document.toJS({ maxAliasCount }) }, faults, lineOf }
  } catch (error) {
    // Lists that are nested too deeply overflow the stack, and aliases can lead nowhere or to too much.
    return unreadable([{ line: 1, sentence: sentenceOf(String(error)) }])
  }
}

/** The parser's messages end with the place and an excerpt of the file, which may hold a token. */
function sentenceOf(message: string): string {
  const [first = ''] = message.replace(/^\w*Error: /, '').split(/ at line \d|\n/)
  return quote(first, 300) === JSON.stringify(first.slice(0, 300)) ? `not valid YAML: ${first}` : 'not valid YAML'
}
