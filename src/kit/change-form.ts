import type { KnownBlock, ModalView, PlainTextOption } from '@slack/web-api'
import { z } from 'zod'
import type { App } from '../app.ts'
import { problemIn } from '../bolt/errors.ts'
import { refuseForm } from '../bolt/open-forms.ts'
import type { Filling } from '../buttons/again-forms.ts'
import type { Change } from '../domain/change.ts'
import { CheckFailed } from '../domain/errors.ts'
import { typedName } from '../domain/text.ts'
import { within } from '../domain/within.ts'
import { StartRefused } from '../life/submit.ts'
import { reasonField, startField, submittedWords } from '../messages/submit-words.ts'
import { ReasonRequired } from '../rights/authorize.ts'
import { input, modal, plainTextInput, problemBlocks, reasonBlockId, reasonIn, startBlockId, startIn } from '../slack/blocks.ts'
import { nothingRequested, Refusal, toUserWords } from '../slack/errors.ts'
import type { Choices, Click, OptionsQuery, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { type Metadata, readMetadata, writeMetadata } from '../slack/payloads.ts'
import { externalSelect, isChoice, keepChoice, preset, radioButtons } from '../slack/pickers.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Findings } from './findings.ts'
import { type AnyThing, offerThings, type Thing } from './thing.ts'

/** What a field holds: a text, or the option that was chosen. */
export type Entered = string | PlainTextOption | undefined
type AllEntered = Record<string, Entered>

/** A field of a form. Its name is that of the member of the change's input, and the id of its block. */
export interface Field {
  label: string
  hint?: string
  optional?: boolean
  thing?: AnyThing
  /** For a picker that offers only what fits the choice in another one, the name of that field. */
  dependsOn?: string
  /** Returns which things fit that choice. `chosen`: the id. */
  fits?: (app: App, chosen: string) => Promise<(item: never) => boolean>
  /** Says why the text, or the value of the chosen option, cannot be taken. An empty optional field is `''`. */
  problem?: (entered: string) => Mrkdwn | undefined
  element: (actionId: string, entered: Entered, metadata: string) => Parameters<typeof input>[0]['element']
}

type Words = Pick<Field, 'label' | 'hint' | 'optional' | 'problem'>

export function text({ maxLength, ...words }: Words & { maxLength?: number }): Field {
  const element = (actionId: string, entered: Entered) => plainTextInput({ actionId, maxLength, initialValue: enteredText(entered) })
  // Slack takes spaces for a text, and nothing is left of them.
  const missing = words.optional ? undefined : mrkdwn`Enter the ${words.label.toLowerCase()}.`
  const problem = (entered: string) => words.problem?.(entered) ?? (entered === '' ? missing : undefined)
  return { ...words, problem, element }
}

export function pick<Item extends { id: string }>(
  thing: Thing<Item>,
  words: Words & { dependsOn?: string; fits?: (app: App, chosen: string) => Promise<(item: Item) => boolean> },
): Field {
  return {
    problem: (entered) => (isChoice(entered) ? undefined : mrkdwn`Choose ${thing.a}.`),
    ...words,
    thing,
    element: (actionId, entered) => externalSelect({ actionId, placeholder: `Choose ${thing.a}`, initialOption: optionIn(entered) }),
  }
}

export function oneOf(options: [PlainTextOption, ...PlainTextOption[]], words: Words): Field {
  const chosen = (entered: Entered) => options.find(({ value }) => value === enteredText(entered)) ?? options[0]
  return { ...words, element: (actionId, entered) => radioButtons(actionId, options, chosen(entered)) }
}

/** Below its own fields it has one for the reason. The name of a field is that of its member of the input. */
export interface Form<Input, Facts, Name extends string = keyof Input & string> {
  callbackId: string
  title: string
  fields: Record<Name, Field>
  /** Returns the input of the change. Throws a Refusal. Default: what was entered, under the names of the fields. */
  input?(entered: Record<Name, string>, submission: Pick<Submission, 'origin' | 'deliveryKey'>, app: App): Input | Promise<Input>
  /** Fills the fields with a change. Default of each: the text in the input under its name. */
  filled(input: Input, facts: Facts): Partial<Record<Name, Entered>>
  /** The field of what the change is about: lists and look-ups fill it. */
  about: Name
  /** The field that shows a refusal whose finding names none. Default: `about`. */
  errorsAt?: Name
  /** Set if it asks for the end of a key: its metadata then has what the rule says about that. */
  hasEnds?: true | undefined
  /** Set if it starts on a click of its requester, or right after the approval, so that no start is asked for. */
  takesNoStart?: true | undefined
  boxes?: Boxes<Input, Facts>
}

/** Boxes to tick, and sentences about them, as the account has them for what is chosen in the pickers. */
interface Boxes<Input, Facts> {
  /** The member of the change's input that gets what is ticked. The id of each block begins with it and a colon. */
  name: string
  /** Reads the blocks. `asked`: absent if nobody ticked anything yet. Throws an error with words if they cannot be read. */
  read(app: App, chosen: Record<string, string | undefined>, asked: Asked | undefined, signal: AbortSignal): Promise<KnownBlock[]>
  /** What the form says instead of them if the read takes too long. */
  late: Mrkdwn
  /** The same from an earlier request, without a read. */
  filled(input: Input, facts: Facts): { blocks: KnownBlock[]; asked: Asked }
  /** Says why the form can't be sent. `ticked`: undefined if it shows nothing to tick. */
  problem(ticked: string[] | undefined): Mrkdwn | undefined
}

/** `ticked`: what was ticked before. `only`: shows no other boxes than these, because an earlier request was about them. */
interface Asked {
  ticked: string[]
  only?: string[]
}

// biome-ignore lint/suspicious/noExplicitAny: only `submitForm` and `filledForm` need to know the change of a form.
type AnyForm = Form<any, any, any>

interface View {
  metadata: string
  entered?: AllEntered
  /** The ids of blocks that are not called like their fields. */
  blockIds?: Record<string, string>
  boxes?: KnownBlock[]
  reason?: string | undefined
  start?: string | undefined
  /** Shown on top: why the form was refused, or why it opened. */
  problem?: Mrkdwn | undefined
}

/** The id of a field's element, under which Slack asks for options and sends clicks. */
export function actionIdOf({ callbackId }: Pick<AnyForm, 'callbackId'>, name: string): string {
  return `${callbackId}:${name}`
}

export function formView(form: AnyForm, { metadata, entered = {}, blockIds = {}, boxes = [], reason, start, problem }: View): ModalView {
  const fields = fieldsOf(form)
  const leading = fields.find(([, { dependsOn }]) => dependsOn !== undefined)?.[1].dependsOn
  const block = ([name, { label, hint, optional, thing, element }]: [string, Field]): KnownBlock =>
    input({
      blockId: blockIds[name] ?? name,
      label,
      hint,
      optional,
      dispatchAction: name === leading || (thing !== undefined && form.boxes !== undefined),
      element: element(actionIdOf(form, name), entered[name], metadata),
    })
  // Without a box to tick, they say why, below what the change is about.
  const hasBoxes = boxes.some(({ type }) => type === 'input')
  return modal({
    callbackId: form.callbackId,
    title: readMetadata(metadata)?.title ?? form.title,
    submit: 'Request approval',
    metadata: leading === undefined ? metadata : noted(metadata, { chosen: enteredText(entered[leading]) }),
    blocks: [
      ...problemBlocks(problem),
      ...fields.flatMap((field) => [block(field), ...(field[0] === form.about && !hasBoxes ? boxes : [])]),
      ...(hasBoxes ? boxes : []),
      ...(form.takesNoStart ? [] : startField(metadata, start)),
      ...reasonField(metadata, reason),
    ],
  })
}

const boxesMs = 1_200

/** Renders the form with the boxes for what is chosen. If they can't be read, it shows those that `view` has, or says why. */
export async function formWithBoxes(app: App, form: AnyForm, view: View, asked?: Asked): Promise<ModalView> {
  const { boxes } = form
  if (!boxes) return formView(form, view)
  const chosen = Object.fromEntries(Object.entries(view.entered ?? {}).map(([name, entered]) => [name, enteredText(entered)]))
  try {
    const read = await within(boxesMs, boxes.read(app, chosen, asked, AbortSignal.timeout(boxesMs)))
    if (read.is === 'ready') return formView(form, { ...view, boxes: read.value })
    throw new Refusal('account-slow', boxes.late)
  } catch (error) {
    const problem = toUserWords(error)
    if (problem === undefined) throw error
    return formView(form, { ...view, problem: view.problem ?? (view.boxes ? undefined : problem) })
  }
}

/** Fills a form with an earlier request, with the change that undoes one, or with the words of a command. */
export function filledView<Input, Facts>(
  form: Form<Input, Facts, string>,
  change: Change<Input, Facts>,
  metadata: string,
  { reason, problem, title, ...filling }: Filling,
): { view: View; asked: Asked | undefined } {
  const [input, facts] = [change.input.parse(filling.input), change.facts.parse(filling.facts)]
  const texts = Object.entries(input as object).filter(([, value]) => typeof value === 'string')
  const entered = { ...Object.fromEntries(texts), ...form.filled(input, facts) }
  const boxes = form.boxes?.filled(input, facts)
  const view = { metadata: noted(metadata, { title }), entered, boxes: boxes?.blocks, reason, problem }
  return { view, asked: boxes?.asked }
}

export function formForItem(form: AnyForm, metadata: string, { id, text }: { id: string; text: string }): ModalView {
  return formView(form, { metadata, entered: { [form.about]: preset({ text, value: id }) } })
}

/** Requests what was entered. A form that is refused stays open, and its fields say why. Throws errors that are no refusals. */
export async function submitForm<Input, Facts>(
  app: App,
  form: Form<Input, Facts, string>,
  { change, findings }: { change: Change<Input, Facts>; findings: Findings },
  submission: Submission,
): Promise<SubmissionAnswer> {
  const { metadata, origin, deliveryKey } = submission
  const { entered, blockIds, ticked } = readForm(form, submission)
  const [reason, boxes] = [reasonIn(submission.values), keptBoxes(form, submission)]
  const start = startIn(submission.values)
  const again = (problem: Mrkdwn) => formView(form, { metadata, entered, blockIds, boxes, reason, start, problem })
  const blockOf = (name: string) => blockIds[name] ?? name
  const values = Object.fromEntries(fieldsOf(form).map(([name]) => [name, enteredText(entered[name]) ?? '']))
  const boxesProblem = boxes.length > 0 || ticked ? form.boxes?.problem(ticked) : undefined
  const problems = fieldsOf(form).map(([name, { problem }]) => [blockIds[name], problem?.(values[name] ?? '')])
  const wrong = [[blockIds[form.boxes?.name ?? ''] ?? blockOf(form.about), boxesProblem], ...problems]
  const refused = refuseForm(Object.fromEntries(wrong.filter(([, problem]) => problem !== undefined)), again)
  if (refused) return refused
  // A field that was left empty is no member of the input.
  const filledIn = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const { undoes, repeats, message: fromMessage } = readMetadata(metadata) ?? {}
  try {
    const entry = { ...filledIn, ...(form.boxes && ticked && { [form.boxes.name]: ticked }) } as Input
    const input = (await form.input?.(values, submission, app)) ?? entry
    const earlier = { undoes: undoes?.id, repeats: repeats?.id, fromMessage }
    const outcome = await app.submit({ change, input, origin, reason, start, deliveryKey, ...earlier })
    return { is: 'accepted', words: submittedWords(outcome), title: 'Request sent' }
  } catch (error) {
    // The form stays open beside the words of a check.
    const shown = error instanceof CheckFailed ? error : nothingRequested(error)
    const problem = await problemIn(app, shown, { at: `submission ${submission.callbackId}`, origin })
    const own = error instanceof ReasonRequired ? reasonBlockId : error instanceof StartRefused ? startBlockId : undefined
    const field = error instanceof Refusal ? error.field : findings.fieldOf(error)
    const at = own ?? blockIds[field ?? ''] ?? blockOf(form.errorsAt ?? form.about)
    return { is: 'refused', problems: { [at]: problem }, again }
  }
}

const KeptBlock = z.looseObject({
  block_id: z.string(),
  element: z.looseObject({ options: z.array(z.looseObject({ value: z.string() })) }).optional(),
})

/** As they were ticked: the person may not have seen newer ones, and a form without boxes can mean all there is. */
function keptBoxes({ boxes }: AnyForm, { blocks, ticked }: Pick<Submission, 'blocks' | 'ticked'>): KnownBlock[] {
  if (!boxes) return []
  return blocks.flatMap((block) => {
    const { data } = KeptBlock.safeParse(block)
    if (!data?.block_id.startsWith(`${boxes.name}:`)) return []
    if (!data.element) return [data as unknown as KnownBlock]
    const { initial_options: _, ...element } = data.element
    const initial = element.options.filter(({ value }) => ticked[data.block_id]?.includes(value))
    return [{ ...data, element: { ...element, ...(initial.length > 0 && { initial_options: initial }) } } as unknown as KnownBlock]
  })
}

/** Offers what a picker finds. The choice that it depends on is in the metadata: Slack sends no other field with an option load (bolt-js 1146). */
export async function offerChoices(
  app: App,
  { thing, fits, dependsOn }: Field,
  { typed, metadata, values }: OptionsQuery,
): Promise<Choices> {
  const chosen = dependsOn === undefined ? undefined : (readMetadata(metadata)?.chosen ?? values[dependsOn])
  const doesFit = fits && isChoice(chosen) ? ((await fits(app, chosen)) as (item: unknown) => boolean) : undefined
  return offerThings(app, thing as AnyThing, typed, doesFit)
}

/** Renders an open form again after a choice. The choice in a field that depends on it goes, unless it was made first. */
export async function updateForm(app: App, form: AnyForm, name: string, { view }: Click): Promise<void> {
  if (!view) return
  const { entered, blockIds, ticked } = readForm(form, view)
  const [dependent] = fieldsOf(form).find(([, { dependsOn }]) => dependsOn === name) ?? []
  const [before, chosen] = [readMetadata(view.metadata)?.chosen, enteredText(entered[name])]
  const shown = { metadata: view.metadata, reason: reasonIn(view.values), start: startIn(view.values), entered, blockIds }
  if (dependent === undefined || chosen === before) {
    if (form.boxes) await view.update(await formWithBoxes(app, form, shown, ticked && { ticked }))
    return
  }
  if (before !== undefined) shown.entered = { ...entered, [dependent]: undefined }
  // A new block id makes Slack drop the options and the choice. Before the first choice the id stays, because the person may be typing there.
  if (before !== undefined || entered[dependent] !== undefined)
    shown.blockIds = { ...blockIds, [dependent]: `${dependent}:${chosen ?? ''}` }
  await view.update(await formWithBoxes(app, form, shown))
}

/** Reads what was entered, with the ids of the blocks that hold it. `ticked`: undefined if there was nothing to tick. */
function readForm(form: AnyForm, { values, chosen, ticked }: Pick<Submission, 'values' | 'chosen' | 'ticked'>) {
  const blockIds: Record<string, string> = {}
  const entered: AllEntered = {}
  for (const [name, { thing }] of fieldsOf(form)) {
    const blockId = Object.keys(values).find((each) => each === name || each.startsWith(`${name}:`)) ?? name
    blockIds[name] = blockId
    entered[name] = thing ? keepChoice(chosen[blockId]) : typedName(values[blockId] ?? '')
  }
  if (!form.boxes) return { entered, blockIds, ticked: undefined }
  const { name } = form.boxes
  const groups = Object.keys(ticked).filter((blockId) => blockId.startsWith(`${name}:`))
  if (groups[0] === undefined) return { entered, blockIds, ticked: undefined }
  blockIds[name] = groups[0]
  return { entered, blockIds, ticked: [...new Set(groups.flatMap((blockId) => ticked[blockId] ?? []))] }
}

export function fieldsOf(form: AnyForm): [string, Field][] {
  return Object.entries(form.fields as Record<string, Field>)
}

function enteredText(entered: Entered): string | undefined {
  return typeof entered === 'string' ? entered : entered?.value
}

export function optionIn(entered: Entered): PlainTextOption | undefined {
  return typeof entered === 'string' ? undefined : entered
}

export function noted(metadata: string, more: Pick<Metadata, 'chosen' | 'title' | 'ends'>): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, ...more }) : metadata
}
