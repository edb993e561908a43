import type { ModalView } from '@slack/web-api'
import { z } from 'zod'
import type { App } from '../app.ts'
import { problemIn } from '../bolt/errors.ts'
import { buttonOf, wrongUsage } from '../bolt/help.ts'
import { fillForm, formMetadata, openForm } from '../bolt/open-forms.ts'
import type { FilledForm, Filling } from '../buttons/again-forms.ts'
import type { ItemAction } from '../buttons/handlers.ts'
import type { Requester } from '../domain/approval.ts'
import { type Change, type ForMachines, OfferedThing, type ThingKind } from '../domain/change.ts'
import { UnknownName } from '../domain/errors.ts'
import type { ChangeKind } from '../domain/policy.ts'
import type { RequestedChange } from '../domain/requested-change.ts'
import { StartRefused, startOf } from '../life/submit.ts'
import { ChoiceButton, type SubmitOutcome, submittedWords, typedLate } from '../messages/submit-words.ts'
import { gate, ReasonRequired } from '../rights/authorize.ts'
import { endsTerms } from '../rights/judge.ts'
import { notice, noticeView } from '../slack/blocks.ts'
import type { Command, CommandCall, GivenWords } from '../slack/commands.ts'
import { causeOf, goneSince, nothingRequested, notRequested, outdatedButton, Refusal, toUserWords, withButtons } from '../slack/errors.ts'
import type { Click, SlashCommand } from '../slack/interactions.ts'
import { readJson, readMetadata } from '../slack/payloads.ts'
import { code, joinMrkdwn, mrkdwn, nameWords, ownWords } from '../slack/text.ts'
import { readNames } from '../slack/typed-words.ts'
import type { Ability, Feature, OwnAbility } from './ability.ts'
import {
  actionIdOf,
  type Entered,
  type Form,
  fieldsOf,
  filledView,
  formForItem,
  formView,
  formWithBoxes,
  noted,
  offerChoices,
  optionIn,
  submitForm,
  updateForm,
} from './change-form.ts'
import type { Findings } from './findings.ts'
import { seenBy } from './seen.ts'
import { type AnyThing, askWhichOne, findOption, findTyped, type Namesakes, optionById, readBriefly, suggesting } from './thing.ts'

/** What a whole command names: a change, or the things of one name, of which one is meant. */
export type Named<Input> = { input: Input } | Namesakes<Input>

type ReadCommand<Input> = (app: App, call: CommandCall, signal: AbortSignal) => Promise<Named<Input>>

/** For a command of names alone, `ip move <elastic ip> <server>`: what they are called, and how they are found. */
interface ByNames<Input, Name extends string> {
  /** In the order of the command, each by the field of the form that it fills. */
  names: Record<Name, CalledName>
  find: (app: App, given: Record<Name, string>, signal: AbortSignal) => Promise<Named<Input>>
  /** Puts names in that order which were typed in another one. */
  inOrder?: (names: string[]) => string[]
  /** For a kind that machines may request. */
  machines?: Pick<ForMachines<Input>, 'tool' | 'title' | 'description'>
}

/** `called`: in the usage of the command. `member` and `description`: in the API for machines. */
interface CalledName {
  called: string
  member: string
  description: string
}

/** A kind of change that people request by a command, by its form, or by a button of a list. */
interface ChangeFeature<Input, Facts, Name extends string, Typed extends Name> {
  kind: ChangeKind
  change: (app: App) => Change<Input, Facts>
  findings: Findings
  form: Form<Input, Facts, Name>
  command: Pick<
    Command,
    'words' | 'synonyms' | 'group' | 'usage' | 'summary' | 'details' | 'examples' | 'shortcut' | 'isComplete' | 'isLateTime'
  > & {
    /** The label of the button that opens the empty form, on the Home tab and in help. */
    button?: string
    /** The command for all that a thing has, if its name was typed in place of one of these. */
    instead?: { thing: AnyThing; words: string }
  }
  /** Finds what a whole command names. Throws a Refusal if the command cannot be understood. */
  read: ReadCommand<Input> | ByNames<Input, Typed>
  item?: Pick<ItemAction, 'of' | 'label' | 'style'>
  /** The button in a look-up, which fills the field of what the change is about. */
  offer?: { of: ThingKind; label: string }
  /** If its request is many changes of another kind under one approval: its kind, with that one. */
  bundles?: Record<ChangeKind, ChangeKind>
  neverExempt?: true
  repeated?: Ability['repeated']
}

