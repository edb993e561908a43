import { type Surface, blocks as schemas } from './block-schemas.ts'
import { optionGroups, options } from './element-schemas.ts'
import { elementsOf } from './elements.ts'
import { isObject, type Json, objectOf, objectsOf, stringOf } from './json.ts'
import { anything, boolean, object, plain, type Report, string } from './schema.ts'

export interface Validation {
  /** As in Slack's `response_metadata.messages`, without the `[ERROR] ` in front: `… [json-pointer:/blocks/0/text]`. */
  errors: string[]
  /** Types of blocks that are not known here; Slack may know them, so they are not errors. */
  unknownBlocks: string[]
}

const mostBlocks: Record<Surface, number> = { message: 50, modal: 100, home: 100 }

function collect(work: (report: Report, unknownBlocks: string[]) => void): Validation {
  const errors: string[] = []
  const unknownBlocks: string[] = []
  work((problem, at) => errors.push(`${problem} [json-pointer:${at}]`), unknownBlocks)
  return { errors: [...new Set(errors)], unknownBlocks }
}

function checkIds(blocks: Json[], at: string, report: Report): void {
  const seen = new Set<string>()
  for (const [index, block] of blocks.entries()) {
    const id = stringOf(block.block_id)
    if (id !== '' && seen.has(id)) report('block_id needs to be unique', `${at}/${index}/block_id`)
    seen.add(id)
    const actions = elementsOf([block]).map((placed) => placed.actionId)
    const twice = actions.find((action, place) => action !== '' && actions.indexOf(action) !== place)
    if (twice !== undefined) report(`action_id "${twice}" already exists in this block`, `${at}/${index}/elements`)
  }
}

function checkBlock(block: unknown, surface: Surface, at: string, report: Report, unknownBlocks: string[]): void {
  const type = stringOf(objectOf(block).type)
  const schema = schemas[type]
  if (type === '') report('missing required field: type', at)
  else if (schema === undefined) unknownBlocks.push(type)
  else if (!schema.surfaces.includes(surface)) report(`unsupported type: ${type}`, `${at}/type`)
  else schema.check(block, at, report)
}

function checkBlocks(value: unknown, surface: Surface, at: string, report: Report, unknownBlocks: string[]): void {
  const blocks = Array.isArray(value) ? value : []
  if (!Array.isArray(value)) report('must be an array', at)
  if (blocks.length > mostBlocks[surface]) report(`no more than ${mostBlocks[surface]} items allowed`, at)
  for (const [index, block] of blocks.entries()) checkBlock(block, surface, `${at}/${index}`, report, unknownBlocks)
  checkIds(objectsOf(blocks), at, report)
}

/** A message's blocks. More than one table is its own error (`only_one_table_allowed`), see `tooManyTables`. */
export function validateMessageBlocks(blocks: unknown): Validation {
  return collect((report, unknownBlocks) => checkBlocks(blocks, 'message', '/blocks', report, unknownBlocks))
}

export function tooManyTables(blocks: Json[]): boolean {
  return blocks.filter((block) => block.type === 'table').length > 1
}

const common = {
  optional: {
    private_metadata: string({ max: 3000 }),
    callback_id: string({ max: 255 }),
    external_id: string({ max: 255 }),
  },
  required: { type: string({ oneOf: ['modal', 'home'] }), blocks: anything },
}

const modal = object({
  required: { ...common.required, title: plain(24) },
  optional: {
    ...common.optional,
    close: plain(24),
    submit: plain(24),
    clear_on_close: boolean,
    notify_on_close: boolean,
    submit_disabled: boolean,
  },
  also: (view, at, report) => {
    const hasInput = objectsOf(view.blocks).some((block) => block.type === 'input')
    if (hasInput && (view.submit === undefined || view.submit === null)) report('missing required field: submit', at)
  },
})

export function validateView(view: unknown, surface: 'modal' | 'home'): Validation {
  return collect((report, unknownBlocks) => {
    if (!isObject(view)) return report('must be an object', '/view')
    if (view.type !== surface) report(`unsupported type: ${String(view.type)}`, '/view/type')
    const shape = surface === 'modal' ? modal : object(common)
    shape(view, '/view', report)
    checkBlocks(view.blocks, surface, '/view/blocks', report, unknownBlocks)
  })
}

/** The answer to an options load: `{ options }` or `{ option_groups }`. */
export function validateOptions(answer: unknown): Validation {
  return collect((report) => {
    if (!isObject(answer)) return report('must be an object', '')
    if (answer.options !== undefined) return options(answer.options, '/options', report)
    if (answer.option_groups !== undefined) return optionGroups(answer.option_groups, '/option_groups', report)
    report('missing required field: options', '')
  })
}
