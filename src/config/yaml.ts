import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { quote } from './notation.ts'

export const tooDeep = 'lists are nested too deeply: a policy needs four levels'

export const repeatedAnchor = 'an anchor (&) above has the same name: give each its own name'

const unclosed =
  'the indentation does not fit the lines above it, or a bracket or quote is not closed: line it up with its neighbours and close them'
const colons =
  'there is an extra colon, or quotes are missing: put quotes around text that has ": " in it, and begin lists and keys on a new line'

const sentences: Partial<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here: remove the line with --- or ..., because a policy is one document',
  TAB_AS_INDENT: 'a tab indents this line: use spaces',
  BAD_INDENT: unclosed,
  MISSING_CHAR: unclosed,
  BLOCK_AS_IMPLICIT_KEY: colons,
  MULTILINE_IMPLICIT_KEY: colons,
  BAD_SCALAR_START:
    'a value cannot begin with @ or `: write an id (people and groups have ids such as U0BEN00001 and S0ONCALL01), or put quotes around it',
  BAD_DQ_ESCAPE: 'a backslash in double quotes starts an escape sequence: use single quotes',
  BAD_ALIAS: 'an alias (*) has no anchor: define its anchor (&) above it, or put quotes around it',
  TAG_RESOLVE_FAILED: 'a word that begins with ! is a tag, and tags are not supported: remove it, or put quotes around the value',
  BAD_DIRECTIVE: 'a line that begins with % is a directive, and directives are not supported: remove it',
  NON_STRING_KEY: 'a key must be a plain word such as name or approve',
  RESOURCE_EXHAUSTION: tooDeep,
}

/** Returns a sentence for an error code of the YAML parser. The parser's own messages quote the file and do not say what to do. */
export function yamlSentence(code: string): string {
  return sentences[code] ?? 'this is not YAML: look at the colons, quotes, brackets and indentation of this line and the one above it'
}

export interface Fault {
  line: number
  sentence: string
}

export interface Yaml {
  /** Undefined if the text as a whole could not be parsed. Then `faults` says why. */
  content: { value: unknown } | undefined
  faults: Fault[]
  /** Returns the line of the key or list item at a path, counted from 1. For a missing path, this is the line of its last existing part. */
  lineOf: (path: readonly PropertyKey[]) => number
}

/** How often one anchor may be used. Aliases of aliases multiply. The limit is enough for people and too low to fill the memory. */
const maxAliasCount = 1_000

const options = {
  prettyErrors: false,
  stringKeys: true,
  // The parser's own check for repeated keys takes a minute for a file of 1 MB. `indexDocument` finds them instead.
  uniqueKeys: false,
  // 'silent' would drop a second document without an error. 'error' prints nothing, either.
  logLevel: 'error',
  // Keeps a file from choosing YAML 1.1, in which `no` is false and 010 is 8, or types that no policy has, such as sets.
  schema: 'core',
  resolveKnownTags: false,
} as const

/** Error codes that do not change the meaning of the rest of the document. */
const harmlessCodes: readonly string[] = ['MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED', 'BAD_DIRECTIVE']

/** Parses YAML 1.2. Follows aliases, but refuses documents in which they multiply beyond `maxAliasCount`. Never throws. */
export function readYaml(text: string): Yaml {
  const lines = new LineCounter()
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line)
  try {
    const document = parseDocument(text, { ...options, lineCounter: lines })
    const errors = [...document.errors, ...document.warnings]
    const faults = onePerLine(errors.map(({ code, pos }) => ({ line: lineAt(pos[0]), sentence: yamlSentence(code) })))
    if (!errors.every(({ code }) => harmlessCodes.includes(code))) return { content: undefined, faults, lineOf: () => 1 }
    const { entries, repeated, anchors, aliases } = indexDocument(document)
    if (document.directives?.yaml.version !== '1.2') {
      faults.push({ line: lineAt(text.search(/^\ufeff?%YAML/m)), sentence: yamlSentence('BAD_DIRECTIVE') })
    }
    faults.push(...anchors.map((node) => ({ line: lineAt(offsetOf(node)), sentence: repeatedAnchor })))
    faults.push(...repeated.map((key) => ({ line: lineAt(offsetOf(key)), sentence: `${quote(String(key))} is here twice: keep one` })))
    const unbound = aliases.filter((alias) => !alias.resolve(document))
    faults.push(...unbound.map((alias) => ({ line: lineAt(offsetOf(alias)), sentence: yamlSentence('BAD_ALIAS') })))
    const lineOf = (path: readonly PropertyKey[]) => lineAt(offsetAt(path, document, entries))
    if (unbound.length > 0) return { content: undefined, faults, lineOf }
    try {
      return { content: { value: document.toJS({ maxAliasCount }) }, faults, lineOf }
    } catch {
      faults.push({ line: lineAt(offsetOf(aliases[0])), sentence: 'aliases (*) expand to too much: write the values out' })
      return { content: undefined, faults, lineOf }
    }
  } catch {
    // The only exception that the parser throws is a stack overflow from nested lists.
    return { content: undefined, faults: [{ line: 1, sentence: tooDeep }], lineOf: () => 1 }
  }
}

/** Keeps the first error of each line, because further errors in a line mostly follow from it. */
function onePerLine(faults: Fault[]): Fault[] {
  return [...Map.groupBy(faults, ({ line }) => line).values()].flatMap((ofLine) => ofLine.slice(0, 1))
}

/** The entries of each map by key. For a repeated key this is the last entry, which is the one that `toJS` keeps. */
type Entries = Map<unknown, Map<string, Pair>>

interface Index {
  entries: Entries
  /** Keys that stand above in the same map. */
  repeated: unknown[]
  /** The nodes whose anchor stands above, too. */
  anchors: Node[]
  aliases: Alias[]
}

function indexDocument(document: Document): Index {
  const entries: Entries = new Map()
  const repeated: unknown[] = []
  const anchors: Node[] = []
  const aliases: Alias[] = []
  const knownAnchors = new Set<string>()
  const noteAnchor = (node: Scalar | YAMLMap | YAMLSeq) => {
    if (node.anchor !== undefined && knownAnchors.has(node.anchor)) anchors.push(node)
    if (node.anchor !== undefined) knownAnchors.add(node.anchor)
  }
  visit(document, {
    Scalar: (_, scalar) => noteAnchor(scalar),
    Seq: (_, seq) => noteAnchor(seq),
    Map: (_, map) => {
      noteAnchor(map)
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
  return { entries, repeated, anchors, aliases }
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