/** Returns the names of a whole command, by their fields. Throws a Refusal if one is missing, or if there are more words. */
function requireNames<Name extends string>(
  { slashCommand, args }: CommandCall,
  words: string,
  { names: declared, inOrder = (names) => names }: Pick<ByNames<never, Name>, 'names' | 'inOrder'>,
): Record<Name, string> {
  const all = Object.entries<CalledName>(declared)
  const { names: typed, rest } = readNames(args, all.length)
  const names = inOrder(typed)
  if (names.length === all.length && rest.length === 0)
    return Object.fromEntries(all.map(([field], index) => [field, names[index]])) as Record<Name, string>
  const called = all.map(([, name]) => name.called)
  const usage = code([slashCommand.origin.command, words, ...called.map((name) => `<${name}>`)].join(' '))
  const then =
    rest.length > 0
      ? mrkdwn`. A time begins with ${code('at')} or ${code('in')}, a reason with ${code('because')}.`
      : mrkdwn`, or leave the ${called.at(-1) ?? ''} out to open a form.`
  const how = mrkdwn`Usage: ${usage} (names with spaces in quotes)${then}`
  throw new Refusal('wrong-usage', wrongUsage(how, rest))
}

const readMs = 8_000

export function changeFeature<Input, Facts, Name extends string, Typed extends Name = never>(
  declared: ChangeFeature<Input, Facts, Name, Typed>,
): OwnAbility {
  const { kind, form, findings, item, offer, bundles, read } = declared
  const byNames = 'find' in read ? read : undefined
  const readCommand: ReadCommand<Input> =
    'find' in read ? (app, call, signal) => read.find(app, requireNames(call, command.words, read), signal) : read
  const { button, instead, ...command } = declared.command
  const shown = { ...command, button: button ? { text: button, actionId: `open-${form.callbackId}`, opens: form.title } : undefined }
  const pickers = fieldsOf(form).filter(([, { thing }]) => thing)
  const things = [...new Set(pickers.map(([, { thing }]) => thing as AnyThing))]
  const { thing: aboutThing } = form.fields[form.about]
  /** What the words of an incomplete command fill, in their order. */
  const typedFields: Name[] = byNames ? (Object.keys(byNames.names) as Typed[]) : aboutThing ? [form.about] : []
  const thisOne = `${form.callbackId}:this-one`
  const offered = `${form.callbackId}:offered`

  function create(app: App): Feature {
    const change: Change<Input, Facts> = {
      ...declared.change(app),
      ...(offer ? { offer: { of: offer.of, kind, label: offer.label, actionId: offered } } : {}),
      ...(byNames?.machines ? { machines: forMachines(app, byNames, byNames.machines, form) } : {}),
    }
    const prepared = (metadata: string) =>
      form.hasEnds ? noted(metadata, { ends: endsTerms(app, kind, readMetadata(metadata)?.origin.channelId ?? '') }) : metadata
    const filled: FilledForm = (metadata, filling) => formView(form, filledView(form, change, prepared(metadata), filling).view)
    const fresh = async (metadata: string, filling: Filling) => {
      const { view, asked } = filledView(form, change, metadata, filling)
      if (form.boxes) return formWithBoxes(app, form, view, asked)
      const about = optionIn(view.entered?.[form.about])
      const list = about && aboutThing && (await readBriefly(aboutThing.list(app)))
      if (list?.isWhole && !list.old && !list.items.some(({ id }) => id === about?.value)) throw goneSince(about?.text.text ?? '')
    }

    async function run(call: CommandCall): Promise<void> {
      const { origin, reason, start, answer } = call.slashCommand
      // A wrong time costs no read of the account.
      if (start !== undefined) await startOf(app, { change, origin }, start).catch((error) => Promise.reject(notStarted(error)))
      const formButton = (given: string[], of: Pick<Command, 'words' | 'button'> = shown, label?: string) => {
        const because = reason === undefined ? [] : ['because', reason]
        return buttonOf({ ...of, need: kind, form: formOf }, [...given, start ?? [], because].flat(), label)
      }
      const signal = AbortSignal.timeout(readMs)
      const reading = readCommand(app, call, signal).catch(async (error: unknown) => {
        if (!instead || !(error instanceof UnknownName) || error.what === instead.thing.one) throw error
        const [other] = await findTyped(app, instead.thing, error.typed, signal).catch(() => [])
        if (!other) throw error
        const command = code([origin.command, instead.words, ...call.args].join(' '))
        const words = mrkdwn`${nameWords(error.typed)} is ${instead.thing.a}. To move all of its ${aboutThing?.many ?? ''}: ${command}.`
        throw new Refusal('unknown-name', words, { buttons: formButton(call.args, { words: instead.words }) })
      })
      const named = await suggesting(app, things, origin.command, reading, (typed, name, label) => {
        const count = call.args.includes(typed) ? 1 : typed.split(' ').length
        const at = call.args.findIndex((_, index) => call.args.slice(index, index + count).join(' ') === typed)
        return at < 0 ? [] : formButton(call.args.toSpliced(at, count, name), shown, label)
      })
      if (!('input' in named) && named.found.length > 1)
        return answer.ephemeral(askWhichOne(named, { reason, start, command: origin.command, actionId: thisOne }))
      const input = 'input' in named ? named.input : named.inputOf(named.found[0].id)
      const typed = { ...call.slashCommand, requester: call.requester }
      const outcome = await submitTyped(app, typed, { change, input, form: filled }).catch((error) => {
        const isOfSome = error instanceof Refusal ? error.isOfSome : form.boxes && findings.fieldOf(causeOf(error)) === form.boxes.name
        throw isOfSome ? withButtons(error, formButton(call.args)) : error
      })
      // The request message in this channel says all of it.
      if (outcome?.is === 'posted') answer.elsewhere()
      else if (outcome) await call.say(submittedWords(outcome))
    }

    /** All names are there if the command itself was mistyped. If only a later one is unknown, the form has the others, and says so. */
    async function formOf(unprepared: string, { args: words, command, late }: GivenWords) {
      const metadata = prepared(unprepared)
      const moved = late === undefined ? undefined : typedLate(late, 'Start')
      // A whole command that finds its thing by itself takes a name of several words.
      const args = late === undefined || byNames || words.length === 0 ? words : [words.join(' ')]
      const { names: typed, rest } = readNames(args, typedFields.length)
      const names = byNames?.inOrder?.(typed) ?? typed
      const [first] = names
      if (first === undefined) return formView(form, { metadata, problem: moved })
      async function filledIn() {
        const entered: Record<string, Entered> = {}
        let problem = moved
        if (rest.length > 0) problem = mrkdwn`${moved ? mrkdwn`${moved} ` : ''}You also typed ${code(rest.join(' '))}: choose it below.`
        for (const [index, name] of typedFields.slice(0, names.length).entries()) {
          const [given = '', { thing }] = [names[index], form.fields[name]]
          try {
            entered[name] = thing ? await suggesting(app, things, command, findOption(app, thing, given)) : given
          } catch (error) {
            const words = toUserWords(error)
            if (words === undefined || index === 0) throw error
            problem = problem ? mrkdwn`${words} ${problem}` : words
          }
        }
        return formWithBoxes(app, form, { metadata, entered, problem })
      }
      return fillForm(first, filledIn(), (view) =>
        'problem' in view ? formView(form, { metadata, problem: moved ? mrkdwn`${view.problem} ${moved}` : view.problem }) : view,
      )
    }

    return {
      commands: [
        {
          ...shown,
          // A command with too many words counts as complete, so that it is refused.
          isComplete: byNames ? (args) => readNames(args, typedFields.length).names.length === typedFields.length : command.isComplete,
          need: kind,
          takesNoStart: form.takesNoStart,
          form: formOf,
          prepare: () => Promise.all(things.map((thing) => thing.list(app))),
          run,
        },
      ],
      changes: [change],
      forms: { [kind]: { filled, fresh } },
      itemActions: item ? [{ ...item, kind, form: (metadata, shown) => formForItem(form, prepared(metadata), shown) }] : [],
      clicks: {
        ...Object.fromEntries(pickers.map(([name]) => [actionIdOf(form, name), (click) => updateForm(app, form, name, click)])),
        ...(things.length > 0 && { [thisOne]: (click) => chooseOne(app, { change, form: filled }, click) }),
        ...(offer && {
          [offered]: (click) =>
            openOffered(app, kind, click, async ({ id }, metadata) => {
              const entered = { [form.about]: await optionById(app, aboutThing as AnyThing, id) }
              return formWithBoxes(app, form, { metadata, entered })
            }),
        }),
      },
      submissions: { [form.callbackId]: (submission) => submitForm(app, form, { change, findings }, submission) },
      options: Object.fromEntries(pickers.map(([name, field]) => [actionIdOf(form, name), (query) => offerChoices(app, field, query)])),
    }
  }

  return { kinds: [kind], bundles, neverExempt: declared.neverExempt, repeated: declared.repeated, create }
}

