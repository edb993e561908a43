import type { Button, ModalView } from '@slack/web-api'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { longestReason, type ReasonTerms } from '../domain/policy.ts'
import { cleanText } from '../domain/text.ts'
import { isStart } from '../domain/times.ts'
import { withinOr } from '../domain/within.ts'
import { gate } from '../rights/authorize.ts'
import { reasonTerms } from '../rights/judge.ts'
import { button, input, longestStart, modal, problemBlocks } from '../slack/blocks.ts'
import { type Command, isComplete, type Need, splitLateTime } from '../slack/commands.ts'
import { outdatedButton, Refusal, toUserWords } from '../slack/errors.ts'
import type {
  Click,
  FormHandler,
  InteractionHandlers,
  Shortcut,
  SlashCommand,
  Submission,
  SubmissionAnswer,
} from '../slack/interactions.ts'
import { PageButton } from '../slack/listing.ts'
import { type Metadata, readJson, readMetadata, writeMetadata } from '../slack/payloads.ts'
import { code, type Mrkdwn, mrkdwn, plain, truncate } from '../slack/text.ts'
import { splitReason } from '../slack/typed-words.ts'
import { problemIn } from './errors.ts'

type Opened = Command & Required<Pick<Command, 'form' | 'button'>>

function isOpened(command: Command): command is Opened {
  return command.form !== undefined && command.button !== undefined
}

export function formButtons(commands: Command[]): Button[] {
  return commands.filter(isOpened).map(({ button: own, words }) => button({ ...own, value: words }))
}

export function formOf(app: App, command: Command, args: string[], late?: string): FormHandler<SlashCommand> | undefined {
  const { form, need, takesNoStart } = command
  if (!form || (late === undefined ? isComplete({ command, args }) : takesNoStart)) return undefined
  return {
    form: (slashCommand) => {
      const metadata = metadataFor(app, need, { ...slashCommand, start: late ?? slashCommand.start })
      return form(metadata, { args, late, command: slashCommand.origin.command })
    },
    allow: ({ origin }) => allow(app, command, origin),
  }
}

async function allow(app: App, { need, prepare }: Command, origin: Origin): Promise<void> {
  // On the Home tab and in a global shortcut there is no channel yet.
  if (origin.channelId) await gate(app, origin, need, 'opened')
  // The pickers say what could not be read.
  prepare?.().catch(() => {})
}

/** The buttons and shortcuts that open forms. Without a channel, as on the Home tab, a form that asks for it comes first. */
export function formOpeners(app: App, commands: Command[]): Pick<InteractionHandlers, 'clicks' | 'shortcuts' | 'submissions'> {
  const opened = commands.filter(isOpened)
  return {
    clicks: {
      ...Object.fromEntries(opened.map((command) => [command.button.actionId, opener(app, command)])),
      [openMeantForm]: meantOpener(app, commands),
    },
    shortcuts: Object.fromEntries(opened.flatMap((command) => (command.shortcut ? [[command.shortcut, opener(app, command)]] : []))),
    submissions: { [channelFormId]: (submission) => submitChannel(app, opened, submission) },
  }
}

function opener(app: App, command: Opened): FormHandler<Click | Shortcut> {
  const { form, need, words } = command
  return {
    form: ({ origin, responseUrl, ...given }) =>
      origin.channelId
        ? form(metadataFor(app, need, { origin, responseUrl }), { args: [], command: origin.command })
        : channelForm({
            metadata: { origin, responseUrl, opens: words },
            title: command.button.opens,
            // A button of the Home tab has the channel of the person's last request.
            channelId: 'value' in given ? channelIdIn(given.value) : undefined,
          }),
    allow: ({ origin }) => allow(app, command, origin),
  }
}

export const openMeantForm = 'open-meant-form'

/** Opens the form of a command that was mistyped, filled with the words after it. */
function meantOpener(app: App, commands: Command[]): FormHandler<Click> {
  function meant({ value }: Click) {
    const button = readJson(PageButton, value)
    const command = commands.find(({ words }) => words === button?.command)
    if (!button || !command?.form) throw new Refusal('out-of-date', outdatedButton)
    const because = button.args.findIndex((word) => /^because[,:]?$/i.test(word))
    const [words, typed] = because < 0 ? [button.args, ''] : [button.args.slice(0, because), button.args.slice(because + 1).join(' ')]
    const given = command.takesNoStart ? undefined : splitLateTime({ command, args: words }, `because ${typed}`)
    const at = command.takesNoStart ? -1 : words.findIndex((_, index) => isStart(words.slice(index).join(' ')))
    const [args, start] = at < 0 ? [words, undefined] : [words.slice(0, at), words.slice(at).join(' ')]
    const reason = given ? splitReason(given.command)?.reason : typed
    return { command, form: command.form, args, reason, late: given?.late, start: given?.late ?? start }
  }
  return {
    form: (click) => {
      const { command, form, args, reason, start, late } = meant(click)
      return form(metadataFor(app, command.need, { ...click, reason, start }), { args, late, command: click.origin.command })
    },
    allow: (click) => allow(app, meant(click).command, click.origin),
  }
}

