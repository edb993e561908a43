import type { App } from '../app.ts'
import type { Change, ThingKind } from '../domain/change.ts'
import type { ChangeKind } from '../domain/policy.ts'
import type { FeatureHandlers, ItemAction } from '../requests/clicks.ts'
import { createChooseOne, createOpenOffer, type Filling, submitFromCommand } from '../requests/forms.ts'
import type { Work } from '../requests/worker.ts'
import type { Command, CommandCall, GivenWords } from '../slack/commands.ts'
import { fillForm } from '../slack/forms.ts'
import { wrongUsage } from '../slack/help.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Findings } from './findings.ts'
import {
  actionIdOf,
  type Entered,
  type Form,
  fieldsOf,
  filledForm,
  formForItem,
  formView,
  offerChoices,
  submitForm,
  updateForm,
} from './form.ts'
import { type AnyThing, askWhichOne, suggesting } from './thing.ts'

/** One capability of Lockkeeper, with everything that only this capability needs. */
export interface Feature extends FeatureHandlers {
  changes?: Change[]
  /** What one worker at a time repeats, while the policy permits a kind of change of this feature. */
  repeated?: Work[]
}

/** How to create a feature, and its kinds of change, which the configuration needs before the feature is created. */
export interface FeatureDefinition<Needed extends App = App> {
  /** The kinds of its changes. These names are public, because `NO_APPROVAL` and policies use them. */
  kinds?: ChangeKind[]
  /** Those of its kinds that are many changes of another kind under one approval, each with that kind. */
  bundles?: Record<ChangeKind, ChangeKind>
  create(app: Needed): Feature
}

/** What a whole command names: a change, or the things of one name, of which one is meant. */
export type Named<Input> =
  | { input: Input }
  | {
      thing: AnyThing
      typed: string
      found: [{ id: string }, ...{ id: string }[]]
      /** Returns the input if the one with this id is meant. */
      inputOf: (id: string) => Input
      /** The end of the question: `Which one should be renamed to web-2?` */
      ask: Mrkdwn
      /** The words of the command with `<id>` in place of the name. */
      byId: string
    }

type Filled<Name extends string> = Partial<Record<Name, Entered>>

/** A kind of change that people request by a command, by its form, or by a button of a list. */
interface ChangeFeature<Input, Facts, Name extends string> {
  kind: ChangeKind
  change: (app: App) => Change<Input, Facts>
  findings: Findings
  form: Form<Input, Facts, Name>
  command: Pick<Command, 'words' | 'group' | 'usage' | 'summary' | 'details' | 'examples' | 'shortcut' | 'isComplete'> & {
    /** The label of the button that opens the empty form, on the Home tab and in help. */
    button?: string
  }
  /** Finds what a whole command names. Throws a Refusal if the command cannot be understood. */
  read(app: App, call: CommandCall, signal: AbortSignal): Promise<Named<Input>>
  /** Finds what an incomplete command names. `typed`: the word that is looked up. Absent: the form opens empty. */
  fill?(app: App, args: string[]): { typed: string; found: Promise<Filled<Name>> } | undefined
  /** The button in the details of a list's items. */
  item?: Pick<ItemAction, 'of' | 'label' | 'style'>
  /** The button in a look-up. `fill`: what the form shows then. */
  offer?: { of: ThingKind; label: string; fill(app: App, thing: { id: string; serverId?: string | undefined }): Promise<Filled<Name>> }
}

/** Says how a command with two names is used, which opens a form without the second one. `rest`: the words that are too many. */
export function pairUsage(command: string, words: string, [first, second]: [string, string], rest: string[]) {
  const usage = mrkdwn`Usage: ${code(`${command} ${words} <${first}> <${second}>`)}, or leave the ${second} out to open a form. Put names with spaces in quotes.`
  return wrongUsage(usage, rest)
}

/** How long the requester waits for what a command names. */
const readMs = 8_000

/** Declares a feature that changes something: its command, its form and its buttons. */
export function changeFeature<Input, Facts, Name extends string>(declared: ChangeFeature<Input, Facts, Name>): FeatureDefinition {
  const { kind, form, item, offer } = declared
  const { button, ...command } = declared.command
  const pickers = fieldsOf(form).filter(([, { thing }]) => thing)
  const things = pickers.map(([, { thing }]) => thing as AnyThing)
  const thisOne = `${form.callbackId}:this-one`
  const offered = `${form.callbackId}:offered`

  function create(app: App): Feature {
    const change: Change<Input, Facts> = {
      ...declared.change(app),
      ...(offer ? { offer: { of: offer.of, label: offer.label, actionId: offered } } : {}),
    }
    const filled = (metadata: string, filling: Filling) => filledForm(form, change, metadata, filling)

    async function run(call: CommandCall): Promise<void> {
      const { origin, reason, answer } = call.slashCommand
      const reading = declared.read(app, call, AbortSignal.timeout(readMs))
      const named = await suggesting(app, things, origin.command, reading)
      if ('input' in named) return submitFromCommand(app, call, { change, input: named.input, form: filled })
      const { found, inputOf, byId, ...asked } = named
      if (found.length === 1) return submitFromCommand(app, call, { change, input: inputOf(found[0].id), form: filled })
      const choice = { ...asked, found, input: inputOf, reason, command: origin.command, byId: `${origin.command} ${byId}` }
      await answer.ephemeral(askWhichOne(named.thing, { ...choice, actionId: thisOne }))
    }

    async function openForm(metadata: string, { args, command }: GivenWords) {
      const named = declared.fill?.(app, args)
      if (!named) return formView(form, { metadata })
      return fillForm(named.typed, suggesting(app, things, command, named.found), (entered) =>
        formView(form, 'problem' in entered ? { metadata, problem: entered.problem } : { metadata, entered }),
      )
    }

    return {
      commands: [
        {
          ...command,
          need: kind,
          form: openForm,
          button: button === undefined ? undefined : { text: button, actionId: `open-${form.callbackId}`, opens: form.title },
          prepare: () => Promise.all(things.map((thing) => thing.list(app))),
          run,
        },
      ],
      changes: [change],
      forms: { [kind]: filled },
      itemActions: item ? [{ ...item, kind, form: (metadata, shown) => formForItem(form, metadata, shown) }] : [],
      clicks: {
        ...Object.fromEntries(pickers.map(([name]) => [actionIdOf(form, name), (click) => updateForm(app, form, name, click)])),
        ...(things.length > 0 && { [thisOne]: createChooseOne({ submit: app.submit, openForm: app.openForm, change, form: filled }) }),
        ...(offer && {
          [offered]: createOpenOffer({
            access: app.access,
            kind,
            form: async (thing, metadata) => formView(form, { metadata, entered: await offer.fill(app, thing) }),
          }),
        }),
      },
      submissions: { [form.callbackId]: (submission) => submitForm(app, form, { change, findings: declared.findings }, submission) },
      options: Object.fromEntries(pickers.map(([name, field]) => [actionIdOf(form, name), (query) => offerChoices(app, field, query)])),
    }
  }

  return { kinds: [kind], create }
}
