import { type ESTree, parseSync } from 'vite'
import { textsOfHtml } from './in-html.ts'
import { linesOf, oneLine, type Sentence, type Sort } from './sentence.ts'

type Node = ESTree.Node
type Above = readonly Node[]

/** Strings under these are names that only the program reads. */
const unread = new Set(['ImportDeclaration', 'ImportExpression', 'ExportAllDeclaration', 'MetaProperty'])

/** Members whose values are shown even if they are one small word. */
const shownMembers =
  /^(?:label|title|text|placeholder|hint|header|summary|details|one|many|before|after|absent|none|caption|words|usage|expected)$/i

/** Collects what a TypeScript file can show to a person: the texts of its templates, and strings that are words and not names. */
export function sentencesInSource(path: string, source: string): Sentence[] {
  const { program, errors } = parseSync(path, source)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const lineAt = linesOf(source)
  const found: Sentence[] = []
  visit(program, [], (node, above) => {
    const sort = sortOf(path, above, source)
    for (const text of textsOf(node, above, source)) found.push({ path, line: lineAt(node.start), sort, text })
  })
  return found
}

function visit(node: Node, above: Above, see: (node: Node, above: Above) => void): void {
  if (unread.has(node.type) || isType(node)) return
  see(node, above)
  for (const child of childrenOf(node)) visit(child, [...above, node], see)
}

/** Types hold literals, too. Expressions such as `value as Type` contain a value. */
const isType = ({ type }: Node) => type.startsWith('TS') && !type.endsWith('Expression')

function childrenOf(node: Node): Node[] {
  const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value && 'start' in value
  return Object.values(node).flat().filter(isNode)
}

function textsOf(node: Node, above: Above, source: string): string[] {
  const parent = above.at(-1)
  if (node.type === 'TemplateLiteral') {
    const text = filledIn(node, source)
    const tag = parent?.type === 'TaggedTemplateExpression' ? sourceOf(parent.tag, source) : ''
    if (tag === 'html' || tag === 'svg') return textsOfHtml(text)
    const own = node.quasis.map(({ value }) => value.raw).join(' ')
    return (tag === '' ? isWording(own) && !isName(node, above, source) : hasWords(own)) ? [oneLine(text)] : []
  }
  if (node.type !== 'Literal' || typeof node.value !== 'string' || !hasWords(node.value) || isName(node, above, source)) return []
  return isWording(node.value) || isShown(node, above, source) ? [oneLine(node.value)] : []
}

/** Shows a template with the source of each part that is filled in. A part that is made of words itself is listed by itself. */
function filledIn({ quasis, expressions }: ESTree.TemplateLiteral, source: string): string {
  const parts = expressions.map((expression) => {
    const text = oneLine(sourceOf(expression, source))
    return `{${text.length <= 40 ? text.replaceAll(/[<>{}]/g, '') : '…'}}`
  })
  return quasis.map(({ value }, index) => `${value.cooked ?? value.raw}${parts[index] ?? ''}`).join('')
}

const sourceOf = ({ start, end }: Node, source: string) => source.slice(start, end)

/** Whether a text says more than an emoji or the path of an icon does. */
const hasWords = (text: string) => /\p{L}{2}/u.test(text.replaceAll(/:[a-z_]+:|^[mM][\d .-].*/g, ''))

/** Whether a string is several words, or a word that begins like a label. */
const isWording = (text: string) => /\p{L}[\p{L}\d’'",;:.!?)]*\s+\S*\p{L}/u.test(text) || /^\p{Lu}\p{Ll}+[.!?…]?$/u.test(text)

/** Whether a string only identifies something: it is compared, is a key, or is sent in a header. */
function isName(node: Node, above: Above, source: string): boolean {
  const parent = above.at(-1)
  switch (parent?.type) {
    case 'BinaryExpression':
      return parent.operator !== '+'
    case 'Property':
      return parent.key === node || sourceOf(parent.key, source) === 'type'
    case 'SwitchCase':
      return parent.test === node
    case 'MemberExpression':
      return true
    default:
      return false
  }
}

/** Whether a single word is shown: it is filled into a template of words, or is the value of a member that is shown. */
function isShown(node: Node, above: Above, source: string): boolean {
  const nearest = above.findLast(({ type }) => !['ConditionalExpression', 'LogicalExpression', 'ParenthesizedExpression'].includes(type))
  if (nearest?.type === 'TemplateLiteral') return true
  if (nearest?.type === 'Property') return shownMembers.test(sourceOf(nearest.key, source)) || isInTableOfWords(above, source)
  return nearest?.type === 'ReturnStatement' && isInTableOfWords([...above, node], source)
}

/** Whether the variable or function around it is named for the words that it has: `stateWords`, `sortNames`. */
function isInTableOfWords(above: Above, source: string): boolean {
  return above.some((node) => {
    const id = node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' ? node.id : null
    return id !== null && /words|labels|names|meanings|phrases|titles|reports$/i.test(sourceOf(id, source).split(':')[0] ?? '')
  })
}

function sortOf(path: string, above: Above, source: string): Sort {
  if (path.startsWith('test/')) return 'sandbox'
  if (path.startsWith('scripts/')) return 'script'
  for (const node of above.toReversed()) {
    if (node.type === 'CallExpression' && /\b(?:log(?:ger)?\??\.\w+|lines\??\.write)$/.test(sourceOf(node.callee, source))) return 'log'
    if (node.type === 'NewExpression' && /Error$|Refusal$|Problem$/.test(sourceOf(node.callee, source))) return 'error'
  }
  return path.startsWith('src/config/') ? 'error' : 'message'
}
