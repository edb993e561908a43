import { parseSync } from 'vite'

/** A small change of one file, which a test should notice. `what` says what was changed, in one line. */
export interface Mutant {
  line: number
  what: string
  text: string
}

interface Change {
  start: number
  end: number
  by: string
}

/** What all nodes of the syntax tree have. Its other members depend on its type. */
interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

const opposite: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
}

const otherMethod = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
])

export function mutantsOf(file: string, text: string): Mutant[] {
  const changes = file.endsWith('.lua') ? changesOfLua(text) : changesOfTypeScript(file, text)
  const mutants = changes.map(({ start, end, by }) => ({
    line: text.slice(0, start).split('\n').length,
    what: `${inOneLine(text.slice(start, end))} → ${inOneLine(by) || 'removed'}`,
    text: text.slice(0, start) + by + text.slice(end),
  }))
  return mutants.filter((mutant) => file.endsWith('.lua') || parseSync(file, mutant.text).errors.length === 0)
}

function inOneLine(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim()
  return line.length > 90 ? `${line.slice(0, 60)} … ${line.slice(-25)}` : line
}

function changesOfTypeScript(file: string, text: string): Change[] {
  const changes: Change[] = []
  const code = (node: unknown) => text.slice((node as Node).start, (node as Node).end)
  const replace = (node: unknown, by: string) => changes.push({ start: (node as Node).start, end: (node as Node).end, by })

  function visit(node: Node, parent: Node): void {
    // What is logged or counted is not worth a test of every detail.
    const called = node.type === 'ExpressionStatement' ? (node.expression as Node) : node
    if (called.type === 'CallExpression' && /(^|\.)(log|lines|metrics)\b/.test(code(called.callee))) return
    mutate(node, parent)
    for (const child of childrenOf(node)) visit(child, node)
  }

  function mutate(node: Node, parent: Node): void {
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
        replace(node.test, `!(${code(node.test)})`)
        if (node.type === 'IfStatement' && !node.alternate && leaves(node.consequent as Node)) replace(node, '')
        return
      case 'BinaryExpression':
      case 'LogicalExpression': {
        if (node.operator === '??') replace(node, `(${code(node.left)})`)
        const other = opposite[node.operator as string]
        // A test is negated as a whole.
        const negated = parent.test === node && /==/.test(node.operator as string)
        if (other && !negated) replace(node, `(${code(node.left)} ${other} ${code(node.right)})`)
        if (node.operator === '-') replace(node, `(${code(node.left)} + ${code(node.right)})`)
        return
      }
      case 'UnaryExpression':
        if (node.operator === '!' && parent.test !== node) replace(node, code(node.argument))
        return
      case 'ReturnStatement':
        if (node.argument && isWorthEmptying(node.argument as Node, code)) replace(node.argument, 'undefined')
        return
      case 'ArrowFunctionExpression':
        if (node.expression && isWorthEmptying(node.body as Node, code)) replace(node.body, 'undefined')
        return
      case 'ExpressionStatement':
        if (/Call|Await|Assignment/.test((node.expression as Node).type)) replace(node, ';')
        return
      case 'CallExpression': {
        const { object, property } = node.callee as { object?: Node; property?: Node }
        if (!object || !property) return
        const other = otherMethod.get(code(property))
        if (other) replace(property, other)
        if (['filter', 'toSorted'].includes(code(property))) replace(node, code(object))
        return
      }
      case 'Literal':
        // A flag of an object is removed as a whole.
        if (typeof node.value === 'boolean' && parent.type !== 'Property') replace(node, String(!node.value))
        if (typeof node.value === 'number') replace(node, node.value < 10 ? String(node.value + 1) : `(2 * ${node.raw})`)
        return
      case 'Property':
        if (parent.type === 'ObjectExpression' && !isWiring(node) && !isSentence(node.value as Node)) replace(node, '...{}')
        return
      case 'ArrayExpression':
        // The only element of a list in an object is removed together with the list.
        if (parent.type === 'Property' && (node.elements as Node[]).length === 1) return
        for (const element of node.elements as Node[]) if (element.type !== 'SpreadElement') replace(element, '...[]')
    }
  }

  const program = parseSync(file, text).program as unknown as Node
  visit(program, program)
  return changes
}

/** Types do nothing when the program runs, and imports are not mutated. */
function childrenOf(node: Node): Node[] {
  const children = Object.values(node)
    .flat()
    .filter((value): value is Node => typeof (value as Node | null)?.type === 'string')
  const kept = /^TS(As|Satisfies|NonNull)/
  return children.filter(({ type }) => (!type.startsWith('TS') || kept.test(type)) && type !== 'ImportDeclaration')
}

function leaves(node: Node): boolean {
  const last = node.type === 'BlockStatement' ? (node.body as Node[]).at(-1) : node
  return /^(Return|Throw|Break|Continue)/.test(last?.type ?? '')
}

/** Whether a result has a mutant without it: not functions, and not `undefined`, `true` and `false`, which have others or none. */
function isWorthEmptying(result: Node, code: (node: Node) => string): boolean {
  const { type, properties } = (result.type === 'ParenthesizedExpression' ? result.expression : result) as Node
  if (type === 'ObjectExpression') return (properties as Node[]).some((property) => property.type === 'Property' && !isWiring(property))
  return !/Function|JSX/.test(type) && !['undefined', 'true', 'false'].includes(code(result))
}

/** Whether a property only passes on a collaborator, or is a function: without it nothing would work at all. */
function isWiring(property: Node): boolean {
  return property.shorthand === true || /Function/.test((property.value as Node).type)
}

function isSentence({ value }: Node): boolean {
  return typeof value === 'string' && value.includes(' ')
}

/** Lua has no parser here. The few scripts are mutated by their text. */
const luaChanges: [pattern: RegExp, by: string][] = [
  [/ == /g, ' ~= '],
  [/ ~= /g, ' == '],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bnot /g, ''],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/'NX', /g, ''],
  // A whole line that writes, and an early return.
  [/(?<=\n *)redis\.call\(.*\)(?= *\n)/g, ''],
  [/(?<=\n *)if .* then return .* end(?= *\n)/g, ''],
]

function changesOfLua(text: string): Change[] {
  // Comments become spaces, so that nothing in them is found.
  const code = text.replace(/--.*/g, (comment) => ' '.repeat(comment.length))
  return luaChanges.flatMap(([pattern, by]) =>
    [...code.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length, by })),
  )
}