/** Names are never longer than a hostname. */
const NamedThing = z.string().trim().min(1).max(253)

function forMachines<Input, Name extends string>(
  app: App,
  { names, find }: ByNames<Input, Name>,
  about: NonNullable<ByNames<Input, Name>['machines']>,
  { fields }: Pick<Form<Input, never, Name>, 'fields'>,
): ForMachines<Input> {
  const all = Object.entries<CalledName>(names) as [Name, CalledName][]
  return {
    ...about,
    members: z.object(Object.fromEntries(all.map(([, { member, description }]) => [member, NamedThing.describe(description)]))),
    async read(given, origin, signal) {
      const seen = seenBy(app, origin)
      const typed = Object.fromEntries(all.map(([name, { member }]) => [name, given[member] ?? ''])) as Record<Name, string>
      const named = await find(seen, typed, signal)
      if ('input' in named) {
        // Ids that were used as they are may be of what the machine does not see.
        for (const [name] of seen === app ? [] : all) {
          const { thing } = fields[name]
          if (thing) await findTyped(seen, thing, typed[name], signal)
        }
        return named.input
      }
      const { thing, found, inputOf } = named
      if (found.length === 1) return inputOf(found[0].id)
      const ids = found.map(({ id }) => code(id))
      throw new Refusal(
        'several-named',
        mrkdwn`${ids.length} ${thing.many} are called ${nameWords(named.typed)}. Use the id: ${joinMrkdwn(ids, ', ')}.`,
      )
    },
  }
}

