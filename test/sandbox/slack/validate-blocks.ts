import { block, optionGroups, options } from './block-schemas.ts'
import { isTable } from './data-table-schema.ts'
import { elementsOf } from './elements.ts'
import { isObject, type Json, objectsOf, stringOf } from './json.ts'
import { anything, type Check, object, plain, type Report, refuseOthers, string } from './schema.ts'

const mostBlocks = { message: 50, modal: 100, home: 100 }
type Surface = keyof typeof mostBlocks

/** Returns problems as in Slack's `response_metadata.messages`, without the leading `[ERROR] `: `… [json-pointer:/blocks/0/text]`. */
function problemsOf(check: Check, value: unknown, at: string): string[] {
  const problems = new Set<string>()
  check(value, at, (problem, where) => problems.add(`${problem} [json-pointer:${where}]`))
  return [...problems]
}

function checkIds(blocks: Json[], at: string, report: Report): void {
  const seen = new Set<string>()
  for (const [index, one] of blocks.entries()) {
    const id = stringOf(one.block_id)
    if (id !== '' && seen.has(id)) report('block_id needs to be unique', `${at}/${index}/block_id`)
    seen.add(id)
    const actions = elementsOf([one]).map((placed) => placed.actionId)
    const twice = actions.find((action, place) => action !== '' && actions.indexOf(action) !== place)
    if (twice !== undefined) report(`action_id "${twice}" already exists in this block`, `${at}/${index}/elements`)
  }
}

function checkTables(blocks: Json[], surface: Surface, at: string, report: Report): void {
  const tables = [...blocks.entries()].filter(([, one]) => isTable(one))
  const [, second] = tables
  if (second) report('only one table is allowed', `${at}/${second[0]}`)
  for (const [index] of surface === 'modal' ? tables : []) report('unsupported type: data_table', `${at}/${index}/type`)
}

const blocksOf =
  (surface: Surface): Check =>
  (value, at, report) => {
    if (!Array.isArray(value)) return report('must be an array', at)
    if (value.length > mostBlocks[surface]) report(`no more than ${mostBlocks[surface]} items allowed`, at)
    for (const [index, one] of value.entries()) block(one, `${at}/${index}`, report)
    checkIds(objectsOf(value), at, report)
    checkTables(objectsOf(value), surface, at, report)
  }

const modal = object({
  required: { type: anything, title: plain(24), blocks: blocksOf('modal') },
  optional: { close: plain(24), submit: plain(24), callback_id: string({ max: 255 }), private_metadata: string({ max: 3000 }) },
  also: (view, at, report) => {
    const hasInput = objectsOf(view.blocks).some((one) => one.type === 'input')
    if (hasInput && (view.submit === undefined || view.submit === null)) report('missing required field: submit', at)
  },
})
const home = object({ required: { type: anything, blocks: blocksOf('home') } })

/** Returns the problems of the blocks of a message. */
export function problemsWithBlocks(blocks: unknown): string[] {
  return problemsOf(blocksOf('message'), blocks, '/blocks')
}

export function problemsWithView(view: unknown, surface: 'modal' | 'home'): string[] {
  if (isObject(view) && view.type !== surface) return [`unsupported type: ${String(view.type)} [json-pointer:/view/type]`]
  return problemsOf(surface === 'modal' ? modal : home, view, '/view')
}

/** Returns the problems of an answer to an option load: `{ options }` or `{ option_groups }`. */
export function problemsWithOptions(answer: { options?: unknown; option_groups?: unknown }): string[] {
  refuseOthers(answer, ['options', 'option_groups'], 'in an answer to a request for options')
  if (answer.option_groups !== undefined) return problemsOf(optionGroups, answer.option_groups, '/option_groups')
  return answer.options === undefined ? ['missing required field: options'] : problemsOf(options, answer.options, '/options')
}
