import type { KnownBlock, ModalView, PlainTextOption } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Change } from '../domain/change.ts'
import { within } from '../domain/within.ts'
import { purposeOf, reasonField, withPurpose } from '../messages/forms.ts'
import { type Filling, submitFromForm } from '../requests/forms.ts'
import { input, modal, plainTextInput, problemBlocks, reasonIn } from '../slack/blocks.ts'
import { refuseForm } from '../slack/forms.ts'
import type { Choices, Chosen, Click, OptionsQuery, Submission, SubmissionAnswer, Values } from '../slack/interactions.ts'
import { readMetadata, writeMetadata } from '../slack/payloads.ts'
import { externalSelect, isChoice, keepChoice, preset, radioButtons } from '../slack/pickers.ts'
import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Findings } from './findings.ts'
import { type AnyThing, offerThings, type Thing } from './thing.ts'

/** What a field holds: a text, or the option that was chosen. */
export type Entered = string | PlainTextOption | undefined
type AllEntered = Record<string, Entered>

/** A field of a form. Its name is that of the member of the change's input, and the id of its block. */
interface Field {
  label: string
  /** Small print below the field. */
  hint?: string
  optional?: boolean
  /** The things that its picker offers. */
  thing?: AnyThing
  /** For a picker that offers only what fits the choice in another one, the name of that field. */
  dependsOn?: string
  /** Returns which things fit that choice. `chosen`: the id. */
  fits?: (app: App, chosen: string) => Promise<(item: never) => boolean>
  /** Says why the text, or the value of the chosen option, cannot be taken. */
  problem?: (entered: string) => Mrkdwn | undefined
  element: (actionId: string, entered: Entered) => Parameters<typeof input>[0]['element']
}

type Words = Pick<Field, 'label' | 'hint' | 'optional' | 'problem'>

/** A field for a line of text. */
export function text({ maxLength, ...words }: Words & { maxLength?: number }): Field {
  const element = (actionId: string, entered: Entered) => plainTextInput({ actionId, maxLength, initialValue: enteredText(entered) })
  return { ...words, element }
}

/** A picker that searches the things of the account. */
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

/** Radio buttons, of which the first one is chosen at first. */
export function oneOf(options: [PlainTextOption, ...PlainTextOption[]], words: Words): Field {
  const chosen = (entered: Entered) => options.find(({ value }) => value === enteredText(entered)) ?? options[0]
  return { ...words, element: (actionId, entered) => radioButtons(actionId, options, chosen(entered)) }
}

/**
 * The form of a kind of change. Below its own fields it has one for the reason. A new field is an entry of `fields`, and a member of that name
 * in the input of the change.
 */
export interface Form<Input, Facts, Name extends string = keyof Input & string> {
  callbackId: string
  title: string
  fields: Record<Name, Field>
  /** Returns the input of the change. Default: what was entered, under the names of the fields. */
  input?(entered: Record<Name, string>, submission: Pick<Submission, 'origin' | 'deliveryKey'>): Input
  /**
   * Fills the fields with the change that an earlier request made, or that a command names. Default of each field: the text in the input under
   * its name.
   */
  filled(input: Input, facts: Facts): Partial<Record<Name, Entered>>
  /** The field that shows a refusal whose finding names none. Default: the first one. */
  errorsAt?: Name
}

// biome-ignore lint/suspicious/noExplicitAny: only `submitForm` and `filledForm` need to know the change of a form.
type AnyForm = Form<any, any, any>

interface View {
  metadata: string
  entered?: AllEntered
  /** The ids of blocks that are not called like their fields. */
  blockIds?: Record<string, string>
  reason?: string | undefined
  /** Shown on top: why the form was refused, or why it opened. */
  problem?: Mrkdwn | undefined
}

/** The id of a field's element, under which Slack asks for options and sends clicks. */
export function actionIdOf({ callbackId }: Pick<AnyForm, 'callbackId'>, name: string): string {
  return `${callbackId}:${name}`
}

export function formView(form: AnyForm, { metadata, entered = {}, blockIds = {}, reason, problem }: View): ModalView {
  const fields = fieldsOf(form)
  const purpose = purposeOf(metadata, choiceIn(form, entered), form.title)
  const isFilled = readMetadata(metadata)?.filled !== undefined
  const leading = fields.find(([, { dependsOn }]) => dependsOn !== undefined)?.[1].dependsOn
  const block = ([name, { label, hint, optional, thing, element }]: [string, Field]): KnownBlock =>
    input({
      blockId: blockIds[name] ?? name,
      label,
      hint,
      optional,
      // Another picker depends on the choice, or the title does, because an earlier request filled the form.
      dispatchAction: name === leading || (isFilled && thing !== undefined),
      element: element(actionIdOf(form, name), entered[name]),
    })
  return modal({
    callbackId: form.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata: leading === undefined ? metadata : withLeading(metadata, enteredText(entered[leading])),
    blocks: [...problemBlocks(problem), ...fields.map(block), ...reasonField(metadata, reason, purpose)],
  })
}

/** Renders the form filled with an earlier request, with the change that undoes one, or with the words of a command. */
export function filledForm<Input, Facts>(
  form: Form<Input, Facts, string>,
  change: Pick<Change<Input, Facts>, 'input' | 'facts'>,
  metadata: string,
  { reason, problem, title, ...filling }: Filling,
): ModalView {
  const input = change.input.parse(filling.input)
  const texts = Object.entries(input as object).filter(([, value]) => typeof value === 'string')
  const entered = { ...Object.fromEntries(texts), ...form.filled(input, change.facts.parse(filling.facts)) }
  return formView(form, { metadata: withPurpose(metadata, choiceIn(form, entered), title), entered, reason, problem })
}

