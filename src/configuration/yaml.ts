import { type Alias, type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Pair, parseDocument, visit } from 'yaml'
import { quote } from './notation.ts'
import { tooDeep, yamlSentence } from './yaml-sentences.ts'

export interface Fault {
  line: number
  sentence: string
}

export interface Yaml {
  /** Undefined where the text cannot be understood as a whole: then there are faults. */
  content: { value: unknown } | undefined
  faults: Fault[]
  /** The line (from 1) of the key or list item that a path leads to, or of the last one on the way that is there. */
  lineOf: (path: readonly PropertyKey[]) => number
}

/** What one anchor may be used for, aliases of aliases multiplied: enough for people, too little to fill memory. */
const maxAliasCount = 1_000

/** What is wrong, but leaves the rest as it was meant. */
const harmless: readonly string[] = ['MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE']

/** Parses YAML 1.2 and never throws. Aliases are followed, and bombs of them refused. Pure. */
export function readYaml(text: string): Yaml {
  const lines = new LineCounter()
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line)
  try {
    // Its own check for keys that stand twice takes a minute for a megabyte of them.
    const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false, logLevel: 'silent' } as const
    const document = parseDocument(text, options)
    const errors = [...document.errors, ...document.warnings]
    const faults = onePerLine(errors.map(({ code, pos }) => ({ line: lineAt(pos[0]), sentence: yamlSentence(code) })))
    if (!errors.every(({ code }) => harmless.includes(code))) return { content: undefined, faults, lineOf: () => 1 }
    const { entries, repeated, aliases } = survey(document)
    faults.push(...repeated.map((key) => ({ line: lineAt(offsetOf(key)), sentence: `${quote(String(key))} stands twice here: keep one` })))
    const unbound = aliases.filter((alias) => !alias.resolve(document))
    faults.push(...unbound.map((alias) => ({ line: lineAt(offsetOf(alias)), sentence: yamlSentence('BAD_ALIAS') })))
    const lineOf = (path: readonly PropertyKey[]) => lineAt(offsetAt(path, document, entries))
    if (unbound.length > 0) return { content: undefined, faults, lineOf }
    try {
      return { content: { value: document.toJS({ maxAliasCount }) }, faults, lineOf }
    } catch {
      faults.push({ line: lineAt(offsetOf(aliases[0])), sentence: 'aliases (*) stand for too much: write the values out' })
      return { content: undefined, faults, lineOf }
    }
  } catch {
    // Nothing but the end of the stack comes here.
    return { content: undefined, faults: [{ line: 1, sentence: tooDeep }], lineOf: () => 1 }
  }
}

/** What follows the first error of a line is mostly its consequence. */
function onePerLine(faults: Fault[]): Fault[] {
  return [...Map.groupBy(faults, ({ line }) => line).values()].flatMap((ofLine) => ofLine.slice(0, 1))
}

/** The entries of each map by their keys; of a key that stands twice the last, which is the one that is read. */
type Entries = Map<unknown, Map<string, Pair>>

function survey(document: Document): { entries: Entries; repeated: unknown[]; aliases: Alias[] } {
  const entries: Entries = new Map()
  const repeated: unknown[] = []
  const aliases: Alias[] = []
  visit(document, {
    Map: (_, map) => {
      const known = new Map<string, Pair>()
      for (const pair of map.items) {
        const key = keyOf(pair)
        if (known.has(key)) repeated.push(pair.key)
        known.set(key, pair)
      }
      entries.set(map, known)
    },
    Alias: (_, alias) => {
      aliases.push(alias)
    },
  })
  return { entries, repeated, aliases }
}

function keyOf({ key }: Pair): string {
  return String(isScalar(key) ? key.value : key)
}

function offsetAt(path: readonly PropertyKey[], document: Document, entries: Entries): number {
  let node: unknown = document.contents
  let offset = offsetOf(node)
  for (const segment of path) {
    const place: unknown = isAlias(node) ? node.resolve(document) : node
    const pair = isMap(place) ? entries.get(place)?.get(String(segment)) : undefined
    const item = isSeq(place) ? place.items[Number(segment)] : undefined
    if (!pair && !item) break
    offset = offsetOf(pair?.key ?? item)
    node = pair ? pair.value : item
  }
  return offset
}

function offsetOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}