interface Typed extends Pick<SlashCommand, 'origin' | 'deliveryKey' | 'triggerId' | 'responseUrl' | 'reason' | 'start'> {
  requester?: Requester | undefined
}

interface Submitted<Input, Facts> extends Pick<RequestedChange<Input, Facts>, 'change' | 'input'> {
  /** Opens if the rule requires a reason and none was typed. */
  form: FilledForm
}

/** Submits what was typed. Undefined if the form opened, because the rule requires a reason. */
export async function submitTyped<Input, Facts>(
  app: App,
  typed: Typed,
  { change, input, form }: Submitted<Input, Facts>,
): Promise<SubmitOutcome | undefined> {
  const { origin, deliveryKey, reason, start, requester } = typed
  try {
    return await app.submit({ change, input, origin, requester, reason, start, deliveryKey })
  } catch (error) {
    if (!(error instanceof ReasonRequired)) throw notStarted(error)
    await askForReason(app, typed, error, form)
    return undefined
  }
}

/** A form shows a wrong start without these words, because it is still open, and its field has the examples. */
function notStarted(error: unknown): unknown {
  return error instanceof StartRefused
    ? new Refusal('start-not-possible', ownWords(notRequested(error.whole.text)))
    : nothingRequested(error)
}

/** Opens the form with everything that was typed. The reads may have taken longer than Slack's trigger lasts. */
async function askForReason(app: App, typed: Typed, { terms, draft, words }: ReasonRequired, form: FilledForm): Promise<void> {
  const view = form(formMetadata(app, typed, terms), { ...draft, reason: undefined, problem: mrkdwn`${words} Nothing was requested yet.` })
  try {
    await openForm(app, typed.triggerId, view)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(
      'reason-required',
      ownWords(`${notRequested(words.text)} Add it at the end of the command: *because* and the reason.`),
    )
  }
}

/** One of several things of a name was chosen: continues as if its id had been typed, and the answer replaces the buttons. */
async function chooseOne<Input, Facts>(app: App, { change, form }: Omit<Submitted<Input, Facts>, 'input'>, click: Click): Promise<void> {
  const button = readJson(ChoiceButton, click.value)
  const input = change.input.safeParse(button?.input)
  if (!button || !input.success) throw new Refusal('out-of-date', outdatedButton)
  const { command, reason, start } = button
  const typed = { ...click, origin: { ...click.origin, command }, reason, start }
  const outcome = await submitTyped(app, typed, { change, input: input.data, form })
  if (outcome) await click.answer.replace(notice(submittedWords(outcome)))
}

/** A look-up offers a change: its filled form replaces the look-up, or the reason does why the person can't request the change here. */
async function openOffered(
  app: App,
  kind: ChangeKind,
  { view, value, origin, actionId }: Click,
  form: (thing: OfferedThing, metadata: string) => Promise<ModalView>,
): Promise<void> {
  if (!view) return
  const thing = readJson(OfferedThing, value)
  if (!thing) return view.update(noticeView(mrkdwn`This button is out of date. Look the message up again.`))
  try {
    await gate(app, origin, kind, 'opened')
  } catch (error) {
    return view.update(noticeView(await problemIn(app, error, { at: `click ${actionId}`, origin }), 'Not possible'))
  }
  await view.update(await form(thing, view.metadata))
}