/** Renders the form for one thing, named as in a list: in the first field. */
export function formForItem(form: AnyForm, metadata: string, { id, text }: { id: string; text: string }): ModalView {
  const [first = ''] = Object.keys(form.fields)
  return formView(form, { metadata, entered: { [first]: preset({ text, value: id }) } })
}

/** Requests what was entered. A form that is refused stays open, and its fields say why. */
export async function submitForm<Input, Facts>(
  app: App,
  form: Form<Input, Facts, string>,
  { change, findings }: { change: Change<Input, Facts>; findings: Findings },
  submission: Submission,
): Promise<SubmissionAnswer> {
  const { entered, blockIds } = readForm(form, submission)
  const reason = reasonIn(submission.values)
  const again = (problem: Mrkdwn) => formView(form, { metadata: submission.metadata, entered, blockIds, reason, problem })
  const values = Object.fromEntries(fieldsOf(form).map(([name]) => [name, enteredText(entered[name]) ?? '']))
  const problems = fieldsOf(form).map(([name, { problem }]) => [blockIds[name], problem?.(values[name] ?? '')])
  const refused = refuseForm(Object.fromEntries(problems), again)
  if (refused) return refused
  const [first = ''] = Object.keys(form.fields)
  return submitFromForm(app.submit, submission, {
    change,
    // A field that was left empty is no member of the input.
    input: form.input?.(values, submission) ?? (Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as Input),
    reason,
    blockId: (error) => blockIds[findings.fieldOf(error) ?? ''] ?? blockIds[form.errorsAt ?? first] ?? first,
    again,
  })
}

/** Offers what a picker finds. The choice that it depends on is in the metadata: Slack sends no other field with an option load (bolt-js 1146). */
export async function offerChoices(
  app: App,
  { thing, fits, dependsOn }: Field,
  { typed, metadata, values }: OptionsQuery,
): Promise<Choices> {
  const chosen = dependsOn === undefined ? undefined : (readMetadata(metadata)?.extra ?? values[dependsOn])
  const doesFit = fits && isChoice(chosen) ? ((await fits(app, chosen)) as (item: unknown) => boolean) : undefined
  return offerThings(app, thing as AnyThing, typed, doesFit)
}

/** How long a form waits to know whether a choice still fits. After that the person chooses again. */
const fitsWithinMs = 1_000

/** Renders an open form again after a choice. A choice that depends on this one stays if it still fits. */
export async function updateForm(app: App, form: AnyForm, name: string, { view }: Click): Promise<void> {
  if (!view) return
  const { entered, blockIds } = readForm(form, view)
  const reason = reasonIn(view.values)
  const [dependent, field] = fieldsOf(form).find(([, { dependsOn }]) => dependsOn === name) ?? []
  if (dependent === undefined || !field) return view.update(formView(form, { metadata: view.metadata, entered, blockIds, reason }))
  const [before, chosen, kept] = [readMetadata(view.metadata)?.extra, enteredText(entered[name]), entered[dependent]]
  if (chosen === before) return
  const stays = kept !== undefined && (await stillFits(app, field, chosen, enteredText(kept)))
  // A new block id makes Slack drop the options and the choice. Before the first choice the id stays, because the person may be typing there.
  const isUsed = before !== undefined || kept !== undefined
  await view.update(
    formView(form, {
      metadata: view.metadata,
      entered: { ...entered, [dependent]: stays ? kept : undefined },
      blockIds: isUsed ? { ...blockIds, [dependent]: `${dependent}:${chosen ?? ''}` } : blockIds,
      reason,
    }),
  )
}

async function stillFits(app: App, { thing, fits }: Field, chosen: string | undefined, id: string | undefined): Promise<boolean> {
  if (!thing || !fits || chosen === undefined) return false
  const read = await within(fitsWithinMs, Promise.all([thing.list(app), fits(app, chosen)])).catch(() => undefined)
  if (read?.is !== 'ready') return false
  const [items, doesFit] = read.value
  const item = items.find((each: { id: string }) => each.id === id)
  return item !== undefined && doesFit(item as never)
}

/** Reads what was entered, with the ids of the blocks that hold it. */
function readForm(form: AnyForm, { values, chosen }: { values: Values; chosen: Chosen }) {
  const blockIds: Record<string, string> = {}
  const entered: AllEntered = {}
  for (const [name, { thing }] of fieldsOf(form)) {
    const blockId = Object.keys(values).find((each) => each === name || each.startsWith(`${name}:`)) ?? name
    blockIds[name] = blockId
    entered[name] = thing ? keepChoice(chosen[blockId]) : values[blockId]?.trim()
  }
  return { entered, blockIds }
}

export function fieldsOf(form: AnyForm): [string, Field][] {
  return Object.entries(form.fields as Record<string, Field>)
}

/** What identifies the change in the form. */
function choiceIn(form: AnyForm, entered: AllEntered): (string | undefined)[] {
  return fieldsOf(form).map(([name]) => enteredText(entered[name]))
}

function enteredText(entered: Entered): string | undefined {
  return typeof entered === 'string' ? entered : entered?.value
}

function optionIn(entered: Entered): PlainTextOption | undefined {
  return typeof entered === 'string' ? undefined : entered
}

function withLeading(metadata: string, chosen: string | undefined): string {
  const known = readMetadata(metadata)
  return known ? writeMetadata({ ...known, extra: chosen }) : metadata
}