function metadataFor(app: App, need: Need, opened: Parameters<typeof formMetadata>[1]): string {
  return formMetadata(app, opened, reasonTerms(app, need, opened.origin.channelId))
}

export function formMetadata(
  { directory }: Pick<App, 'directory'>,
  { origin, responseUrl, reason = '', start }: Pick<SlashCommand, 'origin' | 'responseUrl' | 'reason' | 'start'>,
  terms: ReasonTerms | undefined,
  more: Pick<Metadata, 'undoes' | 'repeats' | 'message'> = {},
): string {
  return writeMetadata({
    origin,
    responseUrl,
    reason: truncate(cleanText(reason, { oneLine: true }), longestReason, 'plain') || undefined,
    start: start && truncate(start, longestStart, 'plain'),
    zone: directory.knownZone(origin.userId),
    reasonTerms: terms && { rule: terms.rule, pattern: terms.pattern },
    ...more,
  })
}

const channelFormId = 'choose-channel'
const channelBlock = 'channel'

interface ChannelForm {
  metadata: Metadata
  title: string
  channelId?: string | undefined
  problem?: Mrkdwn | undefined
}

function channelForm({ metadata, title, channelId, problem }: ChannelForm): ModalView {
  return modal({
    callbackId: channelFormId,
    title,
    submit: 'Next',
    metadata: writeMetadata(metadata),
    blocks: [
      ...problemBlocks(problem),
      input({
        blockId: channelBlock,
        label: 'Channel',
        hint: 'The request is posted there for approval.',
        element: {
          type: 'conversations_select',
          action_id: channelBlock,
          placeholder: plain('Choose a channel'),
          // Requests cannot be made in direct messages and in channels that are shared with another organisation (Slack Connect).
          filter: { include: ['public', 'private'], exclude_external_shared_channels: true, exclude_bot_users: true },
          ...(channelId ? { initial_conversation: channelId } : { default_to_current_conversation: true }),
        },
      }),
    ],
  })
}

function channelIdIn(value: string): string | undefined {
  return /^[CG][A-Z0-9]{2,29}$/.test(value) ? value : undefined
}

async function submitChannel(app: App, opened: Opened[], { metadata, origin, values }: Submission): Promise<SubmissionAnswer> {
  const before = readMetadata(metadata)
  const command = opened.find(({ words }) => words === before?.opens)
  if (!before || !command) throw new Refusal('out-of-date', mrkdwn`This form is out of date. Nothing was done. Open it again.`)
  const channelId = channelIdIn(values[channelBlock] ?? '')
  const again = (problem: Mrkdwn) => channelForm({ metadata: before, title: command.button.opens, channelId, problem })
  if (!channelId) return { is: 'refused', problems: { [channelBlock]: mrkdwn`Choose a channel.` }, again }
  const there = { ...origin, channelId }
  try {
    await gate(app, there, command.need, 'channel-chosen')
  } catch (error) {
    const problem = await problemIn(app, error, { at: `submission ${channelFormId}`, origin: there })
    return { is: 'refused', problems: { [channelBlock]: problem }, again }
  }
  const written = metadataFor(app, command.need, { origin: there, responseUrl: before.responseUrl })
  return { is: 'next', view: await command.form(written, { args: [], command: there.command }) }
}

/** A trigger expires after 3 s, and the authorization needs a part of it. */
const fillWithinMs = 1_200

/** Fills a form with what was typed. If that cannot be looked up in time, or is unknown, the form opens empty and says why. */
export async function fillForm<Filled>(
  typed: string,
  lookUp: Promise<Filled>,
  view: (filled: Filled | { problem: Mrkdwn }) => ModalView,
): Promise<ModalView> {
  const shown = code(truncate(typed, 80, 'plain'))
  const late = { problem: mrkdwn`Couldn't look up ${shown} in time. Choose it below.` }
  try {
    return view(await withinOr(fillWithinMs, lookUp, late))
  } catch (error) {
    const problem = toUserWords(error)
    if (problem === undefined) throw error
    // Words that do not name it are about the account API, and the form opens without it.
    return view({ problem: problem.text.includes(typed) ? problem : mrkdwn`${problem} You typed ${shown}.` })
  }
}

/** A trigger expires after 3 s, so nothing slow runs before. What follows can replace the form, as long as the person has it open. */
export async function openForm({ slack: { messenger } }: App, triggerId: string, view: ModalView) {
  const opened = await messenger.openView(triggerId, view)
  if (opened.is !== 'opened')
    throw new Refusal(
      'form-not-opened',
      mrkdwn`Slack didn't open the form in time. Nothing was done. Press the button again, or send the command again. A whole command needs no form.`,
    )
  return { replace: async (next: ModalView) => void (await messenger.updateView(opened.viewId, next)) }
}

/** Refuses a form with everything that is wrong, so that one more try is enough. Returns undefined if no field has a problem. */
export function refuseForm(
  problems: Record<string, Mrkdwn | undefined>,
  again: (problem: Mrkdwn) => ModalView,
): SubmissionAnswer | undefined {
  const found = Object.entries(problems).filter((one): one is [string, Mrkdwn] => one[1] !== undefined)
  return found.length > 0 ? { is: 'refused', problems: Object.fromEntries(found), again } : undefined
}
